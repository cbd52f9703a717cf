// Measures uniform transforms on this processor and fits the prices of generator/planner/cpu/fft_times.h to them.
//
//   fit_fft_times measure [SECONDS [THREADS]] < problems.txt > measured.tsv
//   fit_fft_times compare [SECONDS] < problems.txt > compared.tsv
//   fit_fft_times fit f32|f64 [PROCESSOR] < measured.tsv
//   fit_fft_times judge f32|f64 [PROCESSOR] < measured.tsv
//
// measure: one token per line; of each the least time of our families and of FFTW's estimate, on THREADS (by default on
// one and on two), in microseconds, in turns of SECONDS (0.012) each. Nothing else should run. `fourtune soak --list
// --fft` draws tokens.
// judge: what the choice by the built-in prices loses, the worst first: the fastest plan, its time, the chosen one and
// its time, and what the model says of both.
// compare: as measure, and a last column with the time of FFTW planned with MEASURE.
// fit: begins with the prices of a PROCESSOR by that name, else with those of a Xeon; half of the problems are fitted,
// the other half judges. A time of 0 was not measured. Prints the prices as initialisers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "fourtune/status.h"
#include "fourtune/transform.h"
#include "generator/plan/along.h"
#include "generator/planner/cpu/fft_times.h"

namespace fourtune::tools {
namespace {

using generator::FftPrices;

constexpr std::array<const char*, 6> kPlans{"cpu;threads=1;fft=rows(rigor=measure,block=64)",
                                            "cpu;threads=1;fft=fftw(rigor=estimate)",
                                            "cpu;threads=1;fft=along",
                                            "cpu;threads=2;fft=rows(rigor=measure,block=64)",
                                            "cpu;threads=2;fft=fftw(rigor=estimate)",
                                            "cpu;threads=2;fft=along"};
constexpr const char* kPeer = "cpu;threads=2;fft=fftw(rigor=measure)";
using Times = std::array<double, kPlans.size()>;
using TimesAndPeer = std::array<double, kPlans.size() + 1>;

// ---- measure
double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool is_along(std::size_t plan) { return plan % 3 == 2; }
int threads_of(std::size_t plan) { return plan < 3 ? 1 : 2; }

// threads: of the plans that run; 0: all. The peer's time is last, 0 without it.
TimesAndPeer measured(const std::string& token, double share, int threads, bool with_peer) {
  const Problem problem = parse_problem(token);
  std::size_t values = static_cast<std::size_t>(problem.batch);
  for (int d = 0; d < problem.dim; ++d)
    values *= static_cast<std::size_t>(problem.n[static_cast<std::size_t>(d)] + (d == 0 ? 2 : 0));
  std::vector<double> first(2 * values), second(problem.place == Place::in ? 0 : 2 * values);
  void* const out = problem.place == Place::in ? first.data() : second.data();
  struct Contender {
    std::unique_ptr<Transform> transform;
    int repeats = 1;
  };
  std::array<Contender, kPlans.size() + 1> contenders;
  TimesAndPeer best;
  best.fill(0);
  const auto sample = [&](Contender& one) {
    const double start = seconds_now();
    for (int i = 0; i < one.repeats; ++i) one.transform->execute(first.data(), out);
    return (seconds_now() - start) / one.repeats;
  };
  // Plans of two threads by themselves: a processor that slept while one thread ran takes milliseconds to come back.
  std::array<std::vector<std::size_t>, 2> runs;
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    const bool peer = i == kPlans.size();
    if (peer ? !with_peer
             : (threads > 0 && threads_of(i) != threads) || (is_along(i) && generator::along_length(problem) == 0))
      continue;
    runs[threads_of(i) == 1 ? 0 : 1].push_back(i), best[i] = INFINITY;
    Options options;
    options.default_databases = false, options.plan = peer ? kPeer : kPlans[i];
    contenders[i].transform = std::make_unique<Transform>(token, options);
    sample(contenders[i]);
    contenders[i].repeats = std::max(1, static_cast<int>(20e-6 / std::max(1e-8, sample(contenders[i]))));
  }
  for (const std::vector<std::size_t>& run : runs) {
    const double start = seconds_now();
    for (int round = 0; round < 7 || seconds_now() - start < share * static_cast<double>(run.size()); ++round)
      for (const std::size_t i : run)
        for (int k = 0; k < 5; ++k) best[i] = std::min(best[i], sample(contenders[i]));
  }
  return best;
}

void measure(double share, int threads, bool with_peer) {
  for (std::string line; std::getline(std::cin, line);) {
    const TimesAndPeer times = measured(line, share, threads, with_peer);
    std::cout << line;
    for (std::size_t i = 0; i < kPlans.size() + (with_peer ? 1 : 0); ++i)
      std::cout << fmt::format("\t{:.4g}", 1e6 * times[i]);
    std::cout << std::endl;
  }
}

// ---- fit
struct Measured {
  Problem problem;
  Times times;
};

DeviceTraits processor(int cores) {
  DeviceTraits traits;
  traits.backend = "cpu", traits.isa = "avx512", traits.cores = cores;
  return traits;
}

Times estimates(const Measured& one, const FftPrices& prices) {
  Times out;
  for (const int threads : {1, 2}) {
    const auto times = generator::fft_times(one.problem, threads, processor(2), prices);
    const auto at = static_cast<std::size_t>(3 * threads - 3);
    out[at] = 1e6 * times.rows, out[at + 1] = 1e6 * times.library, out[at + 2] = 1e6 * times.along;
  }
  return out;
}

// Of what was measured and may run untuned: the plan that the model chooses, and the fastest one.
struct Choice {
  std::size_t chosen = kPlans.size(), fastest = kPlans.size();
};
Choice choice(const Measured& one, const Times& guess) {
  Choice out;
  for (std::size_t i = 0; i < guess.size(); ++i) {
    if (one.times[i] == 0) continue;
    if (out.chosen == guess.size() || guess[i] < guess[out.chosen]) out.chosen = i;
    if (out.fastest == guess.size() || one.times[i] < one.times[out.fastest]) out.fastest = i;
  }
  return out;
}
// How much longer the chosen plan takes than the fastest one.
double loss(const Measured& one, const Times& guess) {
  const auto [chosen, fastest] = choice(one, guess);
  return chosen == guess.size() ? 1 : one.times[chosen] / one.times[fastest];
}

// Sum of absolute logarithmic errors, and what the choice loses; an error beyond a factor of three is as bad as that
// one.
double misfit(const std::vector<const Measured*>& group, const FftPrices& prices) {
  double sum = 0;
  for (const Measured* one : group) {
    const Times guess = estimates(*one, prices);
    for (std::size_t i = 0; i < guess.size(); ++i)
      if (one->times[i] > 0 && std::isfinite(guess[i]))
        sum += std::min(std::log(3.0), std::abs(std::log(guess[i] / one->times[i]))) / 6;
    sum += std::log(loss(*one, guess));
  }
  return sum / static_cast<double>(group.size());
}

void judge(const char* name, const std::vector<const Measured*>& group, const FftPrices& prices) {
  double logs = 0, worst = 1;
  for (const Measured* one : group) {
    const double here = loss(*one, estimates(*one, prices));
    logs += std::log(here), worst = std::max(worst, here);
  }
  std::cout << fmt::format("// {}: {} problems, misfit {:.3f}, choice {:.3f} of the fastest's time, at most {:.2f}\n",
                           name, group.size(), misfit(group, prices),
                           std::exp(logs / static_cast<double>(group.size())), worst);
}

FftPrices fitted(const std::vector<const Measured*>& group, const FftPrices& start) {
  FftPrices prices = start;
  double best = misfit(group, prices);
  bool better = false;
  const auto vary = [&](double& price, double first, double factor) {
    const double before = price;
    price = before * factor;
    // Data that say little of a price must not drive it away.
    const double now = price > 8 * first || price < first / 8 ? INFINITY : misfit(group, prices);
    if (now < best - 1e-6)
      best = now, better = true;
    else
      price = before;
  };
  for (double step = 1.6; step > 1.01; step = better ? step : std::sqrt(step)) {
    better = false;
    for (const double factor : {step, 1 / step}) {
      for (const auto& field : generator::rows_price_fields)
        vary(prices.rows.*field.value, start.rows.*field.value, factor);
      for (const auto& field : generator::library_price_fields)
        vary(prices.library.*field.value, start.library.*field.value, factor);
      for (const auto& field : generator::along_price_fields)
        vary(prices.along.*field.value, start.along.*field.value, factor);
      for (const auto& field : generator::team_price_fields)
        vary(prices.team.*field.value, start.team.*field.value, factor);
    }
  }
  return prices;
}

std::vector<Measured> read_measured(Precision precision) {
  std::vector<Measured> all;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string token;
    Measured one;
    words >> token;
    for (double& time : one.times) words >> time;
    if (!words) throw Error(Status::io, "expected a token and six times: " + line);
    one.problem = parse_problem(token);
    if (one.problem.precision == precision) all.push_back(one);
  }
  return all;
}

