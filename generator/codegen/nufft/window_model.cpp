// The cost of 3D register windows, used to choose their tiles and the oversampling factor.
#include <algorithm>
#include <cmath>

#include "generator/codegen/nufft/kernels.h"

namespace fourtune::generator::nufft {

// Each point costs time for every cell that a lane keeps, even cells that no window reaches; each finished plane costs
// time for every cell of the padded tile. Measured times in us for 9.9 M points of w = 8 on 384 x 384 x 256 cells in
// f64: 4370 with tiles of 16 x 16 (model: 4060), 3340 with 16 x 12 (3460), 3570 with 13 x 13 (3470), 4130 with 11 x 11
// (4580), 7640 with 10 x 9 (8180).
double window_spread_seconds(const Shape& shape, const Parameters& with, double points, double share) {
  constexpr double kCache = 48e6;  // bytes of a grid that stays in the L2 cache of an H200
  const bool f32 = shape.precision == Precision::f32;
  const double w = shape.width, planes = static_cast<double>(shape.fine[2]);
  const double cells = static_cast<double>(shape.fine[0]) * static_cast<double>(shape.fine[1]) * planes;
  const double bin = 1.0 * with.bin[0] * with.bin[1], tile = (with.bin[0] + w - 1) * (with.bin[1] + w - 1);
  const double near = cells * (f32 ? 8 : 16) <= shape.cached(kCache) ? 1 : 0.55;
  // f32, execute less FFT and clearing (H200): 11.0 M points of w = 6 in 160^3 cells 690 us and of w = 5 in 180^3 545,
  // 16.6 M of w = 7 in 320x180x90 1235, of w = 6 in 350x192x96 983 and of w = 5 in 480x256x128 780.
  const double kept = std::ceil(tile / (32 * with.warps)) * w * with.warps;  // cells of a lane, in all planes
  const double point = f32 ? std::max(36.0, 6.1 * kept - 17) : 34 + (w > 8 ? 6 : 5) * kept;
  // A window also finishes the planes between its points, but it restarts after long gaps and in every subproblem.
  const double in_column = points * bin / (cells * share);  // points per plane
  const double occupied = 1 - std::exp(-in_column * w);
  const double length = std::clamp(with.cap / std::max(in_column, 1e-9), 1.0, planes);
  const double moved = cells * share * tile / bin * occupied * (1 + (w - 1) / length) / (with.run == 2 ? 1.4 : 1);
  const double a = points * point * 1e-12, b = moved / ((f32 ? 225e9 : 137e9) * near);
  return std::max(a, b) + (f32 ? 0.3 : 0.6) * std::min(a, b);
}

double window_interpolate_seconds(const Shape& shape, const Parameters& with, double points, double share) {
  const bool f32 = shape.precision == Precision::f32;
  const double w = shape.width;
  const double cells = static_cast<double>(shape.fine[0]) * static_cast<double>(shape.fine[1] * shape.fine[2]);
  const double bin = 1.0 * with.bin[0] * with.bin[1], tile = (with.bin[0] + w - 1) * (with.bin[1] + w - 1);
  // H100, f32 and w = 7: 375 181 points in 350x192x36 cells 240 ps each by 2 x 2 (model: 267), 66 680 in 1.7 million
  // 436 by 6 x 6 (446); f64: 1.5 million of w = 7 161 by 2 x 2 (187), 29 505 of w = 13 in 645 000 1424 by 4 x 4 (1780).
  const double kept = std::ceil(tile / (32 * with.warps)) * w * with.warps;
  const double point = f32 ? std::max(38 + 2.8 * kept, 4.6 * kept) : 60 + 7 * kept;
  const double occupied = 1 - std::exp(-points * bin * w / (cells * share));
  return points * point * 1e-12 + cells * share * tile / bin * occupied / (f32 ? 330e9 : 350e9);
}

}  // namespace fourtune::generator::nufft
