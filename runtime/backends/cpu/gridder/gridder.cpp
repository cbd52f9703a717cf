#include "runtime/backends/cpu/gridder/gridder.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "fmt/format.h"
#include "fourtune/device_traits.h"
#include "fourtune/status.h"
#include "runtime/backends/cpu/base/team.h"
#include "runtime/backends/cpu/gridder/engine.h"
#include "runtime/backends/cpu/gridder/halo.h"

namespace fourtune::runtime::cpu {
namespace {

using generator::AddRule;
using generator::InterpFamily;
using generator::SortFamily;
using generator::SpreadFamily;

// Limit for weights that stay in the second-level cache while the transforms of a batch use them.
constexpr std::int64_t kBatchWeightBytes = 256 * 1024;
constexpr std::int64_t kMaxPrivateBytes = std::int64_t{256} << 20;
constexpr std::int64_t kCrowdedCap = 8192;  // points per private tile where a direct family gives way
constexpr int kUnitsPerThread = 4;          // at least, where points suffice

PointOrder order_for(const GridderSpec& spec) {
  if (spec.spread.family == SpreadFamily::colour_list) return PointOrder::listed;
  if (spec.sort.family == SortFamily::tiles) return spec.sort.copy ? PointOrder::permuted : PointOrder::indexed;
  return spec.spread.family == SpreadFamily::colour_index ? PointOrder::indexed : PointOrder::caller;
}

void check(const GridderSpec& spec) {
  const GridShape& g = spec.grid;
  if (g.dim < 1 || g.dim > 3)
    throw Error(Status::unsupported, fmt::format("{} dimensions; 1, 2 or 3 are allowed", g.dim));
  for (int d = 0; d < g.dim; ++d) {
    if (g.fine[d] < 1 || g.fine[d] > std::numeric_limits<std::int32_t>::max()) {
      throw Error(Status::unsupported,
                  fmt::format("fine grid of {} cells along {}; 1 to 2^31-1 are allowed", g.fine[d], "xyz"[d]));
    }
  }
  if (g.stride[0] != 1) throw Error(Status::unsupported, "fine-grid rows must be contiguous (stride[0] == 1)");
  const int most = generator::widest(spec.window.kind);
  if (spec.window.width < generator::kMinWidth || spec.window.width > most) {
    throw Error(Status::unsupported, fmt::format("window width {}; {} to {} are allowed for this window",
                                                 spec.window.width, generator::kMinWidth, most));
  }
  for (int d = 0; d < 3; ++d) {
    const GridLayers& layers = g.layers[d];
    if (layers.count == 0) continue;
    if (d < 1 || d >= g.dim) throw Error(Status::unsupported, "layers cut the dimensions of a grid but the first");
    const std::int64_t side = std::min<std::int64_t>(spec.sort.tile[d], g.fine[d]);
    if (spec.sort.family != SortFamily::tiles || layers.first % side != 0 ||
        (layers.count > 1 && layers.cells % side != 0))
      throw Error(Status::unsupported, "layers of a grid need points grouped by tiles, and whole tiles");
  }
  if (spec.threads < 1) throw Error(Status::unsupported, fmt::format("{} threads; at least 1 is needed", spec.threads));
}

template <class T>
class TiledGridder final : public Gridder<T> {
 public:
  explicit TiledGridder(const GridderSpec& spec) : e_{} {
    check(spec);
    e_.spec = spec;
    const GridShape& grid = spec.grid;
    e_.tiling = make_tiling(grid.dim, grid.fine, spec.window.width, spec.sort.tile, sizeof(std::complex<T>));
    order_ = order_for(spec);
    // In one dimension, unsorted points are interpolated as fast, and spread as fast in a grid that stays in the cache.
    e_.raw = order_ == PointOrder::caller && grid.dim == 1 && e_.has_halo() && may_stay_raw(e_);
    if (e_.raw) order_ = PointOrder::raw;
    spread_family_ = spec.spread.family;
    interp_family_ = spec.interp.family;
    // Without groups of points there are no tiles to work on, so the families that need none take over.
    const bool grouped = order_ == PointOrder::permuted || order_ == PointOrder::indexed;
    if (!grouped && spreader_of(spread_family_).private_tiles) spread_family_ = SpreadFamily::atomic;
    if (!grouped && interp_family_ == InterpFamily::tile) interp_family_ = InterpFamily::direct;
    const generator::Spreader& spreader = spreader_of(spread_family_);
    coloured_ =
        spreader.coloured || (spreader.private_tiles && (spec.deterministic || spec.spread.add == AddRule::colour));
    check_sizes();
    e_.tables = make_weight_tables<T>(spec, e_.tiling);
    e_.fraction = position_bits<T>(spec);
    e_.kernels = select_kernels<T>(e_.tiling, e_.tables);
    if (coloured_) {
      colours_ = std::make_unique<TileColours>(e_.tiling);
    } else if (spreader.private_tiles) {
      locks_ = std::make_unique<TileLocks>(e_.tiling);
    }
    family_now_ = spread_family_;
    make_workspaces(1);  // private tiles are made when they are first needed
  }

