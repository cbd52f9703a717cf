// The expected output of a case: the tuner's direct sums, and for spreading or interpolation alone the window itself.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "base/layout.h"
#include "generator/plan/plan.h"
#include "generator/window/polynomial.h"
#include "tools/soak/data.h"
#include "tuner/reference/check.h"

namespace fourtune::tools {
namespace {

// A worker checks thousands of results, so this is fewer terms than a single careful check uses.
constexpr double kWork = 4e7, kDeviceWork = 1e9;
constexpr std::int64_t kSamples = 128;

tuner::CheckOptions check_options(const SoakCase& one) {
  tuner::CheckOptions options;
  options.order = one.order;
  options.samples = kSamples;
  options.work = kWork;
  options.seed = one.seed;
  return options;
}

// Halves the columns of a half spectrum that stand for two columns of the whole.
template <class T>
void halve_interior(const ArraySide& side, std::int64_t n, Bytes& array) {
  auto* values = reinterpret_cast<T*>(array.data());
  std::int64_t x = 0;
  side.each([&](std::int64_t at) {
    if (x != 0 && 2 * x != n) values[at] *= T(0.5), values[at + 1] *= T(0.5);
    if (++x == side.size[0]) x = 0;
  });
}

// The adjoint of an fft is an fft of opposite sign. For a real fft the half spectrum is weighted: r2c* is the c2r of a
// spectrum whose interior is halved, c2r* is the r2c with the interior doubled.
double fft_result_error(const CaseData& data, const Bytes& output) {
  Problem direct = data.one.problem;
  if (!data.one.adjoint)
    return tuner::fft_error(direct, data.input.data(), output.data(), check_options(data.one)).relative;
  direct.sign = -direct.sign;
  direct.input_layout = resolved_output_layout(data.one.problem);
  direct.output_layout = resolved_input_layout(data.one.problem);
  direct.order = adjoint_order(direct.order);
  Bytes in = data.input, out = output;
  const auto halve = [&](const ArraySide& side, Bytes& array) {
    side.real_size == 4 ? halve_interior<float>(side, direct.n[0], array)
                        : halve_interior<double>(side, direct.n[0], array);
  };
  if (direct.fft_type == FftType::r2c) {
    direct.fft_type = FftType::c2r;
    halve(data.from, in);
  } else if (direct.fft_type == FftType::c2r) {
    direct.fft_type = FftType::r2c;
    halve(data.to, out);
  }
  return tuner::fft_error(direct, in.data(), out.data(), check_options(data.one)).relative;
}

// The points of one transform.
template <class T>
tuner::PointView<T> view_of(const CaseData& data, std::size_t first, std::int64_t count, std::int64_t transform) {
  tuner::PointView<T> view;
  view.dim = data.one.problem.dim;
  view.count = count;
  for (std::size_t d = 0; d < static_cast<std::size_t>(view.dim); ++d)
    view.x[d] =
        reinterpret_cast<const T*>(data.coordinates[first + d].data()) + (data.one.distinct ? transform * count : 0);
  return view;
}

// The same arrays from later points and values on.
template <class T>
tuner::DeviceInput moved(tuner::DeviceInput there, std::int64_t points, std::int64_t values) {
  for (const void*& x : there.x)
    if (x) x = static_cast<const T*>(x) + points;
  there.values = static_cast<const std::complex<T>*>(there.values) + values;
  return there;
}

template <class T>
double energy(const std::complex<T>* values, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += std::norm(std::complex<double>(values[i]));
  return sum;
}

// Errors are relative to the output, or to its expected norm where random signs of the terms would give a larger one:
// strengths at one and the same place may cancel, and no method has relative accuracy then.
double against_expected(const tuner::ErrorEstimate& estimate, double expected_square) {
  return estimate.norm >= std::sqrt(expected_square) ? estimate.relative
                                                     : estimate.distance / std::sqrt(expected_square);
}

template <class T>
double nufft_result_error(const CaseData& data, const Bytes& output, tuner::DeviceSums* sums,
                          const tuner::DeviceInput& there) {
  const SoakCase& one = data.one;
  Problem direct = one.problem;
  if (one.adjoint) {
    direct.sign = -direct.sign;
    direct.type == 3 ? std::swap(direct.m, direct.k) : void(direct.type = 3 - direct.type);
  }
  const auto* in = reinterpret_cast<const std::complex<T>*>(data.input.data());
  const auto* out = reinterpret_cast<const std::complex<T>*>(output.data());
  const auto error_of = [&](std::int64_t b, std::int64_t batch) {
    direct.batch = batch;
    tuner::PointView<T> sources = view_of<T>(data, 0, *one.problem.m, b), targets;
    if (one.problem.type == 3) targets = view_of<T>(data, 3, *one.problem.k, b);
    if (one.problem.type == 3 && one.adjoint) std::swap(sources, targets);
    tuner::CheckOptions options = check_options(one);
    options.sums = sums, options.device_work = kDeviceWork;
    if (sums) options.there = moved<T>(there, one.distinct ? b * sources.count : 0, b * data.from.size[0]);
    const tuner::ErrorEstimate estimate =
        tuner::nufft_error<T>(direct, sources, targets, in + b * data.from.size[0], out + b * data.to.size[0], options);
    double strengths = 0;
    for (const std::int64_t t : tuner::checked_transforms(batch))
      strengths += energy(in + (b + t) * data.from.size[0], data.from.size[0]);
    return against_expected(estimate, strengths * static_cast<double>(data.to.size[0]));
  };
  if (!one.distinct) return error_of(0, one.problem.batch);
  const std::int64_t last = one.problem.batch - 1;
  double worst = 0;
  for (const std::int64_t b : {std::int64_t{0}, last / 2, last}) {
    const double error = error_of(b, 1);
    if (!(error <= worst)) worst = error;  // NaN is kept
  }
  return worst;
}

// The cells that a coordinate touches along one dimension, and their weights (generator/window/window.h).
struct Taps {
  std::int64_t first = 0;  // may be any integer; the grid is periodic
  std::vector<double> weight;
  // How far weights may be off: by the polynomial that kernels evaluate, whose error matters only in the band of a
  // transform, and wholly at the very edge of the window, where rounding decides between the first and the last cell.
  std::vector<double> loose;
};
constexpr double kAtEdge = 1e-3;  // of a cell; no position is rounded by more
Taps taps_of(double x, std::int64_t fine, const generator::Window& window, double polynomial_error, bool centred) {
  // 1/(2 pi) and its product with x as sums of two numbers, so that points ten million periods away keep their digits.
  constexpr double inverse = 0.15915494309189535, rest = -9.839338337591243e-18;
  const double turns = x * inverse, lost = std::fma(x, inverse, -turns) + x * rest;
  const long double part =
      static_cast<long double>(turns - std::floor(turns)) + static_cast<long double>(lost) + (centred ? 0.5L : 0.0L);
  const long double u = part * static_cast<long double>(fine);
  Taps taps;
  const long double begin = u - window.width() / 2.0L;
  taps.first = static_cast<std::int64_t>(std::ceil(begin));
  for (int i = 0; i < window.width(); ++i)
    taps.weight.push_back(
        window.value(static_cast<double>(2 * (static_cast<long double>(taps.first + i) - u) / window.width())));
  taps.loose.assign(taps.weight.size(), polynomial_error);
  const double in = static_cast<double>(static_cast<long double>(taps.first) - begin);
  if (in < kAtEdge) taps.loose.front() += std::abs(taps.weight.front());
  if (in > 1 - kAtEdge) taps.loose.back() += std::abs(taps.weight.back());
  return taps;
}

// Spreading (to the grid) or interpolation (from it), compared at sampled points or cells.
template <class T>
double window_result_error(const CaseData& data, const generator::WindowChoice& choice, const Bytes& output) {
  const Problem& problem = data.one.problem;
  const generator::Window window = generator::window_of(choice);
  const bool spreads = data.reads_first;
  const auto* in = reinterpret_cast<const std::complex<T>*>(data.input.data());
  const auto* out = reinterpret_cast<const std::complex<T>*>(output.data());
  const auto wrap = [](std::int64_t cell, std::int64_t n) { return (cell % n + n) % n; };
  std::vector<std::complex<double>> reference, value;
  const double polynomial_error = generator::kernel_polynomial(window, epsilon(problem.precision)).error;
  double expected = 0, loose = 0;  // energies of all terms, and of what they may be off
  const std::int64_t last = problem.batch - 1;
  for (const std::int64_t b : {std::int64_t{0}, last}) {
    const tuner::PointView<T> points = view_of<T>(data, 0, *problem.m, b);
    const auto* from = in + b * data.from.size[0];
    const auto* to = out + b * data.to.size[0];
    // Calls visit(cell index, weight, how far it may be off) for the box of a point.
    const auto each_cell = [&](std::int64_t j, auto visit) {
      std::array<Taps, 3> taps;
      for (std::size_t d = 0; d < 3; ++d)
        taps[d] = d < static_cast<std::size_t>(problem.dim)
                      ? taps_of(static_cast<double>(points.x[d][j]), problem.n[d], window, polynomial_error,
                                data.one.only == centred(data.one.only))
                      : Taps{0, {1.0}, {0.0}};
      for (std::size_t z = 0; z < taps[2].weight.size(); ++z)
        for (std::size_t y = 0; y < taps[1].weight.size(); ++y)
          for (std::size_t x = 0; x < taps[0].weight.size(); ++x) {
            const double wx = taps[0].weight[x], wy = taps[1].weight[y], wz = taps[2].weight[z];
            visit(wrap(taps[0].first + static_cast<std::int64_t>(x), problem.n[0]) +
                      problem.n[0] * (wrap(taps[1].first + static_cast<std::int64_t>(y), problem.n[1]) +
                                      problem.n[1] * wrap(taps[2].first + static_cast<std::int64_t>(z), problem.n[2])),
                  wx * wy * wz, taps[0].loose[x] * wy * wz + wx * taps[1].loose[y] * wz + wx * wy * taps[2].loose[z]);
          }
    };
    if (spreads) {
      std::vector<std::complex<double>> grid(static_cast<std::size_t>(mode_count(problem)));
      for (std::int64_t j = 0; j < *problem.m; ++j)
        each_cell(j, [&](std::int64_t cell, double weight, double off) {
          const std::complex<double> term = weight * std::complex<double>(from[j]);
          grid[static_cast<std::size_t>(cell)] += term;
          expected += std::norm(term);
          loose += off * off * std::norm(std::complex<double>(from[j]));
        });
      reference.insert(reference.end(), grid.begin(), grid.end());
      for (std::int64_t i = 0; i < mode_count(problem); ++i) value.emplace_back(to[i]);
    } else {
      for (const std::int64_t j : tuner::sample_points(*problem.m, 4 * kSamples, data.one.seed).index) {
        std::complex<double> sum;
        each_cell(j, [&](std::int64_t cell, double weight, double off) {
          const std::complex<double> term = weight * std::complex<double>(from[cell]);
          sum += term;
          expected += std::norm(term);
          loose += off * off * std::norm(std::complex<double>(from[cell]));
        });
        reference.push_back(sum);
        value.emplace_back(to[j]);
      }
    }
  }
  tuner::ErrorEstimate estimate = tuner::relative_error(reference, value);
  const double rest = std::max(0.0, estimate.distance - 2 * std::sqrt(loose)) / std::max(estimate.distance, 1e-300);
  estimate.distance *= rest, estimate.relative *= rest;
  return against_expected(estimate, expected);
}

}  // namespace

double result_error(const CaseData& data, const std::string& plan, const Bytes& output, tuner::DeviceSums* sums,
                    const tuner::DeviceInput& there) {
  const Problem& problem = data.one.problem;
  if (problem.kind == Kind::fft) return fft_result_error(data, output);
  const bool single = problem.precision == Precision::f32;
  if (data.one.only == Only::whole)
    return single ? nufft_result_error<float>(data, output, sums, there)
                  : nufft_result_error<double>(data, output, sums, there);
  const auto window = generator::parse_plan(plan, planned_problem(data.one)).window;
  return single ? window_result_error<float>(data, window, output) : window_result_error<double>(data, window, output);
}

}  // namespace fourtune::tools
