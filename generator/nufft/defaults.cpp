// Parameters to start from.
#include <algorithm>

#include "generator/nufft/kernels.h"

namespace fourtune::generator::nufft {
namespace {
int lanes_for(int width) { return width <= 4 ? 4 : width <= 8 ? 8 : 16; }
}  // namespace

Parameters default_parameters(const Shape& shape, Spread family) {
  Parameters p;
  const int w = shape.width;
  const bool f32 = shape.precision == Precision::f32;
  p.lanes = lanes_for(w);
  p.order = Order::bins;
  p.bin = shape.dim == 3 ? std::array{8, 8, 8} : shape.dim == 2 ? std::array{16, 16, 1} : std::array{256, 1, 1};
  if (family == Spread::tile_atomic) {
    p.warps = 8;
    if (shape.dim == 3 && !f32 && w > 10) p.bin = {4, 4, 4};
  } else if (family == Spread::tile_owned) {
    p.cap = 512;
    if (shape.dim == 3) p.bin = w <= 8 ? std::array{4, 4, 4} : std::array{3, 3, 2};
    if (shape.dim == 2) p.bin = {8, 8, 1};
  } else if (family == Spread::window) {
    p.order = Order::slide;
    if (shape.dim == 1) {
      p.bin = {128 - w + 1, 1, 1};
    } else if (shape.dim == 2) {
      p.bin = {32 - w + 1, 1, 1};
    } else {
      // Tiles of a whole number of lanes: 8 x 8 up to width 6, 16 x 8 or 16 x 16 above.
      const int tx = w <= 6 ? 8 : 16, ty = w <= 6 ? 8 : w <= 7 ? 8 : 16;
      p.bin = {tx - w + 1, ty - w + 1, 1};
      // Registers: a cell costs 2 w numbers; at most about 128 registers of sums a lane.
      const int budget = 128 / (2 * w * (f32 ? 1 : 2));
      while (p.warps < 16 && (tx * ty + 32 * p.warps - 1) / (32 * p.warps) > std::max(1, budget)) p.warps *= 2;
    }
  }
  return p;
}

Parameters default_parameters(const Shape& shape, Interpolate family) {
  Parameters p;
  p.order = Order::bins;
  p.lanes = lanes_for(shape.width);
  p.warps = 4;
  p.bin = shape.dim == 3 ? std::array{8, 8, 8} : shape.dim == 2 ? std::array{16, 16, 1} : std::array{256, 1, 1};
  if (family == Interpolate::tiled && shape.dim == 3 && shape.precision == Precision::f64 && shape.width > 10) p.bin = {4, 4, 4};
  return p;
}

}  // namespace fourtune::generator::nufft
