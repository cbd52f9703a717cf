#include "examples/trajectory.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <stdexcept>

namespace fourtune::examples {
namespace {

constexpr double kPi = std::numbers::pi;
using Points = std::array<std::vector<float>, 3>;

void append(Points& points, double x, double y, double z) {
  points[0].push_back(static_cast<float>(x));
  points[1].push_back(static_cast<float>(y));
  points[2].push_back(static_cast<float>(z));
}

// The step between arms and turns together is 1.25 times finer than the image needs in radius, and so is the step
// between samples along the last turn.
void spiral(Points& points, std::int64_t n, double z, double density) {
  constexpr int kArms = 16;
  const double turns = std::max(1.0, 0.625 * static_cast<double>(n) / kArms);
  const auto samples = static_cast<std::int64_t>(1.25 * kPi * static_cast<double>(n) * turns * density);
  for (int arm = 0; arm < kArms; ++arm)
    for (std::int64_t i = 0; i < samples; ++i) {
      const double t = (static_cast<double>(i) + 0.5) / static_cast<double>(samples);
      const double angle = 2 * kPi * (turns * t + static_cast<double>(arm) / kArms);
      append(points, kPi * t * std::cos(angle), kPi * t * std::sin(angle), z);
    }
}

void spoke(Points& points, std::int64_t samples, double x, double y, double z) {
  for (std::int64_t i = 0; i < samples; ++i) {
    const double r = kPi * static_cast<double>(2 * i - samples) / static_cast<double>(samples);
    append(points, r * x, r * y, r * z);
  }
}

void radial(Points& points, int dim, std::int64_t n, double density) {
  const auto samples = static_cast<std::int64_t>(2 * density * static_cast<double>(n));
  if (dim == 2) {
    const auto spokes = static_cast<std::int64_t>(1.6 * static_cast<double>(n));
    for (std::int64_t q = 0; q < spokes; ++q) {
      const double angle = static_cast<double>(q) * kPi * 0.6180339887498949;
      spoke(points, samples, std::cos(angle), std::sin(angle), 0);
    }
    return;
  }
  const auto spokes = static_cast<std::int64_t>(1.2 * static_cast<double>(n * n));
  for (std::int64_t q = 0; q < spokes; ++q) {
    const double z = (static_cast<double>(q) + 0.5) / static_cast<double>(spokes), rho = std::sqrt(1 - z * z);
    const double angle = static_cast<double>(q) * 2 * kPi * 0.6180339887498949;
    spoke(points, samples, rho * std::cos(angle), rho * std::sin(angle), z);
  }
}

void random_points(Points& points, int dim, std::int64_t n, double density) {
  std::mt19937_64 bits(1);
  const auto draw = [&] { return 2 * kPi * (static_cast<double>(bits() >> 11) * 0x1p-53 - 0.5); };
  const auto count = static_cast<std::int64_t>(3 * density * static_cast<double>(n * n * (dim == 3 ? n : 1)));
  for (std::int64_t j = 0; j < count; ++j) {
    const double x = draw(), y = draw();
    append(points, x, y, dim == 3 ? draw() : 0);
  }
}

}  // namespace

std::array<std::vector<float>, 3> trajectory(const std::string& name, int dim, std::int64_t n, double density) {
  Points points;
  if (name == "spiral") {
    const std::int64_t planes = dim == 3 ? n : 1;
    for (std::int64_t p = 0; p < planes; ++p)
      spiral(points, n, dim == 3 ? 2 * kPi * static_cast<double>(p - planes / 2) / static_cast<double>(planes) : 0,
             density);
  } else if (name == "radial") {
    radial(points, dim, n, density);
  } else if (name == "random") {
    random_points(points, dim, n, density);
  } else {
    throw std::invalid_argument("trajectory " + name + ": allowed are spiral, radial, random");
  }
  if (dim < 3) points[2].clear();
  return points;
}

}  // namespace fourtune::examples
