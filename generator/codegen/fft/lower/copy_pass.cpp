#include "generator/codegen/fft/lower/copy_pass.h"

#include <algorithm>

#include "base/layout.h"
#include "generator/codegen/at.h"
#include "generator/codegen/fft/lower/arrange.h"
#include "generator/codegen/fft/lower/reach.h"

namespace fourtune::generator::fft {
namespace {

// An axis of the arrays, or one prime factor of it.
struct Piece {
  const char* name;
  std::int64_t size, load, store;
};

std::vector<Piece> pieces_of(const AxisNumbers& n, const CopySide& from, const CopySide& to) {
  static constexpr const char* names[] = {"x", "y", "z", "w", "batch"};
  std::vector<Piece> out;
  for (int d = 0; d <= batch_axis; ++d) {
    const std::int64_t load = from.stride[at(d)], store = to.stride[at(d)];
    if (d == batch_axis || !(from.by_primes || to.by_primes)) {
      out.push_back({names[d], n[at(d)], load, store});
      continue;
    }
    for (std::int64_t low = 1; const std::int64_t p : prime_factors(n[at(d)])) {
      const std::int64_t reversed = n[at(d)] / (low * p);
      out.push_back({names[d], p, load * (from.by_primes ? reversed : low), store * (to.by_primes ? reversed : low)});
      low *= p;
    }
  }
  return out;
}

// The piece along which tiles lie: the nearest in memory that is long, else the longest.
const Piece* tiled_piece(const std::vector<Piece>& pieces) {
  constexpr std::int64_t is_long = 32;
  const Piece* best = &pieces.front();
  for (const Piece& piece : pieces) {
    const bool nearer = best->size < is_long || piece.store < best->store;
    if (piece.size >= is_long ? nearer : piece.size > best->size) best = &piece;
  }
  return best;
}

}  // namespace

PlannedPass copy_pass(const EmitOptions& options, const AxisNumbers& n, const CopySide& from, const CopySide& to,
                      double scale) {
  constexpr std::int64_t most = 256;
  PlannedPass out;
  PassSpec& spec = out.spec;
  spec.name = "copy", spec.title = "a copy";
  spec.precision = options.precision, spec.sign = options.sign;
  spec.load.values = from.values, spec.store.values = to.values, spec.store.scale = scale;
  spec.loaded = spec.stored = 1;
  const std::vector<Piece> pieces = pieces_of(n, from, to);
  const Piece* const along = tiled_piece(pieces);
  std::int64_t last = 0;
  for (const Piece& piece : pieces) {
    const std::int64_t tile = &piece == along ? std::min(most, piece.size) : 1, tiles = (piece.size + tile - 1) / tile;
    Index index;
    const auto add = [&](std::int64_t size, std::int64_t weight, bool in_tile) {
      const int atom = static_cast<int>(spec.atoms.size());
      spec.atoms.push_back({piece.name, size, in_tile});
      if (!in_tile) spec.grid_order.push_back(atom);
      index.push_back({atom, weight});
    };
    if (tile > 1) add(tile, 1, true);
    if (tiles > 1) add(tiles, tile, false);
    for (const IndexTerm& term : index) {
      spec.load.address.push_back({term.atom, term.weight * piece.load});
      spec.store.address.push_back({term.atom, term.weight * piece.store});
    }
    if (piece.size % tile)
      spec.load.bounds.push_back({index, piece.size}), spec.store.bounds.push_back({index, piece.size});
    spec.threads = &piece == along ? static_cast<int>((tile + 31) / 32 * 32) : spec.threads;
    last += (piece.size - 1) * std::max(piece.load, piece.store);
    spec.loaded *= piece.size, spec.stored *= piece.size;
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
