// Which outputs to check, and how far a transform's result is from the reference there.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "fourtune/problem.h"
#include "tuner/reference/reference.h"

namespace fourtune::tuner {

// Outputs chosen for checking. `weight` is how many outputs each stands for, so that weighted sums over the sample
// estimate sums over all outputs without bias although the ends of every dimension, where errors are largest, are
// always included.
struct PointSample {
  std::vector<std::int64_t> index;  // ascending
  std::vector<double> weight;
};
struct ModeSample {
  std::vector<std::array<std::int64_t, 3>> mode;
  std::vector<double> weight;
};
// All of 0 .. total-1 if total <= count; else 0, total-1 and one index from each of count-2 equal parts of the rest.
PointSample sample_points(std::int64_t total, std::int64_t count, std::uint64_t seed);
// A product of such samples, one for each dimension, of about `count` modes: a product shares phases in type1_sums.
ModeSample sample_modes(const std::array<std::int64_t, 3>& n, std::int64_t count, std::uint64_t seed);

// relative = |value - reference| / |reference|, l2 norms over the sample; NaN where a value is NaN. standard_error is
// of `relative` as an estimate of the error over all outputs (delta method), 0 when the sample is complete. A reference
// of norm 0 gives relative 0 when the values are 0 as well, else infinity.
struct ErrorEstimate {
  double relative = 0;
  double standard_error = 0;
  std::int64_t samples = 0;
};
// weight: empty, or one for each value.
ErrorEstimate relative_error(std::span<const std::complex<double>> reference,
                             std::span<const std::complex<double>> value, std::span<const double> weight = {});

// |<A x, y> - <x, A* y>| / (|A x| |y|). Most telling with y near A x (then <A x, y> is near |A x| |y|): with
// independent random vectors the inner products themselves are smaller than the norms by the root of their length.
template <typename T>
double adjoint_mismatch(std::span<const std::complex<T>> ax, std::span<const std::complex<T>> y,
                        std::span<const std::complex<T>> x, std::span<const std::complex<T>> adjoint_y);

struct CheckOptions {
  ModeOrder order = ModeOrder::centred;
  std::int64_t samples = 256;  // most outputs of one transform
  double work = 4e8;  // most terms summed for one transform; the sample shrinks to fit, to no fewer than 16 outputs
  std::uint64_t seed = 1;
};
// Error of a finished nonuniform transform: sampled outputs of the first, a middle and the last transform of the batch.
// input and output are whole arrays (batch after batch) of point values and mode values as the type has them;
// targets is used by type 3 only.
template <typename T>
ErrorEstimate nufft_error(const Problem& problem, const PointView<T>& points, const PointView<T>& targets,
                          const std::complex<T>* input, const std::complex<T>* output,
                          const CheckOptions& options = {});
// The same for an fft. `input` must be what the transform read (a copy, if it ran in place).
ErrorEstimate fft_error(const Problem& problem, const void* input, const void* output,
                        const CheckOptions& options = {});

}  // namespace fourtune::tuner
