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
  // A warp processes all transforms of a point, so a subproblem has fewer points.
  if (tiled && spreads) own.cap = other.cap = std::min(own.cap, 256);
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

}  // namespace fourtune::generator::gpu_nufft
