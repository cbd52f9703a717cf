// Artificial search spaces with the structure of real ones: stages whose times add up, parameters that interact, steps
// where a cache overflows, failures that cluster, a model that ranks approximately right, and measurement noise.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "base/random.h"
#include "tuner/search/replay.h"

namespace fourtune::tuner::testing {

struct Made {
  std::vector<int> extent;   // number of values of each axis
  double interaction = 0.2;  // standard deviation of the pairwise log effects
  double model_error = 0.2;  // standard deviation of the model's log effects from the true ones
  double noise = 0.02;
  double failing = 0.05;  // share of (axis value, axis value) pairs that always fail
};

// Two stages. Each has smooth, ordinal and categorical axis effects and pairwise interactions on its half of the axes.
inline Recording make_space(const std::string& name, const Made& made, std::uint64_t seed) {
  Random random(seed);
  const std::size_t axes = made.extent.size();
  std::vector<std::vector<std::vector<double>>> effect(2);  // [stage][axis][value]
  for (auto& stage : effect)
    for (std::size_t a = 0; a < axes; ++a) {
      auto& values = stage.emplace_back();
      const double optimum = random.uniform() * made.extent[a], curvature = random.uniform();
      const bool ordinal = a % 3 != 2;
      for (int v = 0; v < made.extent[a]; ++v)
        values.push_back(ordinal ? curvature * std::pow((v - optimum) / made.extent[a] * 2, 2) : 0.4 * random.normal());
    }
  // The model's error depends only on the value of an axis.
  auto error = effect;
  for (auto& stage : error)
    for (auto& values : stage)
      for (double& v : values) v = made.model_error * random.normal();
  // Pairwise interactions and failures.
  struct Pair {
    std::size_t a, b;
    std::vector<double> effect;
    std::vector<bool> fails;
  };
  std::vector<Pair> pairs;
  for (std::size_t a = 0; a < axes; ++a)
    for (std::size_t b = a + 1; b < axes; b += 2) {
      Pair pair{a, b, {}, {}};
      for (int i = 0; i < made.extent[a] * made.extent[b]; ++i) {
        pair.effect.push_back(made.interaction * random.normal());
        pair.fails.push_back(random.uniform() < made.failing / 4);
      }
      pairs.push_back(pair);
    }
  Recording result;
  result.name = name;
  for (std::size_t a = 0; a < axes; ++a) result.axes.push_back("axis" + std::to_string(a));
  std::vector<int> x(axes, 0);
  while (true) {
    double log_stage[2] = {0, 0}, log_model[2] = {0, 0};  // the model ignores interactions
    bool fails = false;
    for (std::size_t a = 0; a < axes; ++a)
      for (std::size_t s = 0; s < 2; ++s) {
        const auto value = static_cast<std::size_t>(x[a]);
        log_stage[s] += effect[s][a][value];
        log_model[s] += effect[s][a][value] + error[s][a][value];
      }
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      const auto index = static_cast<std::size_t>(x[pairs[p].a]) * static_cast<std::size_t>(made.extent[pairs[p].b]) +
                         static_cast<std::size_t>(x[pairs[p].b]);
      log_stage[p % 2] += pairs[p].effect[index];
      fails = fails || pairs[p].fails[index];
    }
    const double seconds = 1e-3 * (std::exp(log_stage[0]) + std::exp(log_stage[1]));
    result.space.coordinates.push_back(x);
    result.space.estimates.push_back(1e-3 * (std::exp(log_model[0]) + std::exp(log_model[1])));
    result.seconds.push_back(fails ? failed : seconds * std::exp(made.noise * random.normal()));
    std::size_t a = 0;
    while (a < axes && ++x[a] == made.extent[a]) x[a++] = 0;
    if (a == axes) return result;
  }
}

// Five spaces of different size and difficulty.
inline std::vector<Recording> made_spaces() {
  return {
      make_space("small", {{5, 4, 3, 4, 2}, 0.1, 0.3, 0.02, 0.05}, 11),
      make_space("smooth", {{6, 5, 3, 4, 4}, 0.05, 0.3, 0.02, 0.02}, 12),
      make_space("interacting", {{6, 5, 3, 4, 5, 2}, 0.4, 0.3, 0.02, 0.05}, 13),
      make_space("failing", {{5, 4, 4, 4, 3, 2}, 0.1, 0.3, 0.02, 0.5}, 14),
      make_space("misleading model", {{6, 5, 3, 4, 4, 2}, 0.1, 1.0, 0.02, 0.05}, 15),
  };
}

}  // namespace fourtune::tuner::testing
