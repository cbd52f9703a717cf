// The four steps of multitiered iterative phasing (M-TIP: Donatelli, Sethian, Zwart, PNAS 2017; section V of the paper
// cuFINUFFT). All are collective.
//
// What is known: images, each the squared modulus of the density's Fourier transform on a part of the Ewald sphere in
// an unknown orientation. A density gives intensities anywhere (type 2). The intensity in all of reciprocal space is
// the Fourier transform of the density's autocorrelation, which is twice as wide as the density; so intensities
// anywhere give the autocorrelation on a grid of twice the cells (least squares with type 1).
#pragma once

#include <mpi.h>

#include <vector>

#include "examples/mtip/geometry.h"
#include "examples/mtip/volume.h"

namespace mtip {

// What a detector sees: pixels of reciprocal space before they are turned, and the intensities there, [image][pixel].
struct Views {
  std::vector<Vector> pixels;
  std::vector<std::vector<double>> values;
};
// This rank's images, each seen by a fine detector, which is merged, and by a coarse one, which finds orientations.
struct Images {
  Views fine, coarse;
  std::vector<Quaternion> orientation;  // the present guess
  std::vector<double> score;            // of that guess, the less the better
  std::uint64_t first = 0;              // this rank's first image among all
  std::size_t count() const { return orientation.size(); }
};

// Sums over ranks.
double sum(double value);
std::vector<double> sum(std::vector<double> values);
double largest(double value);

// i) Slicing: the intensities that a density gives on these turned pixels, [orientation][pixel].
std::vector<std::vector<double>> slice(Volume& volume, const Values& density, const std::vector<Vector>& pixels,
                                       const std::vector<Quaternion>& orientations);

// ii) Orientation matching: every image against `references` orientations that cover all of them, which the ranks slice
// together, and then three times against `tries` turns of the best one, by about `angle` radians at first. Pixels
// beyond `q_max` do not count.
struct Matching {
  std::int64_t references = 0;
  int tries = 0;
  double angle = 0, q_max = 0;
  std::uint64_t seed = 0;
};
// Returns the seconds that this rank sliced.
double match(Volume& volume, const Values& density, Images& images, const Matching& matching);

// iii) Merging: the autocorrelation A within `reach` cells that minimises sum over samples with |q| <= q_max of w |I -
// A^(q)|^2 + regularisation |A|^2, by conjugate gradients. The normal operator is a convolution, whose kernel is one
// type 1, and the right-hand side is another.
struct Merging {
  double reach = 0, q_max = 0, regularisation = 1e-4;
  double keep = 1;  // the part of the images, those with the best scores, that is merged
  int iterations = 12;
};
Values merge(Volume& volume, const Images& images, const Merging& merging);

// iv) Phasing: error reduction with a support that shrinkwrap redraws: the density, blurred, above a part of its
// maximum (Marchesini et al. 2003). `density` is the start, and the result.
struct Phasing {
  int iterations = 40, between = 20;  // redraw the support after so many
  double reach = 0;                   // nothing is outside so many cells
  double blur = 1, threshold = 0.08;
  double q_max = 0;  // moduli beyond are left as they are
};
void phase(Volume& volume, const Values& autocorrelation, Values& density, const Phasing& phasing);

}  // namespace mtip
