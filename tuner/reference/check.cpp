#include "tuner/reference/check.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/layout.h"
#include "tuner/reference/phase.h"
#include "tuner/reference/synthetic.h"
#include "tuner/reference/threads.h"

namespace fourtune::tuner {

std::vector<std::int64_t> checked_transforms(std::int64_t batch) {
  std::vector<std::int64_t> list{0, batch / 2, batch - 1};
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

namespace {

using Values = std::vector<std::complex<double>>;

std::int64_t affordable(const CheckOptions& options, double terms_per_output) {
  const double fits = options.work / std::max(1.0, terms_per_output);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::min(fits, 1e9)),
                                  std::min<std::int64_t>(16, options.samples), options.samples);
}

// The reference, value and weight of every sample of every checked transform.
struct Comparison {
  Values reference, value;
  std::vector<double> weight;
  bool by_device = false;

  // Makes room for one transform's reference values and returns it.
  ComplexSpan add(std::span<const double> weights) {
    reference.resize(reference.size() + weights.size());
    weight.insert(weight.end(), weights.begin(), weights.end());
    return ComplexSpan(reference).last(weights.size());
  }
};

template <typename T>
std::complex<double> widen(std::complex<T> v) {
  return {static_cast<double>(v.real()), static_cast<double>(v.imag())};
}

// How many outputs to sum, and whether the device does it.
struct Effort {
  std::int64_t samples = 0;
  DeviceSums* sums = nullptr;
};
Effort effort_of(const CheckOptions& options, int type, double terms_per_output) {
  if (options.sums) {
    CheckOptions more = options;
    more.work = options.device_work;
    const std::int64_t samples = affordable(more, terms_per_output);
    if (options.sums->takes(type, terms_per_output * static_cast<double>(samples))) return {samples, options.sums};
  }
  return {affordable(options, terms_per_output), nullptr};
}

template <typename T>
Comparison compare_nufft(const Problem& problem, const PointView<T>& points, const PointView<T>& targets,
                         const std::complex<T>* input, const std::complex<T>* output, const CheckOptions& options) {
  NufftSums<T> job;
  job.type = problem.type, job.sign = problem.sign, job.n = problem.n.xyz(), job.order = options.order;
  job.points = points, job.targets = targets;
  const std::int64_t inputs = job.terms();
  const std::int64_t outputs = problem.type == 1   ? mode_count(problem)
                               : problem.type == 2 ? points.count
                                                   : targets.count;
  const Effort effort = effort_of(options, problem.type, static_cast<double>(inputs));
  const bool modes = problem.type == 1;
  const ModeSample modes_sampled = modes ? sample_modes(job.n, effort.samples, options.seed) : ModeSample{};
  const PointSample sampled = modes ? PointSample{} : sample_points(outputs, effort.samples, options.seed);
  job.modes = modes_sampled.mode, job.which = sampled.index;
  Comparison all;
  for (const std::int64_t b : checked_transforms(problem.batch)) {
    job.input = input + b * inputs;
    DeviceInput there = options.there;
    if (effort.sums) there.values = static_cast<const std::complex<T>*>(there.values) + b * inputs;
    const ComplexSpan reference = all.add(modes ? modes_sampled.weight : sampled.weight);
    all.by_device = direct_sums(job, effort.sums, there, reference) || all.by_device;
    for (const auto& mode : modes_sampled.mode)
      all.value.push_back(widen(output[b * outputs + index_of(mode, job.n, options.order)]));
    for (const std::int64_t j : sampled.index) all.value.push_back(widen(output[b * outputs + j]));
  }
  return all;
}

std::complex<double> stored_value(const Problem& problem, const void* output, std::int64_t at) {
  const bool real = problem.fft_type == FftType::c2r;
  if (problem.precision == Precision::f32)
    return real ? static_cast<double>(static_cast<const float*>(output)[at])
                : widen(static_cast<const std::complex<float>*>(output)[at]);
  return real ? static_cast<const double*>(output)[at] : static_cast<const std::complex<double>*>(output)[at];
}

}  // namespace

