// Computes how fast a plan is, in the usual unit for its kind of problem.
#include <algorithm>
#include <cmath>

#include "tuner/session/session.h"

namespace fourtune::tuner {

double work_of(const Problem& problem) {
  const auto batch = static_cast<double>(problem.batch);
  if (problem.kind == Kind::nufft) {
    const auto m = static_cast<double>(problem.m.value_or(0)), k = static_cast<double>(problem.k.value_or(0));
    return batch * (problem.type == 3 ? m + k : m);
  }
  const auto n = static_cast<double>(mode_count(problem));
  const double half = problem.fft_type == FftType::c2c ? 1 : 0.5;  // real transforms do half the work
  return batch * half * 5 * n * std::max(1.0, std::log2(n));
}

std::string speed_unit_of(const Problem& problem) { return problem.kind == Kind::fft ? "GFLOP/s" : "Mpts/s"; }

double speed_of(const Problem& problem, double seconds) {
  if (!(seconds > 0)) return 0;
  return work_of(problem) / seconds * (problem.kind == Kind::fft ? 1e-9 : 1e-6);
}

}  // namespace fourtune::tuner
