#include "tests/support/drawn_ffts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace fourtune::test {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

class Draw {
 public:
  Draw(std::mt19937& random, const DrawLimits& limits) : random_(random), limits_(limits) {}

  Problem problem() {
    Problem p;
    p.kind = Kind::fft;
    p.tol = 0;
    p.fft_type = std::array{FftType::c2c, FftType::r2c, FftType::c2r}[below(3)];
    p.precision = below(2) ? Precision::f32 : Precision::f64;
    p.dim = limits_.four ? 4 : static_cast<int>(std::array{1, 1, 2, 3}[below(4)]);
    p.sign = below(2) ? 1 : -1;
    p.place = below(10) < 3 ? Place::in : Place::out;
    std::int64_t values = 1;
    for (int d = 0; d < p.dim; ++d) {
      const std::int64_t most = std::min(limits_.values / values, longest(p.dim));
      p.n[at(d)] = length(most);
      values *= p.n[at(d)];
    }
    if (below(2))
      p.batch = logarithmic(std::max<std::int64_t>(1, std::min<std::int64_t>(limits_.values / values, 4096)));
    if (below(3) == 0) add_layouts(p);
    validate(p);
    return p;
  }

 private:
  // A number below `count`. It uses the generator only, because distributions differ between libraries.
  std::size_t below(std::size_t count) { return random_() % count; }
  std::int64_t logarithmic(std::int64_t most) {
    const double share = static_cast<double>(random_()) / 4294967296.0;
    return std::clamp<std::int64_t>(std::llround(std::exp(share * std::log(static_cast<double>(most)))), 1, most);
  }
  std::int64_t longest(int dim) const { return dim == 1 ? limits_.longest : dim == 2 ? 16384 : 1024; }

  static bool smooth(std::int64_t n) {
    for (const std::int64_t p : {2, 3, 5, 7})
      while (n % p == 0) n /= p;
    return n == 1;
  }
  static bool prime(std::int64_t n) {
    for (std::int64_t p = 2; p * p <= n; ++p)
      if (n % p == 0) return false;
    return n > 1;
  }
  std::int64_t length(std::int64_t most) {
    const std::int64_t n = logarithmic(most);
    const std::size_t kind = below(10);
    if (kind < 3) return std::int64_t{1} << std::ilogb(static_cast<double>(n));
    std::int64_t other = n;
    if (kind < 7)
      while (!smooth(other)) --other;
    else if (kind < 8)
      while (other > 2 && !prime(other)) --other;
    return other;
  }

  // The dimensions and the batch in any order, with gaps.
  ArrayLayout layout(const Problem& p, const Sizes& sizes) {
    constexpr int batch = most_dimensions;
    std::vector<int> order{0, 1, 2, batch};
    if (limits_.four) order.push_back(3);
    for (std::size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[below(i + 1)]);
    ArrayLayout out;
    std::int64_t stride = 1 + static_cast<std::int64_t>(below(2));
    for (const int d : order) {
      if (d < batch && d >= p.dim) continue;
      (d == batch ? out.distance : out.stride[at(d)]) = stride;
      stride = stride * (d == batch ? p.batch : sizes[at(d)]) + static_cast<std::int64_t>(below(3));
    }
    return out;
  }
  void add_layouts(Problem& p) {
    if (below(4) > 0 || p.place == Place::in) p.input_layout = layout(p, input_sizes(p));
    if (p.place == Place::in && p.fft_type == FftType::c2c)
      p.output_layout = p.input_layout;
    else if (below(4) > 0 || p.place == Place::in)
      p.output_layout = layout(p, output_sizes(p));
  }

  std::mt19937& random_;
  const DrawLimits& limits_;
};

}  // namespace

Problem drawn_fft(std::mt19937& random, const DrawLimits& limits) { return Draw(random, limits).problem(); }

}  // namespace fourtune::test
