// Suite mtip: Table II and Figure 9 of the paper on cuFINUFFT on the ranks that there are, and what a model makes of
// them for more GPUs (mtip_report.cpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fourtune/problem.h"
#include "tools/ranks/rank_rounds.h"
#include "tools/ranks/scaling_model.h"
#include "tuner/report/screen.h"

namespace fourtune::tools::mtip {

struct Options {
  std::string backend, db, csv, plot;  // empty: cpu; none
  std::vector<std::string> peers;      // shared libraries to compare with
  int threads = 0;                     // of a rank, on the processor; 0: its share of the cores
  int rounds = 5;
  double scale = 1;  // sizes relative to the paper's
  std::uint64_t seed = 1;
  Network network;
  int most_gpus = 1024;  // of the model
};

// The rounds of one version on so many ranks.
struct Measured {
  int ranks = 1;
  std::vector<RoundTimes> rounds;
  // The median of each time.
  RoundTimes median() const;
};

struct Version {
  Admitted admitted;
  std::vector<Measured> by_ranks;  // on 1, 2, ... ranks; empty where it did not run
  const Measured& on(int ranks) const { return by_ranks[static_cast<std::size_t>(ranks) - 1]; }
};

struct Task {
  const char* name = "";  // "slicing"
  Problem problem;
  double exchanged = 0;  // bytes of the uniform array
  std::vector<Version> versions;
};

// What was measured. The same on all ranks.
struct Results {
  int ranks = 1, devices = 1, machines = 1;  // devices: of all machines, that ranks share
  bool shares_devices = false;               // on GPUs; ranks of a processor share no cores
  std::string where;                         // "2 ranks, NVIDIA H100 80GB HBM3"
  std::vector<Task> tasks;
  // The whole node of the paper: one rank for each device.
  int whole() const;
};

// Collective; rank 0 prints as it goes.
Results measure(const Options& options);

// ---- of rank 0 ----
std::string table_two(const Results& results, const tuner::Screen& screen);
// Every number of ranks, beside what the model makes of one and two of them.
std::string weak_scaling(const Results& results, const tuner::Screen& screen);
// From a node of GPUs up to `most_gpus`.
std::string beyond(const Results& results, const Options& options, const tuner::Screen& screen);
// Every round.
std::string csv_text(const Results& results);
std::string plot(const Results& results, const std::string& path);

// What the model expects of a version on so many ranks, from its times on one and, for the exchange, on two.
double modelled_seconds(const Results& results, const Task& task, const Version& version, int ranks);

}  // namespace fourtune::tools::mtip
