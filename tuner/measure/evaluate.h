// Evaluates plans in this process, with the executor that users run. In a session this is what the worker child does.
#pragma once

#include <filesystem>
#include <memory>

#include "runtime/backends/backend.h"
#include "tuner/measure/evaluator.h"

namespace fourtune::tuner {

class LocalEvaluator : public Evaluator {
 public:
  // On that device of the backend, which must outlive this. recorded: folder of recorded points (recorded_points.h), if
  // any.
  explicit LocalEvaluator(const runtime::Backend& backend, std::filesystem::path recorded = {}, int device = 0);
  ~LocalEvaluator() override;
  DeviceTraits traits() override;
  double load(const Problem& problem, std::uint64_t seed) override;
  // Backends that compile do so on all the host's threads but one.
  void prepare(const std::vector<std::string>& plans) override;
  Evaluation evaluate(const EvaluationRequest& request) override;
  FinalsResult finals(const FinalsRequest& request) override;
  // A plan has broken the device for this process; only a new one can go on.
  bool device_lost() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fourtune::tuner
