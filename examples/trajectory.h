// The points at which an instrument samples Fourier space: spiral, radial and random trajectories.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace fourtune::examples {

// Points in [-pi, pi)^dim (radians per pixel) for an image with n pixels per side, in the order of acquisition.
//   spiral  2D: 16 interleaved Archimedean arms; 3D: the same on n planes
//   radial  2D: golden-angle spokes through the centre; 3D: spokes over the sphere
//   random  independent, uniform
// Each trajectory has about 2.5 to 3.2 points per pixel (radial 3D: 2.4), times `density` (more samples along each arm
// or spoke). Throws std::invalid_argument for another name.
std::array<std::vector<float>, 3> trajectory(const std::string& name, int dim, std::int64_t n, double density = 1);

}  // namespace fourtune::examples
