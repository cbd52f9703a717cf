// Chooses the plan that runs a problem and says why: a forced plan, else an exact verdict, else the nearest valid
// winner, else the plan of the cost model.
//
// A plan from a database is not trusted. It runs only if it parses, fits the problem, can meet its tolerance by the
// window model (generator/plan/accuracy.h), fits the device's memory and has not been refused by the backend; otherwise
// it is passed over and named in explain, and the next one is tried. A forced plan is the caller's responsibility.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fourtune/device_traits.h"
#include "fourtune/problem.h"
#include "generator/plan/plan.h"

namespace fourtune::db {
class Lookup;
}

namespace fourtune::runtime {

enum class Source { forced, verdict, nearest, model };
const char* to_string(Source source) noexcept;

struct Resolution {
  generator::Plan plan;
  Source source = Source::model;
  std::string from;             // the database or pack of a verdict, by name; empty for the other sources
  std::string tuned_on;         // the device on which a stored plan was tuned; empty for the other sources
  std::string wisdom;           // FFTW wisdom stored with the winner, if any
  std::string objective;        // by which the stored plan won, time or energy; empty for the other sources
  double measured_seconds = 0;  // of one execute of this plan, for this problem on such a device; 0: not measured
  std::string explain;          // a few lines: what was looked for, what was found and why this plan was chosen
};

// A plan that the backend failed to bind.
struct Refusal {
  std::string plan;  // its text for this problem
  std::string why;
};

// Plans stored for other tokens are adapted (fine grid, width from tolerance) and checked again. lookup may be null. A
// plan listed in `refused` is never returned, unless it is the cost model's plan or the forced one.
Resolution resolve(const Problem& problem, const DeviceTraits& traits, const db::Lookup* lookup,
                   const std::string& forced_plan, std::span<const Refusal> refused = {});

// The last resort where there is no compiler: a plan measured on another architecture for this problem, unchanged. A
// pack may have its kernels as PTX, which drivers of later GPUs translate. Empty if there is none.
std::optional<Resolution> resolve_foreign(const Problem& problem, const DeviceTraits& traits, const db::Lookup& lookup,
                                          std::span<const Refusal> refused = {});

}  // namespace fourtune::runtime
