#include "generator/plan/nufft/bins.h"

#include <algorithm>

namespace fourtune::generator::nufft {
namespace {

constexpr std::int64_t kReserved = 1024;     // of a block's shared memory; its points take the rest
constexpr std::int64_t kMostPoints = 16384;  // per block: places have 14 bits
constexpr std::int64_t kLeastPoints = 2048;  // per block, if all blocks are to have work
constexpr int kFineBits = 11;                // a bin's number in its coarse bin, unless bins are very many
constexpr int kMostFineBits = 14;
// Room for coarse bins: larger values only if a coarse bin would not fit a block otherwise. With up to kFinalBins bins,
// the coarse bins are the bins themselves; so are bins that each hold more points than a block sorts.
constexpr std::array<std::int64_t, 5> kMostCoarse{2048, 4096, 8192, 12288, 16384};
constexpr std::int64_t kUsualCoarse = 4096, kFinalBins = 2048;
constexpr std::int64_t kFewWaves = 2, kUsualPoints = 8192;  // of a coarse bin
constexpr std::int64_t kListed = 512;                       // groups of a block that lists the subproblems alone

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
int bits_of(std::int64_t n) { return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n - 1))); }

// Bits of a bin's number in its coarse bin: more, of at most `room`, where bins are so many that these bits alone would
// make more than `enough` coarse bins.
int fine_bits(std::int64_t bins, std::int64_t enough, int room) {
  int bits = kFineBits;
  const auto coarse = [&] { return ceil_div(bins, std::int64_t{1} << bits); };
  while (bits < std::min(room, kMostFineBits) && coarse() > enough) ++bits;
  while (coarse() > kUsualCoarse) ++bits;
  return bits;
}

}  // namespace

std::int64_t whole_waves(std::int64_t blocks, std::int64_t m, std::int64_t multiprocessors) {
  const std::int64_t whole = ceil_div(std::max<std::int64_t>(blocks, 1), multiprocessors) * multiprocessors;
  return std::max(blocks, std::min(whole, ceil_div(m, kLeastPoints)));
}

Bins::Bins(const Shape& shape, const Parameters& parameters) : shape_(shape), parameters_(parameters) {
  std::array<int, 3> whole{}, inside{};  // bits of a first cell, and of its place in its bin
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t bin = static_cast<int>(d) < shape.dim ? parameters.bin[d] : 1;
    along_[d] = ceil_div(shape.fine[d], bin);
    whole[d] = bits_of(shape.fine[d]), inside[d] = bits_of(bin);
  }
  slide_ = parameters.order == RecordOrder::slide && shape.dim > 1 ? shape.dim - 1 : 0;
  // Slices have separate bins, which may be more than a coarse bin's number has bits for.
  const bool relative =
      !shape.whole_cells && !shape.large_counts && parameters.order != RecordOrder::caller && parameters.slice == 0;
  layout_ = make_record_layout(shape.dim, shape.precision, shape.unit, relative ? inside : whole, !relative,
                               bits_of(count() / groups()), fine_bits_of(count(), 0));
}

// Few points in many bins: blocks that each sort a handful take as long as full ones. A record has so many bits to
// spare.
int Bins::fine_bits_of(std::int64_t bins, std::int64_t m) const {
  const std::int64_t enough = std::max(kFewWaves * shape_.multiprocessors, m / kUsualPoints);
  return fine_bits(bins, enough, bits_of(count() / groups()) + kMostStolen);
}

std::int64_t Bins::slices(std::int64_t m) const {
  if (parameters_.slice == 0 || parameters_.order == RecordOrder::caller) return 1;
  return std::max<std::int64_t>(1, ceil_div(m, parameters_.slice));
}

std::int64_t Bins::most_tasks(std::int64_t m) const { return std::min(m, groups() * slices(m) + m / parameters_.cap); }

bool Bins::lists_at_once() const { return count() / groups() <= kLongGroup; }

std::int64_t Bins::tile_of_offsets(bool sums, bool list) const {
  const std::int64_t group = count() / groups();
  if (!list) return kTileOfOffsets;
  return group * (sums ? std::max<std::int64_t>(1, kTileOfOffsets / group) : kListed);
}

std::int64_t Bins::state_bytes(std::int64_t m, bool sums, bool list) const {
  return 8 + 16 * ceil_div(count() * slices(m), tile_of_offsets(sums, list));
}

SortLevels Bins::levels(std::int64_t m) const {
  const std::int64_t count_bytes = shape_.large_counts ? 8 : 4, words = 4 * layout_.words;
  const std::int64_t shared = shape_.shared_bytes - kReserved;
  const auto fitting = [](std::int64_t room, std::int64_t each) {
    return std::min(kMostPoints, room / each / 512 * 512);
  };
  const auto counters = [&](std::int64_t coarse) { return coarse * (count_bytes + 4) + 34 * 4; };
  // The largest number of coarse bins whose counters leave room for points.
  std::int64_t most = 0;
  for (const std::int64_t coarse : kMostCoarse)
    if (fitting(shared - counters(coarse), words + 4) >= 512) most = coarse;
  SortLevels l;
  l.all = count() * slices(m);
  l.staged = (words + 2 * count_bytes - 1) / count_bytes * count_bytes;
  l.align = l.staged % 16 == 0 ? 16 : l.staged % 8 == 0 ? 8 : 4;
  const int bits = fine_bits_of(l.all, m);
  l.most_fine = std::int64_t{1} << bits;
  const std::int64_t sorted = words + count_bytes + 2;  // bytes per point of the second level
  l.segment =
      parameters_.segment > 0 ? parameters_.segment : fitting(shared - (l.most_fine + 64) * (4 + count_bytes), sorted);
  l.possible = most >= kUsualCoarse && bits <= kMostFineBits && l.segment >= 512;
  if (!l.possible) return l;
  const std::int64_t full = l.segment / 10 * 9;  // per coarse bin, so that uniform points do not exceed the segment
  // Uses as few coarse bins as can hold all points: a block of the first level then writes the longest runs.
  std::int64_t wanted = std::max(ceil_div(l.all, l.most_fine), ceil_div(m, full));
  wanted = std::max(std::min(whole_waves(wanted, m, shape_.multiprocessors), l.all), wanted);
  const bool few = l.all <= kFinalBins && parameters_.segment == 0;
  l.per = few ? 1 : ceil_div(l.all, wanted);
  if (l.per > 1 && m * l.per > l.all * (l.segment / 20 * 19)) --l.per;
  if (ceil_div(l.all, l.per) > most) l.per = ceil_div(l.all, kUsualCoarse);  // all coarse bins are large
  l.final = l.per == 1 && parameters_.segment == 0;
  l.coarse = ceil_div(l.all, l.per);
  l.most_coarse = *std::lower_bound(kMostCoarse.begin(), kMostCoarse.end(), l.coarse);
  l.place_points = fitting(shared - counters(l.most_coarse), words + 4);
  l.place_bytes = l.place_points * (words + 4) + counters(l.most_coarse);
  l.counter_bytes = (l.most_fine + 33) * 4;
  l.fine_bytes = l.counter_bytes + l.segment * sorted;
  l.large_bytes = l.fine_bytes + l.most_fine * count_bytes;
  return l;
}

}  // namespace fourtune::generator::nufft
