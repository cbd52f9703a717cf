#include <algorithm>
#include <cmath>

#include "examples/mtip/steps.h"

namespace mtip {
namespace {

// Cells where the blurred density is above a part of its maximum.
std::vector<bool> shrinkwrap(Volume& volume, const Values& density, const Phasing& phasing) {
  Values spectrum = volume.to_reciprocal(density);
  volume.for_each_frequency([&](std::size_t at, const Vector& q) {
    spectrum[at] *= std::exp(-phasing.blur * phasing.blur * (q[0] * q[0] + q[1] * q[1] + q[2] * q[2]) / 2);
  });
  const Values blurred = volume.to_space(spectrum);
  double most = 0;
  for (const Complex& value : blurred) most = std::max(most, value.real());
  most = largest(most);
  std::vector<bool> support(blurred.size());
  volume.for_each_cell([&](std::size_t at, const Vector& x) {
    support[at] = blurred[at].real() > phasing.threshold * most && length(x) <= phasing.reach;
  });
  return support;
}

}  // namespace

void phase(Volume& volume, const Values& autocorrelation, Values& density, const Phasing& phasing) {
  const Values intensity = volume.to_reciprocal(autocorrelation);
  std::vector<double> modulus(intensity.size());
  std::vector<bool> known(intensity.size());
  for (std::size_t i = 0; i < modulus.size(); ++i) modulus[i] = std::sqrt(std::max(0.0, intensity[i].real()));
  volume.for_each_frequency([&](std::size_t at, const Vector& q) { known[at] = length(q) <= phasing.q_max; });
  std::vector<bool> support;
  for (int i = 0; i < phasing.iterations; ++i) {
    if (i % phasing.between == 0) support = shrinkwrap(volume, density, phasing);
    Values spectrum = volume.to_reciprocal(density);
    for (std::size_t k = 0; k < spectrum.size(); ++k) {
      const double size = std::abs(spectrum[k]);
      if (known[k] && size > 0) spectrum[k] *= modulus[k] / size;
    }
    density = volume.to_space(spectrum);
    for (std::size_t j = 0; j < density.size(); ++j) density[j] = support[j] ? std::max(0.0, density[j].real()) : 0.0;
  }
}

}  // namespace mtip