  void set_points(std::int64_t m, const T* x, const T* y, const T* z, const PointMap& map,
                  std::span<std::byte> lent) override {
    e_.spread_units.clear();
    e_.interp_units.clear();
    const bool to_spread = e_.spec.mostly_spreads && !e_.spec.deterministic;
    e_.points.set(m, {x, y, z}, map, e_.tiling,
                  {order_, e_.spec.sort.local, e_.fraction, e_.workers(), lent, to_spread, e_.spec.deterministic,
                   may_spread_pairs(m)},
                  e_.kernels);
    check_layers();
    const bool crowded = is_crowded();
    family_now_ = crowded ? SpreadFamily::subgrid : spread_family_;
    if (crowded && !coloured_ && !locks_) locks_ = std::make_unique<TileLocks>(e_.tiling);
    const bool by_tile = spreader_of(family_now_).coloured;
    const std::int64_t cap = std::clamp<std::int64_t>(crowded ? kCrowdedCap : e_.spec.spread.cap, 1,
                                                      std::max<std::int64_t>(e_.spec.longest_sum, 1));
    const std::int64_t most = by_tile ? std::numeric_limits<std::int64_t>::max() : shared_cap(cap);
    const std::int64_t interp_most = shared_cap(std::max(e_.spec.interp.cap, 1));
    split(most, e_.spread_units);
    if (most == interp_most && order_ != PointOrder::listed) {
      e_.interp_units = e_.spread_units;
    } else if (order_ != PointOrder::listed) {
      split(interp_most, e_.interp_units);
    }
    if (coloured_) order_by_colour();
    find_scattered();
  }

  void set_grid(const GridShape& grid) override {
    GridderSpec spec = e_.spec;
    spec.grid = grid;
    if (grid.dim != e_.tiling.dim || grid.fine != e_.spec.grid.fine)
      throw Error(Status::internal, "set_grid: another fine grid needs another gridder");
    check(spec);
    e_.spec.grid = grid;
  }

  void tiles_of(std::int64_t m, const T* x, const T* y, const T* z, const PointMap& map,
                std::int32_t* tile) const override {
    PointStore<T> points;
    points.find_tiles(m, {x, y, z}, map, e_.tiling, {PointOrder::caller, false, e_.fraction, e_.workers()}, e_.kernels,
                      tile);
  }
  std::array<std::int64_t, 3> tile_counts() const override { return e_.tiling.count; }

