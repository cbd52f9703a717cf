// The child process in which cases are tried, so that a crash or a hang is a finding and not the end.
//
// The parent starts `fourtune soak --worker` and talks to it in lines of JSON (tuner/worker/child_process.h):
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
  int threads = 0;                          // of this worker; 0: all that the process may use
  std::vector<std::string> peers;           // libraries to measure
  double timeout = 120;                     // seconds for a case
  const std::atomic<bool>* stop = nullptr;  // when raised, a case has a second to end
};

// The child's main loop, on descriptor 3, until the parent hangs up.
void soak_worker_main(const SoakWorkerOptions& options);

struct PeerTimes {
  std::string skipped;        // why there is none
  std::string name;           // of the fastest right peer
  double ours = 0, peer = 0;  // seconds of one execute
};

// Not thread-safe. Throws Error{io} when no worker can be started, Error{interrupted} when the stop came.
class SoakWorker {
 public:
  explicit SoakWorker(SoakWorkerOptions options);
  ~SoakWorker();
  // What the device calls itself.
  std::string device();
  // Draws the plan in the child. A failure comes back as that of the outcome.
  SoakOutcome draw(const SoakCase& one, PlanKind kind, std::uint64_t seed);
  // The plan of one case adapted to another one; empty where that cannot be.
  std::string adapt(const SoakCase& from, const std::string& plan, const SoakCase& to);
  // `plan` is empty for the untuned one.
  SoakOutcome try_case(const SoakCase& one, PlanKind kind, const std::string& plan);
  PeerTimes measure(const Problem& problem);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fourtune::tools