PointSample sample_points(std::int64_t total, std::int64_t count, std::uint64_t seed) {
  PointSample sample;
  if (total <= count || count < 3) {
    for (std::int64_t i = 0; i < std::min(total, std::max<std::int64_t>(count, 0)); ++i) sample.index.push_back(i);
    sample.weight.assign(sample.index.size(), 1);
    return sample;
  }
  const std::int64_t parts = count - 2, inner = total - 2;
  sample.index.push_back(0);
  sample.weight.push_back(1);
  for (std::int64_t p = 0; p < parts; ++p) {
    const std::int64_t low = 1 + inner / parts * p + std::min(p, inner % parts);
    const std::int64_t length = inner / parts + (p < inner % parts ? 1 : 0);
    const double u = random_unit(seed, 32, static_cast<std::uint64_t>(p));
    sample.index.push_back(low + std::min(length - 1, static_cast<std::int64_t>(u * static_cast<double>(length))));
    sample.weight.push_back(static_cast<double>(length));
  }
  sample.index.push_back(total - 1);
  sample.weight.push_back(1);
  return sample;
}

ModeSample sample_modes(const std::array<std::int64_t, 3>& n, std::int64_t count, std::uint64_t seed) {
  // The largest side whose product, with sides limited to n_d, stays within count; at least 3 per dimension.
  const auto product = [&](std::int64_t side) {
    double p = 1;
    for (const std::int64_t size : n) p *= static_cast<double>(std::min(size, side));
    return p;
  };
  std::int64_t side = 3;
  const std::int64_t longest = *std::max_element(n.begin(), n.end());
  while (side < longest && product(side + 1) <= static_cast<double>(count)) ++side;
  std::array<PointSample, 3> line;
  for (std::size_t d = 0; d < 3; ++d) line[d] = sample_points(n[d], side, seed + d);
  ModeSample sample;
  for (std::size_t z = 0; z < line[2].index.size(); ++z)
    for (std::size_t y = 0; y < line[1].index.size(); ++y)
      for (std::size_t x = 0; x < line[0].index.size(); ++x) {
        sample.mode.push_back({line[0].index[x] - n[0] / 2, line[1].index[y] - n[1] / 2, line[2].index[z] - n[2] / 2});
        sample.weight.push_back(line[0].weight[x] * line[1].weight[y] * line[2].weight[z]);
      }
  return sample;
}

ErrorEstimate relative_error(std::span<const std::complex<double>> reference,
                             std::span<const std::complex<double>> value, std::span<const double> weight) {
  if (value.size() != reference.size() || (!weight.empty() && weight.size() != value.size()))
    throw Error(Status::invalid_argument, "relative_error: one value (and weight) for each reference value is needed");
  const auto weight_of = [&](std::size_t i) { return weight.empty() ? 1.0 : weight[i]; };
  long double error = 0, norm = 0;
  bool complete = true;
  for (std::size_t i = 0; i < value.size(); ++i) {
    error += static_cast<long double>(weight_of(i)) * std::norm(value[i] - reference[i]);
    norm += static_cast<long double>(weight_of(i)) * std::norm(reference[i]);
    complete = complete && weight_of(i) == 1.0;
  }
  ErrorEstimate result;
  result.samples = static_cast<std::int64_t>(value.size());
  result.distance = static_cast<double>(std::sqrt(error));
  result.norm = static_cast<double>(std::sqrt(norm));
  if (norm == 0) {
    result.relative = error == 0 ? 0 : std::numeric_limits<double>::infinity();
    if (std::isnan(error)) result.relative = std::numeric_limits<double>::quiet_NaN();
    return result;
  }
  const auto ratio = static_cast<double>(error / norm);
  result.relative = std::sqrt(ratio);
  if (complete || !(ratio > 0)) return result;
  // Variance of a ratio of sums: sum w^2 (e - ratio r)^2 / norm^2. Division by 4 ratio gives the variance of its square
  // root.
  double variance = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const double part = weight_of(i) / static_cast<double>(norm) *
                        (std::norm(value[i] - reference[i]) - ratio * std::norm(reference[i]));
    variance += weight_of(i) == 1.0 ? 0 : part * part;
  }
  result.standard_error = std::sqrt(variance / (4 * ratio));
  return result;
}

