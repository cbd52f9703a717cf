// Geometry of a type 3 transform: centring, rescaling and grid sizes.
//
// With sources x = C + x', |x'| <= X and targets s = D + s', |s'| <= S (one dimension shown),
//   sum_j c_j exp(+-i s x_j) = exp(+-i s C) sum_j [c_j exp(+-i D x'_j)] exp(+-i s' x'_j).
// The bracket is spread to a grid with spacing h (`outer` cells). A type 2 then evaluates the grid at the angles theta
// = h s'. Its fine grid has `inner` cells, but only the cells that windows at |theta| <= h S touch (`held`) are needed.
//   compose   h = pi / (sigma1 S): the outer window has decayed where aliases begin (Lee & Greengard 2005; Barnett et
//             al. 2019 section 3.3); outer >= 2 X / h + w1 + 2, even, position 0 in the middle; inner >= sigma2 (2 X
//             / h + w1 / 2) + w1 / 2 + 2 (the cells beyond hold the outer halves of windows only); held >= inner /
//             sigma1 + w2 + 2, even, position 0 in the middle; where that is far more than inner, all of inner in FFT
//             order.
//   gaussian  paper nufft-type3-cuda, Table 1: h = pi / (R S), inner = M_r >= 2 (X S R^2 / pi + 2 pi R b),
//             m_sp = 2 pi b taps a side, and b from equation 6. Position 0 at cell 0, everything held.
#pragma once

#include <array>
#include <cstdint>

#include "fourtune/problem.h"
#include "generator/plan/plan.h"

namespace fourtune::generator {

struct Interval {
  double centre = 0;
  double half = 0;
};

struct Type3Dimension {
  double source_centre = 0, target_centre = 0;  // C and D; 0 where centring saves nothing
  double spacing = 1;                           // h
  std::int64_t outer = 1, inner = 1, held = 1;  // cells
  bool part = false;                            // only the cells near position 0 of the fine grid are held
  bool middle = false;                          // position 0 of the outer grid is at cell outer / 2, else at cell 0
};

struct GaussianRule {
  double b = 0;   // variance parameter: weights exp(-t^2 / (4 b)), t in cells
  int width = 0;  // 2 m_sp + 1 taps
};
// Solves equation 6 of the paper by fixed-point iteration: b = (1/gamma) log((4 alpha b + 9 alpha) / e), with alpha = 2
// + 1/sqrt(2 pi), gamma = pi^2 (1 - 2/R^2), and e the requested accuracy. Throws Error{invalid_plan} if m_sp is too
// wide.
GaussianRule gaussian_rule(double accuracy, double r);
// The relative l2 error that rounding leaves in results of this rule when sources and targets fill their boxes: half an
// epsilon, magnified by both deconvolutions in every dimension (docs/design/accuracy.md has the derivation).
double gaussian_rounding(const GaussianRule& rule, double r, int dim, Precision precision);
// The least R, in tenths, whose rounding is at most half the accuracy. Smaller ones miss it. Throws Error{invalid_plan}
// if no R up to 8 does.
double least_gaussian_r(double accuracy, int dim, Precision precision);

// X_d S_d in each dimension, as the problem says it (extent); else a guess, (pi/2) k^(1/dim), with k targets or, if
// that number is not known either, m or a million.
std::array<double, 3> type3_extent(const Problem& problem);

// The half-width of the sources for which grids are made: the given one or, where the points nearly fill the problem's
// extent, the one that fills it. So the same kernels serve all points that do, and can be compiled before they are
// known. Nearly: at least 0.8 of an extent that the problem says, and 0.9999, for rounding to f32, of a guess.
double type3_source_half(const Problem& problem, int d, double source_half, double target_half);

// Centre and half-width of coordinates from low to high, all of which are within it. The centre becomes 0 if it is
// within a tenth of the half-width, so that no phase factor is needed.
Interval type3_interval(double low, double high);

// The part of a grid at which a coordinate lies: (x - centre - centre_low) (factor + factor_low).
struct Type3Map {
  double centre = 0, centre_low = 0, factor = 1, factor_low = 0;
};
// (x - centre) cells_per_unit / cells, plus floor(cells / 2) / cells where position 0 is in the middle. It keeps more
// digits than a double has: over N cells its rounding alone would be N / 2 times that of a coordinate, the same for all
// points. Points may lie 1e10 times as far from 0 as from their centre.
Type3Map type3_map(double centre, long double cells_per_unit, std::int64_t cells, bool middle);

Type3Dimension type3_dimension(const Plan& plan, const Interval& source, const Interval& target,
                               const GaussianRule& gaussian);

}  // namespace fourtune::generator
