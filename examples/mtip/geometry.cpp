#include "examples/mtip/geometry.h"

#include <cmath>
#include <numbers>

namespace mtip {

using std::numbers::pi;

Vector rotate(const Quaternion& q, const Vector& v) {
  // v + 2 w (u x v) + 2 u x (u x v) with q = (w, u).
  const Vector u{q[1], q[2], q[3]};
  const auto cross = [](const Vector& a, const Vector& b) {
    return Vector{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  };
  const Vector once = cross(u, v), twice = cross(u, once);
  return {v[0] + 2 * (q[0] * once[0] + twice[0]), v[1] + 2 * (q[0] * once[1] + twice[1]),
          v[2] + 2 * (q[0] * once[2] + twice[2])};
}

Quaternion multiply(const Quaternion& a, const Quaternion& b) {
  return {a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
          a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1], a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
}

Quaternion spiral(std::int64_t i, std::int64_t n) {
  const double phi = std::sqrt(2.0), psi = 1.533751168755204288118041;
  const double s = static_cast<double>(i) + 0.5, t = s / static_cast<double>(n), d = 2 * pi * s;
  const double r = std::sqrt(t), big = std::sqrt(1 - t), alpha = d / phi, beta = d / psi;
  return {r * std::sin(alpha), r * std::cos(alpha), big * std::sin(beta), big * std::cos(beta)};
}

double random_unit(std::uint64_t seed, std::uint64_t index) {
  // SplitMix64 with the index as its state (Steele et al. 2014).
  std::uint64_t z = seed * 0xd1342543de82ef95u + 0x9e3779b97f4a7c15u * (index + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

Quaternion random_rotation(std::uint64_t seed, std::uint64_t index) {
  const double u = random_unit(seed, 3 * index), a = 2 * pi * random_unit(seed, 3 * index + 1),
               b = 2 * pi * random_unit(seed, 3 * index + 2);
  const double r = std::sqrt(1 - u), s = std::sqrt(u);
  return {s * std::cos(b), r * std::sin(a), r * std::cos(a), s * std::sin(b)};
}

Quaternion small_turn(double angle, std::uint64_t seed, std::uint64_t index) {
  const double z = 2 * random_unit(seed, 3 * index) - 1, a = 2 * pi * random_unit(seed, 3 * index + 1);
  const double turn = angle * (0.25 + random_unit(seed, 3 * index + 2)), s = std::sin(turn / 2);
  const double r = std::sqrt(1 - z * z);
  return {std::cos(turn / 2), s * r * std::cos(a), s * r * std::sin(a), s * z};
}

double length(const Vector& v) { return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

std::vector<Vector> ewald_pixels(int side, double q_max, double wave) {
  std::vector<Vector> pixels;
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j) {
      const double u = q_max * (2 * (i + 0.5) / side - 1), v = q_max * (2 * (j + 0.5) / side - 1);
      if (u * u + v * v > wave * wave) continue;
      const Vector q{u, v, wave - std::sqrt(wave * wave - u * u - v * v)};
      if (length(q) <= q_max) pixels.push_back(q);
    }
  return pixels;
}

}  // namespace mtip
