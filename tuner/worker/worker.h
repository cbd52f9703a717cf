// The child process in which candidates run, so that a crash or a hang costs a process and not the session.
// worker_main.cpp is what it runs.
//
// The parent starts `fourtune worker` and exchanges lines of JSON with it over a socket (descriptor 3 in the child; its
// standard output stays free, because libraries may print there). Each request has one answer:
//   {"op":"hello"}     -> {"traits":{...}}
//   {"op":"load",...}  -> {"spent":[s,...]} or {"error":name,"message":text}
//   {"op":"evaluate",...}, {"op":"finals",...} -> the fields of Evaluation, FinalsResult
//   {"op":"prepare","plans":[...]}, {"op":"announce","problem":...,"plans":[...]} -> {}, at once
//   {"op":"ready","plans":[...]} -> {"place":n}, at once
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

struct WorkerSetup {
  std::filesystem::path recorded;
  int device = 0;
  std::vector<std::string> compiler;  // command of compiler processes (compiler_process.h); empty: threads compile
  int fd = 3;
};

// The main loop of the child: answers requests until the parent hangs up, then returns the exit code. A LocalEvaluator
// evaluates the candidates on that device of `backend`, with a folder of recorded points. For tests, the environment
// variable FOURTUNE_TEST_FAULT injects faults: with "crash:TEXT", "hang:TEXT", "garbage:TEXT" or "exit:TEXT" the child
// misbehaves in that way when a plan contains TEXT.
int worker_main(const runtime::Backend& backend, const WorkerSetup& setup = {});

struct WorkerOptions {
  std::vector<std::string>
      command;  // program and arguments; empty: this executable with "worker --backend NAME --device N"
  std::string backend = "cpu";
  int device = 0;                  // a device number of the backend
  std::filesystem::path recorded;  // the folder of recorded points, if any
  std::filesystem::path database;  // the session's database, which also stores compiled kernels; empty: the user's
  const std::atomic<bool>* stop = nullptr;  // when set, a request in flight ends or is abandoned within grace_seconds
  double grace_seconds = 1;
  double load_timeout_seconds = 600;
};

// Runs every request in the child. If the child crashes, hangs or sends nonsense (which become statuses crash and
// timeout), it is replaced and the problem is loaded again. Not thread-safe.
class WorkerProcess : public Evaluator {
 public:
  // Throws Error{io} when the program cannot be started or does not answer.
  explicit WorkerProcess(WorkerOptions options);
  ~WorkerProcess() override;
  DeviceTraits traits() override;
  Spent load(const Problem& problem, std::uint64_t seed, const std::vector<std::string>& plans = {}) override;
  void prepare(const std::vector<std::string>& plans) override;
  std::size_t first_ready(const std::vector<std::string>& plans) override;
  void announce(const Problem& next, const std::vector<std::string>& plans) override;
  Evaluation evaluate(const EvaluationRequest& request) override;
  FinalsResult finals(const FinalsRequest& request) override;
  std::size_t restarts() const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fourtune::tuner
