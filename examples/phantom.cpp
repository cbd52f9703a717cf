#include "examples/phantom.h"

#include <cmath>
#include <numbers>

namespace fourtune::examples {
namespace {

constexpr double kPi = std::numbers::pi;

// Rotates v to coordinates along the axes of the ellipsoid.
std::array<double, 3> turned(const Ellipsoid& e, const std::array<double, 3>& v) {
  return {e.cosine * v[0] + e.sine * v[1], -e.sine * v[0] + e.cosine * v[1], v[2]};
}

double value_at(const std::vector<Ellipsoid>& phantom, int dim, const std::array<double, 3>& p) {
  double value = 0;
  for (const Ellipsoid& e : phantom) {
    const auto q = turned(e, {p[0] - e.centre[0], p[1] - e.centre[1], p[2] - e.centre[2]});
    double r2 = 0;
    for (std::size_t d = 0; d < static_cast<std::size_t>(dim); ++d) r2 += q[d] * q[d] / (e.axis[d] * e.axis[d]);
    if (r2 <= 1) value += e.value;
  }
  return value;
}

// The Fourier transform of the unit disk or ball at radius u.
double unit_transform(int dim, double u) {
  if (dim == 2) return u < 1e-4 ? kPi * (1 - u * u / 8) : 2 * kPi * ::j1(u) / u;
  if (u < 1e-2) return 4 * kPi / 3 * (1 - u * u / 10 + u * u * u * u / 280);
  return 4 * kPi * (std::sin(u) - u * std::cos(u)) / (u * u * u);
}

std::complex<double> transform_at(const Ellipsoid& e, int dim, const std::array<double, 3>& k) {
  const auto q = turned(e, k);
  double u2 = 0, volume = 1, phase = 0;
  for (std::size_t d = 0; d < static_cast<std::size_t>(dim); ++d) {
    u2 += q[d] * q[d] * e.axis[d] * e.axis[d];
    volume *= e.axis[d];
    phase += k[d] * e.centre[d];
  }
  return std::polar(1.0, phase) * (e.value * volume * unit_transform(dim, std::sqrt(u2)));
}

}  // namespace

std::vector<Ellipsoid> shepp_logan(int dim) {
  const double c = std::cos(kPi / 10), d = std::sin(kPi / 10);  // 18 degrees
  std::vector<Ellipsoid> list = {
      {1.0, {0.69, 0.92, 0.81}, {0, 0, 0}, 1, 0},         {-0.8, {0.6624, 0.874, 0.78}, {0, -0.0184, 0}, 1, 0},
      {-0.2, {0.11, 0.31, 0.22}, {0.22, 0, 0}, c, -d},    {-0.2, {0.16, 0.41, 0.28}, {-0.22, 0, 0}, c, d},
      {0.1, {0.21, 0.25, 0.41}, {0, 0.35, -0.15}, 1, 0},  {0.1, {0.046, 0.046, 0.05}, {0, 0.1, 0.25}, 1, 0},
      {0.1, {0.046, 0.046, 0.05}, {0, -0.1, 0.25}, 1, 0}, {0.1, {0.046, 0.023, 0.05}, {-0.08, -0.605, 0}, 1, 0},
      {0.1, {0.023, 0.023, 0.02}, {0, -0.606, 0}, 1, 0},  {0.1, {0.023, 0.046, 0.02}, {0.06, -0.605, 0}, 1, 0},
  };
  if (dim == 2)
    for (Ellipsoid& e : list) e.axis[2] = e.centre[2] = 0;
  return list;
}

std::vector<float> render(const std::vector<Ellipsoid>& phantom, int dim, std::int64_t n) {
  constexpr int kFine = 4;
  const std::int64_t depth = dim == 3 ? n : 1;
  const int deep = dim == 3 ? kFine : 1;
  std::vector<float> image(static_cast<std::size_t>(n * n * depth));
  const auto place = [&](std::int64_t i, int part, int parts) {
    return 2.0 / static_cast<double>(n) * (static_cast<double>(i - n / 2) + (part + 0.5) / parts - 0.5);
  };
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t row = 0; row < n * depth; ++row)
    for (std::int64_t x = 0; x < n; ++x) {
      double sum = 0;
      for (int c = 0; c < deep; ++c)
        for (int b = 0; b < kFine; ++b)
          for (int a = 0; a < kFine; ++a)
            sum += value_at(phantom, dim, {place(x, a, kFine), place(row % n, b, kFine), place(row / n, c, deep)});
      image[static_cast<std::size_t>(row * n + x)] = static_cast<float>(sum / (kFine * kFine * deep));
    }
  return image;
}

std::vector<std::complex<float>> fourier_samples(const std::vector<Ellipsoid>& phantom, int dim, std::int64_t n,
                                                 const std::array<std::vector<float>, 3>& w) {
  std::vector<std::complex<float>> samples(w[0].size());
  const double half = static_cast<double>(n) / 2, scale = std::pow(half, dim);
#pragma omp parallel for schedule(static)
  for (std::size_t j = 0; j < samples.size(); ++j) {
    std::array<double, 3> k{};
    for (std::size_t d = 0; d < static_cast<std::size_t>(dim); ++d) k[d] = half * static_cast<double>(w[d][j]);
    std::complex<double> sum = 0;
    for (const Ellipsoid& e : phantom) sum += transform_at(e, dim, k);
    samples[j] = std::complex<float>(scale * sum);
  }
  return samples;
}

}  // namespace fourtune::examples
