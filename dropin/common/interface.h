// What the C and the Fortran functions call, in either precision.
#pragma once

#include <array>
#include <cstdint>

#include "dropin/common/plan.h"
#include "dropin/common/simple_call.h"

namespace fourtune::dropin {

// Puts the caller's options (null: defaults) into the request and checks it. Writes warnings in the name of `caller`.
// Each library has its own.
Checked read_options(const char* caller, const void* options, Request request);

struct PlanCall {
  int type, dim;
  const std::int64_t* modes;  // `dim` counts; not read for type 3
  int sign, count;
  Precision precision;
  double tol;
  ForeignPlan** plan;  // null after a failure
  const void* options;
};
int make_plan(const char* caller, const PlanCall& call);
int set_points(const char* caller, ForeignPlan* plan, Precision precision, const Points& points);
int execute(const char* caller, ForeignPlan* plan, Precision precision, const void* point_values,
            const void* mode_values, bool adjoint);
int destroy(const char* caller, ForeignPlan* plan, Precision precision);

// Makes a plan, executes it and destroys it.
int simple(const SimpleCall<float>& call);
int simple(const SimpleCall<double>& call);

}  // namespace fourtune::dropin
