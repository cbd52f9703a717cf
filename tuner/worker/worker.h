// The child process that candidates run in, so that a crash or a hang costs a process and not the session.
//
// The parent starts `fourtune worker` and talks to it in lines of JSON over a socket (the child's descriptor 3; its
// standard output is not touched, libraries may print there). One request, one answer:
//   {"op":"hello"}     -> {"traits":{...}}
//   {"op":"load",...}  -> {"seconds":s} or {"error":name,"message":text}
//   {"op":"evaluate",...}, {"op":"finals",...} -> the fields of Evaluation, FinalsResult
//   {"op":"prepare","plans":[...]} -> {}, at once
// A child whose device was lost ends with exit code 3 instead of an answer.
// The child ignores SIGINT (the parent decides what Ctrl-C means) and dies with its parent.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/backends/backend.h"
#include "tuner/measure/evaluator.h"

namespace fourtune::tuner {

// The child's main loop: answers requests until the parent hangs up. Returns the exit code. Candidates are evaluated
// with a LocalEvaluator on that device of `backend` and a folder of recorded points. Fault injection for tests, from
// the environment variable FOURTUNE_TEST_FAULT "crash:TEXT", "hang:TEXT", "garbage:TEXT" or "exit:TEXT": misbehave so
// when a plan contains TEXT.
int worker_main(const runtime::Backend& backend, const std::filesystem::path& recorded = {}, int device = 0,
                int fd = 3);

struct WorkerOptions {
  std::vector<std::string>
      command;  // program and arguments; empty: this executable with "worker --backend NAME --device N"
  std::string backend = "cpu";
  int device = 0;                           // of the backend
  std::filesystem::path recorded;           // folder of recorded points, if any
  std::filesystem::path database;           // the session's: keeps compiled kernels too; empty: the user's
  const std::atomic<bool>* stop = nullptr;  // when raised, a request in flight is given `grace` to end, then abandoned
  double grace_seconds = 1;
  double load_timeout_seconds = 600;
};

// Runs every request in the child; replaces the child when it crashed, hung or talked nonsense (which become statuses
// crash and timeout), loading the problem again. Not thread-safe.
class WorkerProcess : public Evaluator {
 public:
  // Throws Error{io} when the program cannot be started or does not answer.
  explicit WorkerProcess(WorkerOptions options);
  ~WorkerProcess() override;
  DeviceTraits traits() override;
  double load(const Problem& problem, std::uint64_t seed) override;
  void prepare(const std::vector<std::string>& plans) override;
  Evaluation evaluate(const EvaluationRequest& request) override;
  FinalsResult finals(const FinalsRequest& request) override;
  std::size_t restarts() const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fourtune::tuner
