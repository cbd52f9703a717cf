// The middle of a transform by slabs: work on planes, a transposition, and work on lines, or the same backwards. Pieces
// of the transposition travel while others are worked on (Chunks of rank_plan.h):
//
//   cut by the side that comes first     work on a piece, begin to send it, go on with the next; then the other side
//   cut by the side that comes second    all work, then begin to send all pieces; wait for one, work on it, and so on
//   cut by the batch                     work on a group of transforms, send it, work on the next group, and so on
//
// Where the arrays in the middle lie and how they move is the Middle's matter:
//
//   bind(ranks, shape, chunks, memory, ...)          so much of it (TranspositionMemory)
//   pieces(), trivial(), bytes()                     as a Transposition's; of the memory
//   planes_at(place), columns_at(place)              array `place` of either side
//   adjacent()                                       whether one of these follows the other
//   open()                                           before the first side writes: others read nothing of it any more
//   begin(slot, chunk, to_columns, place, count)     begins to move a chunk of so many arrays, from `place` on
//   poll(slot), wait(slot)                           lets it proceed; returns when later work finds it moved
//
// The order of work within a piece is the same whatever the cut, and no work depends on more than its own piece, so the
// bits of a result do not depend on the chunks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "fourtune/problem.h"
#include "runtime/backends/cpu/base/stage_clock.h"
#include "runtime/distributed/communicator.h"
#include "runtime/distributed/host_middle.h"
#include "runtime/distributed/transposition_pieces.h"

namespace fourtune::runtime::distributed {

// The names of its parts in stage times; null: the caller times them.
struct PipelineStages {
  const char *planes = "planes", *lines = "lines", *exchange = "exchange";
};

template <class Middle>
class PipelineOf {
 public:
  PipelineOf() = default;
  explicit PipelineOf(const PipelineStages& stages) : stages_(stages) {}
  // For up to `batch` transforms at a time, of a Communicator's ranks or a RankGroup's. Throws what Middle::bind
  // throws; does not communicate.
  template <class Ranks, class... Rest>
  void bind(const Ranks& ranks, const TranspositionShape& shape, const Chunks& chunks, std::int64_t batch,
            Rest&&... rest) {
    chunks_ = ranks.size() > 1 ? chunks : Chunks{};
    const bool by_batch = chunks_.cut == Cut::batch;
    group_ = by_batch ? (batch + chunks_.count - 1) / chunks_.count : 1;
    const std::int64_t held = by_batch && group_ < batch ? 2 * group_ : group_;
    middle_.bind(ranks, shape, chunks_, {held, by_batch ? 2 : chunks_.count, group_}, std::forward<Rest>(rest)...);
  }
  std::int64_t bytes() const { return middle_.bytes(); }
  Middle& middle() { return middle_; }
  int chunks() const { return middle_.pieces().count(); }
  // What of this rank's planes and columns the work of a chunk has; none, one or two sizes occur.
  cpu::LineRange planes(int chunk) const { return middle_.pieces()[chunk].planes; }
  cpu::LineRange columns(int chunk) const { return middle_.pieces()[chunk].columns; }
  // Elements from one plane to the next where an array is stored by columns.
  std::int64_t columns_stride() const { return middle_.pieces().columns_stride(); }
  // The most transforms that one call of work has (below).
  std::int64_t together() const { return group_; }
  // planes(b, planes of this rank, range of them) writes the planes of transform b, and lines(b, columns of this rank,
  // range of them) reads its columns; to_planes() is the other way round. Work that takes (b, count, array, range) gets
  // `count` transforms from b on in one call, whose arrays follow each other. Collective: they must not throw.
  template <class Planes, class Lines>
  void to_columns(std::int64_t batch, cpu::StageClock& clock, Planes planes, Lines lines) {
    run(batch, clock, Side<Planes>{true, stages_.planes, planes}, Side<Lines>{false, stages_.lines, lines});
  }
  template <class Lines, class Planes>
  void to_planes(std::int64_t batch, cpu::StageClock& clock, Lines lines, Planes planes) {
    run(batch, clock, Side<Lines>{false, stages_.lines, lines}, Side<Planes>{true, stages_.planes, planes});
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
    const int count = chunks();
    const bool first_is_cut = (chunks_.cut == Cut::planes) == first.planes;
    for (std::int64_t b = 0; b < batch; ++b) {
      exchange(clock, [&] { middle_.open(); });
      for (int c = 0; c < count; ++c) {
        if (first_is_cut || c == 0) work(first, clock, {b, 0, 1}, first_is_cut ? c : kAll);
        exchange(clock, [&] {
          for (int earlier = 0; earlier < c; ++earlier) middle_.poll(earlier);
          middle_.begin(c, c, first.planes, 0, 1);
        });
      }
      for (int c = 0; c < count; ++c) {
        exchange(clock, [&] { middle_.wait(c); });
        if (!first_is_cut) work(second, clock, {b, 0, 1}, c);
      }
      if (first_is_cut) work(second, clock, {b, 0, 1}, kAll);
    }
  }

