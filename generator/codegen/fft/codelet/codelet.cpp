// Chooses how a codelet is made: builds a size with every algorithm that applies (builder.h) and keeps the cheapest.
#include "generator/codegen/fft/codelet/codelet.h"

#include <fmt/format.h>

#include <functional>
#include <mutex>
#include <numeric>

#include "fourtune/status.h"
#include "generator/codegen/fft/codelet/builder.h"

namespace fourtune::generator::fft {
namespace {

Codelet build(int n, CodeletCost cost, Choice choice, const std::vector<Choice>& choices) {
  Codelet codelet;
  codelet.n = n;
  Values x;
  for (int j = 0; j < n; ++j) x.push_back({codelet.dag.input(2 * j), codelet.dag.input(2 * j + 1)});
  for (const Complex value : Builder(codelet.dag, cost, choices).run(choice, x)) {
    codelet.outputs.push_back(value.re);
    codelet.outputs.push_back(value.im);
  }
  return codelet;
}

int cost_of(const Codelet& codelet, CodeletCost cost) {
  return cost == CodeletCost::operations ? count_operations(codelet.dag, codelet.outputs).total()
                                         : static_cast<int>(make_schedule(codelet).instructions.size());
}

std::vector<Choice> candidates(int n) {
  if (n <= 2) return {{Method::trivial, n}};
  std::vector<Choice> out;
  if (n % 4 == 0 && n > 4) out.push_back({Method::split_radix, 4});
  if (n == 64) out.push_back({Method::tangent, n});
  for (int radix = 2; radix < n; ++radix) {
    if (n % radix) continue;
    if (std::gcd(radix, n / radix) == 1) {
      if (radix < n / radix) out.push_back({Method::prime_factor, radix});
    } else {
      out.push_back({Method::cooley_tukey, radix});
    }
  }
  if (n == 9) out.push_back({Method::winograd, n});
  if (out.empty()) {
    out.push_back({Method::direct, n});
    if (n == 7 || n == 11 || n == 13) out.push_back({Method::winograd, n});
    if (n >= 11) out.push_back({Method::rader, n});
  }
  return out;
}

std::string describe(int n, const std::vector<Choice>& choices) {
  const Choice choice = choices[static_cast<std::size_t>(n)];
  switch (choice.method) {
    case Method::trivial:
      return fmt::format("{}", n);
    case Method::split_radix:
      return fmt::format("split-radix {}", n);
    case Method::tangent:
      return fmt::format("scaled split-radix {}", n);
    case Method::cooley_tukey:
      return fmt::format("Cooley-Tukey {} x ({})", choice.radix, describe(n / choice.radix, choices));
    case Method::prime_factor:
      return fmt::format("prime factors ({}) x ({})", describe(choice.radix, choices),
                         describe(n / choice.radix, choices));
    case Method::direct:
      return fmt::format("symmetric {}", n);
    case Method::winograd:
      return fmt::format("Winograd {}", n);
    case Method::rader:
      return fmt::format("Rader {} by ({})", n, describe((n - 1) / 2, choices));
  }
  return {};
}

// The best choice for every size up to n; computed once per process.
const std::vector<Choice>& best_choices(int n, CodeletCost cost) {
  static std::mutex mutex;
  static std::vector<Choice> known[2];
  static std::vector<char> done[2];
  const auto which = static_cast<std::size_t>(cost);
  const std::lock_guard lock(mutex);
  auto& choices = known[which];
  choices.resize(65);
  done[which].resize(65);
  const std::function<void(int)> need = [&](int size) {
    if (done[which][static_cast<std::size_t>(size)]) return;
    for (int d = 1; d < size; ++d)
      if (size % d == 0) need(d);
    const auto list = candidates(size);
    if (list.back().method == Method::rader) need((size - 1) / 2);
    int least = 0;
    for (const Choice choice : list) {
      const int price = list.size() == 1 ? 1 : cost_of(build(size, cost, choice, choices), cost);
      if (least != 0 && price >= least) continue;
      least = price;
      choices[static_cast<std::size_t>(size)] = choice;
    }
    done[which][static_cast<std::size_t>(size)] = 1;
  };
  need(n);
  return choices;
}

}  // namespace

Codelet make_codelet(int n, CodeletCost cost) {
  if (n < 1 || n > 64) throw Error(Status::invalid_argument, fmt::format("codelet of {} points: sizes are 1 to 64", n));
  const auto& choices = best_choices(n, cost);
  Codelet codelet = build(n, cost, choices[static_cast<std::size_t>(n)], choices);
  codelet.algorithm = describe(n, choices);
  return codelet;
}

}  // namespace fourtune::generator::fft
