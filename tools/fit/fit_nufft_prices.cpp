// Fits the prices of nonuniform transforms on GPUs (generator/planner/gpu_nufft/prices.cpp) to measured plans.
//
//   fit_nufft_prices DEVICE [print] < measured.tsv
//
// DEVICE: the one that was measured, a name of base/known_devices.h. A line is a problem's token, a plan's text and its
// seconds, separated by tabs, and for the time of one stage, by events, its name (spread, interpolate, fft); of a
// tuning database the lines are as in fit_fft_costs.cpp.
//
// An execute is the sum of its counts (gpu_nufft_work) times their prices. The prices are the non-negative least
// squares of relative errors, in which every problem has the same weight, but long ones more. First both precisions
// share them, f64 at 1.8 times those of f32; then each has its own, held near the shared ones where measurements say
// little. A fifth of the problems at a time judges what the others give. Prints the table of prices.cpp; `print`
// instead adds the judged estimate of every line.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/known_devices.h"
#include "fourtune/status.h"
#include "generator/plan/plan_text.h"
#include "generator/planner/gpu_nufft/planner.h"

namespace fourtune::generator {
namespace {

using namespace gpu_nufft;

constexpr double kDouble = 1.8;                 // the price of f64 over that of f32, where nothing else is known
constexpr double kHeld = 1;                     // how strongly prices are held near the shared ones
constexpr double kLong = 1e-3, kLonger = 0.25;  // longer times weigh more, by this exponent: few are measured
constexpr std::size_t kJudges = 5;              // parts of the problems

using Key = std::tuple<int, int, int, bool, int, int>;  // a kind (without and with its precision) and a count
Key key_of(const KernelKind& kind, std::size_t count, bool shared) {
  return {
      static_cast<int>(kind.stage), kind.family, kind.dim, kind.groups, shared ? -1 : static_cast<int>(kind.precision),
      static_cast<int>(count)};
}

struct Entry {
  KernelKind kind;
  std::size_t count = 0;
  double value = 0;
};
struct Measured {
  std::string problem, plan, stage;
  double seconds = 0, weight = 1;
  std::vector<Entry> entries;
};

const std::map<std::string_view, std::vector<Stage>> stages_named{{"spread", {Stage::clear, Stage::spread}},
                                                                  {"interpolate", {Stage::interpolate}},
                                                                  {"fft", {Stage::fft, Stage::library}}};

std::vector<Measured> read(std::istream& in, const DeviceTraits& device) {
  std::vector<Measured> out;
  std::map<std::string, double> lines;
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string> words{""};
    for (const char c : line) c == '\t' ? words.emplace_back() : words.back() += c;
    if (words.size() < 3 || words.size() > 4)
      throw Error(Status::io, fmt::format("line {}: expected a token, a plan and seconds", out.size() + 1));
    words.resize(4);
    Measured one{words[0], words[1], words[3], std::stod(words[2]), 1, {}};
    const Problem problem = parse_problem(one.problem);
    const Plan plan = parse_plan(one.plan, problem);
    double launches = 0;
    for (const TimedWork& part : gpu_nufft_work(plan, problem, device)) {
      if (!one.stage.empty()) {
        const auto& stages = stages_named.at(one.stage);
        if (std::find(stages.begin(), stages.end(), part.work.kind.stage) == stages.end()) continue;
        launches += part.times * (one.stage == "fft" ? problem.dim : 1);
      }
      for (std::size_t i = 0; i < kCounts; ++i)
        if (part.work.counts[i] > 0) one.entries.push_back({part.work.kind, i, part.times * part.work.counts[i]});
    }
    // What events add to each launch: a kind that no table has.
    if (launches > 0) one.entries.push_back({{Stage::values, 1}, 0, launches});
    lines[one.problem] += 1;
    out.push_back(std::move(one));
  }
  for (Measured& one : out)
    one.weight = (one.stage.empty() ? 1 : 0.5) * std::pow(std::max(1.0, one.seconds / kLong), kLonger) /
                 std::sqrt(lines[one.problem]);
  return out;
}

using Prices = std::map<Key, double>;

// Non-negative least squares of relative errors. held: prices that x is held near to.
Prices fitted(const std::vector<const Measured*>& rows, bool shared, const Prices& held) {
  std::map<Key, std::size_t> columns;
  std::vector<Key> keys;
  std::vector<double> factors;
  const auto column = [&](const Entry& entry) {
    const Key key = key_of(entry.kind, entry.count, shared);
    const auto [at, added] = columns.emplace(key, keys.size());
    if (added) keys.push_back(key);
    return at->second;
  };
  for (const Measured* row : rows)
    for (const Entry& entry : row->entries) column(entry);
  const std::size_t n = keys.size();
  std::vector<double> gram(n * n), right(n), squares(n), uses(n), x(n), gradient(n);
  for (const Measured* row : rows) {
    std::map<std::size_t, double> values;
    for (const Entry& entry : row->entries) {
      const double factor = shared && entry.kind.precision == Precision::f64 ? kDouble : 1;
      values[column(entry)] += factor * entry.value * 1e-12 / row->seconds;
    }
    for (const auto& [i, a] : values) {
      right[i] += row->weight * row->weight * a, squares[i] += a * a, uses[i] += 1;
      for (const auto& [j, b] : values) gram[i * n + j] += row->weight * row->weight * a * b;
    }
  }
  if (!held.empty())
    for (std::size_t i = 0; i < n; ++i) {
      const auto& [stage, family, dim, groups, precision, count] = keys[i];
      const auto at = held.find({stage, family, dim, groups, -1, count});
      const double price =
          at == held.end() ? 0 : at->second * (precision == static_cast<int>(Precision::f64) ? kDouble : 1);
      // A unit of weight at the mean square that the count has in the times where it occurs.
      const double unit = kHeld * squares[i] / std::max(1.0, uses[i]);
      gram[i * n + i] += unit, right[i] += unit * price;
    }
  for (std::size_t i = 0; i < n; ++i) gradient[i] = right[i];  // right - gram x
  for (int sweep = 0; sweep < 3000; ++sweep) {
    double moved = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (gram[i * n + i] <= 0) continue;
      const double next = std::max(0.0, x[i] + gradient[i] / gram[i * n + i]), step = next - x[i];
      if (step == 0) continue;
      for (std::size_t j = 0; j < n; ++j) gradient[j] -= gram[i * n + j] * step;
      x[i] = next, moved = std::max(moved, step * step * gram[i * n + i]);
    }
    if (moved < 1e-12) break;
  }
  Prices out;
  for (std::size_t i = 0; i < n; ++i) out[keys[i]] = x[i];
  return out;
}

