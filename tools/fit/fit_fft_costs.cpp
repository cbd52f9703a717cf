// Fits the coefficients of the GPU FFT cost model (generator/planner/gpu_fft/fft_costs.h) to measured plans.
//
//   fit_fft_costs DEVICE [COEFFICIENT ...] < measured.tsv
//   fit_fft_costs DEVICE print [COEFFICIENT=VALUE ...] < measured.tsv
//
// DEVICE: a name of base/known_devices.h. Coefficients: those to fit, by name (default: all); with a value, where the
// estimates begin. A line is a problem's
// token, a plan's text and its seconds, separated by tabs; of a tuning database:
//   sqlite3 -separator "$(printf '\t')" tuning.db "SELECT token, text, min(value) / 1e9 FROM run JOIN plan ON
//     plan.id = run.plan JOIN problem ON problem.id = run.problem, json_each(samples_ns) WHERE status = 'ok' GROUP BY
//     run.id"
//
// Half of the problems are fitted, the other half judges: how far the predictions are off, and how much slower than the
// fastest measured plan the one is that the model would choose. Prints the coefficients as an initialiser. `print` adds
// the estimate to every line.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/known_devices.h"
#include "fourtune/status.h"
#include "generator/plan/plan_text.h"
#include "generator/planner/gpu_fft/planner.h"

