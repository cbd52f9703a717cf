// The Shepp-Logan head in two and three dimensions, as an image and as exact samples of its Fourier transform.
//
// The object fills [-1, 1]^dim. An image with n pixels per side has pixel i (per dimension) at 2 (i - n/2) / n.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <vector>

namespace fourtune::examples {

// An ellipse (2D: the third axis is unused) or ellipsoid, rotated by `angle` degrees in the x-y plane, that adds
// `value` inside.
struct Ellipsoid {
  double value;
  std::array<double, 3> axis;  // half-axes
  std::array<double, 3> centre;
  double cosine = 1, sine = 0;  // of the rotation angle
};
// The modified Shepp-Logan phantom: ellipses of Toft (thesis, DTU 1996, Table B.3), contrast as in MATLAB's `phantom`.
// The ellipsoids are its usual three-dimensional extension (Schabel's phantom3d), without its tilts out of the plane.
std::vector<Ellipsoid> shepp_logan(int dim);

// Pixels are stored x fastest. Each is the mean of 4^dim points, so that edges are comparable with a band-limited
// reconstruction.
std::vector<float> render(const std::vector<Ellipsoid>& phantom, int dim, std::int64_t n);

// Samples of an n-pixel image of this object at nonuniform points w (radians per pixel, dim arrays of m):
//   y_j = (n/2)^dim integral f(p) exp(i (n/2) w_j . p) dp  ~  sum_k f_k exp(i k . w_j),
// computed from the transforms of a disk, 2 pi J1(u)/u, and of a ball, 4 pi (sin u - u cos u)/u^3.
std::vector<std::complex<float>> fourier_samples(const std::vector<Ellipsoid>& phantom, int dim, std::int64_t n,
                                                 const std::array<std::vector<float>, 3>& w);

}  // namespace fourtune::examples
