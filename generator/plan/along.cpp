#include "generator/plan/along.h"

#include <limits>
#include <map>

#include "base/layout.h"

namespace fourtune::generator {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::int64_t kLongest = 65536;  // two copies in f64 take 2 MiB, which leave a core's cache

// Lines from here on are worth sharing, and by how much longer they may take one thread then.
constexpr std::int64_t kShared = 2048;
constexpr double kSharedGain = 1.08;

// What a pass costs per value, timed in the first-level cache of an AMD EPYC with AVX-512; f64 takes twice as long.
struct Radix {
  int radix;
  double first, later;  // first 0: no first pass has it
};
constexpr Radix kRadices[] = {{2, 0, 11},   {3, 0, 12},  {4, 0, 11},   {5, 0, 12},   {6, 0, 11},
                              {7, 0, 15},   {8, 25, 12}, {9, 36, 17},  {10, 30, 15}, {11, 0, 23},
                              {12, 27, 15}, {13, 0, 28}, {15, 31, 18}, {16, 30, 18}};

// The last vector of a row of values overlaps the one before: what is computed twice costs as much. Vectors have 512
// bits where the row fills them, else 256; that of a processor with narrower ones changes no choice.
double overlap(std::int64_t values, int lanes) {
  const std::int64_t width = values < 2 * lanes ? lanes : 2 * lanes;
  return static_cast<double>((values + width - 1) / width * width) / static_cast<double>(values);
}

// The cheapest passes for what is left of a line of n values; every pass knows by that how many are done.
struct Choice {
  double cost = kNever;
  int radix = 0;
};
class Later {
 public:
  Later(std::int64_t n, int lanes) : n_(n), lanes_(lanes) {}
  const Choice& cheapest(std::int64_t rest) {
    const auto [entry, fresh] = known_.try_emplace(rest);
    if (!fresh) return entry->second;
    Choice best;
    if (rest == 1) best.cost = 0;
    const double share = overlap(n_ / rest, lanes_);
    for (const Radix& r : kRadices) {
      if (rest == 1 || rest % r.radix != 0) continue;
      const double cost = share * r.later + cheapest(rest / r.radix).cost;
      if (cost < best.cost) best = {cost, r.radix};
    }
    return known_[rest] = best;
  }

 private:
  std::int64_t n_;
  int lanes_;
  std::map<std::int64_t, Choice> known_;
};

}  // namespace

AlongPasses along_passes(std::int64_t n, Precision precision) {
  const int lanes = precision == Precision::f32 ? 8 : 4;
  AlongPasses best{{}, kNever};
  if (n < 1 || n > kLongest) return best;
  Later later(n, lanes);
  double least = kNever;
  for (const Radix& r : kRadices) {
    const std::int64_t rest = n / r.radix;
    if (r.first == 0 || n % r.radix != 0 || rest < lanes) continue;
    const double share = static_cast<double>((rest + lanes - 1) / lanes * lanes) / static_cast<double>(rest);
    const double cost = share * r.first + later.cheapest(rest).cost;
    // Long lines prefer a first pass that threads can share, whatever their number, so that it changes no bit.
    const double here = n >= kShared && r.radix % (2 * lanes) == 0 ? cost / kSharedGain : cost;
    if (here < least) least = here, best = {{r.radix}, cost};
  }
  if (best.radices.empty()) return best;
  for (std::int64_t rest = n / best.radices[0]; rest > 1; rest /= best.radices.back())
    best.radices.push_back(later.cheapest(rest).radix);
  return best;
}

int along_areas(std::int64_t n, Precision precision, int threads) {
  const AlongPasses passes = along_passes(n, precision);
  if (n < kShared || passes.radices.size() < 2) return 1;
  const int lanes = precision == Precision::f32 ? 8 : 4;
  int areas = 1;
  while (2 * areas <= threads && passes.radices[0] % (2 * areas * lanes) == 0) areas *= 2;
  return areas;
}

std::int64_t along_length(const Problem& problem) {
  if (problem.kind != Kind::fft || problem.dim != 1 || problem.order != SpectrumOrder::natural) return 0;
  const bool real = problem.fft_type != FftType::c2c;
  if (real && problem.n[0] % 2 != 0) return 0;
  if (resolved_input_layout(problem).stride[0] != 1 || resolved_output_layout(problem).stride[0] != 1) return 0;
  const std::int64_t n = real ? problem.n[0] / 2 : problem.n[0];
  return along_passes(n, problem.precision).radices.empty() ? 0 : n;
}

}  // namespace fourtune::generator
