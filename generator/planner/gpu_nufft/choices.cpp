#include "generator/planner/gpu_nufft/choices.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "fourtune/status.h"
#include "generator/plan/nufft/bins.h"
#include "generator/plan/nufft/rules.h"
#include "generator/planner/gpu_nufft/gridding.h"

namespace fourtune::generator::gpu_nufft {
namespace {

using nufft::Interpolate;
using nufft::Parameters;
using nufft::Placement;
using nufft::RecordOrder;
using nufft::Shape;
using nufft::Spread;

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

// What a launch does whose chunk has grids of 40 MB.
Gridding gridding_for(const Shape& shape, double density, double share, std::int64_t batch) {
  Gridding out = gridding_of(shape, points_of(shape, density), share);
  const double fitting = shape.cached(40e6) / std::max(1.0, out.cells() * out.complex_bytes());
  out.together = std::clamp(fitting, 1.0, static_cast<double>(batch));
  return out;
}

// The most cells of a lane in a plane, by its registers.
int kept_cells(const Shape& shape) {
  return std::max(1, 170 / (2 * shape.width * (shape.precision == Precision::f32 ? 1 : 2)));
}

// The usual parameters in other tiles, and those for few points in many cells or in few.
std::vector<Parameters> tiles_of(const Shape& shape, const Parameters& usual, bool windows, bool interpolates) {
  const auto with_bin = [&](std::array<int, 3> bin) {
    Parameters out = usual;
    out.bin = bin;
    return out;
  };
  std::vector<Parameters> out{usual};
  if (windows && shape.dim == 3)
    for (const std::array<int, 3> bin :
         {std::array{2, 2, 1}, {3, 2, 1}, {3, 3, 1}, {4, 4, 1}, {5, 5, 1}, {6, 6, 1}, {10, 3, 1}, {10, 10, 1}}) {
      Parameters with = with_bin(bin);
      with.run = bin[0] % 2 == 0 ? usual.run : 1;
      const int tile = (bin[0] + shape.width - 1) * (bin[1] + shape.width - 1);
      for (with.warps = 1; with.warps < 8 && (tile + 32 * with.warps - 1) / (32 * with.warps) > kept_cells(shape);)
        with.warps *= 2;
      out.push_back(with);
    }
  if (windows && shape.dim == 2)
    for (const int side : {16, 32}) {
      out.push_back(with_bin({side - shape.width + 1, 1, 1}));
      if (!interpolates) out.back().unroll = side == 16 ? 2 : 1;
    }
  if (windows || shape.dim == 1) return out;
  const std::vector<std::array<int, 3>> bins =
      shape.dim == 3 ? std::vector<std::array<int, 3>>{{8, 8, 8}, {4, 4, 4}, {8, 8, 4}}
                     : std::vector<std::array<int, 3>>{{16, 16, 1}, {8, 8, 1}, {32, 32, 1}, {8, 1, 1}};
  for (const std::array<int, 3>& bin : bins) out.push_back(with_bin(bin));
  return out;
}

// Tiles of the matrix units in 2D are a multiple of four cells per side.
std::vector<Parameters> matrix_tiles(const Shape& shape, const Parameters& usual) {
  std::vector<Parameters> out{usual};
  for (const int side : {8, 12, 16, 20}) {
    if (shape.dim != 2 || side < shape.width + 2) continue;  // bins of three cells and more
    out.push_back(usual);
    out.back().bin = {side - shape.width + 1, side - shape.width + 1, 1};
  }
  return out;
}

// The tile and the subproblems with the least price; the first ones stand unless others gain more than what the prices
// do not tell.
template <class Family, class Seconds>
Parameters cheapest(const Shape& shape, Family family, const std::vector<Parameters>& tiles, const Seconds& seconds) {
  constexpr double kSure = 1.03;
  Parameters best = tiles.front();
  double least = seconds(best) / kSure;
  for (const Parameters& tile : tiles)
    for (const int cap : {tile.cap, tile.cap / 4, tile.cap / 2, tile.cap * 2, tile.cap * 4}) {
      Parameters with = tile;
      with.cap = cap;
      if (cap != tile.cap && (!nufft::by_subproblems(family) || cap < 32 * tile.warps || cap > 2048)) continue;
      const double here = seconds(with);
      if (here >= least || !broken_rule(shape, with).empty() || !broken_rule(shape, with, family).empty()) continue;
      best = with, least = here;
    }
  return best;
}

GpuPointsChoice with_spread(const Shape& shape, Spread family, double density, double share = 1,
                            std::int64_t batch = 1) {
  const Gridding gridding = gridding_for(shape, density, share, batch);
  const bool window = family == Spread::window;
  std::vector<Parameters> tiles;
  std::vector<Parameters> starts{default_parameters(shape, family, density)};
  if (window && shape.dim == 3) starts = window_tiles(shape, density, share);
  for (const Parameters& start : starts)
    if (family == Spread::tf32x3)
      tiles.push_back(start);
    else
      for (const Parameters& with : tiles_of(shape, start, window, false)) tiles.push_back(with);
  return with_partner_of_spread(shape, family, cheapest(shape, family, tiles, [&](const Parameters& with) {
                                  return spread_seconds(gridding, family, with);
                                }));
}

GpuPointsChoice with_interpolate(const Shape& shape, Interpolate family, double density, double share = 1,
                                 std::int64_t batch = 1) {
  const Gridding gridding = gridding_for(shape, density, share, batch);
  const Parameters usual = default_parameters(shape, family, density);
  const std::vector<Parameters> tiles = family == Interpolate::tf32x3 ? std::vector{usual}
                                        : family == Interpolate::matrix
                                            ? matrix_tiles(shape, usual)
                                            : tiles_of(shape, usual, family == Interpolate::window, true);
  return with_partner_of_interpolate(shape, family, cheapest(shape, family, tiles, [&](const Parameters& with) {
                                       return interpolate_seconds(gridding, family, with);
                                     }));
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
  const auto add = [&](const GpuPointsChoice& choice) {
    if (!shape.tf32 && (choice.spread == Spread::tf32x3 || choice.interp == Interpolate::tf32x3)) return;
    if (why_not(choice, shape).empty()) out.push_back(choice);
  };
  using enum Spread;
  if (lead == Lead::spread)
    for (const Spread family : {window, tile_owned, points, tf32x3, tile_atomic})
      add(with_spread(shape, family, density, share, batch));
  else
    for (const Interpolate family :
         {Interpolate::tiled, Interpolate::points, Interpolate::window, Interpolate::matrix, Interpolate::tf32x3})
      add(with_interpolate(shape, family, density, share, batch));
  // By price, those of which little is known last.
  const Gridding gridding = gridding_for(shape, density, share, batch);
  std::vector<std::pair<std::pair<bool, double>, GpuPointsChoice>> priced;
  for (const GpuPointsChoice& one : out) {
    const double seconds = lead == Lead::spread ? spread_seconds(gridding, one.spread, one.spread_with)
                                                : interpolate_seconds(gridding, one.interp, one.interp_with);
    priced.push_back({{!is_usual(one, shape, lead, share), seconds}, one});
  }
  std::stable_sort(priced.begin(), priced.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = priced[i].second;
  return out;
}

bool is_usual(const GpuPointsChoice& choice, const Shape& shape, Lead lead, double share) {
  // Additions of a cluster straight to the grid meet.
  if (lead == Lead::spread && choice.spread == Spread::points && share < 0.1) return false;
  // In single precision its units convert every number.
  if (lead == Lead::interpolate && choice.interp == Interpolate::matrix && shape.precision == Precision::f32)
    return false;
  const bool groups = (lead == Lead::spread ? choice.spread_with : choice.interp_with).group > 1;
  const KernelKind kind =
      lead == Lead::spread
          ? KernelKind{Stage::spread, static_cast<int>(choice.spread), shape.dim, groups, shape.precision}
          : KernelKind{Stage::interpolate, static_cast<int>(choice.interp), shape.dim, groups, shape.precision};
  return is_known(kind);
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
