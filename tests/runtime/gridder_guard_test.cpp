// Nothing outside the caller's arrays is touched, whatever their lengths and alignments: each array ends, or begins, at
// an inaccessible page. Covers every width, dimension, precision and instruction set. Families, types, spreading and
// interpolation alone, adjoints, batches, orders of points and threads rotate, so that they meet all of those.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <array>
#include <cmath>
#include <complex>
#include <memory>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "generator/window/fft_size.h"
#include "runtime/backend_table.h"
#include "runtime/backends/backend.h"
#include "tests/runtime/forced_targets.h"
#include "tests/support/turns.h"
#include "tuner/measure/guarded_array.h"

namespace fourtune {
namespace {

using generator::Plan;
using tuner::Guard;
using tuner::GuardedArray;

struct Isa {
  const char* name;
  std::int64_t target, with;  // the bit of the target, and the bits that stay enabled
};
constexpr Isa kIsas[] = {{"portable", HWY_SCALAR, HWY_SCALAR},
                         {"AVX2", HWY_AVX2, HWY_AVX2 | HWY_SCALAR},
                         {"AVX-512", HWY_AVX3, HWY_AVX3 | HWY_AVX2 | HWY_SCALAR}};

constexpr generator::SpreadFamily kSpreads[] = {generator::SpreadFamily::subgrid, generator::SpreadFamily::colour_index,
                                                generator::SpreadFamily::atomic, generator::SpreadFamily::colour_list};
// Shapes of a caller's grid: whole cache lines, rows of an odd number of lines, rows that share lines, and the smallest
// that a window fits.
std::array<std::int64_t, 3> own_grid(int dim, int width, int which) {
  const std::array<std::int64_t, 4> x{32, 40, 35, width};
  std::array<std::int64_t, 3> n{x[static_cast<std::size_t>(which)], 1, 1};
  for (int d = 1; d < dim; ++d) n[static_cast<std::size_t>(d)] = std::max(width, 12 + 5 * d);
  return n;
}

// Derives everything that rotates from one number.
struct Case {
  Case(int number, int dim, bool single, int width) {
    const auto turn = [&number](int choices) {
      const int at = number % choices;
      number /= choices;
      return at;
    };
    const int kind = turn(4);  // type 1, type 2, type 3, one stage alone
    const bool only = kind == 3;
    const int type = only ? 1 + turn(2) : kind + 1;
    const auto n =
        only ? own_grid(dim, width, turn(4)) : std::array<std::int64_t, 3>{27, dim > 1 ? 14 : 1, dim > 2 ? 9 : 1};
    std::string sizes = std::to_string(n[0]);
    for (int d = 1; d < dim; ++d) sizes += "x" + std::to_string(n[static_cast<std::size_t>(d)]);
    const int m = std::array{37, 130, 400}[static_cast<std::size_t>(turn(3))];
    const std::string where = type == 3 ? fmt::format("dim={},m={},k=53", dim, m) : fmt::format("n={},m={}", sizes, m);
    problem = parse_problem(
        fmt::format("nufft:type={},{},prec={},tol=0.1,batch={}", type, where, single ? "f32" : "f64", 1 + 2 * turn(2)));
    options.only = !only ? Only::whole : type == 1 ? Only::spread : Only::interpolate;
    adjoint = turn(2) == 1;
    plan.window = {generator::WindowKind::pswf, 2, width, n, 0};
    plan.inner = plan.window;
    for (int d = 0; d < dim && !only && type < 3; ++d)
      plan.window.fine[static_cast<std::size_t>(d)] =
          generator::smooth_size(std::max<std::int64_t>(2 * n[static_cast<std::size_t>(d)], width));
    plan.cpu().spread = {kSpreads[turn(4)], 64, turn(2) == 1 ? generator::AddRule::colour : generator::AddRule::lock};
    plan.cpu().interp = {turn(2) == 1 ? generator::InterpFamily::tile : generator::InterpFamily::direct, 64};
    plan.cpu().sort.family = turn(5) == 4 ? generator::SortFamily::none : generator::SortFamily::tiles;
    plan.cpu().sort.copy = turn(3) != 2;
    const int tile = turn(2) == 1 ? 16 : 11;
    plan.cpu().sort.tile = {tile, dim > 1 ? 8 : 1, dim > 2 ? 8 : 1};
    plan.cpu().sort.local = dim == 3 && plan.cpu().sort.copy;
    plan.cpu().threads = turn(6) == 5 ? 2 : 1;
    plan.chunk = 1;
    plan.cpu().fft = {generator::FftFamily::pruned, generator::Rigor::estimate, 8};
  }
  Problem problem;
  Plan plan;
  runtime::ExecutorOptions options;
  bool adjoint = false;
};

template <class T>
class GuardedRun {
 public:
  GuardedRun(const Case& c, Guard guard) : case_(c), guard_(guard) {}

