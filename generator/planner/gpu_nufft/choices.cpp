#include "generator/planner/gpu_nufft/choices.h"

#include <algorithm>
#include <functional>

#include "fourtune/status.h"
#include "generator/plan/nufft/bins.h"
#include "generator/plan/nufft/rules.h"
#include "generator/planner/gpu_nufft/gridding.h"

namespace fourtune::generator::gpu_nufft {
namespace {

using nufft::Interpolate;
using nufft::kFewPoints;
using nufft::Parameters;
using nufft::Placement;
using nufft::RecordOrder;
using nufft::Shape;
using nufft::Spread;

// Narrow windows in 2D: register windows add 262 144 points of w = 3 on 448^2 cells in 14 us and padded bins in 17 us;
// for 4.2 M points, padded bins are faster (H200).
constexpr double kFairlyMany = 5e5;
// Fewer points in 2D do not fill rows of cells: 78 513 of w = 7 on 378x96 cells took 39 us by single points and 62 by
// padded bins (16 transforms), 22 065 of w = 4 19.6 and 21.7 (H100).
constexpr double kFewRows = 2e4;
// Points that crowd some bins are sorted in one level up to so many: by a staging, if the grid has room for it and they
// are not few, or straight to their places; clusters up to so many. Measured on an H100, which has as many
// multiprocessors as an H200 (Shape::filling).
constexpr double kFewCrowded = 6e5, kCrowdedScattered = 2e6, kCrowdedStaged = 4e6, kFewClustered = 1e6;

double points_of(const Shape& shape, double density) {
  return density * static_cast<double>(shape.fine[0]) * static_cast<double>(shape.fine[1] * shape.fine[2]);
}

Parameters sorted_like(Parameters own, const Parameters& sort) {
  own.order = sort.order, own.bin = sort.bin, own.cap = sort.cap, own.placement = sort.placement;
  own.segment = sort.segment, own.slice = sort.slice;
  return own;
}

// Interpolation by register windows of 9 and 10 taps in double precision: uses two warps with two cells per lane (on an
// H200 faster than four warps on tiles of 16 x 16, docs/design/gpu-nufft.md).
void shrink(const Shape& shape, Parameters& p, double density) {
  if (shape.dim != 3 || shape.precision == Precision::f32 || density < kThin) return;
  if (shape.width != 9 && shape.width != 10) return;
  p.bin = shape.width == 9 ? std::array{3, 3, 1} : std::array{2, 2, 1};
  p.warps = 2, p.unroll = 1;
}

// The interpolators that can share a spreader's sort for the adjoint, and vice versa.
std::vector<Interpolate> partners(Spread spread, const Shape& shape) {
  using enum Interpolate;
  switch (spread) {
    case Spread::points:
    case Spread::tile_atomic:
    case Spread::tile_owned:
      return {tiled, points};
    case Spread::window:
      return shape.dim == 3 ? std::vector{window, points} : std::vector{points, window};
    case Spread::tf32x3:
      return {tf32x3, window, points};
    case Spread::gm:
      return {gm};
    case Spread::gm_sort:
    case Spread::sm:
      return {gm_sort};
  }
  return {};
}
std::vector<Spread> partners(Interpolate interp) {
  using enum Spread;
  switch (interp) {
    case Interpolate::points:
    case Interpolate::tiled:
      return {tile_owned, points};
    case Interpolate::window:
      return {window, points};
    case Interpolate::matrix:
      return {tile_owned, window, points};  // 2D, 3D
    case Interpolate::tf32x3:
      return {tf32x3, window, points};
    case Interpolate::gm:
      return {gm};
    case Interpolate::gm_sort:
      return {sm, gm_sort};
  }
  return {};
}

// Register windows in 2D: tiles of 16 cells, whose lanes keep one, and of 32, which have fewer rows to finish. For many
// points: 0.34 and 0.35 million of a type 3 took 117 and 49 us by the former and 37 and 35 by the latter (H100).
Parameters with_row_tile(const Shape& shape, const Parameters& usual, double density, double share) {
  const Gridding gridding = gridding_of(shape, points_of(shape, density), share);
  Parameters best = usual;
  double least = spread_seconds(gridding, Spread::window, usual);
  for (const int side : {16, 32}) {
    Parameters with = usual;
    with.bin = {side - shape.width + 1, 1, 1};
    with.unroll = side == 16 ? 2 : 1;
    if (with.bin[0] < 2 || !broken_rule(shape, with, Spread::window).empty()) continue;
    const double seconds = spread_seconds(gridding, Spread::window, with);
    if (seconds < least) best = with, least = seconds;
  }
  return best;
}

GpuPointsChoice with_spread(const Shape& shape, Spread family, double density, double share = 1,
                            std::int64_t batch = 1) {
  Parameters usual = default_parameters(shape, family, density);
  const bool many = points_of(shape, density) * static_cast<double>(batch) >= shape.filling(kFairlyMany);
  if (family == Spread::window && shape.dim == 2 && many) usual = with_row_tile(shape, usual, density, share);
  if (family != Spread::window || shape.dim != 3) return with_partner_of_spread(shape, family, usual);
  const double points = points_of(shape, density);
  std::optional<GpuPointsChoice> best;
  double least = 0;
  for (const Parameters& with : window_tiles(shape, density, share)) {
    const GpuPointsChoice choice = with_partner_of_spread(shape, family, with);
    const double seconds = window_spread_seconds(shape, with, points, share);
    if ((best && seconds >= least) || !why_not(choice, shape).empty()) continue;
    best = choice, least = seconds;
  }
  return best ? *best : with_partner_of_spread(shape, family, usual);
}

// Fewer points than a quarter of the bins: of wider tiles the one whose planes cost least to read. 995 723 points in
// 320^3 cells took 149 us to sort by columns of 2 x 2, of which 8.2 million bins took 110; 130 812 of w = 13 in f64
// were read in 692 us by 4 x 4, of w = 14 by 6 x 6 in 612 (H200). Not for clusters, which are dense where they are.
Parameters widened(const Shape& shape, const Parameters& usual, double density) {
  const double points = points_of(shape, density);
  const int most = 170 / (2 * shape.width * (shape.precision == Precision::f32 ? 1 : 2));  // cells of a lane
  Parameters best = usual;
  double least = window_interpolate_seconds(shape, usual, points);
  for (const std::array<int, 3> bin : {std::array{6, 6, 1}, {10, 3, 1}, {10, 10, 1}}) {
    Parameters with = usual;
    with.bin = bin;
    const int tile = (bin[0] + shape.width - 1) * (bin[1] + shape.width - 1);
    for (with.warps = 1; with.warps < 8 && (tile + 32 * with.warps - 1) / (32 * with.warps) > std::max(1, most);)
      with.warps *= 2;
    const double seconds = window_interpolate_seconds(shape, with, points);
    if (seconds >= least || !broken_rule(shape, with, Interpolate::window).empty()) continue;
    best = with, least = seconds;
  }
  return best;
}

// Tiles of the matrix units in 2D are a multiple of four cells per side: of those that hold the window the one that
// costs least. 284 372 points of w = 9 on 224^2 cells (f64) took 195 us for 16 transforms by 12 x 12, and by 16 x 16,
// of w = 11 on 192^2, 275 (H200).
Parameters with_matrix_tile(const Shape& shape, const Parameters& usual, double density) {
  const Gridding gridding = gridding_of(shape, points_of(shape, density));
  Parameters best = usual;
  double least = interpolate_seconds(gridding, Interpolate::matrix, usual);
  for (const int side : {8, 12, 16, 20}) {
    if (side < shape.width + 2) continue;  // bins of three cells and more
    Parameters with = usual;
    with.bin = {side - shape.width + 1, side - shape.width + 1, 1};
    const double seconds = interpolate_seconds(gridding, Interpolate::matrix, with);
    if (seconds >= least || !broken_rule(shape, with, Interpolate::matrix).empty()) continue;
    best = with, least = seconds;
  }
  return best;
}

GpuPointsChoice with_interpolate(const Shape& shape, Interpolate family, double density, double share = 1) {
  Parameters with = default_parameters(shape, family, density);
  if (family == Interpolate::matrix && shape.dim == 2) with = with_matrix_tile(shape, with, density);
  if (family == Interpolate::window) shrink(shape, with, density);
  const bool sparse = shape.dim == 3 && share >= 0.1 && density * with.bin[0] * with.bin[1] < 0.25;
  if (family == Interpolate::window && sparse) with = widened(shape, with, density);
  return with_partner_of_interpolate(shape, family, with);
}

// So few additions that padded bins, of which there are many more than columns of register windows, are done before one
// warp has walked a column. On an H200 249 points of w = 5 in 32^3 cells took 23.6 us with register windows and 12.9 by
// single points, 1928 points of w = 6 twice 39 us and, by padded bins, 15; 24 975 points of w = 8 in 2D 19.6 and 12.8.
bool is_little(const Shape& shape, double points) {
  const double additions = points * shape.width * shape.width * (shape.dim == 3 ? shape.width : 1);
  return shape.dim == 3 ? additions <= shape.filling(3e6)
                        : shape.dim == 2 && shape.width >= 5 && additions <= shape.filling(1.6e6);
}

// Points so dense that the products of matrix units are mostly full, and windows so wide that register windows issue
// more for them. Execute by those over execute by products (H200): w = 6, 0.5 to 2.8 points per cell 1.02 to 1.19
// spreading and 0.96 to 1.19 interpolating, w = 7 from 1 on 1.01 to 1.30 and at 0.5 0.94, w = 5 interpolating 0.95 to
// 1.32 and spreading 0.87; at 0.15 0.60 to 0.70.
bool fills_products(const Shape& shape, double density, int least_width) {
  return shape.dim == 3 && shape.precision == Precision::f32 && shape.tf32 && shape.width >= least_width &&
         shape.width <= 7 && density >= (shape.width == 6 ? 0.5 : 1);
}

std::vector<Spread> spread_families(const Shape& shape, double density, bool little) {
  using enum Spread;
  if (shape.dim == 3)
    return little                              ? std::vector{tile_owned, points, window, tile_atomic, tf32x3}
           : fills_products(shape, density, 6) ? std::vector{tf32x3, window, tile_owned, points, tile_atomic}
                                               : std::vector{window, tf32x3, tile_owned, points, tile_atomic};
  if (density < kSparse && shape.width <= 9) return {points, tile_owned, window, tile_atomic};
  if (shape.dim == 1 && density < kThin) return {points, tile_owned, window, tile_atomic};
  const double points_here = density * static_cast<double>(shape.fine[0] * shape.fine[1]);
  if (shape.dim == 1 || density < kThin || (shape.width <= 4 && points_here >= shape.filling(kFairlyMany)) || little)
    return {tile_owned, window, points, tile_atomic};
  return {window, tile_owned, points, tile_atomic};
}

std::vector<Interpolate> interpolate_families_3d(const Shape& shape, double density, bool little, double points_here) {
  using enum Interpolate;
  const bool f32 = shape.precision == Precision::f32;
  const int w = shape.width;
  if (points_here < shape.filling(kFewPoints) && density >= kThin && w <= 8)
    return {tiled, points, window, matrix, tf32x3};
  if (density < kSparse || (little && density < kThin))
    return w <= (f32 ? 6 : 7) || little ? std::vector{points, window, tiled, matrix, tf32x3}
                                        : std::vector{window, points, matrix, tf32x3};
  if (density < kThin)
    return w <= 6 && !(f32 && w >= 5 && density > kThin / 2)
               // 995 515 points of w = 5 on 160^3 cells: 202 us by tiles, 260 by points (f64, H100).
               ? (f32 || (w >= 4 && density > 2 * kThin / 3) ? std::vector{tiled, points, window, tf32x3, matrix}
                                                             : std::vector{points, window, tiled, matrix})
               : std::vector{window, tf32x3, matrix, points, tiled};
  if (fills_products(shape, density, 5)) return {tf32x3, window, tiled, points, matrix};
  return w <= 4 ? std::vector{tiled, tf32x3, points, window, matrix}
                : std::vector{window, tf32x3, matrix, tiled, points};
}

std::vector<Interpolate> interpolate_families(const Shape& shape, double density, bool little) {
  using enum Interpolate;
  const bool f32 = shape.precision == Precision::f32;
  const int w = shape.width;
  const double points_here = points_of(shape, density);
  if (shape.dim == 3) return interpolate_families_3d(shape, density, little, points_here);
  if (density < kThin)
    return shape.dim == 2 ? std::vector{points, tiled, window, matrix} : std::vector{points, tiled, window};
  if (shape.dim == 1) return {points, tiled, window};
  if (!f32 && w >= 7) return {matrix, tiled, points, window};
  return f32 && points_here >= shape.filling(kFewRows) ? std::vector{points, tiled, matrix, window}
                                                       : std::vector{tiled, points, matrix, window};
}

// Families whose prices were fitted on drawn problems (docs/design/gpu-nufft.md).
bool is_priced(const Shape& shape, Spread family) {
  if (family == Spread::window) return shape.dim == 2;
  return shape.dim < 3 && (family == Spread::tile_owned || family == Spread::points);
}
bool is_priced(const Shape& shape, Interpolate family) {
  if (family == Interpolate::window) return shape.dim == 3;
  if (family == Interpolate::matrix) return shape.dim == 2 && shape.precision == Precision::f64;
  return family == Interpolate::points || family == Interpolate::tiled;
}

// What a launch does whose chunk has grids of 40 MB.
Gridding gridding_for(const Shape& shape, double points, double share, std::int64_t batch) {
  Gridding out = gridding_of(shape, points, share);
  const double fitting = shape.cached(40e6) / std::max(1.0, out.cells() * out.complex_bytes());
  out.together = std::clamp(fitting, 1.0, static_cast<double>(batch));
  return out;
}

// The first family stands, by measurements near it, unless the model sees a faster one beyond its own error.
void put_fastest_first(std::vector<GpuPointsChoice>& choices, Lead lead, const Shape& shape, const Gridding& gridding) {
  constexpr double kSure = 1.15;
  const auto seconds = [&](const GpuPointsChoice& one) {
    return lead == Lead::spread ? spread_seconds(gridding, one.spread, one.spread_with)
                                : interpolate_seconds(gridding, one.interp, one.interp_with);
  };
  const bool crowded = gridding.share < 0.1;  // their additions to the grid itself would meet
  const auto known = [&](const GpuPointsChoice& one) {
    if (lead == Lead::interpolate) return is_priced(shape, one.interp);
    return is_priced(shape, one.spread) && !(crowded && one.spread == Spread::points);
  };
  if (choices.empty() || !known(choices.front())) return;
  auto best = choices.begin();
  for (auto one = choices.begin() + 1; one != choices.end(); ++one)
    if (known(*one) && seconds(*one) * (best == choices.begin() ? kSure : 1) < seconds(*best)) best = one;
  std::rotate(choices.begin(), best, best + 1);
}

}  // namespace

std::string why_not(const GpuPointsChoice& choice, const Shape& shape) {
  if (shape.width > kMaxWidth && (choice.spread != Spread::points || choice.interp != Interpolate::points))
    return "windows wider than 16 taps need spread=points and interp=points";
  for (const nufft::Parameters* with : {&choice.spread_with, &choice.interp_with})
    if (std::string why = broken_rule(shape, *with); !why.empty()) return why;
  if (std::string why = broken_rule(shape, choice.spread_with, choice.spread); !why.empty()) return why;
  return broken_rule(shape, choice.interp_with, choice.interp);
}

GpuPointsChoice with_partner_of_spread(const Shape& shape, Spread spread, const Parameters& with) {
  GpuPointsChoice choice;
  choice.spread = spread;
  choice.spread_with = with;
  for (const Interpolate partner : partners(spread, shape)) {
    choice.interp = partner;
    choice.interp_with = sorted_like(default_parameters(shape, partner), with);
    if (partner == Interpolate::window) choice.interp_with.warps = with.warps;
    if (why_not(choice, shape).empty()) break;
  }
  return choice;
}

GpuPointsChoice with_partner_of_interpolate(const Shape& shape, Interpolate interp, const Parameters& with) {
  GpuPointsChoice choice;
  choice.interp = interp;
  choice.interp_with = with;
  for (const Spread partner : partners(interp)) {
    choice.spread = partner;
    choice.spread_with = sorted_like(default_parameters(shape, partner), with);
    if (partner == Spread::window) choice.spread_with.warps = with.warps;
    if (why_not(choice, shape).empty()) break;
  }
  return choice;
}

double share_of(std::optional<PointClass> points, int dim) {
  switch (points.value_or(PointClass::uniform)) {
    case PointClass::cluster:
      return 1e-3;
    case PointClass::radial:
    case PointClass::spiral:
    case PointClass::ewald:
      return dim == 3 ? 0.5 : 0.8;  // volume share of the ball in the cube and of the disk in the square
    default:
      return 1;
  }
}

std::vector<GpuPointsChoice> points_choices(const Shape& shape, Lead lead, double density, double share,
                                            std::int64_t batch) {
  std::vector<GpuPointsChoice> out;
  const bool little = is_little(shape, points_of(shape, density) * static_cast<double>(batch));
  const auto add = [&](const GpuPointsChoice& choice) {
    if (!shape.tf32 && (choice.spread == Spread::tf32x3 || choice.interp == Interpolate::tf32x3)) return;
    if (why_not(choice, shape).empty()) out.push_back(choice);
  };
  if (lead == Lead::spread)
    // Where clustered points are they are dense: 55 173 of them took 247 us straight to 1750x1280 cells (w = 4, f64,
    // H100).
    for (const Spread family : spread_families(shape, share < 0.1 ? density / share : density, little))
      add(with_spread(shape, family, density, share, batch));
  else
    for (const Interpolate family : interpolate_families(shape, density, little))
      add(with_interpolate(shape, family, density, share));
  if (!little) put_fastest_first(out, lead, shape, gridding_for(shape, points_of(shape, density), share, batch));
  return out;
}

GpuPointsChoice deterministic(const GpuPointsChoice& choice, const Shape& shape, Lead lead, bool twice) {
  if (is_published(choice.spread))
    throw Error(Status::unsupported,
                "deterministic: gm, gm_sort and sm add points in any order; choose another spread");
  const auto fixed = [twice](Parameters with) {
    with.deterministic = true, with.twice = twice, with.run = 1, with.group = 1;
    return with;
  };
  GpuPointsChoice out = choice;
  out.spread_with = fixed(out.spread_with);
  if (out.spread != Spread::window && why_not(out, shape).empty()) return out;
  if (lead == Lead::spread) {
    out = with_partner_of_spread(shape, Spread::tile_owned, fixed(default_parameters(shape, Spread::tile_owned)));
    if (why_not(out, shape).empty()) return out;
    out = with_partner_of_spread(shape, Spread::points, fixed(default_parameters(shape, Spread::points)));
  } else {
    out.spread = Spread::points;
    out.spread_with = fixed(sorted_like(default_parameters(shape, Spread::points), choice.interp_with));
  }
  if (const std::string why = why_not(out, shape); !why.empty())
    throw Error(Status::unsupported, "deterministic: " + why);
  return out;
}

GpuPointsChoice sortable(const GpuPointsChoice& choice, const Shape& shape, std::int64_t m) {
  GpuPointsChoice out = choice;
  for (Parameters* with : {&out.spread_with, &out.interp_with})
    if (with->placement == Placement::two_level && !broken_sort_rule(shape, *with, m).empty()) {
      with->placement = shape.dim == 1 ? Placement::fetch : Placement::scatter;
      with->segment = 0;
    }
  return out;
}

// Coarse bins of two levels hold equal numbers of bins, so crowded ones need three more launches and a copy; in one
// level a warp's points of one bin count there at once. docs/design/gpu-nufft.md has what was measured. Clusters are in
// random order, so that more of them scatter their records than pays.
GpuPointsChoice for_crowds(const GpuPointsChoice& choice, const Shape& shape, std::int64_t m, PointClass points) {
  GpuPointsChoice out = choice;
  if (points == PointClass::uniform || points == PointClass::recorded) return out;
  const auto more_than = [&](double limit) { return static_cast<double>(m) > shape.filling(limit); };
  if (points == PointClass::cluster && more_than(kFewClustered)) return out;
  for (Parameters* with : {&out.spread_with, &out.interp_with}) {
    if (with->placement != Placement::two_level || with->segment > 0 || more_than(kCrowdedStaged)) continue;
    const nufft::Bins bins(shape, *with);
    if (bins.levels(m).final) continue;  // that is one level
    const std::int64_t staged = bins.layout().bytes(m) + 4 * m, grid = shape.cells() * 2 * shape.real_bytes();
    if (more_than(kFewCrowded) && staged <= grid)
      with->placement = Placement::staged;
    else if (!more_than(kCrowdedScattered))
      with->placement = Placement::scatter;
  }
  return out;
}

std::vector<GpuPointsChoice> variations(const GpuPointsChoice& choice, const Shape& shape, Lead lead) {
  using Change = std::function<void(Parameters & sort, Parameters & own)>;
  const auto bins = [&](int dx, int dy, int dz) {
    return [=](Parameters& sort, Parameters&) {
      const std::array<int, 3> by{dx, dy, dz};
      for (std::size_t d = 0; d < 3; ++d)
        if (by[d] != 0) sort.bin[d] = by[d] > 0 ? sort.bin[d] * by[d] : std::max(1, sort.bin[d] / -by[d]);
    };
  };
  const bool window = choice.spread == Spread::window || choice.spread == Spread::tf32x3 ||
                      choice.interp == Interpolate::window || choice.interp == Interpolate::matrix ||
                      choice.interp == Interpolate::tf32x3;
  std::vector<Change> changes{
      bins(2, 1, 1),
      bins(-2, 1, 1),
      [](Parameters& sort, Parameters&) { sort.cap = std::min(nufft::kMostCap, sort.cap * 2); },
      [](Parameters& sort, Parameters&) { sort.cap = std::max(nufft::kLeastCap, sort.cap / 2); },
      [](Parameters& sort, Parameters&) { sort.cap = std::min(nufft::kMostCap, sort.cap * 4); },
      [](Parameters& sort, Parameters&) { sort.slice = sort.slice == 0 ? 1 << 21 : 0; },
      [](Parameters& sort, Parameters&) { sort.slice = sort.slice == 0 ? 1 << 22 : 2 * sort.slice; },
      [](Parameters& sort, Parameters&) { sort.placement = Placement::scatter; },
      [](Parameters& sort, Parameters&) { sort.placement = Placement::fetch; },
      [](Parameters& sort, Parameters&) { sort.placement = Placement::staged; },
      [](Parameters& sort, Parameters&) { sort.placement = Placement::two_level; },
      [](Parameters&, Parameters& own) { own.split = own.split == 1 ? 2 : 1; },
      [](Parameters&, Parameters& own) { own.fold = !own.fold; },
      [](Parameters&, Parameters& own) { own.warps *= 2; },
      [](Parameters&, Parameters& own) { own.warps = std::max(1, own.warps / 2); },
      [](Parameters&, Parameters& own) { own.unroll = own.unroll == 1 ? 2 : 1; },
      [](Parameters&, Parameters& own) { own.lanes = own.lanes == 1 ? 8 : 1; },
      [](Parameters&, Parameters& own) { own.lanes = std::min(16, own.lanes * 2); },
      [](Parameters& sort, Parameters& own) {
        own.run = own.run == 1 ? 2 : 1;
        sort.bin[0] += sort.bin[0] % 2;
      },
  };
  if (shape.dim > 1) changes.insert(changes.end(), {bins(1, 2, 1), bins(1, -2, 1), bins(2, 2, 1), bins(-2, -2, 1)});
  if (shape.dim == 3 && !window)
    changes.insert(changes.end(), {bins(2, 2, 2), bins(-2, -2, -2), bins(1, 1, 2), bins(1, 1, -2)});
  if (shape.dim == 3 && window)
    for (const std::array<int, 3> bin : {std::array{6, 6, 1}, {10, 3, 1}, {10, 10, 1}, {4, 4, 1}, {3, 2, 1}})
      changes.push_back([bin](Parameters& sort, Parameters&) { sort.bin = bin; });
  std::vector<GpuPointsChoice> out;
  for (const Change& change : changes) {
    GpuPointsChoice changed = choice;
    Parameters& own = lead == Lead::spread ? changed.spread_with : changed.interp_with;
    Parameters& other = lead == Lead::spread ? changed.interp_with : changed.spread_with;
    change(own, own);
    other = sorted_like(other, own);
    if (changed == choice || std::find(out.begin(), out.end(), changed) != out.end()) continue;
    if (why_not(changed, shape).empty()) out.push_back(changed);
  }
  return out;
}

GpuPointsChoice refit(const GpuPointsChoice& choice, const Shape& shape, Lead lead) {
  if (why_not(choice, shape).empty()) return choice;
  const auto of = [&](Spread spread, Interpolate interp) {
    return lead == Lead::spread ? with_spread(shape, spread, 1) : with_interpolate(shape, interp, 1);
  };
  GpuPointsChoice out = of(choice.spread, choice.interp);
  // Wider windows, and grids of fewer than eight cells.
  const bool products = lead == Lead::spread ? choice.spread == Spread::tf32x3 : choice.interp == Interpolate::tf32x3;
  if (products && !why_not(out, shape).empty()) out = of(Spread::window, Interpolate::window);
  if (const std::string why = why_not(out, shape); !why.empty()) throw Error(Status::invalid_plan, why);
  return out;
}

}  // namespace fourtune::generator::gpu_nufft
