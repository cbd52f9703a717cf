#include "runtime/distributed/placed_points.h"

#include <algorithm>
#include <utility>

#include "runtime/backends/cpu/base/team.h"
#include "runtime/backends/cpu/gridder/share.h"
#include "runtime/distributed/slab_cost.h"

namespace fourtune::runtime::distributed {

template <class T>
PlacedPoints<T>::PlacedPoints(const Communicator& ranks, const cpu::GridderSpec& gridder, const GridCut& cut,
                              Balance balance, const Moving& moving, cpu::StageClock& clock)
    : ranks_(ranks),
      cut_(cut),
      balance_(balance),
      width_(gridder.window.width),
      threads_(gridder.threads),
      at_once_(moving.at_once),
      clock_(clock),
      gridder_(cpu::make_gridder<T>(gridder)) {
  tiles_.count = gridder_->tile_counts();
  moved_.bind(moving.at_once, moving.by_memory, gridder.threads);
}

// The rows of tiles along dimension d over so many parts, by the cost of these points and their cells.
template <class T>
Split PlacedPoints<T>::cut_rows(int d, int parts, const std::vector<std::int64_t>& points) const {
  const auto at = static_cast<std::size_t>(d), last = static_cast<std::size_t>(cut_.dim - 1);
  SlabShape costs{cut_.dim, cut_.fine, cut_.side[at]};
  std::swap(costs.fine[at], costs.fine[last]);
  return split_rows(slab_costs(costs, width_, points), parts);
}

template <class T>
void PlacedPoints<T>::count_tiles() {
  in_tile_.assign(static_cast<std::size_t>(threads_) * static_cast<std::size_t>(tiles_.all()), 0);
  cpu::parallel_for(threads_, threads_, [&](std::int64_t p) {
    std::int64_t* const count = in_tile_.data() + p * tiles_.all();
    const cpu::Share own = cpu::share_of(tile_.size(), p, threads_);
    for (std::int64_t j = own.begin; j < own.end; ++j) ++count[tile_[j]];
  });
}

template <class T>
bool PlacedPoints<T>::cut(const OwnPoints<T>& points) {
  clock_.time("locate", [&] {
    ranks_.together([&] {
      tile_.resize(points.count);
      gridder_->tiles_of(points.count, points.at[0], points.at[1], points.at[2], points.map, tile_.data());
    });
  });
  bool changed = false;
  clock_.time("split", [&] {
    ranks_.together([&] { count_tiles(); });
    // Points by their row of tiles along the last dimension and, behind them, along y.
    const int last = cut_.dim - 1;
    const std::int64_t planes = tiles_.count[static_cast<std::size_t>(last)], rows = cut_.cuts_y ? tiles_.count[1] : 0;
    std::vector<std::int64_t> counts(static_cast<std::size_t>(planes + rows), 0);
    if (balance_ == Balance::points) {
      for (std::size_t i = 0; i < in_tile_.size(); ++i) {
        const auto t = static_cast<std::int32_t>(i % static_cast<std::size_t>(tiles_.all()));
        const std::int64_t here = in_tile_[i];
        counts[tiles_.row(t, last)] += here;
        if (rows > 0) counts[static_cast<std::size_t>(planes) + tiles_.row(t, 1)] += here;
      }
      counts = ranks_.sum(counts);
    }
    const auto behind = counts.begin() + planes;
    std::array<Split, 3> parts;
    parts[static_cast<std::size_t>(last)] = cut_rows(last, cut_.ranks.of_planes, {counts.begin(), behind});
    if (rows > 0) parts[1] = cut_rows(1, cut_.ranks.in_plane, {behind, counts.end()});
    changed = !bound_ || parts != cut_.rows;
    if (!changed) return;
    bound_ = false;
    cut_.rows = parts;
    ranks_.together([&] {
      grid_.bind(ranks_, cut_, at_once_);
      if (!grid_.empty()) gridder_->set_grid(grid_.shape());
    });
    bound_ = true;
  });
  return changed;
}

// Turns the tiles of points into the ranks that have them; returns how many of the points of each thread each has.
template <class T>
std::vector<std::int64_t> PlacedPoints<T>::find_owners() {
  const auto parts_of_rows = [&](int d) {
    const Split& rows = cut_.rows[static_cast<std::size_t>(d)];
    std::vector<std::int32_t> part;
    for (int p = 0; p < rows.parts(); ++p) part.insert(part.end(), static_cast<std::size_t>(rows.size(p)), p);
    return part;
  };
  const int last = cut_.dim - 1, in_plane = cut_.ranks.in_plane;
  const std::vector<std::int32_t> group = parts_of_rows(last), place = parts_of_rows(1);
  std::vector<std::int32_t> owner;
  for (std::int32_t t = 0; t < tiles_.all(); ++t)
    owner.push_back(in_plane * group[tiles_.row(t, last)] + (in_plane > 1 ? place[tiles_.row(t, 1)] : 0));
  cpu::parallel_for(threads_, threads_, [&](std::int64_t p) {
    const cpu::Share piece = cpu::share_of(tile_.size(), p, threads_);
    for (std::int64_t j = piece.begin; j < piece.end; ++j) tile_[j] = owner[static_cast<std::size_t>(tile_[j])];
  });
  const auto size = static_cast<std::size_t>(ranks_.size());
  std::vector<std::int64_t> counts(static_cast<std::size_t>(threads_) * size, 0);
  for (std::size_t i = 0; i < in_tile_.size(); ++i)
    counts[i / owner.size() * size + static_cast<std::size_t>(owner[i % owner.size()])] += in_tile_[i];
  in_tile_ = {};
  return counts;
}

template <class T>
std::array<const T*, 3> PlacedPoints<T>::plan_move(const OwnPoints<T>& points) {
  own_ = points.count;
  moved_.plan(ranks_, cut_.dim, tile_, find_owners());
  return moved_.move(ranks_, points.at);
}

template <class T>
void PlacedPoints<T>::sort(const cpu::PointMap& map, const std::array<const T*, 3>& here) {
  if (!grid_.empty()) gridder_->set_points(moved_.arrived(), here[0], here[1], here[2], map);
}

template <class T>
void PlacedPoints<T>::spread(const Complex* values, const Complex* factor, std::int64_t count, LocalWork& local) {
  const std::int64_t elements = grid_.shape().elements;
  clock_.time("move values", [&] { moved_.follow(ranks_, values, count); });
  const Complex* const here = moved_.stays() ? values : moved_.moved();
  const std::int64_t distance = moved_.stays() ? own_ : moved_.arrived();
  clock_.time("spread", [&] {
    local.run([&] {
      if (!grid_.empty()) gridder_->spread(here, distance, factor, grid_.data(), elements, count);
    });
  });
  clock_.time("shared cells", [&] {
    for (std::int64_t b = 0; b < count; ++b) grid_.fold(ranks_, grid_.data() + b * elements, threads_);
  });
}

template <class T>
void PlacedPoints<T>::interpolate(Complex* values, const Complex* factor, std::int64_t count, LocalWork& local) {
  const std::int64_t elements = grid_.shape().elements;
  clock_.time("shared cells", [&] {
    for (std::int64_t b = 0; b < count; ++b) grid_.fill(ranks_, grid_.data() + b * elements, threads_);
  });
  Complex* const here = moved_.stays() ? values : moved_.moved();
  const std::int64_t distance = moved_.stays() ? own_ : moved_.arrived();
  clock_.time("interpolate", [&] {
    local.run([&] {
      if (!grid_.empty()) gridder_->interpolate(grid_.data(), elements, factor, here, distance, count);
    });
  });
  clock_.time("move values", [&] { moved_.come_back(ranks_, values, count); });
}

template class PlacedPoints<float>;
template class PlacedPoints<double>;

}  // namespace fourtune::runtime::distributed
