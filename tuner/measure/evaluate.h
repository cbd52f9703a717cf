// Evaluates plans in this process, with the same executor that users run. In a session the worker child does this.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "runtime/backends/backend.h"
#include "tuner/measure/compile_ahead.h"
#include "tuner/measure/evaluator.h"

namespace fourtune::tuner {

class LocalEvaluator : public Evaluator {
 public:
  // Uses device number `device` of the backend. The backend must outlive this object. recorded: the folder of recorded
  // points (recorded_points.h), if any. make_compiler: what compiles kernels ahead on one thread; empty: the backend,
  // in this process.
  explicit LocalEvaluator(const runtime::Backend& backend, std::filesystem::path recorded = {}, int device = 0,
                          std::function<KernelCompiler()> make_compiler = {});
  ~LocalEvaluator() override;
  DeviceTraits traits() override;
  Spent load(const Problem& problem, std::uint64_t seed, const std::vector<std::string>& plans = {}) override;
  // Backends that compile use all but one of the host's threads for it.
  void prepare(const std::vector<std::string>& plans) override;
  std::size_t first_ready(const std::vector<std::string>& plans) override;
  void announce(const Problem& next, const std::vector<std::string>& plans) override;
  // Writes the kernels that were compiled so far to where other processes find them.
  void keep();
  Evaluation evaluate(const EvaluationRequest& request) override;
  FinalsResult finals(const FinalsRequest& request) override;
  // What the user should know of this process; empty: nothing.
  std::string note() const;
  // True when a plan has broken the device for this process. Only a new process can go on.
  bool device_lost() const;
  // The limit for compiling one kernel.
  static constexpr double most_compile_seconds = 30;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fourtune::tuner
