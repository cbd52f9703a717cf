// Nonuniform problems with GPU plans that together contain every pair of choices.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "generator/codegen/nufft/kernels.h"
#include "generator/plan/gpu_plan.h"
#include "generator/window/fft_size.h"
#include "generator/window/window.h"
#include "tests/support/covering.h"
#include "tests/support/nufft_experiment.h"

namespace fourtune::test {

using generator::WindowKind;
using generator::nufft::Interpolate;
using generator::nufft::Placement;
using generator::nufft::Spread;

struct Method {
  Spread spread;
  Interpolate interp;
  bool sorted = true;
};
// Spreaders and interpolators that can share a sort.
inline constexpr Method kMethods[] = {
    {Spread::window, Interpolate::window},        {Spread::points, Interpolate::points},
    {Spread::points, Interpolate::points, false}, {Spread::tile_atomic, Interpolate::tiled},
    {Spread::tile_owned, Interpolate::tiled},     {Spread::tile_owned, Interpolate::points},
    {Spread::points, Interpolate::window},        {Spread::window, Interpolate::points},
    {Spread::points, Interpolate::matrix},        {Spread::tf32x3, Interpolate::tf32x3}};

inline void bind_method(NufftCase& c, const Method& method, Placement placement) {
  const generator::nufft::Shape shape =
      generator::nufft::shape_on({}, c.problem, c.plan.window.fine, c.plan.window.width);
  auto& points = c.plan.gpu().points;
  points.spread = method.spread, points.interp = method.interp;
  if (points.interp == Interpolate::matrix && shape.dim == 1) points.interp = Interpolate::points;  // none in 1D
  const bool products = shape.dim == 3 && shape.precision == Precision::f32 && shape.width < 8 &&
                        *std::ranges::min_element(shape.fine) >= 8;  // what tf32x3 can do
  if (points.spread == Spread::tf32x3 && !products) points.spread = Spread::window, points.interp = Interpolate::window;
  points.spread_with = default_parameters(shape, points.spread);
  points.interp_with = default_parameters(shape, points.interp);
  auto &lead = points.spread_with, &other = points.interp_with;
  const bool leads = points.interp == Interpolate::window || points.interp == Interpolate::matrix;
  if (leads) std::swap(lead.order, other.order), lead.bin = other.bin;
  if (method.spread == Spread::points && !leads)
    lead.order = method.sorted ? generator::nufft::RecordOrder::bins : generator::nufft::RecordOrder::caller;
  lead.cap = 40;
  if (method.spread == Spread::points && method.interp != Interpolate::points) lead.slice = 64;
  lead.placement = placement;
  other.order = lead.order, other.bin = lead.bin, other.cap = lead.cap, other.placement = lead.placement;
  other.slice = lead.slice;
}

// Executes two transforms at a time where the families support it.
inline void take_groups(NufftCase& c, bool interleave) {
  auto& points = c.plan.gpu().points;
  auto &spread = points.spread_with, &interp = points.interp_with;
  if (points.spread == Spread::points || points.spread == Spread::tile_owned) spread.group = 2;
  if (points.interp == Interpolate::points || points.interp == Interpolate::tiled) interp.group = 2;
  spread.interleave = interleave && spread.group > 1, interp.interleave = interleave && interp.group > 1;
}

// The entries of `at`: type, dim, precision, window, sigma, method, tol, batch and chunk, order of modes and sign,
// placement.
inline NufftCase covering_case(const std::vector<int>& at, const char* backend) {
  constexpr WindowKind kinds[] = {WindowKind::pswf, WindowKind::kaiser_bessel, WindowKind::exp_semicircle,
                                  WindowKind::gaussian};
  constexpr double sigmas[] = {2.0, 1.5, 1.25}, tols[] = {1e-2, 1e-4, 1e-7};
  constexpr std::array<std::int64_t, 3> sizes[] = {{37, 1, 1}, {12, 9, 1}, {6, 5, 7}};
  NufftCase c;
  c.problem.kind = Kind::nufft;
  c.problem.type = 1 + at[0];
  c.problem.dim = 1 + at[1];
  c.problem.precision = at[2] ? Precision::f64 : Precision::f32;
  c.problem.tol = std::max(tols[at[6]], at[2] ? 0 : 1e-5);
  c.problem.m = 90;
  c.problem.n = sizes[at[1]];
  c.problem.batch = at[7] ? 3 : 1;
  c.problem.sign = at[8] & 1 ? 1 : -1;
  c.options.mode_order = at[8] & 2 ? ModeOrder::fft : ModeOrder::centred;
  const auto kind = kinds[at[3]];
  const double sigma = sigmas[at[4]];
  int width = 0;
  for (double tol = c.problem.tol; width == 0; tol *= 10, c.problem.tol = tol)  // a Gaussian at 1.25 is not accurate
    width = generator::width_for(kind, std::max(tol, 2.5 * epsilon(c.problem.precision)), sigma, c.problem.dim);
  c.problem.tol /= 10;
  c.plan = generator::plan_for(backend);
  c.plan.window = generator::WindowChoice{kind, sigma, width, {1, 1, 1}, 0};
  for (int d = 0; d < c.problem.dim; ++d)
    c.plan.window.fine[d] = generator::smooth_size(
        std::max<std::int64_t>(std::llround(std::ceil(sigma * static_cast<double>(c.problem.n[d]))), width + 1));
  c.plan.chunk = at[7] == 0 ? 1 : at[7] + 1;  // a batch of 3 in chunks of 2 and 1, or of 3
  constexpr Placement placements[] = {Placement::scatter, Placement::fetch, Placement::staged, Placement::two_level};
  bind_method(c, kMethods[at[5]], placements[at[9]]);
  if (at[7] == 2) take_groups(c, at[9] % 2 == 1);
  return c;
}
inline std::vector<std::vector<int>> covering_rows() { return pairwise({2, 3, 2, 4, 3, 9, 3, 3, 4, 4}); }

}  // namespace fourtune::test
