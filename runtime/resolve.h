// Which plan runs a problem, and why: forced plan, else exact verdict, else nearest valid winner, else the cost model.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fourtune/device_traits.h"
#include "fourtune/problem.h"
#include "generator/plan.h"

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

// Plans stored for other tokens are adapted (fine grid, width from tolerance) and re-checked; text that does not parse
// for this problem is passed over and said so in explain. lookup may be null.
Resolution resolve(const Problem& problem, const DeviceTraits& traits, const db::Lookup* lookup,
                   const std::string& forced_plan);

}  // namespace fourtune::runtime
