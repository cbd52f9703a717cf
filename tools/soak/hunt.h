// The hunt: draws problems one after the other, tries each with several plans in worker processes, and shrinks failing
// cases.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/soak/shrink.h"
#include "tools/soak/subject.h"
#include "tools/soak/worker.h"

namespace fourtune::tools {

struct HuntOptions {
  SoakWorkerOptions worker;  // device: that of the first job; threads: of each job
  std::uint64_t seed = 1;
  std::int64_t count = 0;  // number of problems; 0: no limit
  double seconds = 0;      // 0: no limit
  double megabytes = 60;
  bool ffts = true, nuffts = true;
  DropInSays dropin_says;     // of worker.dropin, if there is one
  bool untuned_only = false;  // no candidates and no adapted plans
  int jobs = 1;
  int devices = 1;             // jobs use them in turn, starting with the first job's
  double shrink_seconds = 60;  // limit per failure
  const std::atomic<bool>* stop = nullptr;
};

// One case that was tried with one plan.
struct HuntRun {
  std::int64_t index = 0;  // index of the problem, from 0
  std::string token;       // the token as drawn
  TriedCase trial;         // its outcome may be no failure
};

struct HuntRatio {
  std::string token;
  PeerTimes times;
};

struct HuntState {
  std::int64_t problems = 0, runs = 0, failures = 0;
  std::int64_t refused = 0;  // for lack of memory
  double elapsed = 0, eta = 0;
  std::vector<HuntRatio> ratios;
  bool interrupted = false;
};

// The calls are serialised, but may come from any job's thread.
struct HuntListener {
  std::function<void(const HuntRun& run)> on_run = [](const HuntRun&) {};
  std::function<void(const HuntRun& run, const TriedCase& small)> on_failure = [](const HuntRun&, const TriedCase&) {};
  std::function<void(const HuntState& state, const std::string& token)> on_progress = [](const HuntState&,
                                                                                         const std::string&) {};
};

// Throws Error when no worker can be started.
HuntState hunt(const HuntOptions& options, const HuntListener& listener);

// The command that repeats a trial.
std::string repeat_command(const SoakWorkerOptions& worker, const TriedCase& trial);
// "FAILED #12 seed 7": one line with the failure, the shrunk plan and case, the drawn ones, and the command.
std::string failure_line(const HuntOptions& options, const HuntRun& run, const TriedCase& small);

}  // namespace fourtune::tools
