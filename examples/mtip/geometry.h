// Rotations, and the points of reciprocal space that one image sees.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace mtip {

using Vector = std::array<double, 3>;
using Quaternion = std::array<double, 4>;  // w, x, y, z; of length 1

Vector rotate(const Quaternion& q, const Vector& v);
Quaternion multiply(const Quaternion& a, const Quaternion& b);
// Number i of n rotations that cover all of them evenly (super-Fibonacci spirals: Alexa, CVPR 2022).
Quaternion spiral(std::int64_t i, std::int64_t n);
// A rotation about a random axis by about `angle` radians; the same for the same seed and index.
Quaternion small_turn(double angle, std::uint64_t seed, std::uint64_t index);
// Evenly distributed (Shoemake's method).
Quaternion random_rotation(std::uint64_t seed, std::uint64_t index);
// Uniform in [0, 1), a function of its arguments.
double random_unit(std::uint64_t seed, std::uint64_t index);

// Pixels of a detector on the Ewald sphere of radius `wave`, all with |q| <= q_max: q = (u, v, wave - sqrt(wave^2 - u^2
// - v^2)), in radians per cell of the grid.
std::vector<Vector> ewald_pixels(int side, double q_max, double wave);
double length(const Vector& v);

}  // namespace mtip
