#include "runtime/distributed/transposition.h"

#include <algorithm>
#include <cstring>

#include "fourtune/problem.h"
#include "runtime/backends/cpu/base/team.h"

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

// So many rows of so many bytes in an array of `whole` bytes.
DataType part_type(std::int64_t rows, std::int64_t bytes, std::int64_t stride, std::int64_t whole) {
  if (rows == 0 || bytes == 0) return nullptr;
  return repeated(rows_type(rows, bytes, stride), whole);
}

}  // namespace

Transposition::Transposition(const Communicator& ranks, const TranspositionShape& shape, const Chunks& chunks,
                             int threads)
    : ranks_(&ranks),
      planes_(shape.planes),
      columns_(shape.columns),
      element_(shape.element),
      row_(shape.run * shape.element),
      run_(shape.run),
      threads_(threads) {
  const int own = ranks.rank();
  checked_multiply(checked_multiply(planes_.items(), columns_.items(), "an array"), row_, "an array");
  for (int c = 0; c < (chunks.cut == Cut::batch ? 1 : chunks.count); ++c)
    parts_.push_back(
        {planes_in(c, chunks, planes_.size(own)), columns_in(c, chunks, columns_.size(own)), pairs_of(c, chunks)});
  by_planes_.reserve(static_cast<std::size_t>(ranks.size()));
  by_columns_.reserve(static_cast<std::size_t>(ranks.size()));
}

std::vector<Transposition::Pair> Transposition::pairs_of(int chunk, const Chunks& chunks) const {
  const int own = ranks_->rank();
  const std::int64_t plane = columns_.items() * row_, mine = columns_.size(own) * row_;
  const cpu::LineRange planes = planes_in(chunk, chunks, planes_.size(own));
  const cpu::LineRange columns = columns_in(chunk, chunks, columns_.size(own));
  std::vector<Pair> pairs;
  for (int step = 1; step < ranks_->size(); ++step) {
    // Ranks begin with different partners, so that no one is everybody's first.
    const int other = (own + step) % ranks_->size();
    const cpu::LineRange their_planes = planes_in(chunk, chunks, planes_.size(other));
    const cpu::LineRange their_columns = columns_in(chunk, chunks, columns_.size(other));
    Pair pair;
    pair.rank = other;
    pair.mine_at = planes.first * plane + (columns_.begin(other) + their_columns.first) * row_;
    pair.mine = part_type(planes.count, their_columns.count * row_, plane, planes_bytes());
    pair.theirs_at = (planes_.begin(other) + their_planes.first) * mine + columns.first * row_;
    pair.theirs = part_type(their_planes.count, columns.count * row_, mine, columns_bytes());
    pairs.push_back(pair);
  }
  return pairs;
}

std::int64_t Transposition::planes_elements() const { return planes_.size(ranks_->rank()) * columns_.items() * run_; }
std::int64_t Transposition::columns_elements() const { return planes_.items() * columns_.size(ranks_->rank()) * run_; }

void Transposition::begin(int chunk, bool to_columns, const TransposedArrays& arrays, Transfer& transfer) {
  by_planes_.clear();
  by_columns_.clear();
  for (const Pair& pair : part(chunk).pairs) {
    if (pair.mine)
      by_planes_.push_back({pair.rank, static_cast<char*>(arrays.by_planes) + pair.mine_at, arrays.count, *pair.mine});
    if (pair.theirs)
      by_columns_.push_back(
          {pair.rank, static_cast<char*>(arrays.by_columns) + pair.theirs_at, arrays.count, *pair.theirs});
  }
  to_columns ? ranks_->begin(by_planes_, by_columns_, transfer) : ranks_->begin(by_columns_, by_planes_, transfer);
  copy_own(part(chunk), to_columns, arrays);
}

void Transposition::copy_own(const Part& part, bool to_columns, const TransposedArrays& arrays) const {
  const int own = ranks_->rank();
  const std::int64_t bytes = part.columns.count * row_, plane = columns_.items() * row_;
  const std::int64_t rows = part.planes.count, mine = columns_.size(own) * row_;
  if (bytes == 0 || rows == 0) return;
  cpu::parallel_for(threads_, rows * arrays.count, [&](std::int64_t i) {
    const std::int64_t array = i / rows, p = part.planes.first + i % rows;
    char* const in_planes = static_cast<char*>(arrays.by_planes) + array * planes_bytes() + p * plane +
                            (columns_.begin(own) + part.columns.first) * row_;
    char* const in_columns = static_cast<char*>(arrays.by_columns) + array * columns_bytes() +
                             (planes_.begin(own) + p) * mine + part.columns.first * row_;
    std::memcpy(to_columns ? in_columns : in_planes, to_columns ? in_planes : in_columns,
                static_cast<std::size_t>(bytes));
  });
}

}  // namespace fourtune::runtime::distributed
