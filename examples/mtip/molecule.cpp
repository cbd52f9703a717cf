#include "examples/mtip/molecule.h"

#include <cmath>

namespace mtip {

Molecule::Molecule(double radius, int blobs, std::uint64_t seed) {
  std::uint64_t next = 0;
  while (static_cast<int>(blobs_.size()) < blobs) {
    Vector centre;
    for (double& c : centre) c = radius * (2 * random_unit(seed, next++) - 1);
    if (length(centre) > radius) continue;
    const double weight = 0.5 + random_unit(seed, next++), width = 0.7 + 0.4 * random_unit(seed, next++);
    blobs_.push_back({centre, weight, width});
  }
}

std::complex<double> Molecule::transform(const Vector& q) const {
  std::complex<double> sum = 0;
  const double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2];
  for (const Blob& b : blobs_)
    sum += std::polar(b.weight * std::exp(-b.width * b.width * square / 2),
                      q[0] * b.centre[0] + q[1] * b.centre[1] + q[2] * b.centre[2]);
  return sum;
}

}  // namespace mtip
