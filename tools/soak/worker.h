// The child process in which cases are tried, so that a crash or a hang becomes a finding and does not end the hunt.
// worker_main.cpp is what it runs.
//
// The parent starts `fourtune soak --worker` and exchanges lines of JSON with it (tuner/worker/child_process.h):
//   {"op":"hello"}                                  -> {"device":name}
//   {"op":"plan","case":..,"kind":..,"seed":..}     -> {"plan":text}, empty: there is none
//   {"op":"adapt","from":..,"plan":text,"case":..}  -> the same
//   {"op":"try","case":..,"kind":..,"plan":text}    -> the fields of SoakOutcome
//   {"op":"measure","token":..}                     -> {"ours":seconds,"peer":seconds,"name":..} or {"skipped":reason}
//   any of them                                     -> {"error":status name,"message":text}
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "tools/soak/plan.h"
#include "tools/soak/run.h"
#include "tuner/worker/child_process.h"

namespace fourtune::tools {

struct SoakWorkerOptions {
  std::string backend = "cpu";
  int device = 0;
  int threads = 0;                          // threads of this worker; 0: all that the process may use
  std::vector<std::string> peers;           // libraries to measure
  std::string dropin;                       // a drop-in library to try instead of the library; empty: none
  double timeout = 120;                     // seconds per case
  const std::atomic<bool>* stop = nullptr;  // when set, a case has a second to end
};

// The child's main loop: reads from descriptor 3 until the parent hangs up.
void soak_worker_main(const SoakWorkerOptions& options);

struct PeerTimes {
  std::string skipped;        // why there are no times
  std::string name;           // name of the fastest right peer
  double ours = 0, peer = 0;  // nanoseconds of one execute
};

// Not thread-safe. Throws Error{io} when no worker can be started, and Error{interrupted} after a stop request.
class SoakWorker {
 public:
  explicit SoakWorker(SoakWorkerOptions options);
  ~SoakWorker();
  // The name that the device reports.
  std::string device();
  // Draws the plan in the child. A failure is returned as the outcome's failure.
  SoakOutcome draw(const SoakCase& one, PlanKind kind, std::uint64_t seed);
  // The plan of one case, adapted to another case; empty if that is impossible.
  std::string adapt(const SoakCase& from, const std::string& plan, const SoakCase& to);
  // `plan` is empty for the untuned plan.
  SoakOutcome try_case(const SoakCase& one, PlanKind kind, const std::string& plan);
  PeerTimes measure(const Problem& problem);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fourtune::tools
