// The example of a convolution in digit-reversed order, on the processor and by GPU kernels.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "examples/convolution.h"
#include "runtime/backend_table.h"
#include "runtime/backends/emulated/emulated_backend.h"
#include "runtime/backends/gpu/program_source.h"

namespace fourtune::examples {
namespace {

using Image = std::vector<std::complex<double>>;

// A filter with a different factor for every frequency; a shift by (1, 2) makes it no symmetric one.
std::complex<double> shift(const Frequency& k, double nx, double ny) {
  return std::polar(1.0, -2 * std::numbers::pi * (static_cast<double>(k[0]) / nx + 2 * static_cast<double>(k[1]) / ny));
}

TEST(Convolution, ShiftsAnImageOnEveryBackend) {
  static const runtime::emulated::EmulatedBackend emulated(runtime::gpu::generated_programs());
  runtime::add_backend(emulated);
  for (const std::string backend : {"cpu", "emulated"})
    for (const auto& [nx, ny] : {std::pair(16, 12), {30, 7}, {67, 4}}) {
      SCOPED_TRACE(backend + " " + std::to_string(nx));
      Options options;
      options.default_databases = false;
      options.backend = backend;
      Convolution convolution(
          std::to_string(nx) + "x" + std::to_string(ny),
          [nx = nx, ny = ny](const Frequency& k) { return shift(k, nx, ny); }, options);
      std::mt19937 random(2);
      std::uniform_real_distribution<double> uniform(-1, 1);
      Image image(static_cast<std::size_t>(nx * ny));
      for (auto& pixel : image) pixel = {uniform(random), uniform(random)};
      Image shifted = image;
      convolution.apply(shifted.data());
      for (int y = 0; y < ny; ++y)
        for (int x = 0; x < nx; ++x)
          EXPECT_LT(std::abs(shifted[static_cast<std::size_t>((x + 1) % nx + nx * ((y + 2) % ny))] -
                             image[static_cast<std::size_t>(x + nx * y)]),
                    1e-13);
    }
}

}  // namespace
}  // namespace fourtune::examples
