#include "dropin/common/spreading_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "generator/window/window.h"

namespace fourtune::dropin {

std::string with_kernel(const std::string& plan, const Problem& problem, double upsampling) {
  constexpr double kMostUpsampling = 4;
  const double sigma = std::min(upsampling, kMostUpsampling);
  const double tol = std::max(problem.tol, 2.5 * epsilon(problem.precision));  // below, rounding is larger
  const int width = generator::width_for(generator::WindowKind::pswf, tol, sigma, problem.dim);
  if (width == 0)
    throw Error(Status::tolerance_unreachable,
                fmt::format("no kernel reaches tol={:g} with upsampfac={:g}", problem.tol, upsampling));
  std::string fine;
  for (int d = 0; d < problem.dim; ++d) {
    const double cells = std::ceil(sigma * static_cast<double>(problem.n[d]));
    fine += fmt::format("{}{:.0f}", d ? "x" : "", cells);
  }
  const std::size_t begin = plan.find("window="), end = plan.find(')', begin);
  if (begin == plan.npos || end == plan.npos) throw Error(Status::internal, "a plan without a window: " + plan);
  return fmt::format("{}window=pswf(sigma={},width={},fine={}{}", plan.substr(0, begin), sigma, width, fine,
                     plan.substr(end));
}

}  // namespace fourtune::dropin