namespace fourtune::generator {
namespace {

struct Measured {
  Plan plan;
  double seconds = 0;
};
struct Measurements {
  Problem problem;
  std::vector<Measured> plans;
};

std::map<std::string, Measurements> read(std::istream& in) {
  std::map<std::string, Measurements> out;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const std::size_t first = line.find('\t'), second = line.find('\t', first + 1);
    if (second == std::string::npos)
      throw Error(Status::io, fmt::format("line {}: expected a token, a plan and seconds, separated by tabs", number));
    const std::string token = line.substr(0, first);
    Measurements& of = out[token];
    of.problem = parse_problem(token);
    of.plans.push_back(
        {parse_plan(line.substr(first + 1, second - first - 1), of.problem), std::stod(line.substr(second + 1))});
  }
  return out;
}

double estimate(const Measurements& of, const Measured& one, const DeviceTraits& device, const fft::FftCosts& costs) {
  return gpu_fft_estimate(one.plan, of.problem, device, costs).execute;
}

using Group = std::vector<const Measurements*>;

// Mean over problems of the mean absolute logarithmic error; large errors count as one of a factor of three, as
// estimates of what is never chosen do not matter.
double misfit(const Group& group, const DeviceTraits& device, const fft::FftCosts& costs) {
  double sum = 0;
  for (const Measurements* of : group) {
    double here = 0;
    for (const Measured& one : of->plans)
      here += std::min(std::log(3.0), std::abs(std::log(estimate(*of, one, device, costs) / one.seconds)));
    sum += here / static_cast<double>(of->plans.size());
  }
  return sum / static_cast<double>(group.size());
}

// Coefficients one after the other, in shrinking steps, as long as it helps.
fft::FftCosts fitted(const Group& group, const DeviceTraits& device, const std::vector<fft::CostField>& fields,
                     const fft::FftCosts& start) {
  fft::FftCosts costs = start;
  double best = misfit(group, device, costs);
  for (double step = 1.5; step > 1.01;) {
    bool better = false;
    for (const fft::CostField& field : fields)
      for (const double factor : {step, 1 / step}) {
        fft::FftCosts other = costs;
        other.*field.value *= factor;
        // Data that say little of a coefficient must not drive it away.
        const double change = (other.*field.value) / (start.*field.value);
        if (change > 4 || change < 0.25 || other.hidden > 1 || other.copy > 1 || other.shared > 1) continue;
        if (const double now = misfit(group, device, other); now < best - 1e-6)
          best = now, costs = other, better = true;
      }
    if (!better) step = std::sqrt(step);
  }
  return costs;
}

void judge(const char* name, const Group& group, const DeviceTraits& device, const fft::FftCosts& costs) {
  double logs = 0, worst = 1;
  for (const Measurements* of : group) {
    const auto by = [](const auto& key) { return [key](const auto& a, const auto& b) { return key(a) < key(b); }; };
    const auto seconds = [](const Measured& one) { return one.seconds; };
    const auto guess = [&](const Measured& one) { return estimate(*of, one, device, costs); };
    const double fastest = std::min_element(of->plans.begin(), of->plans.end(), by(seconds))->seconds;
    const double chosen = std::min_element(of->plans.begin(), of->plans.end(), by(guess))->seconds;
    logs += std::log(chosen / fastest), worst = std::max(worst, chosen / fastest);
  }
  std::cout << fmt::format(
      "// {}: {} problems, predictions off by {:.1f} %, choice {:.3f} of the fastest plan's time, at most {:.2f}\n",
      name, group.size(), 100 * std::expm1(misfit(group, device, costs)),
      std::exp(logs / static_cast<double>(group.size())), worst);
}

std::vector<fft::CostField> named(const std::vector<std::string>& names) {
  std::vector<fft::CostField> out(fft::cost_fields.begin(), fft::cost_fields.end());
  if (names.empty()) return out;
  for (const std::string_view name : names)
    if (std::none_of(out.begin(), out.end(), [&](const fft::CostField& field) { return field.name == name; }))
      throw Error(Status::invalid_option, fmt::format("'{}' is no coefficient of FftCosts", name));
  std::erase_if(out, [&](const fft::CostField& field) {
    return std::find(names.begin(), names.end(), field.name) == names.end();
  });
  return out;
}

void print(const std::map<std::string, Measurements>& all, const DeviceTraits& device, const fft::FftCosts& costs) {
  for (const auto& [token, of] : all)
    for (const Measured& one : of.plans)
      std::cout << fmt::format("{}\t{}\t{:.6g}\t{:.6g}\n", token, to_text(one.plan, of.problem), one.seconds,
                               estimate(of, one, device, costs));
}

// Takes the words COEFFICIENT=VALUE off.
fft::FftCosts begun(fft::FftCosts costs, std::vector<std::string>& words) {
  std::erase_if(words, [&](const std::string& word) {
    const std::size_t equals = word.find('=');
    if (equals == word.npos) return false;
    costs.*named({word.substr(0, equals)}).front().value = std::stod(word.substr(equals + 1));
    return true;
  });
  return costs;
}

int run(const std::string& name, std::vector<std::string> words) {
  const std::optional<DeviceTraits> device = known_device(name);
  if (!device) throw Error(Status::invalid_option, fmt::format("'{}' is no device that is known by name", name));
  const fft::FftCosts before = begun(fft::fft_costs(*device), words);
  const auto all = read(std::cin);
  if (words == std::vector<std::string>{"print"}) return print(all, *device, before), 0;
  Group fit, rest;
  std::size_t number = 0;
  for (const auto& [token, of] : all) (number++ % 2 ? rest : fit).push_back(&of);
  if (rest.empty()) throw Error(Status::io, "at least two problems are needed");
  const fft::FftCosts costs = fitted(fit, *device, named(words), before);
  judge("before, fitted half", fit, *device, before), judge("before, other half", rest, *device, before);
  judge("after, fitted half", fit, *device, costs), judge("after, other half", rest, *device, costs);
  for (const fft::CostField& field : fft::cost_fields)
    std::cout << fmt::format(".{} = {:.4g}, ", field.name, costs.*field.value);
  std::cout << "\n";
  return 0;
}

}  // namespace
}  // namespace fourtune::generator

int main(int count, char** words) {
  try {
    if (count < 2)
      throw fourtune::Error(fourtune::Status::invalid_option,
                            "usage: fit_fft_costs DEVICE [COEFFICIENT ...] < measured.tsv");
    return fourtune::generator::run(words[1], {words + 2, words + count});
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << "\n";
    return 1;
  }
}