  void spread(const std::complex<T>* values, std::int64_t value_distance, const std::complex<T>* factor,
              std::complex<T>* grids, std::int64_t grid_distance, std::int64_t count) override {
    const bool straight = spreads_scattered_ || (spreads_lines_ && count <= e_.workers());
    const bool scattered = e_.points.size() > 0 && straight && may_spread_scattered(e_, count);
    for (std::int64_t b = 0; b < count && !scattered; ++b) zero(grids + b * grid_distance);
    if (e_.points.size() == 0 || count == 0) return;
    make_workspaces(count);
    if (scattered) {
      spread_scattered(e_, {const_cast<std::complex<T>*>(values), value_distance, factor, grids, grid_distance, count});
      return;
    }
    if (spreader_of(family_now_).private_tiles) make_tiles(true);
    for (std::size_t u = 0; e_.turns != nullptr && u < e_.spread_units.size(); ++u) e_.turns[u].close();
    const Batch<T> batch{const_cast<std::complex<T>*>(values), value_distance, factor, grids, grid_distance, count};
    switch (family_now_) {
      case SpreadFamily::subgrid:
        spread_subgrid(e_, locks_.get(), batch);
        break;
      case SpreadFamily::atomic:
        spread_atomic(e_, batch);
        break;
      case SpreadFamily::colour_index:
      case SpreadFamily::colour_list:
        spread_coloured(e_, batch);
        break;
    }
    for (auto& w : e_.workspaces) w.tile_is_zero = spreader_of(family_now_).private_tiles;
    for (std::int64_t b = 0; b < count && e_.has_halo(); ++b)
      fold_halo(e_.spec.grid, e_.tiling.width - 1, e_.workers(), grids + b * grid_distance);
  }

  void interpolate(const std::complex<T>* grids, std::int64_t grid_distance, const std::complex<T>* factor,
                   std::complex<T>* values, std::int64_t value_distance, std::int64_t count) override {
    if (e_.points.size() == 0 || count == 0) return;
    make_workspaces(count);
    const Batch<T> batch{values, value_distance, factor, const_cast<std::complex<T>*>(grids), grid_distance, count};
    if (interpolates_scattered_) {
      interpolate_scattered(e_, batch);
      return;
    }
    for (std::int64_t b = 0; b < count && e_.has_halo(); ++b)
      fill_halo(e_.spec.grid, e_.workers(), batch.grids + b * grid_distance);
    if (interp_family_ == InterpFamily::tile) {
      make_tiles(false);
      interpolate_tiles(e_, batch);
    } else {
      interpolate_direct(e_, batch);
    }
  }

  std::int64_t bytes() const override {
    std::int64_t sum = e_.points.bytes() + e_.tables.bytes() + (locks_ ? locks_->bytes() : 0) + e_.partial.bytes();
    sum += static_cast<std::int64_t>((e_.spread_units.capacity() + e_.interp_units.capacity()) * sizeof(Subproblem));
    for (const auto& w : e_.workspaces) sum += w.bytes();
    return sum;
  }

  std::int64_t more_bytes(std::int64_t m, std::int64_t count) const override {
    const Tiling& t = e_.tiling;
    const std::int64_t weights = kBlockPoints * (2 * t.slots + 2 * (t.width + kPairRows)) + 2 * kLine,
                       block = static_cast<std::int64_t>(sizeof(PointBlock<T>) + sizeof(T) * weights),
                       tile = static_cast<std::int64_t>(2 * sizeof(T)) * t.private_elements(),
                       workspace =
                           static_cast<std::int64_t>(sizeof(Workspace<T>)) + weight_blocks(m, count) * block + tile;
    const std::int64_t threads = team_size(e_.spec.threads);
    return threads * workspace + most_partial_bytes(e_);
  }

 private:
  // Whether so many points, spread evenly, would go straight to the grid, by a kernel that takes two at a time.
  bool may_spread_pairs(std::int64_t m) const {
    return e_.spec.pairs && !e_.spec.deterministic && e_.kernels.spread_pairs != nullptr && e_.has_halo() &&
           !e_.worth_a_tile(0, m / e_.tiling.tiles(), 0, e_.tiling.bins - 1, kSpreadTile);
  }
  void check_sizes() const {
    const Tiling& t = e_.tiling;
    if (t.tiles() > std::numeric_limits<std::int32_t>::max() / t.bins) {
      throw Error(Status::unsupported,
                  fmt::format("{} tiles of {} x-bins; larger tiles are needed", t.tiles(), t.bins));
    }
    if (t.private_elements() * static_cast<std::int64_t>(sizeof(std::complex<T>)) > kMaxPrivateBytes) {
      throw Error(Status::unsupported,
                  fmt::format("a private tile of {}x{}x{} cells needs more than {} MB; smaller tiles "
                              "are needed",
                              t.tile[0], t.tile[1], t.tile[2], kMaxPrivateBytes >> 20));
    }
  }

