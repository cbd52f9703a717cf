#include "runtime/streamed_points.h"

#include <algorithm>

#include "runtime/relay.h"

namespace fourtune::runtime {
namespace {

constexpr int kIn = 0, kOut = Relay::kMarks;  // marks of relays

void copy(DeviceStreams& streams, DeviceStreams::Lane lane, void* to, const void* from, std::int64_t bytes) {
  if (bytes > 0) streams.copy(lane, {to, bytes}, {const_cast<void*>(from), bytes}, bytes, 1);
}

}  // namespace

void StreamedPoints::set(const PointSet& points, const SlabScheme& scheme, const Means& means) {
  scheme_ = scheme;
  owners_ = scheme.slab.owners(), neighbours_ = scheme.slab.neighbours();
  for (std::int32_t& slab : owners_) slab = 2 * slab;
  for (std::int32_t& slab : neighbours_) slab = slab < 0 ? -1 : 2 * slab + 1;
  chunks_.resize(static_cast<std::size_t>((points.m + scheme.points - 1) / scheme.points));
  std::int64_t first = 0;
  for (Chunk& chunk : chunks_) {
    chunk.first = first, chunk.count = std::min(scheme.points, points.m - first);
    order(chunk, points, means);
    if (!scheme.resident) chunk.values.resize(scheme.together * chunk.listed() * scheme.element(), means.streams);
    first += chunk.count;
  }
}

// Everything here waits for the device, once for each chunk of the points.
void StreamedPoints::order(Chunk& chunk, const PointSet& points, const Means& means) {
  const std::int64_t real = scheme_.element() / 2;
  const SlabPlaces places(scheme_);
  const std::array<const void*, 3> given{points.x, points.y, points.z};
  PointSet there;
  there.m = chunk.count;
  const std::array<const void**, 3> to{&there.x, &there.y, &there.z};
  const auto dims = static_cast<std::size_t>(scheme_.problem.dim);
  for (std::size_t d = 0; d < dims; ++d) {
    *to[d] = means.memory + places.coordinates[d];
    copy(means.streams, Lane::work, const_cast<void*>(*to[d]), static_cast<const char*>(given[d]) + chunk.first * real,
         chunk.count * real);
  }
  const std::vector<std::int64_t> at_cells = means.lists.locate(means.locator, there, scheme_.slab.cells, chunk.first);
  chunk.starts.assign(2 * static_cast<std::size_t>(scheme_.slabs()) + 1, 0);
  for (std::size_t c = 0; c < at_cells.size(); ++c) {
    chunk.starts[static_cast<std::size_t>(owners_[c]) + 1] += at_cells[c];
    if (neighbours_[c] >= 0) chunk.starts[static_cast<std::size_t>(neighbours_[c]) + 1] += at_cells[c];
  }
  for (std::size_t d = 1; d < chunk.starts.size(); ++d) chunk.starts[d] += chunk.starts[d - 1];
  const int slot = static_cast<int>((chunk.first / scheme_.points) % 2);
  means.lists.list(owners_, neighbours_, chunk.starts, slot);
  chunk.list.resize(4 * chunk.listed(), means.streams);
  copy(means.streams, Lane::work, chunk.list.data(), means.lists.at(slot), 4 * chunk.listed());
  const PointLists::Range all{0, chunk.listed()};
  gpu::BoundLaunches reals = means.lists.copies({&all, 1}, false, true, slot);
  for (std::size_t d = 0; d < dims; ++d) {
    char* const packed = means.memory + places.packed;
    means.lists.run(reals, {const_cast<void*>(*to[d]), chunk.count}, {packed, chunk.listed()}, false, true);
    chunk.coordinates[d].resize(chunk.listed() * real, means.streams);
    copy(means.streams, Lane::work, chunk.coordinates[d].data(), packed, chunk.listed() * real);
  }
  if (!scheme_.resident) {
    chunk.take = means.lists.copies({&all, 1}, true, true, slot);
    std::vector<PointLists::Range> own;  // of what is interpolated, copies have no part
    for (std::size_t s = 0; s + 1 < chunk.starts.size(); s += 2) own.push_back({chunk.starts[s], chunk.starts[s + 1]});
    chunk.give = means.lists.copies(own, true, false, slot);
  }
  means.streams.wait(Lane::work);
}

std::vector<StreamedPoints::Portion> StreamedPoints::parts(int slab, bool copies) const {
  std::vector<Portion> parts;
  const auto begin = 2 * static_cast<std::size_t>(slab), end = begin + (copies ? 2 : 1);
  for (std::size_t c = 0; c < chunks_.size(); ++c)
    for (std::int64_t at = chunks_[c].starts[begin]; at < chunks_[c].starts[end];) {
      if (parts.empty() || parts.back().count == scheme_.points) parts.emplace_back();
      Portion& part = parts.back();
      const std::int64_t count = std::min(chunks_[c].starts[end] - at, scheme_.points - part.count);
      part.runs.push_back({c, at, count});
      part.count += count, at += count;
    }
  return parts;
}

void StreamedPoints::copy_list(const Chunk& chunk, int slot, const Means& means) const {
  copy(means.streams, Lane::copies, means.lists.at(slot), chunk.list.data(), 4 * chunk.listed());
}

void StreamedPoints::take(const void* values, std::int64_t b, const Means& means) {
  const std::int64_t element = scheme_.element();
  const SlabPlaces places(scheme_);
  Relay in(means.streams, kIn, Lane::copies, Lane::work), out(means.streams, kOut, Lane::work, Lane::exchange);
  for (Chunk& chunk : chunks_) {
    const int slot = in.begin();
    char* const from = means.memory + places.from[static_cast<std::size_t>(slot)];
    copy(means.streams, Lane::copies, from, static_cast<const char*>(values) + chunk.first * element,
         chunk.count * element);
    copy_list(chunk, slot, means);
    in.hand_over();
    char* const to = means.memory + places.to[static_cast<std::size_t>(out.begin())];
    means.lists.run(chunk.take, {from, chunk.count}, {to, chunk.listed()}, true, true);
    in.done();
    out.hand_over();
    copy(means.streams, Lane::exchange, chunk.values.data() + b * chunk.listed() * element, to,
         chunk.listed() * element);
    out.done();
  }
  means.streams.wait(Lane::exchange);
}

void StreamedPoints::give(void* values, std::int64_t b, const Means& means) {
  const std::int64_t element = scheme_.element();
  const SlabPlaces places(scheme_);
  Relay in(means.streams, kIn, Lane::copies, Lane::work), out(means.streams, kOut, Lane::work, Lane::exchange);
  for (Chunk& chunk : chunks_) {
    const int slot = in.begin();
    char* const from = means.memory + places.to[static_cast<std::size_t>(slot)];
    copy(means.streams, Lane::copies, from, chunk.values.data() + b * chunk.listed() * element,
         chunk.listed() * element);
    copy_list(chunk, slot, means);
    in.hand_over();
    char* const to = means.memory + places.from[static_cast<std::size_t>(out.begin())];
    means.lists.run(chunk.give, {from, chunk.listed()}, {to, chunk.count}, true, false);
    in.done();
    out.hand_over();
    copy(means.streams, Lane::exchange, static_cast<char*>(values) + chunk.first * element, to, chunk.count * element);
    out.done();
  }
  means.streams.wait(Lane::exchange);
}

void StreamedPoints::copy_points(const Portion& part, int slot, const Means& means) const {
  const std::int64_t real = scheme_.element() / 2;
  const SlabPlaces places(scheme_);
  std::int64_t before = 0;
  for (const ChunkRange& run : part.runs) {
    const Chunk& chunk = chunks_[run.chunk];
    for (std::size_t d = 0; d < static_cast<std::size_t>(scheme_.problem.dim); ++d)
      copy(means.streams, Lane::copies, means.memory + places.points[static_cast<std::size_t>(slot)][d] + before * real,
           chunk.coordinates[d].data() + run.begin * real, run.count * real);
    if (scheme_.resident)
      copy(means.streams, Lane::copies, static_cast<char*>(means.lists.at(slot)) + 4 * before,
           chunk.list.data() + 4 * run.begin, 4 * run.count);
    before += run.count;
  }
}

void StreamedPoints::pack_values(const Portion& part, int slot, std::int64_t b, void* packed, bool packs,
                                 const Means& means) const {
  std::vector<PointLists::Range> ranges;
  std::int64_t before = 0;
  for (const ChunkRange& run : part.runs) {
    ranges.push_back({before, before + run.count, chunks_[run.chunk].first});
    before += run.count;
  }
  const std::int64_t m = *scheme_.problem.m;
  const PointLists::Items all{means.memory + SlabPlaces(scheme_).all_values + b * m * scheme_.element(), m},
      own{packed, part.count};
  gpu::BoundLaunches copies = means.lists.copies(ranges, true, packs, slot);
  means.lists.run(copies, packs ? all : own, packs ? own : all, true, packs);
}

void StreamedPoints::copy_values(const Portion& part, std::int64_t b, void* there, bool to_device,
                                 const Means& means) const {
  const std::int64_t element = scheme_.element();
  char* at = static_cast<char*>(there);
  for (const ChunkRange& run : part.runs) {
    const Chunk& chunk = chunks_[run.chunk];
    char* const host = chunk.values.data() + (b * chunk.listed() + run.begin) * element;
    copy(means.streams, to_device ? Lane::copies : Lane::exchange, to_device ? at : host, to_device ? host : at,
         run.count * element);
    at += run.count * element;
  }
}

std::int64_t StreamedPoints::host_bytes() const {
  std::int64_t bytes = 0;
  for (const Chunk& chunk : chunks_) {
    bytes += chunk.list.bytes() + chunk.values.bytes();
    for (const PinnedMemory& coordinate : chunk.coordinates) bytes += coordinate.bytes();
  }
  return bytes;
}

}  // namespace fourtune::runtime
