#include "runtime/backends/cpu/gridder/sort.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "fmt/format.h"
#include "fourtune/status.h"
#include "runtime/backends/cpu/base/team.h"
#include "runtime/backends/cpu/gridder/share.h"
#include "runtime/backends/cpu/gridder/turns.h"

namespace fourtune::runtime::cpu {
namespace {

// Up to this many points, what was located is kept (12 to 36 bytes of a point) in fresh memory and placed from the
// cache instead of being located twice. For more, fresh pages would cost as much as that.
constexpr std::int64_t kKeptPoints = 65536;

// Nothing is kept where coordinates, what was located and records are more than this, about what the last-level cache
// holds: writing it to memory and reading it again costs more than locating twice.
constexpr std::int64_t kNearBytes = std::int64_t{32} << 20;

// A thread takes part for at least so many points, which take it about 13 us (two cores of an AMD EPYC). With fewer,
// two threads are no faster than one.
constexpr std::int64_t kPointsOfThread = 5120;

// The points of a thread: whole chunks, each of which one thread locates and places.
Share points_of(std::int64_t m, std::int64_t thread, std::int64_t threads) {
  const Share chunks = share_of((m + kChunk - 1) / kChunk, thread, threads);
  return {chunks.begin * kChunk, std::min(chunks.end * kChunk, m)};
}

// Calls f(first, n) for the chunks of a thread's points until one returns false. Returns the first point of that one,
// or -1.
template <class F>
std::int64_t for_chunks(Share points, const F& f) {
  for (std::int64_t first = points.begin; first < points.end; first += kChunk) {
    const int n = static_cast<int>(std::min<std::int64_t>(kChunk, points.end - first));
    if (!f(first, n)) return first;
  }
  return -1;
}

int threads_for(std::int64_t m, int most) {
  return static_cast<int>(std::clamp<std::int64_t>(m / kPointsOfThread, 1, most));
}

bool is_grouped(PointOrder order) { return order == PointOrder::permuted || order == PointOrder::indexed; }

// Successive keys are counted in several histograms, `stride` apart, in turn: points adjacent in time are often
// adjacent in space (readouts of a scanner, clusters), and repeated additions to one counter wait for each other.
constexpr int kHistograms = 4;
constexpr std::int64_t kManyKeys = 1024;  // with more keys, histograms exceed the first-level cache
template <class Counter>
void count_chunk(const std::int32_t* key, int n, std::int64_t stride, Counter* count) {
  int j = 0;
  for (; j + kHistograms <= n; j += kHistograms) {
    for (int h = 0; h < kHistograms; ++h) ++count[h * stride + key[j + h]];
  }
  for (; j < n; ++j) ++count[key[j]];
}

template <class Counter>
void add_histograms(std::int64_t stride, Counter* count) {
  for (int h = 1; h < kHistograms; ++h) {
    for (std::int64_t k = 0; k < stride; ++k) count[k] += count[h * stride + k];
  }
}

// Points of a tile in one x-bin touch the rows of one bin only. Where those rows would exceed the first-level cache,
// planes are processed a few at a time.
constexpr std::int64_t kInnerBytes = 48 * 1024;
// With fewer points per key, ordering them is not worth counting keys.
constexpr std::int64_t kLeastToInterpolate = 16, kLeastToSpread = 32;
// Pairs have far more keys, of each of which every thread reads the counters of all threads.
constexpr std::int64_t least_of_pairs(std::int64_t threads) {
  return 2 * std::max<std::int64_t>(1, threads * threads / 4);
}
// In 2D, points of one line of cells along x and of a few rows are spread in pairs (GridderKernels::spread_pairs).
InnerOrder pair_order(const Tiling& tiling, std::int64_t element_bytes) {
  InnerOrder inner;
  inner.bin = static_cast<int>(kLine / element_bytes);
  inner.bins = (tiling.tile[0] + inner.bin - 1) / inner.bin;
  inner.plane_bits = std::bit_width(static_cast<unsigned>(kPairRows));
  inner.groups = ((tiling.tile[1] - 1) >> inner.plane_bits) + 1;
  return inner;
}
InnerOrder inner_order(const Tiling& tiling, std::int64_t element_bytes) {
  if (tiling.dim == 2) return pair_order(tiling, element_bytes);
  InnerOrder inner;
  inner.bin = tiling.bin;
  inner.bins = tiling.bins;
  inner.plane_bits = std::bit_width(static_cast<unsigned>(tiling.tile[2] - 1));
  if (by_slabs(tiling.dim, tiling.width, static_cast<int>(element_bytes))) return inner;  // planes go slab by slab
  const std::int64_t plane_bytes = tiling.padded[1] * tiling.slots * element_bytes;
  while (inner.plane_bits > 2 && ((1 << inner.plane_bits) + tiling.width - 1) * plane_bytes > kInnerBytes)
    --inner.plane_bits;
  inner.groups = ((tiling.tile[2] - 1) >> inner.plane_bits) + 1;
  return inner;
}

// Calls f(integral_constant<int, W>) for the number of words in a record.
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

// Where records are larger than this, several times a second-level cache, it does not pay to wait for the line of each.
// In smaller ones, a line that is asked for early is often taken from the thread that writes the places before it.
constexpr std::int64_t kCachedBytes = std::int64_t{4} << 20;

// Writes every record of a chunk to the next place of its key. Ahead: asks for the line behind that.
template <int Words, bool Ahead, class Counter>
void scatter(const Located& chunk, int n, Counter* next, std::uint32_t* records) {
  for (int j = 0; j < n; ++j) {
    std::uint32_t* const r = records + static_cast<std::size_t>(next[chunk.key[j]]++) * Words;
    if (Ahead) __builtin_prefetch(r + kLine / sizeof *r, 1, 3);  // the places of a key are ascending
    for (int w = 0; w < Words; w += 2) {
      std::memcpy(r + w, &chunk.word[w / 2][j], w + 1 < Words ? sizeof(std::uint64_t) : sizeof(std::uint32_t));
    }
  }
}

}  // namespace

template <class T>
void PointStore<T>::prepare(const PointMap& map, const Tiling& tiling, std::int64_t least_of_key, int fraction) {
  frame_.tiling = tiling;
  frame_.inner = InnerOrder();
  if (least_of_key > 0 && order_ == PointOrder::permuted && tiling.dim > 1) {
    const InnerOrder inner = inner_order(tiling, sizeof(std::complex<T>));
    const std::int64_t keys = tiling.tiles() * inner.keys();
    if (m_ >= least_of_key * keys && keys <= std::numeric_limits<std::int32_t>::max()) frame_.inner = inner;
  }
  form_ = make_record_form(tiling, fraction, m_, order_ == PointOrder::permuted);
  if (order_ == PointOrder::raw) form_.words = 2;  // as they are located
  for (int d = 0; d < tiling.dim; ++d) {
    const bool radians = map.factor[d] == kInverseTwoPi;
    frame_.axes[d] = {map.centre[d],
                      map.factor[d],
                      radians ? kInverseTwoPiLow : map.factor_low[d],
                      static_cast<std::int32_t>(tiling.fine[d]),
                      tiling.width,
                      map.centre_low[d]};
    frame_.inverse_tile[d] = 1.0 / tiling.tile[d];
  }
  for (const Arithmetic a : {Arithmetic::int32, Arithmetic::int64, Arithmetic::deep}) {
    if (a == Arithmetic::deep && sizeof(T) == sizeof(float)) break;
    frame_.arithmetic = a;
    bool enough = true;
    for (int d = 0; d < tiling.dim; ++d) enough = enough && prepare_fixed(d);
    if (enough) return;
  }
  frame_.arithmetic = Arithmetic::exact;
}

// Returns whether fixed point by frame_.arithmetic is exact enough.
template <class T>
bool PointStore<T>::prepare_fixed(int d) {
  const Tiling& tiling = frame_.tiling;
  const PeriodAxis& axis = frame_.axes[d];
  FixedAxis& fixed = frame_.fixed_axes[d];
  const bool narrow = frame_.arithmetic == Arithmetic::int32, deep = frame_.arithmetic == Arithmetic::deep;
  // q is in [0, 2 * fine) cells where it has 32 bits; otherwise 1.5 * fine cells fit in 51 bits.
  const int coarse_bits = (narrow ? 30 : 50) - std::bit_width(static_cast<unsigned>(axis.fine));
  fixed.tile_bits = std::bit_width(static_cast<unsigned>(tiling.tile[d] - 1));
  fixed.bits = coarse_bits + (deep ? kDeepBits : 0);
  if (fixed.bits < form_.fraction + (narrow ? 0 : 4)) return false;  // rounded products have errors of up to four units
  fixed.folded_scale = std::ldexp(axis.fine, coarse_bits);
  fixed.scale = axis.factor * fixed.folded_scale;
  fixed.scale_low = std::fma(axis.factor, fixed.folded_scale, -fixed.scale) + axis.factor_low * fixed.folded_scale;
  // i0 + (1 - f) = u - w/2 + 1, minus a little so that f is in [0, 1) and not in (0, 1].
  const double cells = 1 - 0.5 * axis.width - axis.centre * axis.factor * axis.fine;
  fixed.shift = narrow ? std::ldexp(cells + axis.fine, coarse_bits) - 0x1p-8
                       : kIntegers + std::rint(std::ldexp(cells, coarse_bits)) - 1;
  fixed.deep_shift = std::llrint(std::ldexp(cells, fixed.bits)) - 1;
  const bool aligned = tiling.tile[d] == 1 << fixed.tile_bits || tiling.count[d] == 1;
  // A rounded shift has errors of several deep units.
  const bool round = !deep || (axis.factor == kInverseTwoPi && 2 * cells == std::rint(2 * cells));
  return aligned && std::abs(cells) < axis.fine && round;
}

template <class T>
std::int64_t PointStore<T>::counters_of_thread() const {
  constexpr std::int64_t kOfLine = kLine / sizeof(std::uint32_t);  // whole lines, as threads would wait for a shared
                                                                   // one
  return (keys() * (keys() <= kManyKeys ? kHistograms : 2) + kOfLine - 1) / kOfLine * kOfLine;
}

// Returns false at a bad coordinate.
template <class T>
bool PointStore<T>::locate(std::int64_t first, int n, const std::array<const T*, 3>& points, bool records,
                           Located& chunk) const {
  std::array<const T*, 3> at{};
  for (int d = 0; d < frame_.tiling.dim; ++d) {
    at[d] = points[d] + first;
    // The hardware prefetcher follows a stream only to the end of its page, so prefetch the next chunk.
    const T* ahead = at[d] + kChunk;
    const T* end = points[d] + std::min(m_, first + 2 * kChunk);
    for (; ahead < end; ahead += kLine / sizeof(T)) __builtin_prefetch(ahead, 0, 3);
  }
  return kernels_->locate(frame_, records ? &form_ : nullptr, at, first, n, chunk);
}

// Throws an error that names the first bad point at or after `first`.
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

// Writes record j to position[j].
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
void PointStore<T>::refuse_any(const std::array<const T*, 3>& points, const std::vector<std::int64_t>& bad) {
  for (const std::int64_t first : bad) {
    if (first >= 0) refuse(points, first);
  }
}

// All finite numbers of radians can be located; other maps may overflow.
template <class T>
void PointStore<T>::copy_raw(const std::array<const T*, 3>& points, int threads) {
  coordinates_.resize(m_);
  const bool radians = frame_.axes[0].factor == kInverseTwoPi;
  std::vector<std::int64_t> bad(threads);
  parallel_for(threads, threads, [&](std::int64_t t) {
    Located located;
    bad[t] = for_chunks(points_of(m_, t, threads), [&](std::int64_t first, int n) {
      const bool finite = kernels_->copy(points[0] + first, n, coordinates_.data() + first);
      return finite && (radians || locate(first, n, points, false, located));
    });
  });
  refuse_any(points, bad);
}

// Finds memory for what is located.
template <class T>
void PointStore<T>::keep_located(std::span<std::byte> lent, int threads) {
  kept_of_thread_ = 0;
  if (!is_grouped(order_)) return;
  const std::int64_t chunks = (m_ + kChunk - 1) / kChunk, of_thread = (chunks + threads - 1) / threads;
  const std::int64_t coordinates = frame_.tiling.dim * std::int64_t{sizeof(T)};
  const std::int64_t record = form_.words * std::int64_t{sizeof(std::uint32_t)};
  if (m_ * (coordinates + record) + chunks * bytes_of_located(form_.words) > kNearBytes) return;
  const std::int64_t bytes = bytes_of_located(form_.words) * threads;
  kept_of_thread_ = std::min(of_thread, static_cast<std::int64_t>(lent.size()) / bytes);
  located_ = lent.data();
  if (kept_of_thread_ == of_thread || m_ > kKeptPoints) return;
  kept_of_thread_ = of_thread;
  own_located_.resize(of_thread * bytes);
  located_ = own_located_.data();
}

template <class T>
template <class Counter>
void PointStore<T>::count_keys(const std::array<const T*, 3>& points, int threads) {
  const std::int64_t stride = keys() <= kManyKeys ? keys() : 0;
  counts<Counter>().resize(counters_of_thread() * threads);
  std::vector<std::int64_t> bad(threads);
  parallel_for(threads, threads, [&](std::int64_t t) {
    Located own;
    Counter* const count = counts<Counter>().data() + t * counters_of_thread();
    std::fill_n(count, stride > 0 ? kHistograms * stride : keys(), Counter{0});
    const Share share = points_of(m_, t, threads);
    bad[t] = for_chunks(share, [&](std::int64_t first, int n) {
      Located* const keeps = kept(t, (first - share.begin) / kChunk);
      Located& chunk = keeps != nullptr ? *keeps : own;
      if (!locate(first, n, points, keeps != nullptr, chunk)) return false;
      count_chunk(chunk.key, n, stride, count);
      return true;
    });
    if (stride > 0) add_histograms(stride, count);
  });
  refuse_any(points, bad);
}

// Writes the first place of each key for thread t to `next`, and thread 0 where tiles start. Every thread does so by
// itself: places that another one wrote would have to come from its cache.
//
// A line of records that two threads write goes from one cache to the other and back. So the points of a thread lie
// together by tile, in the order of their keys, and not by key: there are fewer tiles than keys.
template <class T>
template <class Counter>
void PointStore<T>::find_places(std::int64_t t, int threads, Counter* next) {
  const std::int64_t inner = frame_.inner.keys(), tiles = frame_.tiling.tiles();
  const std::int64_t together = by_key_ ? 1 : inner;  // keys of which a thread's points lie together
  Counter placed = 0;
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    if (t == 0) starts_[tile] = placed;
    for (std::int64_t first = tile * inner; first < (tile + 1) * inner; first += together) {
      for (int s = 0; s < threads; ++s) {
        const Counter* const count = counts<Counter>().data() + s * counters_of_thread();
        for (std::int64_t k = first; k < first + together; ++k) {
          if (s == t) next[k] = placed;
          placed += count[k];
        }
      }
    }
  }
  if (t == 0) starts_[tiles] = placed;
}

