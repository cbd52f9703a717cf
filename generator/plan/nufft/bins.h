// How a GPU's sort divides the points: bins of cells, groups of bins to which a subproblem belongs, slices of points
// with separate bins, and the coarse bins of a sort in two levels. All of it follows from shape and parameters,
// which must keep the rules of rules.h.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "generator/plan/nufft/choices.h"
#include "generator/plan/nufft/record.h"
#include "generator/plan/nufft/shape.h"

namespace fourtune::generator::nufft {

// The sort in two levels of at most m points. A coarse bin consists of `per` bins.
struct SortLevels {
  std::int64_t all = 0;                        // bins in all slices
  std::int64_t staged = 0, align = 4;          // bytes per point between the levels: record and index
  std::int64_t place_points = 0, segment = 0;  // maximum per block of the first and of the second level
  std::int64_t most_coarse = 0, most_fine = 0;
  std::int64_t place_bytes = 0, counter_bytes = 0, fine_bytes = 0, large_bytes = 0;  // shared memory of their kernels
  std::int64_t per = 1, coarse = 1;
  bool final = false;  // there is one level: coarse bins are the bins
  bool possible =
      false;  // shared memory has room for the counters and at least 512 points; if not, nothing else is set

  // Chunks of large coarse bins of m points, at most: each has more points than a segment.
  std::int64_t most_chunks(std::int64_t m) const { return segment > 0 ? 2 * (m / segment) : 0; }
  // Computes bin / per as a product and a shift by `reach` bits; exact below 2^31.
  std::int64_t reach() const { return 31 + std::bit_width(static_cast<std::uint64_t>(per - 1)); }
  std::int64_t magic() const { return ((std::int64_t{1} << reach()) + per - 1) / per; }
};

// Bins of a block that makes offsets, and the most where these are whole groups.
inline constexpr std::int64_t kTileOfOffsets = 2048, kLongGroup = 4096;

class Bins {
 public:
  Bins(const Shape& shape, const Parameters& parameters);

  std::int64_t along(int d) const { return along_[static_cast<std::size_t>(d)]; }
  // Numbers of bins and of groups of bins, in one slice.
  std::int64_t count() const { return along_[0] * along_[1] * along_[2]; }
  std::int64_t groups() const { return slide_ == 0 ? count() : count() / along(slide_); }
  std::int64_t slices(std::int64_t m) const;
  std::int64_t most_tasks(std::int64_t m) const;  // subproblems of m points, at most
  int slide() const { return slide_; }            // dimension whose bins are adjacent; 0: none
  const RecordLayout& layout() const { return layout_; }
  SortLevels levels(std::int64_t m) const;
  // Whether one launch makes offsets of counts and lists the subproblems: its blocks take whole groups, so not where
  // these are long.
  bool lists_at_once() const;
  // Bins that a block of such a launch takes; sums: counts become offsets, list: subproblems are listed.
  std::int64_t tile_of_offsets(bool sums, bool list) const;
  // Bytes by which the blocks of such a launch tell each other what lies before them: a ticket, and two words each.
  std::int64_t state_bytes(std::int64_t m, bool sums, bool list) const;

 private:
  int fine_bits_of(std::int64_t bins, std::int64_t m) const;  // of a bin's number in its coarse bin

  Shape shape_;
  Parameters parameters_;
  std::array<std::int64_t, 3> along_{1, 1, 1};
  int slide_ = 0;
  RecordLayout layout_;
};

// A sort never uses fewer blocks than fill whole waves of this many multiprocessors, unless there are few points.
std::int64_t whole_waves(std::int64_t blocks, std::int64_t m, std::int64_t multiprocessors);

}  // namespace fourtune::generator::nufft
