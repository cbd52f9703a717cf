// Which plan runs a problem, and why: forced plan, else exact verdict, else nearest valid winner, else the cost model.
//
// A plan from a database is a stranger's word. It runs only if it parses, fits the problem, can meet its tolerance by
// the window model (generator/plan/accuracy.h), fits the device's memory and has not been refused by the backend; else
// it is passed over, named in explain, and the next one is looked at. A forced plan is the caller's own word.
#pragma once

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
  std::string wisdom;   // FFTW wisdom stored with the winner, if any
  std::string explain;  // a few lines: what was looked for, what was found, why this plan
};

// A plan that the backend would not bind.
struct Refusal {
  std::string plan;  // its text for this problem
  std::string why;
};

// Plans stored for other tokens are adapted (fine grid, width from tolerance) and re-checked. lookup may be null. No
// plan of `refused` comes back but the cost model's and the forced one.
Resolution resolve(const Problem& problem, const DeviceTraits& traits, const db::Lookup* lookup,
                   const std::string& forced_plan, std::span<const Refusal> refused = {});

}  // namespace fourtune::runtime
