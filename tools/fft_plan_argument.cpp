#include "tools/fft_plan_argument.h"

#include <fmt/format.h>

#include "fourtune/status.h"
#include "generator/fft/geometry.h"
#include "tools/errors.h"

namespace fourtune::tools {

namespace fft = generator::fft;

fft::FftPlan fft_plan_argument(const std::string& text, const fft::Lengths& lengths) {
  constexpr const char* kHint = "docs/fft-plans.md has the notation and its rules";
  fft::FftPlan plan;
  try {
    plan = fft::parse_notation(text);
  } catch (const Error& error) {
    throw UsageError(error.what(), kHint);
  }
  if (const auto broken = fft::check(plan, lengths); !broken.empty()) {
    const std::string more = broken.size() > 1 ? fmt::format(" (and {} more)", broken.size() - 1) : "";
    throw UsageError(broken[0].message + more, kHint);
  }
  return plan;
}

}  // namespace fourtune::tools
