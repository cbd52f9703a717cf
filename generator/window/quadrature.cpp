// Gauss-Legendre rules of any size, by Newton's method on P_n starting from Tricomi's asymptotic estimate.
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>
#include <utility>

#include "base/fork_safe_mutex.h"
#include "generator/window/detail.h"

namespace fourtune::generator::detail {
namespace {

struct Legendre {
  double value, derivative;
};

Legendre legendre(int n, double x) {  // P_n and P_n' at |x| < 1
  double previous = 1, current = x;
  for (int k = 1; k < n; ++k) {
    const double next = ((2 * k + 1) * x * current - k * previous) / (k + 1);
    previous = current;
    current = next;
  }
  return {current, n * (previous - x * current) / ((1 - x) * (1 + x))};
}

// Computes node i of the n-point rule on [-1, 1] (i = 0 is the largest node) and its weight.
void legendre_node(int n, int i, double& node, double& weight) {
  node = std::cos(std::numbers::pi * (i + 0.75) / (n + 0.5)) * (1 - (n - 1.0) / (8.0 * n * n * n));
  double change = 1;
  // Newton's method doubles the number of correct digits: after a change below 1e-9, the next change is below rounding.
  for (int iteration = 0; iteration < 10 && std::abs(change) > 1e-9; ++iteration) {
    const Legendre p = legendre(n, node);
    change = p.value / p.derivative;
    node -= change;
  }
  const double derivative = legendre(n, node).derivative;
  weight = 2 / ((1 - node) * (1 + node) * derivative * derivative);
}

// The first q nodes of the n-point rule on [-1, 1], in ascending order. Results are cached, because a few sizes are
// requested again and again.
const Quadrature& nodes(int n, int q) {
  static ForkSafeMutex& mutex = *new ForkSafeMutex;
  static std::map<std::pair<int, int>, Quadrature> rules;  // references into a map stay valid
  const std::lock_guard lock(mutex);
  Quadrature& rule = rules[{n, q}];
  if (rule.nodes.empty()) {
    rule.nodes.resize(static_cast<std::size_t>(q));
    rule.weights.resize(static_cast<std::size_t>(q));
    for (int i = 0; i < q; ++i) {
      const auto at = static_cast<std::size_t>(q - 1 - i);
      legendre_node(n, i, rule.nodes[at], rule.weights[at]);
    }
  }
  return rule;
}

}  // namespace

Quadrature half_gauss_legendre(int q) { return nodes(2 * q, q); }

Quadrature gauss_legendre(int q, double length) {
  Quadrature rule = nodes(q, q);
  for (double& node : rule.nodes) node = (node + 1) * length / 2;
  for (double& weight : rule.weights) weight *= length / 2;
  return rule;
}

}  // namespace fourtune::generator::detail
