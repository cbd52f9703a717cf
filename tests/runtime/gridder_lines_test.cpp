// Spreading and interpolation by whole aligned lines (gridder/simd_aligned-inl.h), compiled for every instruction set
// and not only for those that use it: grids that end, or begin, next to inaccessible memory, windows at every place of
// their lines, every width, and the resulting sums.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "generator/window/window.h"
#include "runtime/backends/cpu/gridder/targets.h"
#include "tests/runtime/forced_targets.h"
#include "tuner/measure/guarded_array.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/runtime/gridder_lines_test.cpp"
#include <hwy/foreach_target.h>

#include "runtime/backends/cpu/gridder/simd-inl.h"
#include "runtime/backends/cpu/gridder/tables.h"
// The kernels are based on these.
#include "runtime/backends/cpu/gridder/simd_aligned-inl.h"
#include "runtime/backends/cpu/gridder/simd_interp-inl.h"
#include "runtime/backends/cpu/gridder/simd_spread-inl.h"

#ifndef FOURTUNE_GRIDDER_LINES_TEST_
#define FOURTUNE_GRIDDER_LINES_TEST_
namespace fourtune::runtime::cpu {

template <class T>
struct LineKernels {
  int line = 0;  // complex numbers per line; 0: this instruction set has no vectors
  decltype(GridderKernels<T>::spread_points) spread = nullptr;
  decltype(GridderKernels<T>::interpolate_points) interpolate = nullptr;
  decltype(GridderKernels<T>::spread_points) pairs = nullptr;  // in 2D
  bool (*by_lines)(const T* grid, const Tiling& tiling, std::int64_t stride_y, std::int64_t stride_z) = nullptr;
};

}  // namespace fourtune::runtime::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace fourtune::runtime::cpu {
namespace HWY_NAMESPACE {
#if FOURTUNE_SIMD
template <class T>
void line_kernels(int width, int dim, LineKernels<T>& k) {
  k.line = kLineCells<T>;
  k.by_lines = rows_are_lines<T>;
  with_width(width, [&](auto w) {
    constexpr int kW = decltype(w)::value;
    k.spread = dim == 1   ? spread_points<T, kW, 1, true>
               : dim == 2 ? spread_points<T, kW, 2, true>
                          : spread_points<T, kW, 3, true>;
    k.interpolate = dim == 1   ? interpolate_points<T, kW, 1, true>
                    : dim == 2 ? interpolate_points<T, kW, 2, true>
                               : interpolate_points<T, kW, 3, true>;
    if (dim == 2) k.pairs = spread_pairs<T, kW>;
  });
}
void lines_f32(int width, int dim, LineKernels<float>& k) { line_kernels(width, dim, k); }
void lines_f64(int width, int dim, LineKernels<double>& k) { line_kernels(width, dim, k); }
#else
void lines_f32(int, int, LineKernels<float>&) {}
void lines_f64(int, int, LineKernels<double>&) {}
#endif
}  // namespace HWY_NAMESPACE
}  // namespace fourtune::runtime::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fourtune::runtime::cpu {
namespace {
HWY_EXPORT(lines_f32);
HWY_EXPORT(lines_f64);

LineKernels<float> kernels_of(float, int width, int dim) {
  LineKernels<float> k;
  HWY_DYNAMIC_DISPATCH(lines_f32)(width, dim, k);
  return k;
}
LineKernels<double> kernels_of(double, int width, int dim) {
  LineKernels<double> k;
  HWY_DYNAMIC_DISPATCH(lines_f64)(width, dim, k);
  return k;
}

// One point whose window ends in the last cell of the last row, begins in the first cell of the first row, or lies
// anywhere else in x.
template <class T>
class Case {
  using Complex = std::complex<T>;

 public:
  Case(int width, int dim, const LineKernels<T>& kernels) : w_(width), dim_(dim), kernels_(kernels) {
    const std::int64_t row = (width + 3 * kernels.line) / kernels.line * kernels.line;
    const std::array<std::int64_t, 3> fine{row, dim > 1 ? width : 1, dim > 2 ? width : 1};
    tiling_ = make_tiling(dim, fine, width, {kernels.line, 16, 16}, sizeof(Complex));
    strides_ = {1, dim > 1 ? row : 0, dim > 2 ? row * fine[1] : 0};
    cells_ = row * fine[1] * fine[2];
    std::mt19937_64 random(static_cast<unsigned>(17 * width + dim));
    std::uniform_real_distribution<double> unit(0.5, 1);
    WeightTables<T> tables;
    tables.width = width;
    tables.slots = tiling_.slots;
    block_.emplace(tables);
    block_->n = 1;
    std::fill_n(block_->x.data(), block_->x.size(), T{0});
    for (int p = 0; p < width; ++p) {
      block_->x[2 * p] = block_->x[2 * p + 1] = static_cast<T>(unit(random));
      block_->y_weights()[std::int64_t{p} * kBlockPoints] = static_cast<T>(unit(random));
      block_->z[std::int64_t{p} * kBlockPoints] = static_cast<T>(unit(random));
    }
    // The values after a point's row belong to another point.
    for (std::int64_t i = 2 * tiling_.slots; i < block_->x.size(); ++i) block_->x[i] = static_cast<T>(1e3);
  }

