#include "dropin/common/interface.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace fourtune::dropin {
namespace {

ForeignPlan& checked(ForeignPlan* plan, Precision precision) {
  if (!plan) throw Failure(Code::no_plan, "the plan is null");
  if (plan->request().precision != precision)
    throw Failure(Code::no_plan, fmt::format("the plan is of {}; call the function of that precision",
                                             to_string(plan->request().precision)));
  return *plan;
}

// The interface promises to read inputs only; which of the two arrays is one depends on the type.
void* values(const void* array) { return const_cast<void*>(array); }

template <class Real>
int simple_in(const SimpleCall<Real>& call) {
  return guarded(call.name, [&] {
    Request request;
    request.type = call.type;
    request.dim = call.dim;
    request.modes = call.modes;
    request.sign = call.sign >= 0 ? 1 : -1;
    request.count = call.count;
    request.precision = sizeof(Real) == sizeof(float) ? Precision::f32 : Precision::f64;
    request.tol = call.tol;
    const Checked checked_request = read_options(call.name, call.options, request);
    ForeignPlan plan(checked_request.request);
    const Code code =
        plan.set_points({call.points, call.x[0], call.x[1], call.x[2], call.targets, call.s[0], call.s[1], call.s[2]});
    plan.execute(values(call.point_values), values(call.mode_values), false);
    return std::max(checked_request.code, code);
  });
}

}  // namespace

int make_plan(const char* caller, const PlanCall& call) {
  return guarded(caller, [&] {
    if (!call.plan) throw Failure(Code::bad_argument, "the pointer that receives the plan is null");
    *call.plan = nullptr;
    Request request;
    request.type = call.type;
    request.dim = call.dim;
    request.sign = call.sign >= 0 ? 1 : -1;
    request.count = call.count;
    request.precision = call.precision;
    request.tol = call.tol;
    if (call.type == 1 || call.type == 2) {
      if (!call.modes) throw Failure(Code::bad_modes, "the array of mode counts is null");
      std::copy_n(call.modes, std::clamp(call.dim, 0, 3), request.modes.begin());
    }
    const Checked checked_request = read_options(caller, call.options, request);
    *call.plan = new ForeignPlan(checked_request.request);
    return checked_request.code;
  });
}

int set_points(const char* caller, ForeignPlan* plan, Precision precision, const Points& points) {
  return guarded(caller, [&] { return checked(plan, precision).set_points(points); });
}

int execute(const char* caller, ForeignPlan* plan, Precision precision, const void* point_values,
            const void* mode_values, bool adjoint) {
  return guarded(caller, [&] {
    checked(plan, precision).execute(values(point_values), values(mode_values), adjoint);
    return Code::success;
  });
}

int destroy(const char* caller, ForeignPlan* plan, Precision precision) {
  return guarded(caller, [&] {
    delete &checked(plan, precision);
    return Code::success;
  });
}

int simple(const SimpleCall<float>& call) { return simple_in(call); }
int simple(const SimpleCall<double>& call) { return simple_in(call); }

}  // namespace fourtune::dropin
