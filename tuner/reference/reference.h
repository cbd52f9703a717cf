// Reference results: direct sums of every transform at sampled outputs. The sums use double precision, phases reduced
// from about 106 bits, and compensation, so that their relative l2 error is a few 1e-16 for any size, coordinate or
// frequency. Each call handles one transform of a batch (pass its part of the arrays) and runs in parallel on the
// OpenMP threads; results do not depend on the number of threads. Inputs are f32 or f64; f32 coordinates are taken as
// exact numbers.
//
//   type 1   f_k = sum_j c_j exp(i sign k . x_j)       k_d = -floor(n_d/2) .. ceil(n_d/2)-1, "modes"
//   type 2   c_j = sum_k f_k exp(i sign k . x_j)
//   type 3   f_k = sum_j c_j exp(i sign s_k . x_j)
//   fft      F_k = sum_j f_j exp(i sign 2 pi sum_d k_d j_d / n_d), k_d, j_d = 0 .. n_d-1, unnormalised
//
// Modes are stored x fastest, either centred (k ascending) or in FFT order (k = 0, 1, .., -1).
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "fourtune/problem.h"
#include "fourtune/transform.h"  // ModeOrder

namespace fourtune::tuner {

// Coordinates of `count` points in dim dimensions; not owned. x[d] is ignored for d >= dim.
template <typename T>
struct PointView {
  int dim = 1;
  std::int64_t count = 0;
  std::array<const T*, 3> x{};
};
// A view of anything with dim, count() and data(d), such as PointSet of synthetic.h.
template <typename T, template <typename> class P>
PointView<T> view(const P<T>& points) {
  return {points.dim, points.count(), {points.data(0), points.data(1), points.data(2)}};
}

// Converts a flat storage index (x fastest) to its mode, and back.
std::array<std::int64_t, 3> mode_of(std::int64_t index, const std::array<std::int64_t, 3>& n, ModeOrder order);
std::int64_t index_of(const std::array<std::int64_t, 3>& mode, const std::array<std::int64_t, 3>& n, ModeOrder order);

using ComplexSpan = std::span<std::complex<double>>;

// out[i] = f at modes[i]. The cost is one phase per point and distinct k_d, and one product per point and mode.
template <typename T>
void type1_sums(const PointView<T>& points, const std::complex<T>* strengths, int sign,
                std::span<const std::array<std::int64_t, 3>> modes, ComplexSpan out);
// out[i] = c at point which[i]. `modes` holds n[0] n[1] n[2] values.
template <typename T>
void type2_sums(const PointView<T>& points, const std::complex<T>* modes, int sign,
                const std::array<std::int64_t, 3>& n, ModeOrder order, std::span<const std::int64_t> which,
                ComplexSpan out);
// out[i] = f at target which[i]. Requires |s x| < 2^50.
template <typename T>
void type3_sums(const PointView<T>& sources, const std::complex<T>* strengths, int sign, const PointView<T>& targets,
                std::span<const std::int64_t> which, ComplexSpan out);
// out[i] = output which[i] (a flat dense index, x fastest over output_sizes(problem)) of transform number `transform`
// of the batch. `input` is the whole input array with the problem's input layout, real for r2c, else complex. A c2r
// result has imaginary part 0; its input must be Hermitian on k_x = 0 and n/2.
void fft_sums(const Problem& problem, const void* input, std::int64_t transform, std::span<const std::int64_t> which,
              ComplexSpan out);

}  // namespace fourtune::tuner
