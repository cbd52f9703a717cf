#include "runtime/distributed/transposition.h"

#include <cstring>

#include "runtime/backends/cpu/base/team.h"

namespace fourtune::runtime::distributed {
namespace {

// Such rows in an array of `whole` bytes.
DataType part_type(const Slice& slice, std::int64_t whole) {
  if (slice.empty()) return nullptr;
  return repeated(slice.planes == 1
                      ? rows_type(slice.rows, slice.bytes, slice.stride)
                      : planes_type(slice.planes, slice.plane_stride, slice.rows, slice.bytes, slice.stride),
                  whole);
}

}  // namespace

Transposition::Transposition(const RankGroup& ranks, const TranspositionShape& shape, const Chunks& chunks, int threads)
    : ranks_(ranks), threads_(threads), pieces_(ranks.rank(), shape, chunks) {
  for (const TranspositionPiece& piece : pieces_.all()) {
    std::vector<Types>& types = types_.emplace_back();
    for (const TranspositionPair& pair : piece.pairs)
      types.push_back(
          {part_type(pair.by_planes, pieces_.planes_bytes()), part_type(pair.by_columns, pieces_.columns_bytes())});
  }
  by_planes_.reserve(static_cast<std::size_t>(ranks.size()));
  by_columns_.reserve(static_cast<std::size_t>(ranks.size()));
}

void Transposition::begin(int chunk, bool to_columns, const TransposedArrays& arrays, Transfer& transfer) {
  by_planes_.clear();
  by_columns_.clear();
  const TranspositionPiece& piece = pieces_[chunk];
  for (std::size_t i = 0; i < piece.pairs.size(); ++i) {
    const TranspositionPair& pair = piece.pairs[i];
    const Types& types = types_[static_cast<std::size_t>(chunk)][i];
    const int other = ranks_.in_all(pair.rank);
    if (types.by_planes)
      by_planes_.push_back(
          {other, static_cast<char*>(arrays.by_planes) + pair.by_planes.at, arrays.count, *types.by_planes});
    if (types.by_columns)
      by_columns_.push_back(
          {other, static_cast<char*>(arrays.by_columns) + pair.by_columns.at, arrays.count, *types.by_columns});
  }
  const Communicator& all = ranks_.all();
  to_columns ? all.begin(by_planes_, by_columns_, transfer) : all.begin(by_columns_, by_planes_, transfer);
  copy_own(piece, to_columns, arrays);
}

void Transposition::copy_own(const TranspositionPiece& piece, bool to_columns, const TransposedArrays& arrays) const {
  const Slice &planes = piece.own_by_planes, &columns = piece.own_by_columns;
  if (planes.empty()) return;
  // A row by planes is one by columns, or all rows of a plane.
  const bool one_row = columns.plane_stride == 0;
  const std::int64_t step = one_row ? columns.stride : columns.plane_stride, rows = one_row ? 1 : columns.rows;
  cpu::parallel_for(threads_, planes.rows * arrays.count, [&](std::int64_t i) {
    const std::int64_t array = i / planes.rows, plane = i % planes.rows;
    char* in_planes =
        static_cast<char*>(arrays.by_planes) + array * pieces_.planes_bytes() + planes.at + plane * planes.stride;
    char* in_columns =
        static_cast<char*>(arrays.by_columns) + array * pieces_.columns_bytes() + columns.at + plane * step;
    for (std::int64_t row = 0; row < rows; ++row, in_planes += columns.bytes, in_columns += columns.stride)
      std::memcpy(to_columns ? in_columns : in_planes, to_columns ? in_planes : in_columns,
                  static_cast<std::size_t>(columns.bytes));
  });
}

}  // namespace fourtune::runtime::distributed
