// Every instruction set of this processor gives the same sums to rounding, and the forced one really runs.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <complex>
#include <random>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "runtime/backends/cpu/gridder/gridder.h"
#include "runtime/backends/cpu/gridder/kernels.h"
#include "tests/runtime/forced_targets.h"
#include "tests/runtime/gridder_reference.h"

namespace fourtune::runtime::cpu {
namespace {

struct Isa {
  const char* name;
  std::int64_t targets;
};
constexpr Isa kIsas[] = {
    {"portable", HWY_SCALAR}, {"avx2", HWY_AVX2 | HWY_SCALAR}, {"avx512", HWY_AVX3 | HWY_AVX2 | HWY_SCALAR}};

template <class T>
double difference(const std::vector<std::complex<T>>& a, const std::vector<std::complex<T>>& b) {
  double d = 0, n = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    d += std::norm(std::complex<double>(a[i]) - std::complex<double>(b[i]));
    n += std::norm(std::complex<double>(b[i]));
  }
  return std::sqrt(d / n);
}

// Spreads to a grid, then interpolates from that grid.
template <class T>
void run(const GridderSpec& spec, std::vector<std::complex<T>>& grid, std::vector<std::complex<T>>& values) {
  std::mt19937_64 engine(3);
  std::uniform_real_distribution<double> unit(-20, 20);
  const std::int64_t m = 500;
  std::vector<T> c[3];
  for (auto& axis : c) {
    for (std::int64_t j = 0; j < m; ++j) axis.push_back(static_cast<T>(unit(engine)));
  }
  const double factor = 0.15915494309189535;
  auto gridder = make_gridder<T>(spec);
  gridder->set_points(m, c[0].data(), c[1].data(), c[2].data(), {{0, 0, 0}, {factor, factor, factor}});
  values = random_values<T>(m, 1);
  grid.assign(spec.grid.elements, {});
  gridder->spread(values.data(), m, nullptr, grid.data(), 0, 1);
  gridder->interpolate(grid.data(), 0, nullptr, values.data(), m, 1);
}

template <class T>
void compare_all() {
  for (int dim = 1; dim <= 3; ++dim) {
    for (int w = generator::kMinWidth; w <= generator::kMaxWidth; ++w) {
      for (const bool direct : {false, true}) {
        GridderSpec spec;
        spec.grid = padded_shape(dim, {44, 35, 26}, sizeof(std::complex<T>));
        spec.window.kind = generator::WindowKind::kaiser_bessel;
        spec.window.width = w;
        spec.accuracy = 1e-16;
        spec.sort.tile = {20, 12, 9};
        if (direct) {
          spec.spread.family = generator::SpreadFamily::colour_index;
          spec.interp.family = generator::InterpFamily::direct;
        }
        std::vector<std::complex<T>> grid, values, first_grid, first_values;
        for (const Isa& isa : kIsas) {
          if (!can_run(isa.targets)) continue;
          const ForcedTargets forced(isa.targets);
          run<T>(spec, grid, values);
          if (first_grid.empty()) {
            first_grid = grid;
            first_values = values;
          }
          const double bound = sizeof(T) == 4 ? 2e-6 : 4e-15;
          EXPECT_LT(difference(grid, first_grid), bound) << isa.name << " " << dim << "D width " << w;
          EXPECT_LT(difference(values, first_values), bound) << isa.name << " " << dim << "D width " << w;
        }
      }
    }
  }
}

TEST(GridderIsa, EveryInstructionSetGivesTheSameSumsInSinglePrecision) { compare_all<float>(); }
TEST(GridderIsa, EveryInstructionSetGivesTheSameSumsInDoublePrecision) { compare_all<double>(); }

TEST(GridderIsa, TheForcedInstructionSetIsTheOneThatRuns) {
  const Tiling tiling = make_tiling(3, {32, 32, 32}, 6, {16, 16, 16}, 8);
  const WeightTables<float> tables;
  for (const Isa& isa : kIsas) {
    if (!can_run(isa.targets)) continue;
    const ForcedTargets forced(isa.targets);
    const GridderKernels<float> kernels = select_kernels<float>(tiling, tables);
    EXPECT_STREQ(kernels.isa, isa.name);
    const bool replaced = kernels.spread != portable_kernels<float>().spread;
    EXPECT_EQ(replaced, std::string(isa.name) != "portable");
  }
}

}  // namespace
}  // namespace fourtune::runtime::cpu