  void run() {
    for (const tuner::Guard guard : {tuner::Guard::before, tuner::Guard::behind}) {
      for (std::int64_t x = 0; x + w_ <= tiling_.fine[0]; ++x) {
        const tuner::GuardedArray memory(static_cast<std::size_t>(cells_) * sizeof(Complex), guard);
        auto* grid = memory.as<Complex>();
        ASSERT_TRUE(kernels_.by_lines(memory.as<T>(), tiling_, strides_[1], strides_[2]));
        spread_at(x, grid);
        interpolate_at(x, grid);
        EXPECT_TRUE(memory.slack_intact());
      }
    }
  }

 private:
  T weight(int p, int q, int r) const {
    const T y = dim_ > 1 ? block_->y_weights()[std::int64_t{q} * kBlockPoints] : T{1};
    const T z = dim_ > 2 ? block_->z[std::int64_t{r} * kBlockPoints] : T{1};
    return block_->x[2 * p] * y * z;
  }
  template <class F>
  void each(std::int64_t x, F f) const {
    for (int r = 0; r < (dim_ > 2 ? w_ : 1); ++r)
      for (int q = 0; q < (dim_ > 1 ? w_ : 1); ++q)
        for (int p = 0; p < w_; ++p) f(x + p + q * strides_[1] + r * strides_[2], weight(p, q, r));
  }
  void spread_at(std::int64_t x, Complex* grid) const {
    const Complex strength(2, -3), before(1, 4);
    std::fill_n(grid, cells_, before);
    kernels_.spread(*block_, tiling_, &strength, &x, strides_[1], strides_[2], reinterpret_cast<T*>(grid));
    std::vector<Complex> want(static_cast<std::size_t>(cells_), before);
    each(x, [&](std::int64_t cell, T weight) { want[static_cast<std::size_t>(cell)] += weight * strength; });
    T worst = 0;
    for (std::int64_t i = 0; i < cells_; ++i)
      worst = std::max(worst, std::abs(grid[i] - want[static_cast<std::size_t>(i)]));
    EXPECT_LE(worst, 16 * std::numeric_limits<T>::epsilon()) << "width " << w_ << " " << dim_ << "D at " << x;
  }
  void interpolate_at(std::int64_t x, Complex* grid) const {
    // Values around the window must not matter, even if they are not numbers.
    std::fill_n(grid, cells_, Complex(std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()));
    Complex want = 0, got = 0;
    each(x, [&](std::int64_t cell, T weight) {
      grid[cell] = Complex(static_cast<T>(cell % 7), static_cast<T>(cell % 5) - 2);
      want += weight * grid[cell];
    });
    kernels_.interpolate(*block_, tiling_, reinterpret_cast<const T*>(grid), &x, strides_[1], strides_[2], &got);
    EXPECT_LE(std::abs(got - want), 64 * std::numeric_limits<T>::epsilon() * (1 + std::abs(want)))
        << "width " << w_ << " " << dim_ << "D at " << x;
  }

  int w_, dim_;
  LineKernels<T> kernels_;
  Tiling tiling_;
  std::array<std::int64_t, 3> strides_{};
  std::int64_t cells_ = 0;
  std::optional<WeightBlock<T>> block_;
};

// Three points of one block in a plane: the second one begins anywhere around the first one, in reach of a pair or not,
// and the third one is left without a partner unless the second one was.
template <class T>
class PairCase {
  using Complex = std::complex<T>;