template <class T>
template <class Counter>
void PointStore<T>::place(const std::array<const T*, 3>& points, int threads) {
  const bool ahead = m_ * form_.words * std::int64_t{sizeof(std::uint32_t)} > kCachedBytes;
  starts_.resize(frame_.tiling.tiles() + 1);
  parallel_for(threads, threads, [&](std::int64_t t) {
    Located own;
    std::int64_t position[kChunk];
    Counter* const next = counts<Counter>().data() + t * counters_of_thread() + keys();
    find_places(t, threads, next);
    const Share share = points_of(m_, t, threads);
    for_chunks(share, [&](std::int64_t first, int n) {
      const Located* const keeps = kept(t, (first - share.begin) / kChunk);
      if (keeps == nullptr) locate(first, n, points, true, own);
      const Located& chunk = keeps != nullptr ? *keeps : own;
      if (order_ == PointOrder::permuted) {
        with_words(form_.words, [&](auto words) {
          constexpr int kWords = decltype(words)::value;
          ahead ? scatter<kWords, true>(chunk, n, next, records_.data())
                : scatter<kWords, false>(chunk, n, next, records_.data());
        });
        return true;
      }
      const auto note_points = [&](auto* index) {
        using Index = std::remove_pointer_t<decltype(index)>;
        for (int j = 0; j < n; ++j) index[next[chunk.key[j]]++] = static_cast<Index>(first + j);
      };
      wide_index_.size() > 0 ? note_points(wide_index_.data()) : note_points(index_.data());
      std::iota(position, position + n, first);
      write(chunk, n, position);
      return true;
    });
  });
}

