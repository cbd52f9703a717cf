// The public transform: hands its calls on to what runs them.
#include "fourtune/transform.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "runtime/arguments.h"
#include "runtime/checked_arrays.h"
#include "runtime/transform_core.h"

namespace fourtune {

struct Transform::State {
  std::unique_ptr<runtime::TransformCore> core;
};

Transform::Transform(std::string_view problem, const Options& options) try : state_(std::make_unique<State>()) {
  const Problem asked = runtime::reachable(parse_typed_problem(problem), options.clamp_tolerance);
  state_->core =
      options.devices.empty() ? runtime::on_one_device(asked, options) : runtime::on_many_devices(asked, options);
  if (runtime::checks_arrays()) state_->core = runtime::with_checked_arrays(std::move(state_->core), options);
} catch (...) {
  runtime::rethrow_named();
}

void Transform::prepare(std::string_view problem, const Options& options) try {
  const Problem asked = runtime::reachable(parse_typed_problem(problem), options.clamp_tolerance);
  if (asked.kind == Kind::nufft && (!asked.m || (asked.type == 3 && !asked.k)))
    throw Error(Status::invalid_argument, fmt::format("prepare: the plan depends on the number of points; add {}",
                                                      asked.type == 3 ? "m and k" : "m"));
  options.devices.empty() ? runtime::prepare_on_one_device(asked, options)
                          : runtime::prepare_on_many_devices(asked, options);
} catch (...) {
  runtime::rethrow_named();
}

Transform::~Transform() = default;
Transform::Transform(Transform&&) noexcept = default;
Transform& Transform::operator=(Transform&&) noexcept = default;

void Transform::set_points(const Points& points) try {
  runtime::check_points(problem(), points);
  state_->core->set_points(points);
} catch (...) {
  runtime::rethrow_named();
}

void Transform::set_bounds(const Bounds& bounds) {
  const Problem& its = problem();
  if (its.kind != Kind::nufft || its.type != 3)
    throw Error(Status::invalid_argument, "set_bounds: only a type 3 takes bounds; other types fold their points");
  for (std::size_t i = 0; i < 6; ++i) {
    if (static_cast<int>(i % 3) >= its.dim) continue;
    if (!std::isfinite(bounds.low[i]) || !std::isfinite(bounds.high[i]) || bounds.low[i] > bounds.high[i])
      throw Error(Status::invalid_argument, fmt::format("set_bounds: {} from {} to {}; bounds are finite and in order",
                                                        "xyzstu"[i], bounds.low[i], bounds.high[i]));
  }
  state_->core->set_bounds(bounds);
}

void Transform::execute(void* point_values, void* mode_values) try {
  state_->core->execute(point_values, mode_values, false);
} catch (...) {
  runtime::rethrow_named();
}
void Transform::execute_adjoint(void* point_values, void* mode_values) try {
  state_->core->execute(point_values, mode_values, true);
} catch (...) {
  runtime::rethrow_named();
}

void Transform::set_stream(void* stream) { state_->core->set_stream(stream); }
const Problem& Transform::problem() const noexcept { return state_->core->problem(); }
MemoryUse Transform::memory() const { return state_->core->memory(); }
const std::string& Transform::plan() const noexcept { return state_->core->plan(); }
const std::string& Transform::explain() const noexcept { return state_->core->explain(); }
const std::string& Transform::warnings() const noexcept { return state_->core->warnings(); }
std::vector<StageTime> Transform::stage_times() const { return state_->core->stage_times(); }

}  // namespace fourtune
