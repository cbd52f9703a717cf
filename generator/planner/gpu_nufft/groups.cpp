// Batches on a GPU: how many transforms share the weights of a point.
#include <algorithm>

#include "generator/planner/gpu_nufft/choices.h"

namespace fourtune::generator::gpu_nufft {
namespace {

using nufft::Interpolate;
using nufft::Parameters;
using nufft::Shape;
using nufft::Spread;

// Shared memory per block that lets two interpolation blocks, or four spreading blocks (of one warp), be resident at
// once: the largest block leaves 1 KiB of a multiprocessor's memory to the system, as every other one does.
std::int64_t share_of_memory(const Shape& shape, int blocks) { return (shape.shared_bytes + 1024) / blocks - 1024; }
std::int64_t interpolate_bytes(const Shape& shape) { return share_of_memory(shape, 2); }
std::int64_t spread_bytes(const Shape& shape) { return share_of_memory(shape, 4); }

// The most bytes of a group's grids, which have to be there at once, untuned. 12 transforms of 6.8 M radial points on
// 336x336x240 cells take 9.67 ms one by one and 8.51 in groups of 4, which need 1.6 GB in place of 0.4.
constexpr double kGroupBytes = 64e6;
constexpr double kCachedBytes = 40e6;  // of grids that stay in the L2 cache of an H200

// Bytes of a padded bin of `group` grids.
std::int64_t tile_bytes(const Shape& shape, const std::array<int, 3>& bin, int group) {
  std::int64_t bytes = group * 2 * static_cast<std::int64_t>(real_bytes(shape.precision));
  for (std::size_t d = 0; d < static_cast<std::size_t>(shape.dim); ++d) bytes *= bin[d] + shape.width - 1;
  return bytes;
}

// Removes cells from the longest side (the last one of equal sides) until a tile and the other data of a block fit.
void shrink(const Shape& shape, Parameters& p, int group, std::int64_t most) {
  const int numbers = std::max(2 * group, shape.dim * shape.width) + 4;
  const std::int64_t stage = 32ll * p.warps * numbers * static_cast<std::int64_t>(real_bytes(shape.precision));
  while (tile_bytes(shape, p.bin, group) + stage > most) {
    std::size_t longest = 0;
    for (std::size_t d = 1; d < static_cast<std::size_t>(shape.dim); ++d)
      if (p.bin[d] >= p.bin[longest]) longest = d;
    if (p.bin[longest] <= 2) return;
    --p.bin[longest];
  }
}

}  // namespace

std::vector<int> groups_of(const Shape& shape, std::int64_t batch) {
  const int usual = (shape.dim == 3 ? 4 : 8) / (shape.precision == Precision::f32 ? 1 : 2);
  std::vector<int> out;
  for (const int group : {usual, 2 * usual, 4 * usual, usual / 2})
    if (group > 1 && group <= batch) out.push_back(group);
  return out;
}

std::optional<GpuPointsChoice> grouped(const GpuPointsChoice& choice, const Shape& shape, Lead lead, int group) {
  GpuPointsChoice out = choice;
  const bool spreads = lead == Lead::spread;
  Parameters &own = spreads ? out.spread_with : out.interp_with, &other = spreads ? out.interp_with : out.spread_with;
  const bool tiled = spreads ? choice.spread == Spread::tile_owned : choice.interp == Interpolate::tiled;
  own.group = group, own.run = 1;
  if (tiled && !spreads)
    own.warps = shape.dim == 2 || tile_bytes(shape, own.bin, group) > interpolate_bytes(shape) / 2 ? 8 : 4;
  // Uses larger bins than for one grid: sharing cells in a tile outweighs the smaller number of resident blocks.
  if (tiled && !spreads && shape.dim == 2) own.bin = {std::max(own.bin[0], 24), std::max(own.bin[1], 24), 1};
  if (tiled) shrink(shape, own, group, spreads ? spread_bytes(shape) : interpolate_bytes(shape));
  other.bin = own.bin;
  if (!why_not(out, shape).empty()) return {};
  GpuPointsChoice both = out;
  Parameters& partner = spreads ? both.interp_with : both.spread_with;
  partner.group = group, partner.run = 1;
  return why_not(both, shape).empty() ? both : out;
}

GpuPointsChoice for_batch(const GpuPointsChoice& choice, const Shape& shape, Lead lead, double density,
                          std::int64_t batch) {
  const bool spreads = lead == Lead::spread;
  const std::vector<int> groups = groups_of(shape, batch);
  const double cells = static_cast<double>(shape.fine[0]) * static_cast<double>(shape.fine[1] * shape.fine[2]);
  if (groups.empty() || shape.dim == 1 || density * cells < shape.filling(nufft::kFewPoints)) return choice;
  const double grid = cells * 2 * static_cast<double>(real_bytes(shape.precision));
  // Four of eight where eight grids are beyond the cache, or their tiles keep blocks away. H100, f32: 801 733 points of
  // w = 4 on 1296x560 cells, 12 transforms, take 350 us in groups of 4 and 362 of 8, of w = 6 on 1512x540 50 and 70 us
  // for each transform.
  int group = groups.front();
  if (group == 8 && (8 * grid > shape.cached(kCachedBytes) || shape.width > 5)) group = 4;
  if (group * grid > kGroupBytes) return choice;
  if (shape.dim == 2 && (!spreads || shape.width > 6 || density < kThin)) return choice;
  GpuPointsChoice tiled = choice;
  if (!spreads && shape.dim == 3 && shape.precision == Precision::f32 && density < kThin && shape.width <= 6)
    for (const GpuPointsChoice& family : points_choices(shape, lead, density))  // 0.50 ms per transform, not 0.77
      if (family.interp == Interpolate::tiled && density >= kSparse) tiled = family;
  // Register windows do not wait for shared memory: in 3D their sums are as fast.
  if (spreads ? choice.spread != Spread::tile_owned || shape.dim == 3 : tiled.interp != Interpolate::tiled)
    return choice;
  auto found = grouped(tiled, shape, lead, group);
  if (!found) return choice;
  // A warp processes all transforms of a point, so a subproblem has fewer points.
  if (spreads) found->spread_with.cap = found->interp_with.cap = std::min(found->spread_with.cap, 256);
  return *found;
}

}  // namespace fourtune::generator::gpu_nufft
