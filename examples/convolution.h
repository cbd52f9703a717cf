// Circular convolution by FFTs whose spectrum is in digit-reversed order: the filter is put into that order once, so
// that no transform has to sort its results.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fourtune/transform.h"

namespace fourtune::examples {

using Frequency = std::array<std::int64_t, most_dimensions>;  // -n/2 <= k < n/2 along x, y, z, w

// Convolves images of one size with one filter, in place. Images are in host memory (backends cpu and emulated).
class Convolution {
 public:
  // n: the sizes, x fastest, as a token has them ("256x256"). filter(k) is the factor of frequency k, that is the DFT
  // of what images are convolved with. Throws fourtune::Error.
  Convolution(const std::string& n, const std::function<std::complex<double>(const Frequency&)>& filter,
              const Options& options = {});
  // Replaces the image (n values) by its convolution.
  void apply(std::complex<double>* image);
  const std::string& plan() const { return transform_.plan(); }

 private:
  Transform transform_;
  std::vector<std::complex<double>> factors_;  // in the spectrum's order, with 1 / (number of values)
};

}  // namespace fourtune::examples
