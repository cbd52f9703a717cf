// Synthetic inputs: seeded nonuniform points of every distribution class, strengths, modes and arrays.
//
// Every value is a pure function of (seed, stream, index), because SplitMix64 (Steele et al. 2014) has a counter as its
// state and so allows random access. Results therefore depend neither on the number of threads nor on how much is
// generated. The f32 points are the rounded f64 points of the same seed. All coordinates lie strictly inside (-pi, pi),
// also after rounding to f32.
//
// Distribution classes (n are the mode counts, N = max n). Points come in the order in which they would be acquired:
//   uniform  independent, uniform
//   cluster  uniform in a box at the origin whose sides are 8 cells of the fine grid at oversampling 2 (8 pi / n_d)
//   radial   readouts of 2N samples through the centre; 2D: golden-angle spokes; 3D: kooshball by 2D golden means
//            (Chan et al., Magn. Reson. Med. 61, 2009)
//   spiral   2D: interleaved Archimedean arms at constant angular speed (density falls as 1/r), 16N samples and N/32
//            turns per arm; 3D: the same arms, each in a randomly rotated plane
//   stack    stack of stars: golden-angle spokes in (x, y), repeated on n_z Cartesian planes; in 2D one axis is the
//            spoke's and the other is that of the planes
//   ewald    N x N pixel detectors on randomly rotated caps of a sphere through the origin (circle arcs in 2D)
// In 1D, radial, spiral, stack and ewald are the x coordinates of the 2D points.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "fourtune/problem.h"

namespace fourtune::tuner {

// 64 random bits with random access.
inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) noexcept {
  auto mix = [](std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  };
  return mix(mix(seed + 0x9e3779b97f4a7c15u * (stream + 1)) + 0x9e3779b97f4a7c15u * (index + 1));
}
// Uniform in [0, 1), multiples of 2^-53.
inline double random_unit(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) noexcept {
  return static_cast<double>(random_bits(seed, stream, index) >> 11) * 0x1p-53;
}

// Coordinates of points; x[d] is empty for d >= dim.
template <typename T>
struct PointSet {
  int dim = 1;
  std::array<std::vector<T>, 3> x;
  std::int64_t count() const { return static_cast<std::int64_t>(x[0].size()); }
  // nullptr for d >= dim, as the transform interfaces expect.
  const T* data(int d) const { return d < dim ? x[static_cast<std::size_t>(d)].data() : nullptr; }
};

// Generates m points of a class for n modes in dim dimensions, in parallel on the OpenMP threads. T: float or double.
// Throws Error{invalid_argument} for a negative m or dim outside 1..3.
template <typename T>
PointSet<T> make_points(PointClass points, int dim, const std::array<std::int64_t, 3>& n, std::int64_t m,
                        std::uint64_t seed);

// The points (types 1, 2) or sources (type 3) of a problem. Its m must be known; its class defaults to uniform. For
// type 3 the half-widths are X_d, just below pi, and make_targets uses S_d = extent_d / X_d, so that X_d S_d is not
// above the extent and equals it within f32 rounding. The first two points (if there are two) sit at the corners -X and
// +X (-S and +S), so that the extent is attained for every class; the mode counts that shape the class
// are 2 extent / pi.
template <typename T>
PointSet<T> make_points(const Problem& problem, std::uint64_t seed);
// Targets of a type-3 problem, uniform. Its k must be known.
template <typename T>
PointSet<T> make_targets(const Problem& problem, std::uint64_t seed);

// The extent of a type-3 problem: generator::type3_extent(), but its k must be known.
std::array<double, 3> resolved_extent(const Problem& problem);

// Independent complex (or real) values whose parts are uniform in [-1, 1). The f32 values are the rounded f64 values.
template <typename T>
void fill_random(std::span<std::complex<T>> values, std::uint64_t seed);
template <typename T>
void fill_random(std::span<T> values, std::uint64_t seed);

// Fills a half spectrum (n[0]/2+1 rows, x fastest, dense, batch after batch). It has the Hermitian symmetry that a c2r
// input needs on the planes k_x = 0 and k_x = n[0]/2, so that every algorithm gives the same real result.
template <typename T>
void fill_half_spectrum(std::span<std::complex<T>> values, const Sizes& n, std::int64_t batch, std::uint64_t seed);

}  // namespace fourtune::tuner
