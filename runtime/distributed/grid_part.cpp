#include "runtime/distributed/grid_part.h"

#include <algorithm>

#include "runtime/backends/cpu/base/team.h"

namespace fourtune::runtime::distributed {
namespace {

// The layers of a part of a dimension; none where the part is empty.
cpu::GridLayers layers_of(const GridCut& cut, int d, int place) {
  const Split cells = cut.cells(d);
  const std::int64_t own = cells.size(place);
  cpu::GridLayers layers;
  if (own == 0) return layers;
  layers.first = cells.begin(place);
  layers.cells = cut.layer_per_row ? cut.side[static_cast<std::size_t>(d)] : own;
  layers.count = (own + layers.cells - 1) / layers.cells;
  layers.stored = layers.cells + cut.shared;
  layers.last_cells = own - (layers.count - 1) * layers.cells;
  return layers;
}

std::vector<LayerSpan> runs_of(const cpu::GridLayers& layers) {
  std::vector<LayerSpan> runs;
  for (std::int64_t i = 0; i < layers.count; ++i)
    runs.push_back({i * layers.stored, i * layers.cells, i + 1 < layers.count ? layers.cells : layers.last_cells});
  return runs;
}

// The next part after `place`, in steps of 1 or -1 around the end, that has any cells.
int neighbour(const Split& cells, int place, int step) {
  const int parts = cells.parts();
  int next = place;
  do next = (next + step + parts) % parts;
  while (next != place && cells.size(next) == 0);
  return next;
}

}  // namespace

Split GridCut::cells(int d) const {
  const auto at = static_cast<std::size_t>(d);
  const Split& of_rows = rows[at];
  std::vector<std::int64_t> starts;
  for (int r = 0; r <= of_rows.parts(); ++r) {
    const std::int64_t row = r < of_rows.parts() ? of_rows.begin(r) : of_rows.items();
    starts.push_back(std::min(row * side[at], fine[at]));
  }
  return Split(std::move(starts));
}

template <class T>
void GridPart<T>::bind(const Communicator& ranks, const GridCut& cut, std::int64_t count) {
  const int last = cut.dim - 1, own = ranks.rank();
  const int in_plane = cut.ranks.place_in_plane(own), of_planes = cut.ranks.place_of_planes(own);
  shared_ = cut.shared;
  cells_.release();
  sent_.release();
  arrived_.release();
  grid_ = {};
  axes_.clear();
  const cpu::GridLayers of_last = layers_of(cut, last, of_planes);
  planes_ = runs_of(of_last);
  const cpu::GridLayers of_y = cut.cuts_y ? layers_of(cut, 1, in_plane) : cpu::GridLayers{};
  rows_ = cut.cuts_y ? runs_of(of_y) : std::vector<LayerSpan>{{0, 0, cut.dim == 3 ? cut.fine[1] : 1}};
  if (empty()) return;

  std::array<std::int64_t, 3> stored = cut.fine;
  stored[0] = std::max(stored[0], cut.room);
  if (cut.cuts_y) stored[1] = of_y.last_place() + 1;
  stored[static_cast<std::size_t>(last)] = of_last.last_place() + 1;
  grid_ = cpu::padded_shape(cut.dim, stored, sizeof(Complex));
  grid_.fine = cut.fine;
  if (cut.cuts_y) grid_.layers[1] = of_y;
  grid_.layers[static_cast<std::size_t>(last)] = of_last;
  const auto rank_at = [&](int i, int j) { return i + cut.ranks.in_plane * j; };
  if (cut.cuts_y) {
    const Split cells = cut.cells(1);
    Axis y{of_y,
           grid_.stride[1],
           rank_at(neighbour(cells, in_plane, -1), of_planes),
           rank_at(neighbour(cells, in_plane, 1), of_planes),
           {}};
    for (std::int64_t p = 0; p <= of_last.last_place(); ++p) y.across.push_back(p * grid_.stride[2]);
    axes_.push_back(std::move(y));
  }
  const Split cells = cut.cells(last);
  Axis planes{of_last,
              grid_.stride[static_cast<std::size_t>(last)],
              rank_at(in_plane, neighbour(cells, of_planes, -1)),
              rank_at(in_plane, neighbour(cells, of_planes, 1)),
              {}};
  for (const LayerSpan& run : rows_)
    for (std::int64_t r = run.stored; r < run.stored + run.count; ++r)
      planes.across.push_back(cut.dim == 3 ? r * grid_.stride[1] : 0);
  axes_.push_back(std::move(planes));

  cells_.resize(checked_multiply(grid_.elements, count, "fine grids"));
  std::int64_t most = 0;
  for (const Axis& axis : axes_)
    if (axis.after != own) most = std::max(most, packed(axis));
  sent_.resize(most);
  arrived_.resize(most);
  row_type_ = run_type(grid_.fine[0] * static_cast<std::int64_t>(sizeof(Complex)));
}

// Calls move(a row of `to`, the row of `from`) for all rows of shared cells.
template <class T>
template <class Move>
void GridPart<T>::for_each_row(const Axis& axis, const Shared& to, const Shared& from, int threads, Move move) const {
  const auto across = static_cast<std::int64_t>(axis.across.size());
  cpu::parallel_for(threads, shared_ * across, [&](std::int64_t i) {
    const std::int64_t in_grid = i / across * axis.stride + axis.across[static_cast<std::size_t>(i % across)];
    const auto row = [&](const Shared& cells) {
      return cells.at + (cells.form == Form::grid ? in_grid : i * grid_.fine[0]);
    };
    move(row(to), row(from));
  });
}

template <class T>
void GridPart<T>::add(const Axis& axis, const Shared& to, const Shared& from, int threads) const {
  for_each_row(axis, to, from, threads, [&](Complex* sums, const Complex* others) {
    T* const sum = reinterpret_cast<T*>(sums);
    const T* const more = reinterpret_cast<const T*>(others);
    for (std::int64_t x = 0; x < 2 * grid_.fine[0]; ++x) sum[x] += more[x];
  });
}

template <class T>
void GridPart<T>::copy(const Axis& axis, const Shared& to, const Shared& from, int threads) const {
  for_each_row(axis, to, from, threads,
               [&](Complex* copied, const Complex* row) { std::copy_n(row, grid_.fine[0], copied); });
}

template <class T>
void GridPart<T>::fold(const Axis& axis, const Communicator& ranks, Complex* grid, int threads) {
  const cpu::GridLayers& layers = axis.layers;
  const auto within = [&] {
    for (std::int64_t i = 0; i + 1 < layers.count; ++i)
      add(axis, at(axis, grid, (i + 1) * layers.stored), at(axis, grid, i * layers.stored + layers.cells), threads);
  };
  const Shared begin = at(axis, grid, 0), end = at(axis, grid, axis.end());
  if (axis.after == ranks.rank()) {
    within();
    return add(axis, begin, end, threads);
  }
  copy(axis, {sent_.data(), Form::packed}, end, threads);
  ranks.exchange(message(axis, axis.after, sent_), message(axis, axis.before, arrived_), within);
  add(axis, begin, {arrived_.data(), Form::packed}, threads);
}

template <class T>
void GridPart<T>::fill(const Axis& axis, const Communicator& ranks, Complex* grid, int threads) {
  const cpu::GridLayers& layers = axis.layers;
  const auto within = [&] {
    for (std::int64_t i = 0; i + 1 < layers.count; ++i)
      copy(axis, at(axis, grid, i * layers.stored + layers.cells), at(axis, grid, (i + 1) * layers.stored), threads);
  };
  const Shared begin = at(axis, grid, 0), end = at(axis, grid, axis.end());
  if (axis.after == ranks.rank()) {
    within();
    return copy(axis, end, begin, threads);
  }
  copy(axis, {sent_.data(), Form::packed}, begin, threads);
  ranks.exchange(message(axis, axis.before, sent_), message(axis, axis.after, arrived_), within);
  copy(axis, end, {arrived_.data(), Form::packed}, threads);
}

template <class T>
void GridPart<T>::fold(const Communicator& ranks, Complex* grid, int threads) {
  if (empty() || shared_ == 0) return;
  for (const Axis& axis : axes_) fold(axis, ranks, grid, threads);
}

template <class T>
void GridPart<T>::fill(const Communicator& ranks, Complex* grid, int threads) {
  if (empty() || shared_ == 0) return;
  for (auto axis = axes_.rbegin(); axis != axes_.rend(); ++axis) fill(*axis, ranks, grid, threads);
}

template class GridPart<float>;
template class GridPart<double>;

}  // namespace fourtune::runtime::distributed
