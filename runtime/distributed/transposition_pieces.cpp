#include "runtime/distributed/transposition_pieces.h"

#include <algorithm>

#include "fourtune/problem.h"

namespace fourtune::runtime::distributed {
namespace {

// What chunk `chunk` of so many has of a rank's items.
cpu::LineRange cut(std::int64_t items, int chunk, int chunks) {
  const std::int64_t each = items / chunks, larger = items % chunks;
  return {each * chunk + std::min<std::int64_t>(chunk, larger), each + (chunk < larger ? 1 : 0)};
}

cpu::LineRange planes_in(int chunk, const Chunks& chunks, std::int64_t planes) {
  return chunks.cut == Cut::planes ? cut(planes, chunk, chunks.count) : cpu::LineRange{0, planes};
}
cpu::LineRange columns_in(int chunk, const Chunks& chunks, std::int64_t columns) {
  return chunks.cut == Cut::columns ? cut(columns, chunk, chunks.count) : cpu::LineRange{0, columns};
}

TranspositionPiece piece_of(int own, const TranspositionShape& shape, int chunk, const Chunks& chunks) {
  // Bytes of a run, where the array is stored by planes and by columns, and of a plane on either side.
  const std::int64_t run = shape.run_of(own) * shape.element, row = shape.run * shape.element;
  const std::int64_t plane = shape.joined ? shape.joined_plane() * shape.element : shape.columns.items() * run;
  const std::int64_t mine = shape.joined ? plane : shape.columns.size(own) * row;
  TranspositionPiece piece;
  piece.planes = planes_in(chunk, chunks, shape.planes_of(own));
  piece.columns = columns_in(chunk, chunks, shape.columns.size(own));
  const auto pair_with = [&](int other) {
    const cpu::LineRange their_planes = planes_in(chunk, chunks, shape.planes_of(other));
    const cpu::LineRange their_columns = columns_in(chunk, chunks, shape.columns.size(other));
    TranspositionPair pair;
    pair.rank = other;
    pair.by_planes = {piece.planes.first * plane + (shape.columns.begin(other) + their_columns.first) * run,
                      piece.planes.count, their_columns.count * run, plane};
    const std::int64_t at = (shape.first_plane_of(other) + their_planes.first) * mine + piece.columns.first * row;
    pair.by_columns = {at, their_planes.count, piece.columns.count * row, mine};
    if (shape.shares_runs())
      pair.by_columns = {at + shape.run_begin_of(other) * shape.element,
                         piece.columns.count,
                         shape.run_of(other) * shape.element,
                         row,
                         their_planes.count,
                         mine};
    return pair;
  };
  // Ranks begin with different partners, so that no one is everybody's first.
  const int ranks = shape.columns.parts();
  for (int step = 1; step < ranks; ++step) piece.pairs.push_back(pair_with((own + step) % ranks));
  if (shape.joined) return piece;
  const TranspositionPair self = pair_with(own);
  piece.own_by_planes = self.by_planes, piece.own_by_columns = self.by_columns;
  return piece;
}

}  // namespace

std::int64_t plane_gap(std::int64_t elements, std::int64_t element) {
  constexpr std::int64_t kPage = 4096, kLine = 64, kLeast = 16 * kPage;
  const std::int64_t bytes = elements * element;
  if (bytes < kLeast) return 0;
  const std::int64_t pages = (bytes + kPage - 1) / kPage, odd = pages + 1 - pages % 2;
  return (odd * kPage + kLine - bytes) / element;
}

TranspositionPieces::TranspositionPieces(int rank, const TranspositionShape& shape, const Chunks& chunks)
    : columns_elements_(shape.planes.items() * shape.columns.size(rank) * shape.run),
      columns_stride_(shape.joined ? shape.joined_plane() : shape.columns.size(rank) * shape.run),
      element_(shape.element),
      columns_begin_(shape.columns.begin(rank) * shape.run) {
  const std::int64_t plane = shape.joined ? shape.joined_plane() : shape.columns.items() * shape.run_of(rank);
  planes_elements_ = shape.planes_of(rank) * plane;
  planes_begin_ = shape.first_plane_of(rank) * (shape.joined ? plane : shape.columns.items() * shape.run);
  checked_multiply(checked_multiply(shape.planes.items(), shape.columns.items(), "an array"), shape.run * shape.element,
                   "an array");
  for (int c = 0; c < (chunks.cut == Cut::batch ? 1 : chunks.count); ++c)
    pieces_.push_back(piece_of(rank, shape, c, chunks));
}

}  // namespace fourtune::runtime::distributed
