#include "generator/plan/nufft/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "generator/plan/nufft/bins.h"
#include "generator/plan/nufft/blocks.h"
#include "generator/window/window.h"

namespace fourtune::generator::nufft {
namespace {

constexpr std::string_view kNoRecords =
    "placement=index makes no records: it is for spread=gm_sort and sm with interp=gm_sort, and sort=none for gm with gm";

bool is_power_of_two(int n) { return n > 0 && (n & (n - 1)) == 0; }

std::string fits(const Shape& shape, const char* what, std::int64_t bytes) {
  if (bytes <= shape.shared_bytes) return {};
  return fmt::format("{} needs {} bytes of shared memory, {} are allowed", what, bytes, shape.shared_bytes);
}

std::string narrow(const Shape& shape) {
  if (shape.width <= kMaxWidth) return {};
  return fmt::format("width {}, families other than points go to {}", shape.width, kMaxWidth);
}

std::string needs_bins(const Parameters& p) { return p.order == RecordOrder::bins ? "" : "tiles need order bins"; }

std::string whole_cells(const Shape& shape, const Parameters& p) {
  return Bins(shape, p).layout().whole ? "" : "families without subproblems need records with whole cells";
}

std::string run_rule(const Shape& shape, const Parameters& p) {
  if (p.run == 1) return {};
  if (p.run != 2) return fmt::format("run {}, allowed are 1 and 2", p.run);
  if (shape.precision != Precision::f32 || shape.dim == 1 || shape.fine[0] % 2 != 0)
    return "run 2 needs single precision, 2 or 3 dimensions and an even number of cells in x";
  return {};
}

std::string window_rule(const Shape& shape, const Parameters& p, bool spreads) {
  if (p.order != RecordOrder::slide || (shape.dim > 1 && p.bin[static_cast<std::size_t>(shape.dim - 1)] != 1))
    return "register windows need order slide and bins of one cell along it";
  if (spreads) {
    if (std::string why = run_rule(shape, p); !why.empty()) return why;
    if (p.run == 2 && p.bin[0] % 2 != 0) return "run 2 needs an even bin in x";
    if (p.split != 1 && (p.split != 2 || p.run != 1 || p.warps != 1)) return "split is 1, or 2 with run 1 and one warp";
  }
  return fits(shape, "a register window", window_block(shape, p, spreads).shared_bytes);
}

std::string matrix_rule(const Shape& shape, const Parameters& p) {
  if (shape.dim == 1 || p.order != (shape.dim == 2 ? RecordOrder::bins : RecordOrder::slide) ||
      (shape.dim == 3 && p.bin[2] != 1))
    return "interp=matrix needs two dimensions and order bins, or three, order slide and bins of one cell along z";
  const MatrixBlock block = matrix_block(shape, p);
  const int most = shape.dim == 2 ? 36 : 20;  // two registers per lane each, and as many for sums in 3D
  if (block.kx * block.ky > most)
    return fmt::format("interp=matrix keeps {} cells in registers, allowed are {}: smaller bins",
                       16 * block.kx * block.ky, 16 * most);
  return fits(shape, "interp=matrix", block.shared_bytes);
}

std::string tf32_rule(const Shape& shape, const Parameters& p) {
  if (shape.dim != 3 || shape.precision != Precision::f32 || shape.width >= kTf32Cells)
    return fmt::format("tf32x3 is for three dimensions, single precision and widths below {}", kTf32Cells);
  if (p.order != RecordOrder::slide || p.bin[2] != 1) return "tf32x3 needs order slide and bins of one cell along z";
  if (p.run != 1 || p.split != 1 || p.warps != 1) return "tf32x3 needs run 1, split 1 and one warp";
  if (std::max(p.bin[0], p.bin[1]) + shape.width - 1 > kTf32Cells)
    return fmt::format("tf32x3: bins of {} x {} cells, allowed are {} a side", p.bin[0], p.bin[1],
                       kTf32Cells + 1 - shape.width);
  if (*std::ranges::min_element(shape.fine) < kTf32Cells)
    return fmt::format("tf32x3 needs {} cells in each dimension", kTf32Cells);
  return fits(shape, "tf32x3", tf32_block(shape, p, true).shared_bytes);
}

// Groups of transforms; `tiled`: by padded bins.
std::string group_rule(const Shape& shape, const Parameters& p, bool tiled) {
  if (shape.width > kMaxWidth) return fmt::format("width {}, groups of transforms go to {}", shape.width, kMaxWidth);
  if (p.run != 1 || p.deterministic) return "groups of transforms need run 1 and no deterministic sums";
  return tiled ? needs_bins(p) : "";
}

// The methods of the paper on cuFINUFFT. `sorted`: in the order of bins.
std::string published_rule(const Shape& shape, const Parameters& p, bool sorted) {
  if (shape.dim == 1) return "gm, gm_sort and sm are of two and three dimensions, as in their paper";
  if (p.deterministic || p.group != 1 || p.slice != 0)
    return "gm, gm_sort and sm take one transform at a time, all points, and sums as they come; deterministic sums, "
           "groups and slices are for other families";
  if (!(shape.semicircle > 0)) return "gm, gm_sort and sm evaluate the exponential of semicircle: window=es(...)";
  if (std::string why = narrow(shape); !why.empty()) return why;
  if (p.placement != Placement::index || p.order != (sorted ? RecordOrder::bins : RecordOrder::caller))
    return sorted ? "gm_sort and sm need sort=bins(order=bins,placement=index)" : "gm needs sort=none";
  return {};
}

std::string sm_rule(const Shape& shape, const Parameters& p) {
  if (std::string why = published_rule(shape, p, true); !why.empty()) return why;
  const std::int64_t bytes = published_tile_bytes(shape, p);
  if (bytes <= std::min(kPublishedShared, shape.shared_bytes)) return {};
  return fmt::format(
      "sm keeps a padded bin in the {} bytes of shared memory of its paper, and {} are needed: "
      "gm_sort, or smaller bins",
      kPublishedShared, bytes);
}

std::string spread_points_rule(const Shape& shape, const Parameters& p) {
  if (std::string why = whole_cells(shape, p); !why.empty()) return why;
  if (std::string why = run_rule(shape, p); !why.empty()) return why;
  return fits(shape, "spread=points", spread_points_block(shape, p).shared_bytes);
}

std::string spread_tile_rule(const Shape& shape, const Parameters& p, Spread family) {
  if (std::string why = needs_bins(p); !why.empty()) return why;
  return fits(shape, "a padded bin", spread_tile_block(shape, p, family).shared_bytes);
}

// What spreaders that add to tiles or windows have in common.
std::string sorted_spreader(const Shape& shape, const Parameters& p) {
  if (std::string why = narrow(shape); !why.empty()) return why;
  return p.order == RecordOrder::caller ? "this spreader needs sorted points" : "";
}

// One transform at a time.
std::string one_rule(const Shape& shape, const Parameters& p, Spread family) {
  if (by_subproblems(family) && !is_published(family))
    if (std::string why = sorted_spreader(shape, p); !why.empty()) return why;
  switch (family) {
    case Spread::points:
      return spread_points_rule(shape, p);
    case Spread::tile_atomic:
    case Spread::tile_owned:
      return spread_tile_rule(shape, p, family);
    case Spread::window:
      return window_rule(shape, p, true);
    case Spread::tf32x3:
      return tf32_rule(shape, p);
    case Spread::gm:
    case Spread::gm_sort:
      return published_rule(shape, p, family == Spread::gm_sort);
    case Spread::sm:
      return sm_rule(shape, p);
  }
  return {};
}

std::string interpolate_block_rule(const Shape& shape, const Parameters& p, Interpolate family) {
  return fits(shape, "a padded bin", interpolate_block(shape, p, family).shared_bytes);
}

std::string one_rule(const Shape& shape, const Parameters& p, Interpolate family) {
  if (by_subproblems(family))
    if (std::string why = narrow(shape); !why.empty()) return why;
  switch (family) {
    case Interpolate::points:
      if (std::string why = whole_cells(shape, p); !why.empty()) return why;
      return interpolate_block_rule(shape, p, family);
    case Interpolate::tiled:
      if (std::string why = needs_bins(p); !why.empty()) return why;
      return interpolate_block_rule(shape, p, family);
    case Interpolate::window:
      return window_rule(shape, p, false);
    case Interpolate::matrix:
      return matrix_rule(shape, p);
    case Interpolate::tf32x3:
      return tf32_rule(shape, p);
    case Interpolate::gm:
    case Interpolate::gm_sort:
      return published_rule(shape, p, family == Interpolate::gm_sort);
  }
  return {};
}

// The families of a table that can do something, as "points, tile_atomic or tile_owned".
template <std::size_t N>
std::string names(const FamilyTraits (&table)[N], bool FamilyTraits::*can, std::string_view last) {
  std::vector<std::string_view> found;
  for (const FamilyTraits& family : table)
    if (family.*can) found.emplace_back(family.name);
  std::string out(found.front());
  for (std::size_t i = 1; i < found.size(); ++i)
    out += fmt::format("{}{}", i + 1 < found.size() ? ", " : fmt::format(" {} ", last), found[i]);
  return out;
}

}  // namespace

std::string broken_rule(const Shape& shape, const Parameters& p) {
  const int w = shape.width;
  if (shape.dim < 1 || shape.dim > 3) return fmt::format("dimension {}, allowed are 1 to 3", shape.dim);
  if (w < kMinWidth || w > kMaxGaussianWidth)
    return fmt::format("width {}, allowed are {} to {}", w, kMinWidth, kMaxGaussianWidth);
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t n = shape.fine[d];
    if (static_cast<int>(d) >= shape.dim ? n != 1 : n < w)
      return fmt::format("{} cells in dimension {}, at least the width {} are needed (1 where absent)", n, d, w);
    if (n >= std::int64_t{1} << 30) return fmt::format("{} cells in dimension {}, less than 2^30 are allowed", n, d);
    if (p.bin[d] < 1) return fmt::format("bin of {} cells in dimension {}", p.bin[d], d);
  }
  if (shape.fine[0] * shape.fine[1] >= std::int64_t{1} << 31) return "a plane of 2^31 cells or more";
  if (p.cap < 1) return "cap below 1";
  if (p.segment < 0 || p.segment > 16384 || p.segment % 512 != 0)
    return fmt::format("segments of {} points, allowed are multiples of 512 up to 16384", p.segment);
  if (p.lanes > 16 || !is_power_of_two(p.lanes)) return fmt::format("{} lanes, allowed are 1, 2, 4, 8, 16", p.lanes);
  if (p.warps < 1 || p.warps > 16) return fmt::format("{} warps, allowed are 1 to 16", p.warps);
  if (p.slice < 0) return fmt::format("slices of {} points", p.slice);
  const int most = shape.precision == Precision::f32 ? 32 : 16;
  if (p.group > most || !is_power_of_two(p.group))
    return fmt::format("groups of {} transforms, allowed are powers of two up to {}", p.group, most);
  const std::int64_t bins = Bins(shape, p).count();
  if (bins >= std::int64_t{1} << (shape.large_counts ? 40 : 31)) return fmt::format("{} bins are too many", bins);
  return {};
}