  void run() {
    const Problem& p = case_.problem;
    const std::int64_t m = *p.m, targets = p.type == 3 ? *p.k : p.n[0] * p.n[1] * p.n[2];
    std::mt19937_64 random(5);
    std::array<const void*, 6> axes{};
    for (int d = 0; d < p.dim; ++d) {
      axes[static_cast<std::size_t>(d)] = coordinates(m, random);
      if (p.type == 3) axes[3 + static_cast<std::size_t>(d)] = coordinates(targets, random);
    }
    const auto executor = runtime::find_backend("cpu").bind(p, case_.plan, case_.options);
    executor->set_points({m, axes[0], axes[1], axes[2], p.type == 3 ? targets : 0, axes[3], axes[4], axes[5]});
    const bool to_second = (p.type != 2) != case_.adjoint;
    T* first = values(m * p.batch, to_second);
    T* second = values(targets * p.batch, !to_second);
    executor->execute(first, second, case_.adjoint);
    // The pattern of the arrays is NaN, so this checks that every output was written.
    double sum = 0;
    const std::int64_t outputs = 2 * p.batch * (to_second ? targets : m);
    for (std::int64_t i = 0; i < outputs; ++i) sum += static_cast<double>((to_second ? second : first)[i]);
    EXPECT_TRUE(std::isfinite(sum)) << to_token(p);
    for (const GuardedArray& array : arrays_) EXPECT_TRUE(array.slack_intact()) << to_token(p);
  }

 private:
  T* allocate(std::int64_t count) {
    arrays_.emplace_back(static_cast<std::size_t>(count) * sizeof(T), guard_);
    return arrays_.back().template as<T>();
  }
  T* coordinates(std::int64_t count, std::mt19937_64& random) {
    std::uniform_real_distribution<double> angle(-std::numbers::pi, std::numbers::pi);
    T* out = allocate(count);
    for (std::int64_t j = 0; j < count; ++j) out[j] = static_cast<T>(angle(random));
    return out;
  }
  T* values(std::int64_t count, bool input) {
    T* out = allocate(2 * count);
    for (std::int64_t i = 0; input && i < 2 * count; ++i) out[i] = static_cast<T>(i % 7) - 3;
    return out;
  }

  const Case& case_;
  Guard guard_;
  std::vector<GuardedArray> arrays_;
};

class GridderGuard : public ::testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!runtime::cpu::can_run(GetParam().target))
      GTEST_SKIP() << "no " << GetParam().name
                   << " on this processor or in this build: its kernels were NOT tested here";
    hwy::SetSupportedTargetsForTest(GetParam().with);
  }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};

TEST_P(GridderGuard, ArraysEndAndBeginWhereNothingMayBeTouched) {
  int number = 0;
  for (const bool single : {false, true})
    for (int dim = 1; dim <= 3; ++dim)
      for (int width = generator::kMinWidth; width <= generator::kMaxWidth; ++width)
        for (const Guard guard : {Guard::before, Guard::behind})
          // The steps have no common factor with what rotates, so neighbours differ in everything.
          for (int round = 0; round < (dim == 3 ? 4 : 6); ++round) {
            number += 7919 + round;
            if (!test::next_has_turn_under_sanitizers()) continue;
            const Case c(number - number % 4 + round % 4, dim, single, width);
            SCOPED_TRACE(to_token(c.problem) + "  " + generator::to_text(c.plan, c.problem));
            single ? GuardedRun<float>(c, guard).run() : GuardedRun<double>(c, guard).run();
          }
}

// The problem that once faulted, and practical grids of the caller: every family on each.
TEST_P(GridderGuard, AGridOfTheCallersThatEndsAtAClosedPage) {
  for (const char* token :
       {"nufft:type=1,n=32x24,m=64,prec=f64,tol=0.1", "nufft:type=1,n=32x24,m=64,prec=f32,tol=0.1",
        "nufft:type=2,n=64,m=500,prec=f64,tol=1e-6", "nufft:type=1,n=16x16x16,m=300,prec=f32,tol=1e-4"})
    for (const Guard guard : {Guard::before, Guard::behind})
      for (int family = 0; family < 4; ++family)
        for (const bool adjoint : {false, true}) {
          Case c(3, 1, false, 2);
          c.problem = parse_problem(token);
          c.plan.window.width = generator::width_for(generator::WindowKind::pswf, c.problem.tol, 2, c.problem.dim);
          c.plan.window.fine = c.problem.n.xyz();
          c.plan.inner = c.plan.window;
          c.plan.cpu().spread.family = kSpreads[family];
          c.plan.cpu().interp.family =
              family % 2 == 0 ? generator::InterpFamily::direct : generator::InterpFamily::tile;
          c.plan.cpu().sort = {};
          c.plan.cpu().sort.tile = {16, c.problem.dim > 1 ? 16 : 1, c.problem.dim > 2 ? 16 : 1};
          c.plan.cpu().threads = 1;
          c.options.only = c.problem.type == 1 ? Only::spread : Only::interpolate;
          c.adjoint = adjoint;
          SCOPED_TRACE(std::string(token) + (adjoint ? " adjoint" : ""));
          c.problem.precision == Precision::f32 ? GuardedRun<float>(c, guard).run()
                                                : GuardedRun<double>(c, guard).run();
        }
}

INSTANTIATE_TEST_SUITE_P(InstructionSets, GridderGuard, ::testing::ValuesIn(kIsas), [](const auto& isa) {
  std::string name;
  for (const char c : std::string(isa.param.name))
    if (std::isalnum(static_cast<unsigned char>(c))) name += c;
  return name;
});

}  // namespace
}  // namespace fourtune