  // Families that add every point to the caller's cells are chosen where a cell gets at most 100 times the points of
  // uniform ones (generator/plan/summation.h). Points that lie closer would be added with too much rounding; they are
  // spread by private tiles, whose sums are short. Ranks would have to agree, so layers keep their family.
  bool is_crowded() const {
    const bool grouped = order_ == PointOrder::permuted || order_ == PointOrder::indexed;
    if (!grouped || spreader_of(spread_family_).private_tiles || has_layers()) return false;
    const Tiling& t = e_.tiling;
    double usual = 100.0 * static_cast<double>(e_.points.size());
    for (int d = 0; d < t.dim; ++d)
      usual *= std::min(1.0, static_cast<double>(t.width) / static_cast<double>(e_.spec.grid.fine[d]));
    const std::int64_t most = most_in_a_tile();
    return most > e_.spec.longest_sum && static_cast<double>(most) > usual;
  }
  std::int64_t most_in_a_tile() const {
    std::int64_t most = 0;
    for (std::int64_t tile = 0; tile < e_.tiling.tiles(); ++tile)
      most = std::max(most, e_.points.tile_start(tile + 1) - e_.points.tile_start(tile));
    return most;
  }

  // Points are scattered where nine of ten lie in tiles that are not worth a private copy, or where no private copies
  // are wanted. For spreading two of five are enough, as tiles with and without copies wait for each other's locks,
  // unless so many points lie in a tile that their sums have to be shorter.
  void find_scattered() {
    e_.block_unit.clear();
    spreads_scattered_ = interpolates_scattered_ = order_ == PointOrder::raw;
    spreads_lines_ = false;
    if (!e_.has_halo() || (order_ != PointOrder::permuted && order_ != PointOrder::indexed)) return;
    if (spreader_of(family_now_).private_tiles && !coloured_) {
      const double few = share_of_few(kSpreadTile);
      const bool short_sums = most_in_a_tile() <= e_.spec.longest_sum;
      spreads_scattered_ = few >= 0.9 || (few >= 0.4 && short_sums);
      // In single precision a private row is one line, and the grid has two of them.
      spreads_lines_ = sizeof(T) == sizeof(double) && short_sums && e_.spreads_lines();
    }
    if (family_now_ == SpreadFamily::colour_index) spreads_scattered_ = !e_.spec.deterministic;
    interpolates_scattered_ = interp_family_ == InterpFamily::direct || share_of_few(kInterpTile) >= 0.5;
    if (!spreads_scattered_ && !spreads_lines_ && !interpolates_scattered_) return;
    const std::int64_t blocks = (e_.points.size() + kBlockPoints - 1) / kBlockPoints;
    std::int32_t unit = 0;
    for (std::int64_t k = 0; k < blocks; ++k) {
      while (e_.interp_units[unit].end <= k * kBlockPoints) ++unit;
      e_.block_unit.push_back(unit);
    }
  }
  // The share of points in tiles that are not worth a private copy.
  double share_of_few(const TilePrices& price) const {
    std::int64_t few = 0;
    for (const Subproblem& s : e_.interp_units) {
      const std::int64_t n = s.end - s.begin;
      const auto bins = static_cast<int>(std::min<std::int64_t>(e_.tiling.bins, n));
      if (!e_.worth_a_tile(s.tile, n, 0, bins - 1, price)) few += n;
    }
    return static_cast<double>(few) / static_cast<double>(std::max<std::int64_t>(1, e_.points.size()));
  }

  bool has_layers() const { return e_.spec.grid.layers[1].count > 0 || e_.spec.grid.layers[2].count > 0; }
  // The tiles along a dimension that this process stores: the first one, and the one after the last.
  std::array<std::int64_t, 2> stored_tiles(int d) const {
    const GridLayers& layers = e_.spec.grid.layers[d];
    const std::int64_t side = e_.tiling.tile[d], cells = (layers.count - 1) * layers.cells + layers.last_cells;
    if (layers.count == 0) return {0, e_.tiling.count[d]};
    return {layers.first / side, (layers.first + cells + side - 1) / side};
  }
  // A point outside would be written beyond the array.
  void check_layers() const {
    if (!has_layers()) return;
    const Tiling& t = e_.tiling;
    const auto y = stored_tiles(1), z = stored_tiles(2);
    std::int64_t inside = 0;
    for (std::int64_t k = z[0]; k < z[1]; ++k)
      inside += e_.points.tile_start((k * t.count[1] + y[1]) * t.count[0]) -
                e_.points.tile_start((k * t.count[1] + y[0]) * t.count[0]);
    if (inside != e_.points.size()) throw Error(Status::internal, "a point lies outside the layers of this process");
  }

