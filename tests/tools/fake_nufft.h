// Nonuniform transforms by direct sums, for the stand-ins of peers' libraries.
#pragma once

#include <array>
#include <complex>
#include <cstdint>

namespace fake {

template <class T>
struct Plan {
  int type, dim, sign, batch;
  std::int64_t n[3] = {1, 1, 1};
  std::int64_t m = 0, k = 0;
  const T *x[3] = {}, *s[3] = {};
  bool refuse = false;
  double factor = 1;  // scales the results
};

template <class T>
using Coordinates = std::array<const T*, 3>;

template <class T>
int place(void* handle, std::int64_t m, const Coordinates<T>& points, std::int64_t k, const Coordinates<T>& targets) {
  auto& plan = *static_cast<Plan<T>*>(handle);
  if (plan.refuse) return 26;
  plan.m = m;
  plan.k = plan.type == 3 ? k : plan.n[0] * plan.n[1] * plan.n[2];
  for (std::size_t d = 0; d < 3; ++d) plan.x[d] = points[d], plan.s[d] = targets[d];
  return 0;
}

// The frequency of output (types 1, 3) or input (type 2) number i along dimension d.
template <class T>
double frequency(const Plan<T>& plan, std::int64_t i, int d) {
  if (plan.type == 3) return static_cast<double>(plan.s[d][i]);
  for (int below = 0; below < d; ++below) i /= plan.n[below];
  return static_cast<double>(i % plan.n[d] - plan.n[d] / 2);
}

template <class T>
int run(void* handle, void* points, void* modes, bool adjoint = false) {
  const auto& plan = *static_cast<Plan<T>*>(handle);
  auto* c = static_cast<std::complex<T>*>(points);
  auto* f = static_cast<std::complex<T>*>(modes);
  const bool to_points = (plan.type == 2) != adjoint;
  const int sign = adjoint ? -plan.sign : plan.sign;
  const std::int64_t outs = to_points ? plan.m : plan.k, ins = to_points ? plan.k : plan.m;
  for (int b = 0; b < plan.batch; ++b)
    for (std::int64_t o = 0; o < outs; ++o) {
      std::complex<double> sum = 0;
      for (std::int64_t i = 0; i < ins; ++i) {
        const std::int64_t j = to_points ? o : i, k = to_points ? i : o;
        double phase = 0;
        for (int d = 0; d < plan.dim; ++d) phase += frequency(plan, k, d) * static_cast<double>(plan.x[d][j]);
        const std::complex<T> value = to_points ? f[b * ins + i] : c[b * ins + i];
        sum += std::complex<double>(value) * std::polar(1.0, sign * phase);
      }
      sum *= plan.factor;
      (to_points ? c : f)[b * outs + o] = std::complex<T>(sum);
    }
  return 0;
}

template <class T>
int destroy(void* handle) {
  delete static_cast<Plan<T>*>(handle);
  return 0;
}

}  // namespace fake
