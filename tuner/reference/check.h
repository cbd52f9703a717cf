// Which outputs to check, and how far a transform's result is from the reference there.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "fourtune/problem.h"
#include "tuner/reference/device_sums.h"
#include "tuner/reference/reference.h"

namespace fourtune::tuner {

// Outputs chosen for checking. `weight` is the number of outputs that each one stands for. With these weights, sums
// over the sample estimate sums over all outputs without bias, although the ends of every dimension, where errors are
// largest, are always included.
struct PointSample {
  std::vector<std::int64_t> index;  // ascending
  std::vector<double> weight;
};
struct ModeSample {
  std::vector<std::array<std::int64_t, 3>> mode;
  std::vector<double> weight;
};
// All of 0 .. total-1 if total <= count, else 0, total-1 and one index from each of count-2 equal parts of the rest.
PointSample sample_points(std::int64_t total, std::int64_t count, std::uint64_t seed);
// The product of one such sample per dimension, with about `count` modes. Products let type1_sums share phases.
ModeSample sample_modes(const std::array<std::int64_t, 3>& n, std::int64_t count, std::uint64_t seed);

// relative = |value - reference| / |reference|, with l2 norms over the sample; NaN where a value is NaN. standard_error
// is the standard error of `relative` as an estimate of the error over all outputs (delta method), and 0 when the
// sample is complete. If the reference has norm 0, relative is 0 when all values are 0 too, else infinity.
struct ErrorEstimate {
  double relative = 0;
  double standard_error = 0;
  double distance = 0, norm = 0;  // |value - reference| and |reference| over all outputs, as the sample estimates them
  std::int64_t samples = 0;
  bool by_device = false;  // the references are a device's sums
};
// weight is empty or has one entry per value.
ErrorEstimate relative_error(std::span<const std::complex<double>> reference,
                             std::span<const std::complex<double>> value, std::span<const double> weight = {});

// |<A x, y> - <x, A* y>| / (|A x| |y|). The test is most sensitive with y near A x, where <A x, y> is near |A x| |y|.
// With independent random vectors the inner products are smaller than the norms by the square root of their length.
template <typename T>
double adjoint_mismatch(std::span<const std::complex<T>> ax, std::span<const std::complex<T>> y,
                        std::span<const std::complex<T>> x, std::span<const std::complex<T>> adjoint_y);

struct CheckOptions {
  ModeOrder order = ModeOrder::centred;
  std::int64_t samples = 256;  // upper limit of outputs per transform
  double work = 4e8;  // upper limit of terms summed per transform; the sample shrinks to fit, but not below 16 outputs
  std::uint64_t seed = 1;
  // nufft: who sums on a device, and the whole input there; null: the host sums. The sample is then up to
  // device_work / work times as large.
  DeviceSums* sums = nullptr;
  DeviceInput there;
  double device_work = 2e9;
};
// The transforms of a batch that are checked: the first, a middle and the last one, by number.
std::vector<std::int64_t> checked_transforms(std::int64_t batch);
// The error of a finished nonuniform transform, from sampled outputs of the first, a middle and the last transform of
// the batch. input and output are whole arrays (batch after batch) of point values or mode values, as the transform
// type requires. targets is used by type 3 only.
template <typename T>
ErrorEstimate nufft_error(const Problem& problem, const PointView<T>& points, const PointView<T>& targets,
                          const std::complex<T>* input, const std::complex<T>* output,
                          const CheckOptions& options = {});
// The same for an fft. `input` must hold what the transform read (pass a copy if it ran in place).
ErrorEstimate fft_error(const Problem& problem, const void* input, const void* output,
                        const CheckOptions& options = {});

}  // namespace fourtune::tuner
