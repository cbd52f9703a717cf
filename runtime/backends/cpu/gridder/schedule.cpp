#include "runtime/backends/cpu/gridder/schedule.h"

#include <algorithm>

namespace fourtune::runtime::cpu {
namespace {

std::int64_t cells_of(const Tiling& g, int d, std::int64_t p) {
  return std::min<std::int64_t>(g.tile[d], g.fine[d] - p * g.tile[d]);
}

// Returns whether the padded tiles at positions p and q of dimension d share a cell of the ring of fine[d] cells.
bool overlap(const Tiling& g, int d, std::int64_t p, std::int64_t q) {
  const std::int64_t apart = ((q - p) * g.tile[d] % g.fine[d] + g.fine[d]) % g.fine[d];
  return apart < cells_of(g, d, p) + g.width - 1 || (apart > 0 && g.fine[d] - apart < cells_of(g, d, q) + g.width - 1);
}

// Assigns the least free colour. Tiles that touch p come directly before it and, around the end, at the start.
std::vector<std::int32_t> greedy_colours(const Tiling& g, int d, int& used) {
  std::vector<std::int32_t> colour(g.count[d], 0);
  std::vector<char> taken;
  used = 1;
  for (std::int64_t p = 1; p < g.count[d]; ++p) {
    taken.assign(used + 1, 0);
    std::int64_t q = p - 1;
    for (; q >= 0 && overlap(g, d, p, q); --q) taken[colour[q]] = 1;
    for (std::int64_t r = 0; r <= q && overlap(g, d, p, r); ++r) taken[colour[r]] = 1;
    colour[p] = static_cast<std::int32_t>(std::find(taken.begin(), taken.end(), 0) - taken.begin());
    used = std::max(used, colour[p] + 1);
  }
  return colour;
}

// The positions of dimension d that the padded tile at p reaches, p first.
void reached(const Tiling& g, int d, std::int64_t p, std::vector<std::int64_t>& out) {
  out.assign(1, p);
  std::int64_t covered = cells_of(g, d, p);
  const std::int64_t needed = covered + (d < g.dim ? g.width - 1 : 0);
  for (std::int64_t q = (p + 1) % g.count[d]; covered < needed && q != p; q = (q + 1) % g.count[d]) {
    out.push_back(q);
    covered += cells_of(g, d, q);
  }
}

}  // namespace

TileColours::TileColours(const Tiling& tiling) : tiling_(tiling) {
  for (int d = 0; d < 3; ++d) {
    if (d < tiling.dim) {
      colour_[d] = greedy_colours(tiling, d, per_dimension_[d]);
    } else {
      colour_[d].assign(1, 0);
    }
  }
}

int TileColours::colour(std::int64_t tile) const {
  const auto p = tiling_.position(tile);
  return (colour_[2][p[2]] * per_dimension_[1] + colour_[1][p[1]]) * per_dimension_[0] + colour_[0][p[0]];
}

TileLocks::TileLocks(const Tiling& tiling) : tiling_(tiling), locks_(new SmallLock[tiling.tiles()]) {}

void TileLocks::lock(std::int64_t tile, std::vector<std::int64_t>& tiles) {
  thread_local std::vector<std::int64_t> reach[3];
  const auto p = tiling_.position(tile);
  for (int d = 0; d < 3; ++d) reached(tiling_, d, p[d], reach[d]);
  tiles.clear();
  for (const std::int64_t z : reach[2]) {
    for (const std::int64_t y : reach[1]) {
      for (const std::int64_t x : reach[0]) tiles.push_back((z * tiling_.count[1] + y) * tiling_.count[0] + x);
    }
  }
  std::sort(tiles.begin(), tiles.end());
  for (const std::int64_t t : tiles) locks_[t].lock();
}

void TileLocks::unlock(const std::vector<std::int64_t>& tiles) {
  for (const std::int64_t t : tiles) locks_[t].unlock();
}

}  // namespace fourtune::runtime::cpu
