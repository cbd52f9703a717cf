#include "runtime/neighbour.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fourtune::runtime {
namespace {

constexpr double kPerCount = 0.3;    // weight of m and k of a type 3
constexpr double kPerDensity = 0.5;  // of points per cell: spreaders differ most in what crowded cells cost them

double log_of(double size) { return std::log2(std::max(size, 1.0)); }
double log_of(std::int64_t size) { return log_of(static_cast<double>(size)); }
double log_ratio(double a, double b) { return std::abs(log_of(a) - log_of(b)); }

double density(const Problem& problem) {
  double cells = 1;
  for (int d = 0; d < problem.dim; ++d) cells *= static_cast<double>(problem.n[d]);
  return 1024 * static_cast<double>(problem.m.value_or(static_cast<std::int64_t>(cells))) / cells;
}

// The grid of a type 3 follows its targets, so this says how crowded the sources are on it.
double sources_per_target(const Problem& problem) {
  return problem.m && problem.k
             ? std::max(1.0, static_cast<double>(*problem.m)) / std::max(1.0, static_cast<double>(*problem.k))
             : 1;
}

}  // namespace

double distance_between(const Problem& a, const Problem& b) {
  if (a.kind != b.kind || a.dim != b.dim || a.precision != b.precision) return kInfinity;
  double distance = 0.2 * log_ratio(static_cast<double>(a.batch), static_cast<double>(b.batch));
  for (int d = 0; d < a.dim; ++d)
    distance += log_ratio(static_cast<double>(a.n[d]), static_cast<double>(b.n[d])) / a.dim;
  if (a.kind == Kind::fft && a.fft_type != b.fft_type) return kInfinity;
  if (a.kind == Kind::fft) return distance + 0.3 * (a.place != b.place) + (a.order != b.order);
  if (a.type != b.type) return kInfinity;
  distance += std::abs(std::log10(a.tol / b.tol));
  if (a.points.value_or(PointClass::uniform) != b.points.value_or(PointClass::uniform)) distance += 0.5;
  if (a.type == 3)
    return distance +
           kPerCount * log_ratio(static_cast<double>(a.m.value_or(0)), static_cast<double>(b.m.value_or(0))) +
           kPerCount * log_ratio(static_cast<double>(a.k.value_or(0)), static_cast<double>(b.k.value_or(0))) +
           kPerDensity * std::abs(std::log2(sources_per_target(a) / sources_per_target(b)));
  return distance + kPerDensity * log_ratio(density(a), density(b));
}

Neighbourhood neighbourhood_of(const Problem& problem) {
  Neighbourhood where;
  const bool type3 = problem.kind == Kind::nufft && problem.type == 3;
  where.kin = fmt::format("{} {}d {}",
                          problem.kind == Kind::fft ? fmt::format("fft {}", to_string(problem.fft_type))
                                                    : fmt::format("nufft {}", problem.type),
                          problem.dim, to_string(problem.precision));
  if (type3) {
    where.size = kPerCount * (log_of(problem.m.value_or(0)) + log_of(problem.k.value_or(0)));
  } else {
    for (int d = 0; d < problem.dim; ++d) where.size += log_of(problem.n[d]) / problem.dim;
  }
  return where;
}

}  // namespace fourtune::runtime
