#include "runtime/cpu/sort.h"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "fmt/format.h"
#include "fourtune/status.h"

namespace fourtune::runtime::cpu {
namespace {

constexpr std::int64_t kPiece = 8192;  // points ordered together inside a tile

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

bool is_grouped(PointOrder order) { return order == PointOrder::permuted || order == PointOrder::indexed; }

// Calls single(j) for every tile of a chunk, in order, or run(j) for kRun of the same tile: neighbours in time often
// are neighbours in space (readouts of a scanner, clusters), and one counter added to again and again waits for itself.
constexpr int kRun = 8;
template <class Run, class Single>
void for_runs(const std::int32_t* tile, int n, Run run, Single single) {
  int j = 0;
  for (; j + kRun <= n; j += kRun) {
    std::int32_t differ = 0;
    for (int i = 1; i < kRun; ++i) differ |= tile[j] ^ tile[j + i];
    if (differ == 0) {
      run(j);
    } else {
      for (int i = j; i < j + kRun; ++i) single(i);
    }
  }
  for (; j < n; ++j) single(j);
}

// Calls f(integral_constant<int, W>) for a record's words.
template <class F, int W = 1>
void with_words(int words, F f) {
  if constexpr (W <= kMaxRecordWords) {
    if (words == W) {
      f(std::integral_constant<int, W>());
    } else {
      with_words<F, W + 1>(words, f);
    }
  }
}

}  // namespace

template <class T>
void PointStore<T>::prepare(const PointMap& map, const Tiling& tiling, int fraction) {
  frame_.tiling = tiling;
  form_ = make_record_form(tiling, fraction, m_, order_ == PointOrder::permuted);
  frame_.quick = true;
  for (int d = 0; d < tiling.dim; ++d) {
    const bool radians = map.factor[d] == kInverseTwoPi;
    frame_.axes[d] = {map.centre[d], map.factor[d], radians ? kInverseTwoPiLow : 0.0,
                      static_cast<std::int32_t>(tiling.fine[d]), tiling.width};
    frame_.inverse_tile[d] = 1.0 / tiling.tile[d];
    // Plain products lose up to four ulps of a period coordinate below kNearPeriods; difference from the centre, whose
    // own size is not bounded by that, none where the centre is zero.
    const double lost = 4 * kNearPeriods * 0x1p-53 * static_cast<double>(tiling.fine[d]);
    frame_.quick = frame_.quick && map.centre[d] == 0 && lost <= 0.25 * std::ldexp(1.0, -form_.fraction);
  }
}

// False at a bad coordinate.
template <class T>
bool PointStore<T>::locate(std::int64_t first, int n, const std::array<const T*, 3>& points, bool records,
                           Located& chunk) const {
  std::array<const T*, 3> at{};
  for (int d = 0; d < frame_.tiling.dim; ++d) {
    at[d] = points[d] + first;
    // The hardware follows a stream only to the end of its page: ask for the next chunk.
    const T* ahead = at[d] + kChunk;
    const T* end = points[d] + std::min(m_, first + 2 * kChunk);
    for (; ahead < end; ahead += kLine / sizeof(T)) __builtin_prefetch(ahead, 0, 3);
  }
  return kernels_->locate(frame_, records ? &form_ : nullptr, at, first, n, chunk);
}

// Names the first bad point at or after `first`.
template <class T>
void PointStore<T>::refuse(const std::array<const T*, 3>& points, std::int64_t first) {
  const std::int64_t m = m_;
  m_ = 0;
  std::int64_t cell;
  double fraction;
  for (std::int64_t j = first; j < m; ++j) {
    for (int d = 0; d < frame_.tiling.dim; ++d) {
      if (locate_one(points[d][j], frame_.axes[d], cell, fraction)) continue;
      throw Error(Status::invalid_point,
                  fmt::format("point {}: coordinate {} is NaN, infinite or overflows when scaled; "
                              "every coordinate must be a finite number",
                              j, "xyz"[d]));
    }
  }
  throw Error(Status::invalid_point,
              "a coordinate changed while points were set; every coordinate must be a finite number");
}

// Record j goes to position[j].
template <class T>
void PointStore<T>::write(const Located& chunk, int n, const std::int64_t* position) {
  std::uint32_t* const records = records_.data();
  with_words(form_.words, [&](auto words) {
    constexpr int kWords = decltype(words)::value;
    for (int j = 0; j < n; ++j) {
      std::uint32_t* const r = records + position[j] * kWords;
      for (int w = 0; w < kWords; w += 2) {
        std::memcpy(r + w, &chunk.word[w / 2][j], w + 1 < kWords ? sizeof(std::uint64_t) : sizeof(std::uint32_t));
      }
    }
  });
}

template <class T>
void PointStore<T>::count_keys(const std::array<const T*, 3>& points, int threads) {
  const bool grouped = is_grouped(order_);
  const std::int64_t keys = frame_.tiling.tiles();
  counts_.resize(grouped ? keys * threads : 0);
  std::vector<std::int64_t> bad(threads, -1);
#pragma omp parallel num_threads(threads)
  {
    // With fewer threads than asked for, each takes several shares.
    Located chunk;
    std::int64_t position[kChunk];
    for (int t = omp_get_thread_num(); t < threads; t += omp_get_num_threads()) {
      std::int64_t* count = grouped ? counts_.data() + t * keys : nullptr;
      if (grouped) std::fill(count, count + keys, 0);
      const Share s = share_of(m_, t, threads);
      for (std::int64_t first = s.begin; first < s.end; first += kChunk) {
        const int n = static_cast<int>(std::min<std::int64_t>(kChunk, s.end - first));
        if (!locate(first, n, points, !grouped, chunk)) {
          bad[t] = first;
          break;
        }
        if (grouped) {
          for_runs(
              chunk.tile, n, [&](int j) { count[chunk.tile[j]] += kRun; }, [&](int j) { ++count[chunk.tile[j]]; });
        } else {
          std::iota(position, position + n, first);
          write(chunk, n, position);
          std::copy_n(chunk.tile, n, tile_of_.data() + first);
        }
      }
    }
  }
  for (int t = 0; t < threads; ++t) {
    if (bad[t] >= 0) refuse(points, bad[t]);
  }
}

template <class T>
void PointStore<T>::place(const std::array<const T*, 3>& points, int threads) {
  const std::int64_t keys = frame_.tiling.tiles();
  std::int64_t placed = 0;
  starts_.resize(keys + 1);
  for (std::int64_t k = 0; k < keys; ++k) {
    starts_[k] = placed;
    for (int t = 0; t < threads; ++t) {
      const std::int64_t n = counts_[t * keys + k];
      counts_[t * keys + k] = placed;
      placed += n;
    }
  }
  starts_[keys] = placed;
#pragma omp parallel num_threads(threads)
  {
    Located chunk;
    std::int64_t position[kChunk];
    for (int t = omp_get_thread_num(); t < threads; t += omp_get_num_threads()) {
      std::int64_t* next = counts_.data() + t * keys;
      const Share s = share_of(m_, t, threads);
      for (std::int64_t first = s.begin; first < s.end; first += kChunk) {
        const int n = static_cast<int>(std::min<std::int64_t>(kChunk, s.end - first));
        locate(first, n, points, true, chunk);
        if (order_ == PointOrder::permuted) {
          // Where the record ends: a tile's places run upwards, its line before that was used a short time ago.
          const std::uint32_t* const last_word = records_.data() + form_.words - 1;
          const std::int64_t words = form_.words;
          for_runs(
              chunk.tile, n,
              [&](int j) {
                std::int64_t& begin = next[chunk.tile[j]];
                std::iota(position + j, position + j + kRun, begin);
                __builtin_prefetch(last_word + position[j + kRun - 1] * words, 1, 3);
                begin += kRun;
              },
              [&](int j) {
                position[j] = next[chunk.tile[j]]++;
                __builtin_prefetch(last_word + position[j] * words, 1, 3);
              });
        } else {
          if (wide_index_.size() > 0) {
            for (int j = 0; j < n; ++j) wide_index_[next[chunk.tile[j]]++] = first + j;
          } else {
            for (int j = 0; j < n; ++j) index_[next[chunk.tile[j]]++] = static_cast<std::uint32_t>(first + j);
          }
          std::iota(position, position + n, first);
        }
        write(chunk, n, position);
      }
    }
  }
}

// Pieces of at most kPiece points of a tile are ordered by x-bin, then by groups of z cells: neighbours in time then
// touch the same few rows. The pieces fit the second-level cache; stable, so that the order stays independent of
// threads.
template <class T>
template <int Words>
void PointStore<T>::order_pieces(int threads) {
  const Tiling& tiling = frame_.tiling;
  const int keys = tiling.bins * z_groups(tiling);
  using Record = std::array<std::uint32_t, Words>;
#pragma omp parallel num_threads(threads)
  {
    Buffer<Record> sorted(kPiece);
    Buffer<std::uint16_t> keys_of(kPiece);
    std::uint16_t* const key = keys_of.data();
    std::int32_t next[kMaxTile * (kMaxTile / kZGroup) + 1];
#pragma omp for schedule(dynamic, 4)
    for (std::int64_t t = 0; t < tiling.tiles(); ++t) {
      for (std::int64_t begin = starts_[t]; begin < starts_[t + 1]; begin += kPiece) {
        const int n = static_cast<int>(std::min(kPiece, starts_[t + 1] - begin));
        Record* const records = reinterpret_cast<Record*>(records_.data()) + begin;
        std::fill(next, next + keys + 1, 0);
        kernels_->local_keys(form_, tiling, records[0].data(), n, key);
        for (int j = 0; j < n; ++j) ++next[key[j] + 1];
        std::partial_sum(next, next + keys + 1, next);
        for (int j = 0; j < n; ++j) sorted[next[key[j]]++] = records[j];
        std::copy_n(sorted.data(), n, records);
      }
    }
  }
}

template <class T>
void PointStore<T>::order_pieces(int threads) {
  with_words(form_.words, [&](auto words) { order_pieces<decltype(words)::value>(threads); });
}

// Lists run in the caller's order: built from the last point to the first.
template <class T>
void PointStore<T>::link() {
  head_.resize(frame_.tiling.tiles());
  std::fill(head_.data(), head_.data() + head_.size(), -1);
  for (std::int64_t j = m_ - 1; j >= 0; --j) {
    std::int64_t& head = head_[tile_of_[j]];
    if (wide_next_.size() > 0) {
      wide_next_[j] = head;
    } else {
      next_[j] = static_cast<std::int32_t>(head);
    }
    head = j;
  }
}

template <class T>
void PointStore<T>::set(std::int64_t m, const std::array<const T*, 3>& points, const PointMap& map,
                        const Tiling& tiling, PointOrder order, bool local, int fraction, int threads,
                        const Kernels<T>& kernels) {
  if (m < 0)
    throw Error(Status::invalid_argument, fmt::format("{} points; the number of points must be at least 0", m));
  if (m >= std::int64_t{1} << 40) {
    throw Error(Status::size_overflow, fmt::format("{} points; the CPU backend holds fewer than 2^40", m));
  }
  m_ = m;
  order_ = order;
  kernels_ = &kernels;
  prepare(map, tiling, fraction);
  threads = static_cast<int>(std::clamp<std::int64_t>(m / 4096, 1, threads));
  records_.resize(m * form_.words + kRecordSlack);
  std::fill_n(records_.data() + m * form_.words, kRecordSlack, 0u);
  const bool wide = m > std::int64_t{std::numeric_limits<std::uint32_t>::max()};
  index_.resize(order == PointOrder::indexed && !wide ? m : 0);
  wide_index_.resize(order == PointOrder::indexed && wide ? m : 0);
  tile_of_.resize(is_grouped(order) ? 0 : m);
  const bool wide_links = m > std::int64_t{std::numeric_limits<std::int32_t>::max()};
  next_.resize(order == PointOrder::listed && !wide_links ? m : 0);
  wide_next_.resize(order == PointOrder::listed && wide_links ? m : 0);
  count_keys(points, threads);
  if (is_grouped(order)) {
    place(points, threads);
    if (local && order == PointOrder::permuted && tiling.dim == 3) order_pieces(threads);
  } else if (order == PointOrder::listed) {
    link();
  }
}

template <class T>
std::int64_t PointStore<T>::bytes() const {
  return records_.bytes() + index_.bytes() + wide_index_.bytes() + tile_of_.bytes() + head_.bytes() + next_.bytes() +
         wide_next_.bytes() + counts_.bytes() + starts_.bytes();
}

template class PointStore<float>;
template class PointStore<double>;

}  // namespace fourtune::runtime::cpu