std::string broken_sort_rule(const Shape& shape, const Parameters& p, std::int64_t m) {
  const Bins bins(shape, p);
  if (!shape.large_counts && m >= std::int64_t{1} << 31) return "2^31 points or more need large_counts";
  if (bins.count() * bins.slices(m) >= std::int64_t{1} << (shape.large_counts ? 40 : 31))
    return fmt::format("{} slices of {} bins are too many", bins.slices(m), bins.count());
  if (!bins.layout().whole && m > std::int64_t{1} << (32 - kMostStolen))
    return "more than 2^28 points need whole_cells";
  if (p.order == RecordOrder::caller || p.placement != Placement::two_level || m == 0) return {};
  const SortLevels levels = bins.levels(m);
  if (!levels.possible)
    return fmt::format("{} bins are too many for a sort in two levels with {} bytes of shared memory", levels.all,
                       shape.shared_bytes);
  if (std::string why = fits(shape, "the first level of the sort", levels.place_bytes); !why.empty()) return why;
  return levels.final ? "" : fits(shape, "the second level of the sort", levels.large_bytes);
}

std::string broken_rule(const Shape& shape, const Parameters& p, Spread family) {
  if (is_published(family)) return one_rule(shape, p, family);
  if (p.placement == Placement::index) return std::string(kNoRecords);
  if (p.deterministic && (!traits_of(family).fixed || p.run != 1 || p.group != 1))
    return fmt::format("deterministic spreading needs {}, run 1 and group 1",
                       names(kSpreads, &FamilyTraits::fixed, "or"));
  if (p.group == 1) return one_rule(shape, p, family);
  if (!traits_of(family).groups)
    return "groups of transforms are for spread " + names(kSpreads, &FamilyTraits::groups, "and");
  if (std::string why = group_rule(shape, p, by_subproblems(family)); !why.empty()) return why;
  return fits(shape, "a group of transforms", spread_group_block(shape, p, family, p.group).shared_bytes);
}

std::string broken_rule(const Shape& shape, const Parameters& p, Interpolate family) {
  if (is_published(family)) return one_rule(shape, p, family);
  if (p.placement == Placement::index) return std::string(kNoRecords);
  if (p.group == 1) return one_rule(shape, p, family);
  if (!traits_of(family).groups)
    return "groups of transforms are for interp " + names(kInterpolates, &FamilyTraits::groups, "and");
  if (std::string why = group_rule(shape, p, by_subproblems(family)); !why.empty()) return why;
  return fits(shape, "a group of transforms", interpolate_group_block(shape, p, family, p.group).shared_bytes);
}

}  // namespace fourtune::generator::nufft
