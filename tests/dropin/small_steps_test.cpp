// The drop-in libraries keep all digits of points, as the peers do: the difference of two results over a step of a
// point that is far below the tolerance is the derivative. Programs check gradients so (pytorch-finufft's tests).
// libcufinufft is the build whose GPU kernels the processor runs.
#include <array>
#include <cmath>
#include <complex>
#include <random>
#include <vector>

#include "tests/dropin/library.h"

namespace fourtune::test {
namespace {

const Library& cpu() {
  static const Library library("finufft", "");
  return library;
}
const Library& gpu() {
  static const Library library(std::string(FOURTUNE_BUILD_DIR) + "/tests/peers/emulated_cufinufft.so");
  return library;
}

template <class T>
struct Problem {
  using Complex = std::complex<T>;
  using Sums = std::vector<std::complex<double>>;
  int type, dim;
  std::array<std::int64_t, 3> n{10, 9, 8};
  std::int64_t m = 100, k = 20;     // more points than the libraries call few
  std::array<std::vector<T>, 6> x;  // sources, then targets of a type 3
  std::vector<Complex> c, f;

  Problem(int type_, int dim_) : type(type_), dim(dim_) {
    std::mt19937 random(static_cast<unsigned>(10 * type + dim));
    std::uniform_real_distribution<T> anywhere(-3, 3), small(-1, 1);
    for (int d = dim; d < 3; ++d) n[d] = 1;
    for (int d = 0; d < dim; ++d) {
      for (int j = 0; j < m; ++j) x[d].push_back(anywhere(random));
      for (int l = 0; type == 3 && l < k; ++l) x[3 + d].push_back(4 * small(random));
    }
    for (int j = 0; j < m; ++j) c.emplace_back(small(random), small(random));
    for (int l = 0; l < targets(); ++l) f.emplace_back(small(random), small(random));
  }
  // As many points as modes, n along each dimension, all of them on cells of any grid of a multiple of n.
  static Problem on_cells(int type, int dim, std::int64_t n) {
    Problem p(type, dim);
    for (int d = 0; d < dim; ++d) p.n[d] = n, p.x[d].clear();
    p.m = p.targets();
    for (std::int64_t j = 0; j < p.m; ++j)
      for (std::int64_t d = 0, rest = j; d < dim; ++d, rest /= n)
        p.x[d].push_back(
            static_cast<T>(2 * 3.14159265358979323846 * static_cast<double>(rest % n) / static_cast<double>(n)));
    return p;
  }
  std::int64_t targets() const { return type == 3 ? k : n[0] * n[1] * n[2]; }
  double frequency(std::int64_t l, int d) const {
    if (type == 3) return x[3 + d][l];
    for (int e = 0; e < d; ++e) l /= n[e];
    return static_cast<double>(l % n[d] - n[d] / 2);
  }

  // Of the results, with respect to coordinate `axis` (3 to 5: of a target) of point `which`.
  Sums derivative(int axis, std::int64_t which) const {
    Sums out(type == 2 ? m : targets());
    for (std::int64_t j = 0; j < m; ++j)
      for (std::int64_t l = 0; l < targets(); ++l) {
        if ((axis < 3 ? j : l) != which) continue;
        double phase = 0;
        for (int d = 0; d < dim; ++d) phase += frequency(l, d) * static_cast<double>(x[d][j]);
        const double slope = axis < 3 ? frequency(l, axis) : static_cast<double>(x[axis - 3][j]);
        const std::complex<double> factor = std::polar(1.0, phase) * std::complex<double>(0, slope);
        if (type == 2)
          out[j] += factor * std::complex<double>(f[l]);
        else
          out[l] += factor * std::complex<double>(c[j]);
      }
    return out;
  }

