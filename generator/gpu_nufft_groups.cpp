// Batches on a GPU: how many transforms share the weights of a point.
#include <algorithm>

#include "generator/gpu_nufft_choices.h"

namespace fourtune::generator::gpu_nufft {
namespace {

using nufft::Interpolate;
using nufft::Parameters;
using nufft::Shape;
using nufft::Spread;

constexpr double kSparse = 0.03;  // points a cell below which tiles do not pay
constexpr double kFewPoints = 1e5;
// Shared memory of a block, such that two interpolating ones or four spreading ones (of one warp) run side by side.
constexpr std::int64_t kInterpolateBytes = 113 * 1024, kSpreadBytes = 56 * 1024;

// Of a padded bin of `group` grids.
std::int64_t tile_bytes(const Shape& shape, const std::array<int, 3>& bin, int group) {
  std::int64_t bytes = group * 2 * static_cast<std::int64_t>(real_bytes(shape.precision));
  for (std::size_t d = 0; d < static_cast<std::size_t>(shape.dim); ++d) bytes *= bin[d] + shape.width - 1;
  return bytes;
}

// Takes cells off the longest side, the last of equal ones, until a tile and what else a block needs fit.
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
  const int usual = (shape.dim == 3 ? 8 : 16) / (shape.precision == Precision::f32 ? 1 : 2);
  std::vector<int> out;
  for (const int group : {usual, 2 * usual, usual / 2, usual / 4})
    if (group > 1 && group <= batch) out.push_back(group);
  return out;
}

std::optional<GpuPointsChoice> grouped(const GpuPointsChoice& choice, const Shape& shape, Lead lead, int group) {
  GpuPointsChoice out = choice;
  const bool spreads = lead == Lead::spread;
  Parameters &own = spreads ? out.spread_with : out.interp_with, &other = spreads ? out.interp_with : out.spread_with;
  const bool tiled = spreads ? choice.spread == Spread::tile_owned : choice.interp == Interpolate::tiled;
  own.group = group, own.run = 1;
  if (tiled && !spreads) own.warps = shape.dim == 3 ? 8 : 4;
  if (tiled) shrink(shape, own, group, spreads ? kSpreadBytes : kInterpolateBytes);
  other.bin = own.bin;
  if (!why_not(out, shape).empty()) return {};
  GpuPointsChoice both = out;
  Parameters& partner = spreads ? both.interp_with : both.spread_with;
  partner.group = group, partner.run = 1;
  return why_not(both, shape).empty() ? both : out;
}

GpuPointsChoice for_batch(const GpuPointsChoice& choice, const Shape& shape, Lead lead, double density,
                          std::int64_t batch) {
  const std::vector<int> groups = groups_of(shape, batch);
  if (groups.empty() || shape.width > (shape.dim == 3 ? 8 : kMaxWidth)) return choice;
  if (lead == Lead::spread && shape.dim == 3) return choice;  // register windows do not read what they sum up
  const bool sparse = density < kSparse;
  for (const GpuPointsChoice& family : points_choices(shape, lead, density)) {
    const bool wanted = lead == Lead::spread ? family.spread == (sparse ? Spread::points : Spread::tile_owned)
                                             : family.interp == (sparse ? Interpolate::points : Interpolate::tiled);
    if (!wanted) continue;
    auto found = grouped(family, shape, lead, groups.front());
    if (!found) continue;
    // A warp takes a point's transforms together, so fewer points make a subproblem, and fewer still where there are few.
    Parameters &own = lead == Lead::spread ? found->spread_with : found->interp_with,
               &other = lead == Lead::spread ? found->interp_with : found->spread_with;
    const double cells = static_cast<double>(shape.fine[0]) * static_cast<double>(shape.fine[1] * shape.fine[2]);
    own.cap = std::min(own.cap, density * cells < kFewPoints ? 64 : lead == Lead::spread ? 256 : 1024);
    other.cap = own.cap;
    return *found;
  }
  return choice;
}

}  // namespace fourtune::generator::gpu_nufft
