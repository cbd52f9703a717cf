// One case on all ranks of a communicator: the same arrays as one process has, cut, transformed and put together.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "tools/ranks/parts.h"
#include "tools/soak/data.h"

namespace fourtune::tools {

struct RanksOptions {
  std::string plan;     // of the distributed transform; empty: the library chooses
  std::string backend;  // empty: cpu
  int device = -1;
  int threads = 0;
  int repeat = 0;  // timed executes after the first
  Deal deal = Deal::even;
  bool default_databases = true;
};

struct RanksOutcome {
  Status status = Status::success;  // the same on every rank, as is the message
  std::string message;
  std::string plan, explain;
  Problem problem;
  double create = 0, set_points = 0;  // seconds of the slowest rank
  std::vector<double> execute;        // ascending
  std::vector<StageTime> stages;      // of the slowest rank each
  Bytes output;                       // rank 0: the whole array that the case writes
};

// Why a case cannot be split over ranks; empty: it can.
std::string cannot_split(const SoakCase& one);

// Collective: the case's arrays on every rank. Where one has no room for them, every rank throws Error{out_of_memory}.
std::unique_ptr<CaseData> data_on_all_ranks(const SoakCase& one);

// Collective. What the library throws is in the outcome.
RanksOutcome run_on_ranks(const CaseData& data, const RanksOptions& options, MPI_Comm comm);

}  // namespace fourtune::tools
