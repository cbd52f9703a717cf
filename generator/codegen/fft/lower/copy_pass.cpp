#include "generator/codegen/fft/lower/copy_pass.h"

#include <algorithm>

#include "generator/codegen/at.h"
#include "generator/codegen/fft/lower/arrange.h"
#include "generator/codegen/fft/lower/reach.h"

namespace fourtune::generator::fft {
namespace {

// The dimension along which tiles lie: the nearest in memory that is long, else the longest.
int tiled_dimension(const AxisNumbers& n, const CopySide& to) {
  constexpr std::int64_t is_long = 32;
  int best = 0;
  for (int d = 1; d <= batch_axis; ++d) {
    const bool nearer = n[at(best)] < is_long || to.stride[at(d)] < to.stride[at(best)];
    if (n[at(d)] >= is_long ? nearer : n[at(d)] > n[at(best)]) best = d;
  }
  return best;
}

}  // namespace

PlannedPass copy_pass(const EmitOptions& options, const AxisNumbers& n, const CopySide& from, const CopySide& to,
                      double scale) {
  constexpr std::int64_t most = 256;
  static constexpr const char* names[] = {"x", "y", "z", "w", "batch"};
  PlannedPass out;
  PassSpec& spec = out.spec;
  spec.name = "copy", spec.title = "a copy";
  spec.precision = options.precision, spec.sign = options.sign;
  spec.load.values = from.values, spec.store.values = to.values, spec.store.scale = scale;
  spec.loaded = spec.stored = 1;
  const int along = tiled_dimension(n, to);
  std::int64_t last = 0;
  for (int d = 0; d <= batch_axis; ++d) {
    const std::int64_t tile = d == along ? std::min(most, n[at(d)]) : 1, tiles = (n[at(d)] + tile - 1) / tile;
    Index index;
    const auto add = [&](std::int64_t size, std::int64_t weight, bool in_tile) {
      const int atom = static_cast<int>(spec.atoms.size());
      spec.atoms.push_back({names[d], size, in_tile});
      if (!in_tile) spec.grid_order.push_back(atom);
      index.push_back({atom, weight});
    };
    if (tile > 1) add(tile, 1, true);
    if (tiles > 1) add(tiles, tile, false);
    for (const IndexTerm& term : index) {
      spec.load.address.push_back({term.atom, term.weight * from.stride[at(d)]});
      spec.store.address.push_back({term.atom, term.weight * to.stride[at(d)]});
    }
    if (n[at(d)] % tile) spec.load.bounds.push_back({index, n[at(d)]}), spec.store.bounds.push_back({index, n[at(d)]});
    spec.threads = d == along ? static_cast<int>((tile + 31) / 32 * 32) : spec.threads;
    last += (n[at(d)] - 1) * std::max(from.stride[at(d)], to.stride[at(d)]);
    spec.loaded *= n[at(d)], spec.stored *= n[at(d)];
  }
  spec.wide = last > 0x7fffffff;
  assert_arranged(spec, {});
  return out;
}

bool same_rows(const EmitOptions& options) {
  const auto in = array_strides(options, true), out = array_strides(options, false);
  const std::int64_t in_parts = options.type == FftType::r2c ? 1 : 2, out_parts = options.type == FftType::c2r ? 1 : 2,
                     row = 2 * (options.n[0] / 2 + 1);
  if (options.n[0] > 1 && (in[0] != 1 || out[0] != 1)) return false;
  for (std::size_t d = 1; d <= batch_axis; ++d) {
    if ((d < batch_axis ? options.n[d] : options.batch) == 1) continue;
    if (in[d] * in_parts != out[d] * out_parts || in[d] * in_parts < row) return false;
  }
  return true;
}

}  // namespace fourtune::generator::fft