  // Two groups are under way: while one travels, the next is worked on.
  template <class First, class Second>
  void run_groups(std::int64_t batch, cpu::StageClock& clock, First first, Second second) {
    const auto finish = [&](std::int64_t begin) {
      const std::int64_t slot = begin / group_ % 2;
      exchange(clock, [&] { middle_.wait(static_cast<int>(slot)); });
      work(second, clock, {begin, slot * group_, std::min(batch - begin, group_)}, kAll);
    };
    for (std::int64_t at = 0; at < batch; at += group_) {
      const std::int64_t slot = at / group_ % 2, count = std::min(batch - at, group_);
      exchange(clock, [&] { middle_.open(); });
      work(first, clock, {at, slot * group_, count}, kAll);
      exchange(clock, [&] { middle_.begin(static_cast<int>(slot), 0, first.planes, slot * group_, count); });
      if (at > 0) finish(at - group_);
    }
    if (batch > 0) finish((batch - 1) / group_ * group_);
  }

  static constexpr int kAll = -1;
  cpu::LineRange range(bool of_planes, int chunk) const {
    const int last = chunk == kAll ? chunks() - 1 : chunk;
    const cpu::LineRange one = of_planes ? planes(last) : columns(last);
    return chunk == kAll ? cpu::LineRange{0, one.first + one.count} : one;
  }
  // Transforms from b on, and the first of their arrays.
  struct Group {
    std::int64_t b, place, count;
  };
  template <class Work>
  void work(Side<Work>& side, cpu::StageClock& clock, const Group& group, int chunk) {
    const auto array = [&](std::int64_t i) {
      return side.planes ? middle_.planes_at(group.place + i) : middle_.columns_at(group.place + i);
    };
    const cpu::LineRange which = range(side.planes, chunk);
    timed(clock, side.stage, [&] {
      if constexpr (std::is_invocable_v<Work&, std::int64_t, std::int64_t, decltype(array(0)), cpu::LineRange>) {
        const std::int64_t at_once = middle_.adjacent() ? group.count : 1;
        for (std::int64_t i = 0; i < group.count; i += at_once) side.work(group.b + i, at_once, array(i), which);
      } else {
        for (std::int64_t i = 0; i < group.count; ++i) side.work(group.b + i, array(i), which);
      }
    });
  }
  template <class Moving>
  void exchange(cpu::StageClock& clock, Moving moving) {
    if (!middle_.trivial()) timed(clock, stages_.exchange, moving);
  }
  template <class Work>
  static void timed(cpu::StageClock& clock, const char* stage, Work&& work) {
    stage != nullptr ? clock.time(stage, work) : work();
  }

  Middle middle_;
  PipelineStages stages_;
  Chunks chunks_;
  std::int64_t group_ = 1;  // transforms that travel at once
};

// On the processor.
template <class T>
using Pipeline = PipelineOf<HostMiddle<T>>;

}  // namespace fourtune::runtime::distributed
