// The hunt: draws problems one after the other, tries each with several plans in worker processes, makes small what
// fails.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/soak/shrink.h"
#include "tools/soak/worker.h"

namespace fourtune::tools {

struct HuntOptions {
  SoakWorkerOptions worker;  // device: of the first job; threads: of each job
  std::uint64_t seed = 1;
  std::int64_t count = 0;  // problems; 0: no limit
  double seconds = 0;      // 0: no limit
  double megabytes = 60;
  bool ffts = true, nuffts = true;
  bool untuned_only = false;  // no candidates and no adapted plans
  int jobs = 1;
  int devices = 1;             // jobs take them in turn, from the first job's on
  double shrink_seconds = 60;  // for each failure
  const std::atomic<bool>* stop = nullptr;
};

// One case tried with one plan.
struct HuntRun {
  std::int64_t index = 0;  // of the problem, from 0
  std::string token;       // as it was drawn
  Trial trial;             // its outcome may be fine
};

struct HuntRatio {
  std::string token;
  PeerTimes times;
};

struct HuntState {
  std::int64_t problems = 0, runs = 0, failures = 0;
  std::int64_t refused = 0;  // for want of memory
  double elapsed = 0, eta = 0;
  std::vector<HuntRatio> ratios;
  bool interrupted = false;
};

// Called one at a time, from any of the jobs' threads.
struct HuntListener {
  std::function<void(const HuntRun& run)> on_run = [](const HuntRun&) {};
  std::function<void(const HuntRun& run, const Trial& small)> on_failure = [](const HuntRun&, const Trial&) {};
  std::function<void(const HuntState& state, const std::string& token)> on_progress = [](const HuntState&,
                                                                                         const std::string&) {};
};

// Throws Error when no worker can be started.
HuntState hunt(const HuntOptions& options, const HuntListener& listener);

// Bytes that suit a backend: emulated kernels are slow.
double default_megabytes(const std::string& backend);
// The command that tries one again.
std::string repeat_command(const std::string& backend, int device, const Trial& trial);
// FAILED #12 seed 7: what failed, plan and case small, and as drawn, and the command: one line.
std::string failure_line(const HuntOptions& options, const HuntRun& run, const Trial& small);

}  // namespace fourtune::tools
