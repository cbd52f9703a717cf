// The density that is to be found: a few Gaussian blobs, whose Fourier transform is known.
#pragma once

#include <complex>
#include <vector>

#include "examples/mtip/geometry.h"

namespace mtip {

class Molecule {
 public:
  // Blobs at places drawn from the seed, within `radius` cells of the origin.
  Molecule(double radius, int blobs, std::uint64_t seed);
  // F(q) = sum over blobs of weight exp(-width^2 q^2 / 2 + i q.centre).
  std::complex<double> transform(const Vector& q) const;

 private:
  struct Blob {
    Vector centre;
    double weight, width;
  };
  std::vector<Blob> blobs_;
};

}  // namespace mtip
