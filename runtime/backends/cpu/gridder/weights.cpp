#include "runtime/backends/cpu/gridder/weights.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "generator/window/polynomial.h"
#include "runtime/backends/cpu/gridder/record.h"

namespace fourtune::runtime::cpu {
namespace {

generator::Window bound_window(const GridderSpec& spec) {
  const auto& w = spec.window;
  return spec.beta > 0 ? generator::Window(w.kind, w.width, w.sigma, spec.beta) : generator::window_of(w);
}

// spec.accuracy is for tests; below what the arithmetic can reach, it has no effect.
template <class T>
generator::PiecewisePolynomial polynomial(const GridderSpec& spec, const generator::Window& window) {
  constexpr double kEpsilon = std::numeric_limits<T>::epsilon();
  if (spec.accuracy <= 0) return generator::kernel_polynomial(window, kEpsilon);
  return generator::fit(window, std::clamp(spec.accuracy, 0.25 * kEpsilon, 1e-2));
}

// So many bits of a cell lie above the last bit of a coordinate that is half a period or more.
template <class T>
int bits_of_a_period(const GridShape& grid) {
  const auto fewest = static_cast<std::uint64_t>(*std::min_element(grid.fine.begin(), grid.fine.begin() + grid.dim));
  return std::numeric_limits<T>::digits - (std::bit_width(fewest) - 1);
}

}  // namespace

template <class T>
WeightTables<T> make_weight_tables(const GridderSpec& spec, const Tiling& tiling) {
  WeightTables<T> t;
  t.width = tiling.width;
  t.slots = tiling.slots;
  t.table = spec.window.table;
  const generator::Window window = bound_window(spec);
  if (t.table > 0) {
    t.degree = 1;
    t.piece.resize(std::int64_t{t.table + 1} * t.width);
    for (int e = 0; e <= t.table; ++e) {
      const double z = 2.0 * e / t.table - 1;
      for (int p = 0; p < t.width; ++p) {
        t.piece[e * t.width + p] = static_cast<T>(window.value((z - t.width + 1 + 2 * p) / t.width));
      }
    }
    return t;
  }
  const generator::PiecewisePolynomial poly = polynomial<T>(spec, window);
  t.degree = poly.degree;
  t.piece.resize(std::int64_t{t.degree + 1} * t.width);
  for (std::int64_t i = 0; i < t.piece.size(); ++i) t.piece[i] = static_cast<T>(poly.coefficients[i]);
  t.pairs = t.degree / 2 + 1;
  t.row = (t.width + kLine / int{sizeof(T)} - 1) / (kLine / int{sizeof(T)}) * (kLine / int{sizeof(T)});
  t.parts.resize(std::int64_t{2} * t.pairs * t.row);
  std::fill(t.parts.data(), t.parts.data() + t.parts.size(), T{0});
  const int first = 2 * t.pairs - 1 - t.degree;  // the highest power is odd; its coefficients may be zero
  for (int k = 0; k <= t.degree; ++k)
    std::copy_n(t.piece.data() + std::int64_t{k} * t.width, t.width, t.parts.data() + std::int64_t{first + k} * t.row);
  return t;
}

// The errors of rounded positions and of the window are independent: at 0.4 of the window's error, the root of the sum
// of squares grows by a twelfth. A float holds 24 bits of f. Exact points have at least the bits of a T below one
// period.
template <class T>
int position_bits(const GridderSpec& spec) {
  const auto& w = spec.window;
  double error = 10 * spec.accuracy;
  if (error <= 0)
    error = w.width > generator::kMaxWidth ? 0 : generator::predicted_error(w.kind, w.width, w.sigma, spec.grid.dim);
  int bits =
      fraction_bits(std::clamp(0.4 * error, double{std::numeric_limits<T>::epsilon()}, 4e-2), w.sigma, spec.grid.dim);
  if (spec.exact_points) bits = std::max(bits, bits_of_a_period<T>(spec.grid));
  return std::min(bits, sizeof(T) == 4 ? 24 : kMostFraction);
}

template int position_bits<float>(const GridderSpec&);
template int position_bits<double>(const GridderSpec&);
template WeightTables<float> make_weight_tables<float>(const GridderSpec&, const Tiling&);
template WeightTables<double> make_weight_tables<double>(const GridderSpec&, const Tiling&);

}  // namespace fourtune::runtime::cpu