  std::vector<Complex> results(const Library& library, double tol) const {
    const bool on_gpu = &library == &gpu();
    const std::string name = std::string(on_gpu ? "cufinufft" : "finufft") + (sizeof(T) == 4 ? "f" : "");
    const auto at = [&](int d) { return x[d].empty() ? static_cast<const T*>(nullptr) : x[d].data(); };
    const void* const defaults = nullptr;
    auto values = c, modes = f;
    void* plan = nullptr;
    EXPECT_EQ(library.call(name + "_makeplan", type, dim, n.data(), 1, 1, static_cast<T>(tol), &plan, defaults), 0);
    const auto set = [&](auto targets) {
      return library.call(name + "_setpts", plan, m, at(0), at(1), at(2), targets, at(3), at(4), at(5));
    };
    EXPECT_EQ(on_gpu ? set(static_cast<int>(k)) : set(k), 0);
    EXPECT_EQ(
        library.call(name + "_execute", plan, static_cast<void*>(values.data()), static_cast<void*>(modes.data())), 0);
    EXPECT_EQ(library.call(name + "_destroy", plan), 0);
    return type == 2 ? values : modes;
  }
};

// The relative error of the quotient of differences, a step to either side. A step is what the numbers make of it.
template <class T>
double error_of_quotient(const Library& library, const Problem<T>& p, double tol, int axis, std::int64_t point,
                         double step) {
  Problem<T> low = p, high = p;
  T &from = low.x[axis][point], &to = high.x[axis][point];
  from = static_cast<T>(static_cast<double>(from) - step), to = static_cast<T>(static_cast<double>(to) + step);
  const double taken = static_cast<double>(to) - static_cast<double>(from);
  const auto before = low.results(library, tol), after = high.results(library, tol);
  const auto right = p.derivative(axis, point);
  double off = 0, norm = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    off += std::norm((std::complex<double>(after[i]) - std::complex<double>(before[i])) / taken - right[i]);
    norm += std::norm(right[i]);
  }
  return std::sqrt(off / norm);
}

template <class T>
void check(const Library& library, int type, int dim, double tol, double step, double most) {
  const Problem<T> p(type, dim);
  for (int axis = 0; axis < (type == 3 ? 6 : 3); ++axis) {
    if (axis % 3 >= dim) continue;
    EXPECT_LE(error_of_quotient(library, p, tol, axis, 7, step), most) << "type " << type << ", " << dim << "D, along "
                                                                       << "xyzstu"[axis];
  }
}

TEST(SmallSteps, OfAPointGiveTheDerivative) {
  for (const int type : {1, 2, 3})
    for (const int dim : {1, 2, 3}) check<double>(cpu(), type, dim, 1e-6, 1e-8, 1e-4);
}
TEST(SmallSteps, OfAPointGiveTheDerivativeOnAGpu) {
  for (const int type : {1, 2, 3})
    for (const int dim : {1, 3}) check<double>(gpu(), type, dim, 1e-6, 1e-8, 1e-4);
}
TEST(SmallSteps, GiveTheDerivativeInSinglePrecisionAndAtATightTolerance) {
  check<float>(cpu(), 1, 2, 1e-2, 1e-3, 0.1);
  check<float>(gpu(), 1, 2, 1e-2, 1e-3, 0.1);
  check<double>(cpu(), 2, 1, 1e-13, 1e-8, 1e-5);
}

// Windows of even width begin and end at points that lie on cells, where results jump by as much as the tolerance
// allows.
TEST(SmallSteps, OfAFewPointsOnCellsGiveTheDerivative) {
  for (const Library* library : {&cpu(), &gpu()})
    for (const int type : {1, 2})
      for (const int dim : {1, 2}) {
        const auto p = Problem<double>::on_cells(type, dim, 2);
        for (std::int64_t j = 0; j < p.m; ++j)
          EXPECT_LE(error_of_quotient(*library, p, 1e-6, 0, j, 1e-8), 1e-4)
              << "type " << type << ", " << dim << "D " << j;
      }
}

}  // namespace
}  // namespace fourtune::test
