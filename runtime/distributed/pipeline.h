// The middle of a transform by slabs: work on planes, a transposition, and work on lines, or the same backwards. Pieces
// of the transposition travel while others are worked on (Chunks of rank_plan.h):
//
//   cut by the side that comes first     work on a piece, begin to send it, go on with the next; then the other side
//   cut by the side that comes second    all work, then begin to send all pieces; wait for one, work on it, and so on
//   cut by the batch                     work on a group of transforms, send it, work on the next group, and so on
//
// The order of work within a piece is the same whatever the cut, and no work depends on more than its own piece, so the
// bits of a result do not depend on the chunks.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/backends/cpu/base/buffer.h"
#include "runtime/backends/cpu/base/stage_clock.h"
#include "runtime/distributed/transposition.h"

namespace fourtune::runtime::distributed {

template <class T>
class Pipeline {
  using Complex = std::complex<T>;

 public:
  // For up to `batch` transforms at a time. Throws Error{out_of_memory | size_overflow}; does not communicate.
  void bind(const Communicator& ranks, const TranspositionShape& shape, const Chunks& chunks, std::int64_t batch,
            int threads) {
    chunks_ = ranks.size() > 1 ? chunks : Chunks{};
    exchange_ = Transposition(ranks, shape, chunks_, threads);
    const bool by_batch = chunks_.cut == Cut::batch;
    group_ = by_batch ? (batch + chunks_.count - 1) / chunks_.count : 1;
    const std::int64_t held = by_batch && group_ < batch ? 2 * group_ : group_;
    by_planes_.resize(checked_multiply(exchange_.planes_elements(), held, "planes"));
    by_columns_.resize(exchange_.trivial() ? 0 : checked_multiply(exchange_.columns_elements(), held, "columns"));
    transfers_.resize(by_batch ? 2 : static_cast<std::size_t>(exchange_.chunks()));
  }
  std::int64_t bytes() const { return by_planes_.bytes() + by_columns_.bytes(); }
  int chunks() const { return exchange_.chunks(); }
  // How many planes the work of this chunk has; none, one or two numbers occur.
  std::int64_t planes(int chunk) const { return exchange_.planes(chunk).count; }

  // planes(b, planes of this rank, range of them) writes the planes of transform b, and lines(b, columns of this rank,
  // range of them) reads its columns; to_planes() is the other way round. Collective: they must not throw.
  template <class Planes, class Lines>
  void to_columns(std::int64_t batch, cpu::StageClock& clock, Planes planes, Lines lines) {
    run(batch, clock, Side<Planes>{true, "planes", planes}, Side<Lines>{false, "lines", lines});
  }
  template <class Lines, class Planes>
  void to_planes(std::int64_t batch, cpu::StageClock& clock, Lines lines, Planes planes) {
    run(batch, clock, Side<Lines>{false, "lines", lines}, Side<Planes>{true, "planes", planes});
  }

 private:
  template <class Work>
  struct Side {
    bool planes;
    const char* stage;
    Work& work;
  };

  template <class First, class Second>
  void run(std::int64_t batch, cpu::StageClock& clock, First first, Second second) {
    if (chunks_.cut == Cut::batch) return run_groups(batch, clock, first, second);
    const int chunks = exchange_.chunks();
    const bool first_is_cut = (chunks_.cut == Cut::planes) == first.planes;
    for (std::int64_t b = 0; b < batch; ++b) {
      for (int c = 0; c < chunks; ++c) {
        if (first_is_cut || c == 0) work(first, clock, b, 0, first_is_cut ? c : kAll);
        exchange(clock, [&] {
          for (int earlier = 0; earlier < c; ++earlier) transfer(earlier).poll();
          begin(c, first.planes, 0, 1, transfer(c));
        });
      }
      for (int c = 0; c < chunks; ++c) {
        exchange(clock, [&] { transfer(c).wait(); });
        if (!first_is_cut) work(second, clock, b, 0, c);
      }
      if (first_is_cut) work(second, clock, b, 0, kAll);
    }
  }

  // Two groups are under way: while one travels, the next is worked on.
  template <class First, class Second>
  void run_groups(std::int64_t batch, cpu::StageClock& clock, First first, Second second) {
    const auto finish = [&](std::int64_t begin) {
      const std::int64_t slot = begin / group_ % 2;
      exchange(clock, [&] { transfer(slot).wait(); });
      for (std::int64_t b = begin; b < std::min(batch, begin + group_); ++b)
        work(second, clock, b, slot * group_ + b - begin, kAll);
    };
    for (std::int64_t at = 0; at < batch; at += group_) {
      const std::int64_t slot = at / group_ % 2, end = std::min(batch, at + group_);
      for (std::int64_t b = at; b < end; ++b) work(first, clock, b, slot * group_ + b - at, kAll);
      exchange(clock, [&] { begin(0, first.planes, slot * group_, end - at, transfer(slot)); });
      if (at > 0) finish(at - group_);
    }
    if (batch > 0) finish((batch - 1) / group_ * group_);
  }

  static constexpr int kAll = -1;
  cpu::LineRange whole(bool planes) const {
    const int last = exchange_.chunks() - 1;
    const cpu::LineRange end = planes ? exchange_.planes(last) : exchange_.columns(last);
    return {0, end.first + end.count};
  }
  template <class Work>
  void work(Side<Work>& side, cpu::StageClock& clock, std::int64_t b, std::int64_t place, int chunk) {
    const cpu::LineRange range = chunk == kAll ? whole(side.planes)
                                 : side.planes ? exchange_.planes(chunk)
                                               : exchange_.columns(chunk);
    Complex* const array = side.planes ? planes_at(place) : columns_at(place);
    clock.time(side.stage, [&] { side.work(b, array, range); });
  }
  void begin(int chunk, bool to_columns, std::int64_t place, std::int64_t count, Transfer& transfer) {
    exchange_.begin(chunk, to_columns, {planes_at(place), columns_at(place), count}, transfer);
  }
  template <class Moving>
  void exchange(cpu::StageClock& clock, Moving moving) {
    if (!exchange_.trivial()) clock.time("exchange", moving);
  }
  Transfer& transfer(std::int64_t i) { return transfers_[static_cast<std::size_t>(i)]; }
  Complex* planes_at(std::int64_t place) { return by_planes_.data() + place * exchange_.planes_elements(); }
  Complex* columns_at(std::int64_t place) {
    return exchange_.trivial() ? by_planes_.data() : by_columns_.data() + place * exchange_.columns_elements();
  }

  Transposition exchange_;
  Chunks chunks_;
  std::int64_t group_ = 1;  // transforms that travel at once
  cpu::Buffer<Complex> by_planes_, by_columns_;
  std::vector<Transfer> transfers_;  // by chunk, or of two groups
};

}  // namespace fourtune::runtime::distributed