 public:
  PairCase(int width, const LineKernels<T>& kernels) : w_(width), kernels_(kernels) {
    row_ = (width + 4 * kernels.line - 1) / kernels.line * kernels.line;
    tiling_ = make_tiling(2, {row_, rows(), 1}, width, {kernels.line, 16, 1}, sizeof(Complex));
    WeightTables<T> tables;
    tables.width = width;
    tables.slots = tiling_.slots;
    block_.emplace(tables);
    block_->n = kPoints;
    std::mt19937_64 random(static_cast<unsigned>(width));
    std::uniform_real_distribution<double> unit(0.5, 1);
    std::fill_n(block_->x.data(), block_->x.size(), T{0});
    for (int j = 0; j < kPoints; ++j)
      for (int p = 0; p < width; ++p) {
        x_weight(j, p)[0] = x_weight(j, p)[1] = static_cast<T>(unit(random));
        y_weight(j, p) = static_cast<T>(unit(random));
      }
  }

  void run() {
    const std::int64_t last = row_ - w_;
    for (const tuner::Guard guard : {tuner::Guard::before, tuner::Guard::behind})
      for (std::int64_t first = 0; first <= last; ++first)
        for (std::int64_t second = 0; second <= last; ++second)
          for (std::int64_t y = 0; y <= kPairRows + 1; ++y) {
            check(guard, {first, second, last}, {0, y, rows() - w_});
            check(guard, {first, second, 0}, {y, 0, 0});
          }
  }

 private:
  static constexpr int kPoints = 3;
  using Places = std::array<std::int64_t, kPoints>;
  std::int64_t rows() const { return w_ + kPairRows + 1; }
  T* x_weight(int j, int p) { return block_->x.data() + 2 * (j * tiling_.slots + p); }
  T& y_weight(int j, int p) { return block_->y_weights()[p * kBlockPoints + j]; }

  void check(tuner::Guard guard, const Places& x, const Places& y) {
    const std::int64_t cells = row_ * rows();
    const tuner::GuardedArray memory(static_cast<std::size_t>(cells) * sizeof(Complex), guard);
    auto* grid = memory.as<Complex>();
    const Complex before(1, 4), strengths[kPoints] = {{2, -3}, {-1, 2}, {3, 1}};
    std::fill_n(grid, cells, before);
    std::vector<Complex> want(static_cast<std::size_t>(cells), before);
    std::int64_t element[kPoints];
    for (int j = 0; j < kPoints; ++j) {
      element[j] = x[j] + y[j] * row_;
      for (int q = 0; q < w_; ++q)
        for (int p = 0; p < w_; ++p)
          want[static_cast<std::size_t>(element[j] + p + q * row_)] +=
              x_weight(j, p)[0] * y_weight(j, q) * strengths[j];
    }
    kernels_.pairs(*block_, tiling_, strengths, element, row_, 0, memory.as<T>());
    T worst = 0;
    for (std::int64_t i = 0; i < cells; ++i)
      worst = std::max(worst, std::abs(grid[i] - want[static_cast<std::size_t>(i)]));
    ASSERT_LE(worst, 64 * std::numeric_limits<T>::epsilon())
        << "width " << w_ << " at " << x[0] << ", " << y[0] << " and " << x[1] << ", " << y[1];
    ASSERT_TRUE(memory.slack_intact());
  }

  int w_;
  LineKernels<T> kernels_;
  std::int64_t row_;
  Tiling tiling_;
  std::optional<WeightBlock<T>> block_;
};

template <class T>
int run_all() {
  int line = 0;
  for (int dim = 1; dim <= 3; ++dim) {
    for (int width = generator::kMinWidth; width <= generator::kMaxWidth; width += dim < 3 || width < 9 ? 1 : 3) {
      const LineKernels<T> kernels = kernels_of(T{}, width, dim);
      line = kernels.line;
      if (line > 0) Case<T>(width, dim, kernels).run();
      if (line > 0 && dim == 2 && width % 3 == 2) PairCase<T>(width, kernels).run();
    }
  }
  return line;
}

void run_with(std::int64_t target, const char* name) {
  if (!can_run(target))
    GTEST_SKIP() << "no " << name << " on this processor or in this build: its lines were NOT tested here";
  hwy::SetSupportedTargetsForTest(target | HWY_SCALAR);
  const int single = run_all<float>(), twice = run_all<double>();
  hwy::SetSupportedTargetsForTest(0);
  EXPECT_EQ(single, 2 * twice);
  EXPECT_GE(single, 4) << name << ": lines of fewer numbers cannot show what windows that begin late touch";
}

TEST(GridderLines, AWindowTouchesNoOtherLinesWithAvx2) { run_with(HWY_AVX2, "AVX2"); }
TEST(GridderLines, AWindowTouchesNoOtherLinesWithAvx512) { run_with(HWY_AVX3, "AVX-512"); }

}  // namespace
}  // namespace fourtune::runtime::cpu
#endif