void judge_each(Precision precision, const std::string& name) {
  DeviceTraits traits = processor(2);
  traits.name = name;
  const FftPrices& prices = generator::fft_prices(traits, precision);
  struct Row {
    double loss;
    std::string text;
  };
  std::vector<Row> rows;
  for (const Measured& one : read_measured(precision)) {
    const Times guess = estimates(one, prices);
    const auto [chosen, fastest] = choice(one, guess);
    if (chosen == guess.size()) continue;
    const auto words = [&](std::size_t i) {
      return fmt::format("{} {:.4g} us (model {:.4g})", kPlans[i], one.times[i], guess[i]);
    };
    const double loss = one.times[chosen] / one.times[fastest];
    rows.push_back(
        {loss, fmt::format("{:.2f}\t{}\t{}\t{}", loss, to_token(one.problem), words(fastest), words(chosen))});
  }
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.loss > b.loss; });
  for (const Row& row : rows) std::cout << row.text << "\n";
}

void fit(Precision precision, const std::string& name) {
  const std::vector<Measured> all = read_measured(precision);
  std::vector<const Measured*> half, rest;
  for (std::size_t i = 0; i < all.size(); ++i) (i % 2 ? rest : half).push_back(&all[i]);
  if (rest.empty()) throw Error(Status::io, "at least two problems of this precision are needed");
  DeviceTraits traits = processor(2);
  traits.name = name;
  const FftPrices before = generator::fft_prices(traits, precision), prices = fitted(half, before);
  judge("before, fitted half", half, before), judge("before, other half", rest, before);
  judge("after, fitted half", half, prices), judge("after, other half", rest, prices);
  for (const auto& field : generator::rows_price_fields) std::cout << fmt::format("{:.3g}, ", prices.rows.*field.value);
  std::cout << "\n";
  for (const auto& field : generator::library_price_fields)
    std::cout << fmt::format("{:.3g}, ", prices.library.*field.value);
  std::cout << "\n";
  for (const auto& field : generator::along_price_fields)
    std::cout << fmt::format("{:.3g}, ", prices.along.*field.value);
  std::cout << "\n";
  for (const auto& field : generator::team_price_fields) std::cout << fmt::format("{:.3g}, ", prices.team.*field.value);
  std::cout << "\n";
}

}  // namespace
}  // namespace fourtune::tools

int main(int count, char** words) {
  using namespace fourtune;
  try {
    const std::string_view mode = count > 1 ? words[1] : "", option = count > 2 ? words[2] : "";
    if ((mode == "measure" && count <= 4) || (mode == "compare" && count <= 3)) {
      const double share = option.empty() ? 0.012 : std::atof(words[2]);
      const int threads = mode == "measure" && count > 3 ? std::atoi(words[3]) : 0;
      if (!(share > 0 && share < 60)) throw Error(Status::invalid_option, "SECONDS must be above 0 and below 60");
      tools::measure(share, threads, mode == "compare");
    } else if ((mode == "fit" || mode == "judge") && (option == "f32" || option == "f64") && count <= 4) {
      (mode == "fit" ? tools::fit : tools::judge_each)(option == "f32" ? Precision::f32 : Precision::f64,
                                                       count > 3 ? words[3] : "");
    } else {
      throw Error(Status::invalid_option,
                  "usage: fit_fft_times measure [SECONDS [THREADS]] < problems, compare [SECONDS] < problems, "
                  "or fit|judge f32|f64 [PROCESSOR] < measured");
    }
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << "\n";
    return 1;
  }
}
