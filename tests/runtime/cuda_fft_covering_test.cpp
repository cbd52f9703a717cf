// Compiles a pairwise covering set of FFT kernel configurations with NVRTC for every architecture that it supports,
// without a GPU: within the registers available to a block and without spills.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <random>
#include <set>

#include "generator/codegen/fft/emit/emit.h"
#include "generator/plan/fft/geometry.h"
#include "runtime/backends/cuda/compiler.h"
#include "runtime/backends/cuda/nvrtc_api.h"

namespace fourtune::runtime::cuda {
namespace {

using namespace generator::fft;

enum Factor { shape, radix, precision, exchange, parts, twiddle, load, cache, cluster, arrays, target, factor_count };
enum Shape { line, strided, plane };
enum Form { none, padded, dense, swizzled, shuffled };
enum Arrays { whole, partial, windowed, real };
constexpr std::array<int, 7> targets{75, 80, 86, 89, 90, 100, 120};
constexpr std::array<int, factor_count> choices{3, 4, 2, 5, 2, 3, 5, 3, 2, 4, 7};
using Row = std::array<int, factor_count>;

// The nearest row that the rules and the architecture allow.
Row repaired(Row row) {
  const int cc = targets[static_cast<std::size_t>(row[target])];
  if (row[shape] == plane && row[exchange] == none) row[exchange] = padded;
  if (row[exchange] == none) row[twiddle] = 0, row[cluster] = 0;
  if (row[exchange] == none || row[exchange] == shuffled) row[parts] = 0, row[cluster] = 0;
  if (row[precision] == 1 && row[twiddle] == 2) row[twiddle] = 1;
  if (row[arrays] == real && row[shape] != line) row[arrays] = windowed;
  if (row[arrays] == windowed && row[shape] == plane) row[arrays] = partial;
  if (row[arrays] == partial && row[shape] == strided) row[arrays] = whole;
  if (cc < 90) row[cluster] = 0;
  if (row[cluster]) row[load] = 0;
  if (row[load] > 2 && (cc < 90 || row[arrays] != whole)) row[load] -= 2;
  if (row[load] > 0 && cc < 80) row[load] = 0;
  return row;
}

struct Configuration {
  FftPlan plan;
  EmitOptions options;
};

Configuration configuration(const Row& row) {
  const int r = 4 << row[radix], n = row[exchange] == none ? r : r * r;
  const int threads = 64 << (row[radix] % 2), carried = threads * r * (1 + row[cluster]) / n;
  Configuration out;
  FftPlan& plan = out.plan;
  plan.order = DigitOrder::natural;
  plan.precision = row[precision] ? Precision::f64 : Precision::f32;
  generator::fft::Kernel kernel;
  const Dim own = row[shape] == strided ? Dim::y : Dim::x;
  if (row[shape] == plane)
    kernel.subs = {{Dim::x, 1, r, 1, r, false}, {Dim::y, 1, r, 1, r, false}};
  else if (n == r)
    kernel.subs = {{own, 1, r, 1, r, false}};
  else
    kernel.subs = {{own, r, r, r, n, true}, {own, r, r, 1, r, false}};
  KernelParameters& with = kernel.with;
  with.threads = threads;
  with.tile = {1};
  with.tile[static_cast<std::size_t>(row[shape] == line ? 1 : row[shape] == plane ? 2 : 0)] = carried;
  with.exchange = row[exchange] == none       ? Exchange::none
                  : row[exchange] == shuffled ? Exchange::shuffle
                                              : Exchange::shared;
  with.banks = row[exchange] == dense ? Banks::plain : row[exchange] == swizzled ? Banks::swizzle : Banks::pad;
  with.parts = row[parts] ? Parts::apart : Parts::together;
  with.twiddle = static_cast<TwiddleForm>(row[twiddle]);
  with.load = row[load] == 0 ? Load::plain : row[load] <= 2 ? Load::async : Load::bulk;
  with.pipeline = row[load] == 0 ? 0 : 1 + (row[load] - 1) % 2;
  with.cache = static_cast<Cache>(row[cache]);
  with.cluster = 1 + row[cluster];
  if (row[shape] == strided) {  // x has a separate kernel, as long as a tile is wide
    generator::fft::Kernel first;
    first.subs = {{Dim::x, 4, 32, 4, 128, true}, {Dim::x, 32, 4, 1, 4, false}};
    first.with.threads = 32;
    first.with.tile = {1};
    first.with.exchange = Exchange::shared;
    first.with.to = Target::work;
    plan.kernels.push_back(first);
  }
  plan.kernels.push_back(kernel);
  EmitOptions& o = out.options;
  o.n = lengths(plan);
  o.precision = plan.precision;
  o.batch = row[shape] == strided ? 2 : 4 * carried - (row[arrays] == partial ? 1 : 0);
  if (row[arrays] == real) o.type = FftType::r2c;
  if (row[arrays] == windowed) {
    auto& hook = o.hooks[static_cast<std::size_t>(index(own))];
    hook.output = Pruning{Pruning::Kind::wrapped, {}, n, n / 2, 1};
    hook.output_factors.assign(static_cast<std::size_t>(n / 2), 0.5);
    if (row[shape] == line) hook.input = Pruning{Pruning::Kind::head, {}, n, n / 2 + 1, 1};
  }
  return out;
}

using Pair = std::array<int, 4>;
template <class Visit>
void pairs_of(const Row& row, Visit visit) {
  for (int a = 0; a < factor_count; ++a)
    for (int b = a + 1; b < factor_count; ++b)
      visit(Pair{a, row[static_cast<std::size_t>(a)], b, row[static_cast<std::size_t>(b)]});
}

// Rows that contain every pair of choices that any allowed row contains.
std::vector<Row> covering_rows(const std::vector<int>& known) {
  std::mt19937 random(1);
  std::vector<Row> pool;
  std::set<Pair> open;
  while (pool.size() < 20000) {
    Row row{};
    for (std::size_t f = 0; f < factor_count; ++f)
      row[f] = static_cast<int>(random() % static_cast<unsigned>(choices[f]));
    if (std::find(known.begin(), known.end(), targets[static_cast<std::size_t>(row[target])]) == known.end()) continue;
    pool.push_back(repaired(row));
    pairs_of(pool.back(), [&](const Pair& pair) { open.insert(pair); });
  }
  std::vector<Row> rows;
  while (!open.empty()) {
    const Row* best = nullptr;
    int most = 0;
    for (int attempt = 0; attempt < 400 || !best; ++attempt) {
      const Row& row = pool[random() % pool.size()];
      int fresh = 0;
      pairs_of(row, [&](const Pair& pair) { fresh += open.count(pair) > 0; });
      if (fresh > most) most = fresh, best = &row;
    }
    pairs_of(*best, [&](const Pair& pair) { open.erase(pair); });
    rows.push_back(*best);
  }
  return rows;
}

TEST(CudaFftCovering, PairsOfChoicesCompileWithoutSpills) {
  if (const std::string why = why_no_nvrtc(); !why.empty()) GTEST_SKIP() << "NOT TESTED: " << why;
  const std::vector<Row> rows = covering_rows(nvrtc().architectures);
  std::vector<generator::KernelSource> kernels;
  std::vector<std::string> names;
  std::vector<std::size_t> weights;
  for (const Row& row : rows) {
    const Configuration c = configuration(row);
    names.push_back(fmt::format("sm_{} {} arrays {}", targets[static_cast<std::size_t>(row[target])], to_text(c.plan),
                                row[arrays]));
    ASSERT_TRUE(check(c.plan).empty()) << names.back() << ": " << check(c.plan).front().message;
    kernels.push_back(emit_program(c.plan, c.options).kernels.back());
    weights.push_back(kernels.back().text.size());
  }
  std::mutex guard;
  run_longest_first(weights, 2, [&](std::size_t i) {
    const CompiledKernel result = compile(kernels[i], targets[static_cast<std::size_t>(rows[i][target])]);
    const std::lock_guard lock(guard);
    ASSERT_EQ(result.outcome, CompileOutcome::ok) << names[i] << "\n" << result.log;
    EXPECT_EQ(result.report.spill_store_bytes, 0) << names[i];
    EXPECT_LE(result.report.registers * static_cast<int>(kernels[i].block[0]), 65536) << names[i];
    // Enumeration and the choice of resident blocks rely on this.
    const int values = 4 << rows[i][radix], words = rows[i][precision] ? 2 : 1;
    EXPECT_LE(result.report.registers, std::min(255, 5 * values * words + 40)) << names[i];
  });
  RecordProperty("kernels", static_cast<int>(rows.size()));
  EXPECT_GT(rows.size(), 30u);
  EXPECT_LT(rows.size(), 150u);  // about a minute on one processor
}

}  // namespace
}  // namespace fourtune::runtime::cuda
