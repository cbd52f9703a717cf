// What moves when an array changes between two splits over the ranks: by planes, and by columns.
//
// An array has `planes` planes of `columns` columns of `run` elements, the elements of a column and the columns of a
// plane adjacent. A rank holds whole planes on one side, [plane][column][run], and a part of the columns of every plane
// on the other, [plane][own column][run]. In 3D planes are cells along z, columns along y, and a run is a row along x;
// in 2D planes are cells along y, columns along x, and a run is one element.
//
// A rank sends (own planes) x (columns of others) x run elements to change to columns, and (planes of others) x (own
// columns) x run to change back: no less is possible, as everything that it sends is stored elsewhere afterwards. It
// does so in chunks, each with some of every rank's planes, or some of every rank's columns.
//
// By pencils a group of consecutive ranks shares planes: each has a part of every run of theirs. Columns have whole
// runs.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/backends/cpu/fft/lines.h"
#include "runtime/distributed/rank_plan.h"
#include "runtime/slabs/split.h"

namespace fourtune::runtime::distributed {

// In one array of whole planes nothing is copied within a rank. Two ranks need the same memory for it, three half as
// much again.
inline constexpr int kMostJoined = 3;

// Of planes that a GPU transforms at a time, on the fine grid of types 1 and 2: what lies between their two dimensions
// takes as much memory. Tests make it small.
inline std::int64_t piece_bytes = std::int64_t{1} << 30;
// Parts of a range of items that have at most piece_bytes each, or one item. None of nothing.
inline std::vector<cpu::LineRange> pieces_of(cpu::LineRange which, std::int64_t item_bytes) {
  std::vector<cpu::LineRange> pieces;
  if (which.count == 0) return pieces;
  const std::int64_t most = std::max<std::int64_t>(1, piece_bytes / std::max<std::int64_t>(1, item_bytes));
  const Split parts = Split::even(which.count, static_cast<int>((which.count + most - 1) / most));
  for (int part = 0; part < parts.parts(); ++part)
    pieces.push_back({which.first + parts.begin(part), parts.size(part)});
  return pieces;
}

struct TranspositionShape {
  Split planes, columns;
  std::int64_t run = 1;
  std::int64_t element = 16;  // bytes
  // Both sides lie in one array of whole planes, so that what stays on a rank is where it belongs already. Columns are
  // then as far apart as those of a plane are.
  bool joined = false;
  Split runs = {};  // how the ranks of a group share a run, in as many parts as there are ranks; one part: they do not
  std::int64_t gap = 0;  // elements between the planes of a joined array (plane_gap)

  bool shares_runs() const { return runs.parts() > 1; }
  // Of a rank, where the array is stored by planes.
  std::int64_t planes_of(int rank) const { return planes.size(rank / runs.parts()); }
  std::int64_t first_plane_of(int rank) const { return planes.begin(rank / runs.parts()); }
  std::int64_t run_of(int rank) const { return shares_runs() ? runs.size(rank % runs.parts()) : run; }
  // From a plane of a joined array to the next.
  std::int64_t joined_plane() const { return columns.items() * run + gap; }
  std::int64_t run_begin_of(int rank) const { return shares_runs() ? runs.begin(rank % runs.parts()) : 0; }
};

// Elements to leave between planes of so many, of so many bytes each, in an array whose lines lie across the planes. A
// line has one element in each plane. Where planes are a multiple of many pages, the elements of a line share few sets
// of the cache and, in pages of 4 KB, few sets of what remembers their places; so planes are an odd number of pages and
// one cache line apart. Short planes have none, as lines of theirs fill pages.
std::int64_t plane_gap(std::int64_t elements, std::int64_t element);

// Rows in an array: the first at byte `at`, each `bytes` long, and `stride` bytes from one to the next; and as many in
// each of `planes`, `plane_stride` bytes apart. More planes than one occur where ranks share runs.
struct Slice {
  std::int64_t at = 0, rows = 0, bytes = 0, stride = 0;
  std::int64_t planes = 1, plane_stride = 0;
  bool empty() const { return rows == 0 || bytes == 0 || planes == 0; }
  bool gapless() const { return planes == 1 && (rows == 1 || bytes == stride); }
  std::int64_t size() const { return planes * rows * bytes; }
};

// What is in memory of a transposition at a time: arrays of either side, slots for chunks under way, and how many
// arrays one chunk moves at most.
struct TranspositionMemory {
  std::int64_t arrays = 1;
  int slots = 1;
  std::int64_t together = 1;
};

// Of one chunk: another rank's share of this rank's planes, and this rank's share of the other's planes.
struct TranspositionPair {
  int rank = 0;
  Slice by_planes, by_columns;
};

struct TranspositionPiece {
  cpu::LineRange planes, columns;        // of this rank's
  std::vector<TranspositionPair> pairs;  // with every other rank
  Slice own_by_planes, own_by_columns;   // what stays on this rank, on either side; empty in a joined array
};

// All pieces of one array on this rank.
class TranspositionPieces {
 public:
  TranspositionPieces() = default;
  // Cut::batch cuts no array: there is one chunk. Throws Error{size_overflow} for an array that no memory holds.
  TranspositionPieces(int rank, const TranspositionShape& shape, const Chunks& chunks);

  const std::vector<TranspositionPiece>& all() const { return pieces_; }
  const TranspositionPiece& operator[](int chunk) const { return pieces_[static_cast<std::size_t>(chunk)]; }
  int count() const { return static_cast<int>(pieces_.size()); }
  std::int64_t planes_elements() const { return planes_elements_; }    // that this rank stores by planes of one array
  std::int64_t columns_elements() const { return columns_elements_; }  // that this rank stores by columns
  // Elements from one plane to the next where the array is stored by columns.
  std::int64_t columns_stride() const { return columns_stride_; }
  // Of a joined array: where either side begins in it.
  std::int64_t planes_begin() const { return planes_begin_; }
  std::int64_t columns_begin() const { return columns_begin_; }
  std::int64_t element() const { return element_; }  // bytes
  std::int64_t planes_bytes() const { return planes_elements_ * element_; }
  std::int64_t columns_bytes() const { return columns_elements_ * element_; }

 private:
  std::vector<TranspositionPiece> pieces_;
  std::int64_t planes_elements_ = 0, columns_elements_ = 0, columns_stride_ = 0, element_ = 16;
  std::int64_t planes_begin_ = 0, columns_begin_ = 0;
};

}  // namespace fourtune::runtime::distributed