template <typename T>
double adjoint_mismatch(std::span<const std::complex<T>> ax, std::span<const std::complex<T>> y,
                        std::span<const std::complex<T>> x, std::span<const std::complex<T>> adjoint_y) {
  if (ax.size() != y.size() || x.size() != adjoint_y.size())
    throw Error(Status::invalid_argument, "adjoint_mismatch: vectors of one inner product differ in length");
  // Parts of fixed size, so that the result does not depend on the number of threads.
  const auto inner = [](std::span<const std::complex<T>> a, std::span<const std::complex<T>> b) {
    constexpr std::size_t part = std::size_t{1} << 16;
    std::vector<CompensatedSum> sums((a.size() + part - 1) / part);
    on_all_threads(std::ssize(sums), 4, [&](std::int64_t at) {
      const auto p = static_cast<std::size_t>(at);
      for (std::size_t i = p * part; i < std::min(a.size(), (p + 1) * part); ++i)
        sums[p].add(std::conj(widen(a[i])) * widen(b[i]));
    });
    CompensatedSum sum;
    for (const CompensatedSum& one : sums) sum.add(one);
    return sum.value();
  };
  const double scale = std::sqrt(inner(ax, ax).real() * inner(y, y).real());
  const double difference = std::abs(inner(ax, y) - inner(x, adjoint_y));
  return difference == 0 ? 0 : difference / scale;
}

template <typename T>
ErrorEstimate nufft_error(const Problem& problem, const PointView<T>& points, const PointView<T>& targets,
                          const std::complex<T>* input, const std::complex<T>* output, const CheckOptions& options) {
  const Comparison all = compare_nufft(problem, points, targets, input, output, options);
  ErrorEstimate estimate = relative_error(all.reference, all.value, all.weight);
  estimate.by_device = all.by_device;
  return estimate;
}

ErrorEstimate fft_error(const Problem& problem, const void* input, const void* output, const CheckOptions& options) {
  const auto in = input_sizes(problem), out = output_sizes(problem);
  const ArrayLayout layout = resolved_output_layout(problem);
  const ArrayPlaces places(problem, false);
  const auto terms = static_cast<double>(element_count(in));
  const PointSample sample = sample_points(element_count(out), affordable(options, terms), options.seed);
  Comparison all;
  for (const std::int64_t b : checked_transforms(problem.batch)) {
    fft_sums(problem, input, b, sample.index, all.add(sample.weight));
    for (const std::int64_t i : sample.index)
      all.value.push_back(stored_value(problem, output, b * layout.distance + places.of(i)));
  }
  return relative_error(all.reference, all.value, all.weight);
}

// NOLINTBEGIN(bugprone-macro-parentheses): T is a type.
#define FOURTUNE_INSTANTIATE(T)                                                                            \
  template double adjoint_mismatch<T>(std::span<const std::complex<T>>, std::span<const std::complex<T>>,  \
                                      std::span<const std::complex<T>>, std::span<const std::complex<T>>); \
  template ErrorEstimate nufft_error<T>(const Problem&, const PointView<T>&, const PointView<T>&,          \
                                        const std::complex<T>*, const std::complex<T>*, const CheckOptions&);
// NOLINTEND(bugprone-macro-parentheses)
FOURTUNE_INSTANTIATE(float)
FOURTUNE_INSTANTIATE(double)
#undef FOURTUNE_INSTANTIATE

}  // namespace fourtune::tuner
