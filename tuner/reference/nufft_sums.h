// The direct sums of one nonuniform transform at some of its outputs, as whoever checks results asks for them, and who
// computes them: the host (reference.h), or a device (device_sums.h).
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <span>

#include "tuner/reference/reference.h"

namespace fourtune::tuner {

template <typename T>
struct NufftSums {
  int type = 1, sign = -1;
  std::array<std::int64_t, 3> n{1, 1, 1};  // types 1 and 2
  ModeOrder order = ModeOrder::centred;    // of the input of type 2
  PointView<T> points, targets;            // targets: of type 3
  const std::complex<T>* input = nullptr;  // of this transform: point values, or modes for type 2
  // The outputs asked for: of type 1 these modes, else points (type 2) or targets (type 3) of these numbers.
  std::span<const std::array<std::int64_t, 3>> modes;
  std::span<const std::int64_t> which;

  std::size_t outputs() const { return type == 1 ? modes.size() : which.size(); }
  // Terms of the sum of one output.
  std::int64_t terms() const { return type == 2 ? n[0] * n[1] * n[2] : points.count; }
};

template <typename T>
void host_sums(const NufftSums<T>& job, ComplexSpan out) {
  if (job.type == 1) return type1_sums(job.points, job.input, job.sign, job.modes, out);
  if (job.type == 2) return type2_sums(job.points, job.input, job.sign, job.n, job.order, job.which, out);
  type3_sums(job.points, job.input, job.sign, job.targets, job.which, out);
}

}  // namespace fourtune::tuner
