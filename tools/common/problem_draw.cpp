#include "tools/common/problem_draw.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace fourtune::tools {
namespace {

bool is_smooth(std::int64_t n) {
  for (const int p : {2, 3, 5, 7})
    while (n % p == 0) n /= p;
  return n == 1;
}

// Like Python's round(): halves go to the even neighbour, which is also this machine's rounding mode.
std::int64_t rounded(double value) { return static_cast<std::int64_t>(std::nearbyint(value)); }

// Numbers are drawn in the order of the Python program; where it draws nothing, this code draws nothing either.
constexpr std::array kPrecisions{Precision::f32, Precision::f64};

}  // namespace

ProblemDraw::ProblemDraw(Kind kind, std::uint64_t seed, double megabytes)
    : kind_(kind), limit_(megabytes * 1e6), random_(fmt::format("{} {}", to_string(kind), seed)) {}

std::int64_t ProblemDraw::length(double low, double high) {
  for (int trial = 0; trial < 1000; ++trial) {
    std::int64_t n = rounded(std::exp(random_.uniform(std::log(low), std::log(high))));
    const double kind = random_.random();
    if (kind < 0.35)
      n = std::int64_t{1} << std::max<std::int64_t>(0, rounded(std::log2(static_cast<double>(n))));
    else if (kind < 0.75)
      while (!is_smooth(n)) ++n;
    if (low <= static_cast<double>(n) && static_cast<double>(n) <= high) return n;
  }
  return static_cast<std::int64_t>(low);
}

ProblemDraw::Sizes ProblemDraw::sizes(int dim, double low, double high) {
  Sizes out{{1, 1, 1}, {}, 1};
  for (int d = 0; d < dim; ++d) out.n[d] = length(low, high);
  if (dim > 1 && random_.random() < 0.5) out.n[1] = out.n[0], out.n[2] = dim == 3 ? out.n[0] : 1;
  for (int d = 0; d < dim; ++d) {
    out.text += fmt::format("{}{}", d > 0 ? "x" : "", out.n[d]);
    out.product *= static_cast<double>(out.n[d]);
  }
  return out;
}

std::string ProblemDraw::next_fft() {
  constexpr std::array kTypes{FftType::c2c, FftType::r2c, FftType::c2r};
  while (true) {
    const FftType type = kTypes[random_.choices(std::array{6, 2, 1})];
    const Precision precision = kPrecisions[random_.choice(2)];
    const int dim = 1 + static_cast<int>(random_.choices(std::array{5, 3, 4}));
    const Sizes n = sizes(dim, dim == 1 ? 2 : 8, dim == 1 ? 1 << 21 : dim == 2 ? 4096 : 640);
    const double each = n.product * (precision == Precision::f32 ? 8 : 16);
    const double most = limit_ / (2 * each);
    if (most < 1 || n.product * most < 1 << 14) continue;
    std::int64_t batch = 1;
    if (random_.random() < (dim == 1 ? 0.9 : 0.5)) batch = rounded(std::exp(random_.uniform(0, std::log(most))));
    const bool in_place = type == FftType::c2c && random_.random() < 0.3;
    return fmt::format("fft:type={},n={},prec={}{}{}", to_string(type), n.text, to_string(precision),
                       batch > 1 ? fmt::format(",batch={}", batch) : "", in_place ? ",place=in" : "");
  }
}

std::string ProblemDraw::next_nufft() {
  constexpr std::array kBatches{1, 1, 1, 2, 4, 8, 12, 16, 32};
  constexpr std::array kClasses{"", "cluster", "radial"};
  while (true) {
    const int type = 1 + static_cast<int>(random_.choices(std::array{4, 4, 2}));
    const Precision precision = kPrecisions[random_.choice(2)];
    const double tol = std::pow(10.0, -random_.uniform(1.5, precision == Precision::f32 ? 6 : 13));
    const int dim = 1 + static_cast<int>(random_.choices(std::array{1, 3, 4}));
    const double batch = kBatches[random_.choice(kBatches.size())];
    const double size = precision == Precision::f32 ? 8 : 16;
    const std::string end = fmt::format(",prec={},tol={:.1e}", to_string(precision), tol);
    if (type == 3) {
      const auto m = static_cast<double>(rounded(std::pow(10.0, random_.uniform(3, 6.5))));
      const auto k = static_cast<double>(rounded(m * std::pow(10.0, random_.uniform(-1.5, 0.5))));
      if ((m + k) * (2 + dim) * size > limit_ || k < 10) continue;
      return fmt::format("nufft:type=3,dim={},m={:.0f},k={:.0f}{}", dim, m, k, end);
    }
    const Sizes n = sizes(dim, dim == 1 ? 64 : dim == 2 ? 24 : 12, dim == 1 ? 2000000 : dim == 2 ? 3000 : 300);
    const auto m = static_cast<double>(rounded(n.product * std::pow(10.0, random_.uniform(-1.5, 1.5))));
    if (m < 200 || (m * batch + n.product * batch) * size > limit_ || m * dim * size > limit_) continue;
    const std::string points = kClasses[random_.choices(std::array{5, 2, dim > 1 ? 3 : 0})];
    return fmt::format("nufft:type={},n={},m={:.0f}{}{}{}", type, n.text, m, end,
                       batch > 1 ? fmt::format(",batch={:.0f}", batch) : "", points.empty() ? "" : ",points=" + points);
  }
}

}  // namespace fourtune::tools
