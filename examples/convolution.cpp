// Blurs an image by a Gaussian and shows that it is the sum over neighbours that it stands for.
#include "examples/convolution.h"

#include <cmath>
#include <cstdio>
#include <numbers>
#include <random>

int main() try {
  using namespace fourtune::examples;
  const int nx = 96, ny = 64;
  const double sigma = 2;  // pixels
  const auto blur = [&](const Frequency& k) {
    const double x = 2 * std::numbers::pi * static_cast<double>(k[0]) / nx,
                 y = 2 * std::numbers::pi * static_cast<double>(k[1]) / ny;
    return std::complex<double>(std::exp(-sigma * sigma * (x * x + y * y) / 2));
  };
  Convolution convolution("96x64", blur);
  std::printf("plan %s\n", convolution.plan().c_str());

  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<std::complex<double>> image(nx * ny), blurred;
  for (auto& pixel : image) pixel = uniform(random);
  blurred = image;
  convolution.apply(blurred.data());

  // Every 40th pixel is the mean of all others, weighed by the periodic Gaussian.
  double error = 0, norm = 0;
  for (int at = 0; at < nx * ny; at += 40) {
    std::complex<double> sum;
    for (int dy = -ny / 2; dy < ny / 2; ++dy)
      for (int dx = -nx / 2; dx < nx / 2; ++dx) {
        const double weight =
            std::exp(-(dx * dx + dy * dy) / (2 * sigma * sigma)) / (2 * std::numbers::pi * sigma * sigma);
        const int x = (at % nx + dx + nx) % nx, y = (at / nx + dy + ny) % ny;
        sum += weight * image[static_cast<std::size_t>(y) * nx + static_cast<std::size_t>(x)];
      }
    error += std::norm(blurred[static_cast<std::size_t>(at)] - sum);
    norm += std::norm(sum);
  }
  std::printf("relative error %.1e\n", std::sqrt(error / norm));
  return error <= 1e-12 * norm ? 0 : 1;
} catch (const fourtune::Error& error) {
  std::fprintf(stderr, "%s: %s\n", fourtune::status_name(error.status()), error.what());
  return 1;
}
