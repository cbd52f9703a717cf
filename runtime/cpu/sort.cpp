#include "runtime/cpu/sort.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "fmt/format.h"
#include "fourtune/status.h"

namespace fourtune::runtime::cpu {
namespace {

constexpr int kChunk = 256;            // points located together
constexpr std::int64_t kPiece = 8192;  // points ordered together inside a tile
constexpr int kZGroup = 4;

// The radian map's factor is 1/(2 pi) rounded; this is what the rounding left.
constexpr double kInverseTwoPi = 0.15915494309189535;
constexpr double kInverseTwoPiLow = -9.839338337591243e-18;

struct Share {
  std::int64_t begin, end;
};
Share share_of(std::int64_t m, int thread, int threads) {
  return {m / threads * thread + std::min<std::int64_t>(thread, m % threads),
          m / threads * (thread + 1) + std::min<std::int64_t>(thread + 1, m % threads)};
}

}  // namespace

template <class T>
struct PointStore<T>::Chunk {
  alignas(kLine) std::int32_t cell[3][kChunk];
  alignas(kLine) Fraction<T> fraction[3][kChunk];
  alignas(kLine) std::int32_t tile[kChunk];
  int bad_dimension = -1;
  std::int64_t bad = -1;
};

// Fills chunk: cells become relative to the tile. Stops at a bad coordinate (chunk.bad).
template <class T>
void PointStore<T>::locate(std::int64_t first, int n, const std::array<const T*, 3>& points, bool fractions,
                           Chunk& c) const {
  const int dim = tiling_.dim;
  for (int d = 0; d < dim; ++d) {
    // The hardware follows a stream only to the end of its page: ask for the next chunk.
    const T* ahead = points[d] + first + kChunk;
    const T* end = points[d] + std::min(m_, first + 2 * kChunk);
    for (; ahead < end; ahead += kLine / sizeof(T)) __builtin_prefetch(ahead, 0, 3);
    const std::int64_t bad =
        kernels_->locate(points[d] + first, n, axes_[d], c.cell[d], fractions ? c.fraction[d] : nullptr);
    if (bad >= 0 && (c.bad < 0 || first + bad < c.bad)) {
      c.bad = first + bad;
      c.bad_dimension = d;
    }
  }
  if (c.bad >= 0) return;
  kernels_->tiles_of(tiling_, inverse_tile_.data(), n, kChunk, c.cell[0], c.tile);
}

// Record j, of point first + j, goes to position[j].
template <class T>
template <int Dim>
void PointStore<T>::write_records(const Chunk& c, int n, std::int64_t first, const std::int64_t* position) {
  Word<T>* const records = records_.data();
  for (int j = 0; j < n; ++j) {
    Word<T>* const r = records + position[j] * (Dim + 1);
    if constexpr (sizeof(T) == 4) {
      for (int d = 0; d < Dim; ++d) r[d] = static_cast<std::uint32_t>(c.cell[d][j]) << kFractionBits | c.fraction[d][j];
      r[Dim] = static_cast<std::uint32_t>(first + j);
    } else {
      std::uint64_t cells = static_cast<std::uint64_t>(first + j) << kIndexShift;
      for (int d = 0; d < Dim; ++d) {
        std::memcpy(&r[d], &c.fraction[d][j], sizeof(double));
        cells |= static_cast<std::uint64_t>(c.cell[d][j]) << (kCellBits * d);
      }
      r[Dim] = cells;
    }
  }
}

template <class T>
void PointStore<T>::write_records(const Chunk& c, int n, std::int64_t first, const std::int64_t* position) {
  switch (tiling_.dim) {
    case 1:
      write_records<1>(c, n, first, position);
      break;
    case 2:
      write_records<2>(c, n, first, position);
      break;
    default:
      write_records<3>(c, n, first, position);
  }
  for (int j = 0; high_.size() > 0 && j < n; ++j) high_[position[j]] = static_cast<std::uint8_t>((first + j) >> 32);
}

template <class T>
void PointStore<T>::count_keys(const std::array<const T*, 3>& points, int threads) {
  const bool grouped = order_ == PointOrder::permuted || order_ == PointOrder::indexed;
  const std::int64_t keys = tiling_.tiles();
  counts_.resize(grouped ? keys * threads : 0);
  std::vector<std::int64_t> bad(threads, -1);
  std::vector<int> bad_dimension(threads, 0);
#pragma omp parallel num_threads(threads)
  {
    // With fewer threads than asked for, each takes several shares.
    Chunk chunk;
    std::int64_t position[kChunk];
    for (int t = omp_get_thread_num(); t < threads; t += omp_get_num_threads()) {
      std::int64_t* count = grouped ? counts_.data() + t * keys : nullptr;
      if (grouped) std::fill(count, count + keys, 0);
      chunk.bad = -1;
      const Share s = share_of(m_, t, threads);
      for (std::int64_t first = s.begin; first < s.end && chunk.bad < 0; first += kChunk) {
        const int n = static_cast<int>(std::min<std::int64_t>(kChunk, s.end - first));
        locate(first, n, points, !grouped, chunk);
        if (chunk.bad >= 0) break;
        if (grouped) {
          for (int j = 0; j < n; ++j) ++count[chunk.tile[j]];
        } else {
          std::iota(position, position + n, first);
          write_records(chunk, n, first, position);
          std::copy_n(chunk.tile, n, tile_of_.data() + first);
        }
      }
      bad[t] = chunk.bad;
      bad_dimension[t] = chunk.bad_dimension;
    }
  }
  for (int t = 0; t < threads; ++t) {
    if (bad[t] >= 0) {
      m_ = 0;
      throw Error(Status::invalid_point,
                  fmt::format("point {}: coordinate {} is NaN, infinite or overflows when scaled; "
                              "every coordinate must be a finite number",
                              bad[t], "xyz"[bad_dimension[t]]));
    }
  }
}

template <class T>
void PointStore<T>::place(const std::array<const T*, 3>& points, int threads) {
  const std::int64_t keys = tiling_.tiles();
  std::int64_t placed = 0;
  starts_.resize(tiling_.tiles() + 1);
  for (std::int64_t k = 0; k < keys; ++k) {
    starts_[k] = placed;
    for (int t = 0; t < threads; ++t) {
      const std::int64_t n = counts_[t * keys + k];
      counts_[t * keys + k] = placed;
      placed += n;
    }
  }
  starts_[tiling_.tiles()] = placed;
#pragma omp parallel num_threads(threads)
  {
    Chunk chunk;
    std::int64_t position[kChunk];
    for (int t = omp_get_thread_num(); t < threads; t += omp_get_num_threads()) {
      std::int64_t* next = counts_.data() + t * keys;
      const Share s = share_of(m_, t, threads);
      for (std::int64_t first = s.begin; first < s.end; first += kChunk) {
        const int n = static_cast<int>(std::min<std::int64_t>(kChunk, s.end - first));
        locate(first, n, points, true, chunk);
        if (order_ == PointOrder::permuted) {
          for (int j = 0; j < n; ++j) {
            position[j] = next[chunk.tile[j]]++;
            __builtin_prefetch(records_.data() + position[j] * words_, 1, 3);
          }
        } else {
          if (wide_index_.size() > 0) {
            for (int j = 0; j < n; ++j) wide_index_[next[chunk.tile[j]]++] = first + j;
          } else {
            for (int j = 0; j < n; ++j) index_[next[chunk.tile[j]]++] = static_cast<std::uint32_t>(first + j);
          }
          std::iota(position, position + n, first);
        }
        write_records(chunk, n, first, position);
      }
    }
  }
}

// Pieces of at most kPiece points of a tile are ordered by x-bin, then by groups of z cells: neighbours in time then
// touch the same few rows. The pieces fit the second-level cache; stable, so that the order stays independent of
// threads.
template <class T>
void PointStore<T>::order_pieces(int threads) {
  const int z_groups = (tiling_.tile[2] + kZGroup - 1) / kZGroup;
  const int keys = tiling_.bins * z_groups;
  const std::int32_t inverse_bin = (65536 + tiling_.bin - 1) / tiling_.bin;  // exact for cells below 256
  using Record = std::array<Word<T>, 4>;
#pragma omp parallel num_threads(threads)
  {
    Buffer<Record> sorted;
    std::vector<std::int32_t> next(keys + 1), key(kPiece);
    sorted.resize(kPiece);
#pragma omp for schedule(dynamic, 4)
    for (std::int64_t t = 0; t < tiling_.tiles(); ++t) {
      for (std::int64_t begin = starts_[t]; begin < starts_[t + 1]; begin += kPiece) {
        const int n = static_cast<int>(std::min(kPiece, starts_[t + 1] - begin));
        Record* const records = reinterpret_cast<Record*>(records_.data()) + begin;
        std::fill(next.begin(), next.end(), 0);
        for (int j = 0; j < n; ++j) {
          const Word<T>* r = records[j].data();
          const std::int32_t bin = x_cell(r) * inverse_bin >> 16;
          key[j] = bin * z_groups + z_cell(r) / kZGroup;
          ++next[key[j] + 1];
        }
        std::partial_sum(next.begin(), next.end(), next.begin());
        for (int j = 0; j < n; ++j) sorted[next[key[j]]++] = records[j];
        std::copy_n(sorted.data(), n, records);
      }
    }
  }
}

// Lists run in the caller's order: built from the last point to the first.
template <class T>
void PointStore<T>::link() {
  head_.resize(tiling_.tiles());
  std::fill(head_.data(), head_.data() + head_.size(), -1);
  next_.resize(m_);
  for (std::int64_t j = m_ - 1; j >= 0; --j) {
    next_[j] = head_[tile_of_[j]];
    head_[tile_of_[j]] = j;
  }
}

template <class T>
void PointStore<T>::set(std::int64_t m, const std::array<const T*, 3>& points, const PointMap& map,
                        const Tiling& tiling, PointOrder order, bool local, int threads, const Kernels<T>& kernels) {
  if (m < 0)
    throw Error(Status::invalid_argument, fmt::format("{} points; the number of points must be at least 0", m));
  if (m >= std::int64_t{1} << 40) {
    throw Error(Status::size_overflow, fmt::format("{} points; the CPU backend holds fewer than 2^40", m));
  }
  m_ = m;
  tiling_ = tiling;
  order_ = order;
  words_ = tiling.dim + 1;
  kernels_ = &kernels;
  for (int d = 0; d < tiling.dim; ++d) {
    const bool radians = map.factor[d] == kInverseTwoPi;
    axes_[d] = {map.centre[d], map.factor[d], radians ? kInverseTwoPiLow : 0.0,
                static_cast<std::int32_t>(tiling.fine[d]), tiling.width};
    inverse_tile_[d] = 1.0 / tiling.tile[d];
  }
  const bool grouped = order == PointOrder::permuted || order == PointOrder::indexed;
  threads = static_cast<int>(std::clamp<std::int64_t>(m / 4096, 1, threads));
  records_.resize(m * words_);
  const bool wide = m > std::int64_t{std::numeric_limits<std::uint32_t>::max()};
  high_.resize(sizeof(T) == 4 && wide ? m : 0);
  index_.resize(order == PointOrder::indexed && !wide ? m : 0);
  wide_index_.resize(order == PointOrder::indexed && wide ? m : 0);
  tile_of_.resize(grouped ? 0 : m);
  count_keys(points, threads);
  if (grouped) {
    place(points, threads);
    if (local && order == PointOrder::permuted && tiling.dim == 3 && high_.size() == 0) order_pieces(threads);
  } else if (order == PointOrder::listed) {
    link();
  }
}

template <class T>
std::int64_t PointStore<T>::bytes() const {
  return records_.bytes() + high_.bytes() + index_.bytes() + wide_index_.bytes() + tile_of_.bytes() + head_.bytes() +
         next_.bytes() + counts_.bytes() + starts_.bytes();
}

template class PointStore<float>;
template class PointStore<double>;

}  // namespace fourtune::runtime::cpu
