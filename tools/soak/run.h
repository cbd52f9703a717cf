// Tries one case with one plan through the public interface, and checks everything that the documentation promises.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/backends/backend.h"
#include "tools/soak/data.h"

namespace fourtune::tools {

// The result of a case. `failure` is a short text that stays the same while a case is shrunk:
//   "status NAME"  a valid problem was refused        "wrong"    the result is above max(3 tol, 30 eps)
//   "adjoint"      <Ax, Ax> is not <x, A*Ax>           "repeat"   a second run gives something else
//   "outside"      written outside the arrays         "gaps"     written between the elements of a layout
//   "input"        the array that is read was changed  "memory"   more held than promised
// "signal NAME", "timeout", "exit": how the worker ended, reported by its parent
struct SoakOutcome {
  std::string failure;  // empty: no failure
  std::string message;
  std::string refused;  // not empty: it did not run, and need not (no memory, or a forced plan that does not fit)
  std::string plan;     // the plan that ran
  double error = 0, allowed = 0, mismatch = 0, repeat = 0;
  double create_seconds = 0, set_points_seconds = 0, execute_seconds = 0;
  std::int64_t held = 0, promised = 0;
};

// Thrown by what tries a case: the outcome's failure and message.
struct Trouble {
  std::string failure, message;
};

class DropIn;

struct SoakSetup {
  const runtime::Backend* backend = nullptr;
  int device = 0;
  std::string plan;  // empty: the plan that the library chooses by default
  // A result up to this factor above the bound is not a failure, because the listed candidates reach slightly beyond
  // what the tuner then finds right.
  double slack = 1;
  const DropIn* dropin = nullptr;     // tried instead of the library's own interface, if there is one
  tuner::DeviceSums* sums = nullptr;  // of the device, if it computes what results are checked against
};

// Never throws because of what a transform does.
SoakOutcome try_case(const CaseData& data, const SoakSetup& setup);

}  // namespace fourtune::tools