  // A batch keeps the weights of many blocks, a single transform those of one block.
  std::int64_t weight_blocks(std::int64_t m, std::int64_t count) const {
    const Tiling& t = e_.tiling;
    const std::int64_t bytes =
        static_cast<std::int64_t>(sizeof(T)) * kBlockPoints * (2 * t.slots + (t.dim - 1) * t.width + 4);
    const std::int64_t all = (m + kBlockPoints - 1) / kBlockPoints;
    return count > 1 ? std::clamp<std::int64_t>(kBatchWeightBytes / bytes, 1, std::max<std::int64_t>(all, 1)) : 1;
  }

  void make_workspaces(std::int64_t count) {
    const auto blocks = static_cast<std::size_t>(weight_blocks(e_.points.size(), count));
    if (e_.workspaces.empty()) e_.workspaces = std::vector<Workspace<T>>(team_size(e_.spec.threads));
    for (auto& w : e_.workspaces) {
      w.blocks.reserve(blocks);
      while (w.blocks.size() < blocks) w.blocks.emplace_back(e_.tables);
      w.gathered.resize(kBlockPoints * kMaxRecordWords + kRecordSlack);
    }
  }
  // Spreading needs zeros in them.
  void make_tiles(bool zero) {
    for (auto& w : e_.workspaces) {
      w.rows.resize(e_.tiling.rows());
      w.tile.resize(2 * e_.tiling.private_elements());
      if (zero && !w.tile_is_zero) std::fill(w.tile.data(), w.tile.data() + w.tile.size(), T{0});
      w.tile_is_zero = zero;
    }
  }

  // Few points, of which one tile has the most, are divided so that every thread has a share. Copying a tile then costs
  // up to a quarter of what its points cost.
  std::int64_t shared_cap(std::int64_t cap) const {
    if (e_.workers() == 1 || e_.spec.deterministic) return cap;
    const Tiling& t = e_.tiling;
    std::int64_t window = t.slots;
    for (int d = 1; d < t.dim; ++d) window *= t.width;
    const std::int64_t least = std::max<std::int64_t>(kBlockPoints, 4 * t.private_elements() / window);
    return std::min(cap, std::max(least, e_.points.size() / (kUnitsPerThread * e_.workers())));
  }

  void split(std::int64_t cap, std::vector<Subproblem>& units) const {
    const std::int64_t tiles = e_.tiling.tiles();
    if (order_ == PointOrder::caller || order_ == PointOrder::raw) return;
    for (std::int64_t t = 0; t < tiles; ++t) {
      if (order_ == PointOrder::listed) {
        if (e_.points.head(t) >= 0) units.push_back({t, 0, 0, 0});
        continue;
      }
      const std::int64_t begin = e_.points.tile_start(t), n = e_.points.tile_start(t + 1) - begin;
      if (n <= cap) {  // without divisions
        if (n > 0) units.push_back({t, begin, begin + n, 0});
        continue;
      }
      const std::int64_t parts = 1 + (n - 1) / cap;
      for (std::int64_t p = 0; p < parts; ++p) {
        units.push_back({t, begin + n / parts * p + std::min(p, n % parts),
                         begin + n / parts * (p + 1) + std::min(p + 1, n % parts), static_cast<std::int32_t>(p)});
      }
    }
  }

