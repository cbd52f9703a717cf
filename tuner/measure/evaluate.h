// Evaluates plans in this process, with the same executor that users run. In a session the worker child does this.
#pragma once

#include <filesystem>
#include <memory>

#include "runtime/backends/backend.h"
#include "tuner/measure/evaluator.h"

namespace fourtune::tuner {

class LocalEvaluator : public Evaluator {
 public:
  // Uses device number `device` of the backend. The backend must outlive this object. recorded: the folder of recorded
  // points (recorded_points.h), if any.
  explicit LocalEvaluator(const runtime::Backend& backend, std::filesystem::path recorded = {}, int device = 0);
  ~LocalEvaluator() override;
  DeviceTraits traits() override;
  double load(const Problem& problem, std::uint64_t seed) override;
  // Backends that compile use all but one of the host's threads for it.
  void prepare(const std::vector<std::string>& plans) override;
  Evaluation evaluate(const EvaluationRequest& request) override;
  FinalsResult finals(const FinalsRequest& request) override;
  // True when a plan has broken the device for this process. Only a new process can go on.
  bool device_lost() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fourtune::tuner