// Records in the caller's order, with the tile of each point.
template <class T>
void PointStore<T>::keep_order(const std::array<const T*, 3>& points, int threads) {
  std::vector<std::int64_t> bad(threads);
  parallel_for(threads, threads, [&](std::int64_t t) {
    Located chunk;
    std::int64_t position[kChunk];
    bad[t] = for_chunks(points_of(m_, t, threads), [&](std::int64_t first, int n) {
      if (!locate(first, n, points, true, chunk)) return false;
      std::iota(position, position + n, first);
      write(chunk, n, position);
      std::copy_n(chunk.key, n, tile_of_.data() + first);
      return true;
    });
  });
  refuse_any(points, bad);
}

template <class T>
template <class Counter>
void PointStore<T>::group(const std::array<const T*, 3>& points, int threads) {
  count_keys<Counter>(points, threads);
  place<Counter>(points, threads);
}

// Lists are in the caller's order, so they are built from the last point to the first.
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
void PointStore<T>::begin(std::int64_t m, const PointGrouping& grouping, const GridderKernels<T>& kernels) {
  if (m < 0)
    throw Error(Status::invalid_argument, fmt::format("{} points; the number of points must be at least 0", m));
  if (m >= std::int64_t{1} << 40) {
    throw Error(Status::size_overflow, fmt::format("{} points; the CPU backend holds fewer than 2^40", m));
  }
  m_ = m;
  order_ = grouping.order;
  by_key_ = grouping.same_order;
  kernels_ = &kernels;
}

