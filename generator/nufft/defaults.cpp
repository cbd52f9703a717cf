// Parameters to start from.
#include "generator/nufft/kernels.h"

namespace fourtune::generator::nufft {
namespace {
int lanes_for(int width) { return width <= 4 ? 4 : width <= 8 ? 8 : 16; }

// Register windows. Measured on an H200 (docs/gpu-nufft.md): small bins win at density 1, as the lanes that a point's
// window does not reach idle; wide tiles at low density, where the finished planes are what costs.
void set_window(const Shape& shape, Parameters& p) {
  const int w = shape.width;
  p.order = Order::slide;
  p.lanes = lanes_for(w);
  if (shape.dim == 1) {
    p.bin = {128 - w + 1, 1, 1};
    return;
  }
  if (shape.dim == 2) {
    p.cap = 256;
    p.bin = {32 - w + 1, 1, 1};
    return;
  }
  const int side = w <= 7 ? 8 : 16;
  p.cap = 512;
  p.placement = Placement::staged;  // a million small bins: whole records scattered badly
  p.bin = {side - w + 1, side - w + 1, 1};
  if (w == 8) {  // 10 x 9 cells: three a lane
    p.bin = {3, 2, 1};
    p.unroll = 1;
    return;
  }
  // Registers: a cell costs 2 w numbers; at most about 128 registers of sums a lane.
  const int budget = 128 / (2 * w * (shape.precision == Precision::f32 ? 1 : 2));
  while (p.warps < 16 && (side * side + 32 * p.warps - 1) / (32 * p.warps) > (budget > 1 ? budget : 1)) p.warps *= 2;
}
}  // namespace

Parameters default_parameters(const Shape& shape, Spread family) {
  Parameters p;
  if (shape.dim == 1) p.placement = Placement::fetch;
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
    set_window(shape, p);
  }
  return p;
}

Parameters default_parameters(const Shape& shape, Interpolate family) {
  Parameters p;
  if (shape.dim == 1) p.placement = Placement::fetch;
  if (family == Interpolate::window) {
    set_window(shape, p);
    return p;
  }
  p.order = Order::bins;
  p.lanes = lanes_for(shape.width);
  p.warps = 4;
  p.bin = shape.dim == 3 ? std::array{8, 8, 8} : shape.dim == 2 ? std::array{16, 16, 1} : std::array{256, 1, 1};
  if (family == Interpolate::tiled && shape.dim == 3 && shape.precision == Precision::f64 && shape.width > 10)
    p.bin = {4, 4, 4};
  return p;
}

}  // namespace fourtune::generator::nufft
