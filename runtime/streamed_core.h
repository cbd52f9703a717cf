// What transforms that go through a device in pieces have in common: their streams, and texts that are known when
// they are made.
#pragma once

#include <string>

#include "fourtune/problem.h"
#include "runtime/transform_core.h"

namespace fourtune::runtime {

class StreamedCore : public TransformCore {
 public:
  void set_stream(void*) final {}  // it has other streams, and is done when it returns
  const Problem& problem() const final { return problem_; }
  const std::string& plan() const final { return plan_; }
  const std::string& explain() const final { return explain_; }
  const std::string& warnings() const final { return warnings_; }

 protected:
  explicit StreamedCore(const Problem& problem) : problem_(problem) {}

  Problem problem_;
  std::string plan_, explain_, warnings_;
};

}  // namespace fourtune::runtime