template <class T>
void PointStore<T>::find_tiles(std::int64_t m, const std::array<const T*, 3>& points, const PointMap& map,
                               const Tiling& tiling, const PointGrouping& grouping, const GridderKernels<T>& kernels,
                               std::int32_t* tile) {
  begin(m, grouping, kernels);
  prepare(map, tiling, 0, grouping.fraction);
  const int threads = threads_for(m, grouping.threads);
  std::vector<std::int64_t> bad(threads);
  parallel_for(threads, threads, [&](std::int64_t t) {
    Located chunk;
    bad[t] = for_chunks(points_of(m_, t, threads), [&](std::int64_t first, int n) {
      if (!locate(first, n, points, false, chunk)) return false;
      std::copy_n(chunk.key, n, tile + first);
      return true;
    });
  });
  refuse_any(points, bad);
}

template <class T>
void PointStore<T>::set(std::int64_t m, const std::array<const T*, 3>& points, const PointMap& map,
                        const Tiling& tiling, const PointGrouping& grouping, const GridderKernels<T>& kernels) {
  const PointOrder order = grouping.order;
  begin(m, grouping, kernels);
  const int threads = threads_for(m, grouping.threads);
  const std::int64_t least = tiling.dim == 2      ? least_of_pairs(threads)
                             : grouping.to_spread ? kLeastToSpread
                                                  : kLeastToInterpolate;
  prepare(map, tiling, (tiling.dim == 2 ? grouping.pairs : grouping.local) ? least : 0, grouping.fraction);
  if (order == PointOrder::raw) return copy_raw(points, m < kKeptPoints ? 1 : threads);
  records_.resize(m * form_.words + kRecordSlack);
  std::fill_n(records_.data() + m * form_.words, kRecordSlack, 0u);
  const bool wide = m > std::int64_t{std::numeric_limits<std::uint32_t>::max()};
  index_.resize(order == PointOrder::indexed && !wide ? m : 0);
  wide_index_.resize(order == PointOrder::indexed && wide ? m : 0);
  tile_of_.resize(is_grouped(order) ? 0 : m);
  const bool wide_links = m > std::int64_t{std::numeric_limits<std::int32_t>::max()};
  next_.resize(order == PointOrder::listed && !wide_links ? m : 0);
  wide_next_.resize(order == PointOrder::listed && wide_links ? m : 0);
  keep_located(grouping.lent, threads);
  if (!is_grouped(order)) {
    keep_order(points, threads);
    if (order == PointOrder::listed) link();
  } else if (wide) {
    group<std::int64_t>(points, threads);
  } else {
    group<std::uint32_t>(points, threads);
  }
  own_located_.release();
}

template <class T>
std::int64_t PointStore<T>::bytes() const {
  return coordinates_.bytes() + records_.bytes() + index_.bytes() + wide_index_.bytes() + tile_of_.bytes() +
         head_.bytes() + next_.bytes() + wide_next_.bytes() + counts_.bytes() + wide_counts_.bytes() + starts_.bytes();
}

template class PointStore<float>;
template class PointStore<double>;

}  // namespace fourtune::runtime::cpu