Prices fitted(const std::vector<const Measured*>& rows) { return fitted(rows, false, fitted(rows, true, {})); }

double estimate(const Measured& row, const Prices& prices) {
  double out = 0;
  for (const Entry& entry : row.entries) {
    const auto at = prices.find(key_of(entry.kind, entry.count, false));
    if (at != prices.end()) out += at->second * entry.value * 1e-12;
  }
  return std::max(out, 1e-9);
}

// Each line's estimate by the prices of the other problems.
std::vector<double> judged(const std::vector<Measured>& all) {
  std::map<std::string, std::size_t> number;
  for (const Measured& one : all) number.emplace(one.problem, number.size());
  std::vector<double> out(all.size());
  for (std::size_t part = 0; part < kJudges; ++part) {
    std::vector<const Measured*> rows;
    for (const Measured& one : all)
      if (number[one.problem] % kJudges != part) rows.push_back(&one);
    const Prices prices = fitted(rows);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (number[all[i].problem] % kJudges == part) out[i] = estimate(all[i], prices);
  }
  return out;
}

void print_table(const std::vector<Measured>& all) {
  std::vector<const Measured*> rows;
  for (const Measured& one : all) rows.push_back(&one);
  const Prices prices = fitted(rows);
  std::map<std::tuple<int, int, int, bool>, std::array<Counts, 2>> table;
  for (const auto& [key, price] : prices) {
    const auto& [stage, family, dim, groups, precision, count] = key;
    if (stage == static_cast<int>(Stage::values) && family == 1) continue;
    table[{stage, family, dim, groups}][precision == static_cast<int>(Precision::f64)]
         [static_cast<std::size_t>(count)] = price;
  }
  std::map<std::tuple<int, int, int, bool>, std::array<std::set<std::string_view>, 2>> problems;
  for (const Measured& one : all)
    for (const auto& [kind, count, value] : one.entries)
      problems[{static_cast<int>(kind.stage), kind.family, kind.dim, kind.groups}][kind.precision == Precision::f64]
          .insert(one.problem);
  constexpr std::string_view stages[] = {"spread", "interpolate", "clear", "fft", "library", "values"};
  for (const auto& [kind, both] : table) {
    const auto& [stage, family, dim, groups] = kind;
    std::string name = "0";
    if (stage == 0) name = fmt::format("Spread::{}", nufft::kSpreads[family].name);
    if (stage == 1) name = fmt::format("Interpolate::{}", nufft::kInterpolates[family].name);
    std::cout << fmt::format("    {{Stage::{}, at({}), {}, {}, {{{}, {}}},\n", stages[stage], name, dim, groups,
                             problems[kind][0].size(), problems[kind][1].size());
    for (std::size_t p = 0; p < 2; ++p) {
      std::cout << "     {{";
      for (std::size_t i = 0; i < kCounts; ++i) std::cout << fmt::format("{}{:.3g}", i ? ", " : "", both[p][i]);
      std::cout << (p ? "}}},\n" : "}},\n");
    }
  }
}

int run(const std::string& name, bool print) {
  const std::optional<DeviceTraits> device = known_device(name);
  if (!device) throw Error(Status::invalid_option, fmt::format("'{}' is no device that is known by name", name));
  const std::vector<Measured> all = read(std::cin, *device);
  const std::vector<double> estimates = judged(all);
  if (print) {
    for (std::size_t i = 0; i < all.size(); ++i)
      std::cout << fmt::format("{}\t{}\t{:.6g}\t{}\t{:.6g}\n", all[i].problem, all[i].plan, all[i].seconds,
                               all[i].stage, estimates[i]);
    return 0;
  }
  std::vector<double> errors;
  for (std::size_t i = 0; i < all.size(); ++i) errors.push_back(std::abs(std::log(estimates[i] / all[i].seconds)));
  std::nth_element(errors.begin(), errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2), errors.end());
  std::cout << fmt::format("// {} lines; half of the estimates are off by less than {:.1f} %\n", all.size(),
                           100 * std::expm1(errors[errors.size() / 2]));
  print_table(all);
  return 0;
}

}  // namespace
}  // namespace fourtune::generator

int main(int count, char** words) {
  try {
    if (count < 2) throw fourtune::Error(fourtune::Status::invalid_option, "usage: fit_nufft_prices DEVICE [print]");
    return fourtune::generator::run(words[1], count > 2 && std::string_view(words[2]) == "print");
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << "\n";
    return 1;
  }
}