  void order_by_colour() {
    auto& units = e_.spread_units;
    std::stable_sort(units.begin(), units.end(), [&](const Subproblem& a, const Subproblem& b) {
      return colours_->colour(a.tile) < colours_->colour(b.tile);
    });
    e_.colour_start.assign(colours_->count() + 1, 0);
    for (const Subproblem& s : units) ++e_.colour_start[colours_->colour(s.tile) + 1];
    for (int c = 0; c < colours_->count(); ++c) e_.colour_start[c + 1] += e_.colour_start[c];
    e_.turns.reset(new Gate[units.size()]);
  }

  void zero(std::complex<T>* grid) const {
    const std::int64_t n = e_.spec.grid.elements;
    const std::int64_t piece = 1 << 16;
    parallel_for(n > 4 * piece ? e_.workers() : 1, (n + piece - 1) / piece, [=](std::int64_t p) {
      const std::int64_t i = p * piece, cells = std::min(piece, n - i);
      std::memset(static_cast<void*>(grid + i), 0, static_cast<std::size_t>(cells) * sizeof *grid);
    });
  }

  GridderEngine<T> e_;
  PointOrder order_ = PointOrder::permuted;
  SpreadFamily spread_family_ = SpreadFamily::subgrid;  // of the plan
  SpreadFamily family_now_ = SpreadFamily::subgrid;     // for these points
  InterpFamily interp_family_ = InterpFamily::tile;
  bool coloured_ = false;
  bool spreads_scattered_ = false, interpolates_scattered_ = false;  // scattered.cpp; deterministic sums never are
  bool spreads_lines_ = false;  // so are at most as many transforms as threads, as their windows stay in registers
  std::unique_ptr<TileColours> colours_;
  std::unique_ptr<TileLocks> locks_;
};

}  // namespace

template <class T>
std::unique_ptr<Gridder<T>> make_gridder(const GridderSpec& spec) {
  return std::make_unique<TiledGridder<T>>(spec);
}
template std::unique_ptr<Gridder<float>> make_gridder<float>(const GridderSpec&);
template std::unique_ptr<Gridder<double>> make_gridder<double>(const GridderSpec&);

GridShape padded_shape(int dim, const std::array<std::int64_t, 3>& fine, std::int64_t element_bytes,
                       const std::array<std::int64_t, 3>& halo) {
  const auto multiply_checked = [](std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product)) throw Error(Status::size_overflow, "fine grid does not fit 64 bits");
    return product;
  };
  const std::int64_t line = std::max<std::int64_t>(1, kLine / element_bytes);
  // An odd number of cache lines per row (and per plane) puts neighbouring rows into different cache sets.
  const auto odd_lines = [&](std::int64_t n) {
    const std::int64_t lines = (n + line - 1) / line;
    return (lines | 1) * line;
  };
  GridShape g;
  g.dim = dim;
  g.stride = {1, 0, 0};
  g.elements = 1;
  for (int d = 0; d < dim; ++d) {
    if (fine[d] < 1)
      throw Error(Status::invalid_argument, fmt::format("fine grid of {} cells along {}", fine[d], "xyz"[d]));
    g.fine[d] = fine[d];
    g.halo[d] = halo[d];
    g.stride[d] = g.elements;
    g.elements = multiply_checked(g.elements, fine[d] + halo[d]);
    multiply_checked(g.elements, 2 * element_bytes);  // leaves room for the padding
    // Small arrays stay dense, because they fit the first-level cache anyway.
    if (d + 1 < dim && g.elements * element_bytes >= 2048) {
      g.elements = odd_lines(g.elements);
    } else if (halo[0] > 0) {
      g.elements = (g.elements + line - 1) / line * line;
    }
  }
  multiply_checked(g.elements, element_bytes);
  return g;
}

// Along x, a private tile is copied by whole x-bins, the last of which may reach further than a window.
bool pairs_pay() {
  static const bool amd = cpu_traits().name.find("AMD") != std::string::npos;
  return amd;
}

GridShape halo_shape(int dim, const std::array<std::int64_t, 3>& fine, int width, std::int64_t element_bytes) {
  std::array<std::int64_t, 3> halo{row_slots(width, static_cast<int>(element_bytes)) - 1, 0, 0};
  for (int d = 1; d < dim; ++d) halo[d] = width - 1;
  return padded_shape(dim, fine, element_bytes, halo);
}

}  // namespace fourtune::runtime::cpu
