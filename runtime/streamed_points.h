// Nonuniform points in host memory, in the order of the slabs of the grid that they reach, and their values, which are
// put into that order and back in every transform. The device does that, for a chunk of the caller's arrays at a time.
//
// A point belongs to the slab of its first cell. Where its window reaches the next slab, that one gets a copy: so every
// slab is spread by itself. Only a point's own slab interpolates it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/backends/device_copy.h"
#include "runtime/pinned_memory.h"
#include "runtime/slab_scheme.h"
#include "runtime/slabs/point_lists.h"

namespace fourtune::runtime {

class StreamedPoints {
 public:
  // What it uses; all of it outlives this.
  struct Means {
    DeviceStreams& streams;
    PointLists& lists;
    const generator::nufft::StageKernels& locator;
    char* memory;  // where SlabPlaces are
  };
  // Consecutive items of a chunk's arrays, and some of them that a device works on at once.
  struct ChunkRange {
    std::size_t chunk = 0;
    std::int64_t begin = 0, count = 0;
  };
  struct Portion {
    std::vector<ChunkRange> runs;
    std::int64_t count = 0;
  };

  // Arrays are in the memory of the host or of the device; only the order is kept. Throws Error{invalid_point |
  // out_of_memory}.
  void set(const PointSet& points, const SlabScheme& scheme, const Means& means);
  // Parts of a slab of at most scheme.points points; copies: with those of the slab before.
  std::vector<Portion> parts(int slab, bool copies) const;

  // Unless they are resident: the values of transform `b` of those together. They have come when the lane exchange is
  // done; in the caller's order they are what `values` has, or gets.
  void take(const void* values, std::int64_t b, const Means& means);
  void give(void* values, std::int64_t b, const Means& means);

  // Copies a part's coordinates and, where values are resident, its list to one of two places, and values to the device
  // or back, each on a lane of copies.
  void copy_points(const Portion& part, int slot, const Means& means) const;
  void copy_values(const Portion& part, std::int64_t b, void* there, bool to_device, const Means& means) const;
  // Resident values of a part, whose list is there, from the caller's order to the part's or back, on lane work.
  void pack_values(const Portion& part, int slot, std::int64_t b, void* packed, bool packs, const Means& means) const;
  std::int64_t host_bytes() const;

 private:
  using Lane = DeviceStreams::Lane;
  struct Chunk {
    std::int64_t first = 0, count = 0;  // of the caller's points
    // Where those of each slab begin, and their copies: two for a slab, and the end.
    std::vector<std::int64_t> starts;
    std::array<PinnedMemory, 3> coordinates;
    PinnedMemory list, values;
    gpu::BoundLaunches take, give;  // copies between the orders
    std::int64_t listed() const { return starts.back(); }
  };
  void order(Chunk& chunk, const PointSet& points, const Means& means);
  void copy_list(const Chunk& chunk, int slot, const Means& means) const;

  SlabScheme scheme_;
  std::vector<std::int32_t> owners_, neighbours_;  // of the grid's cells: as starts of a chunk
  std::vector<Chunk> chunks_;
};

}  // namespace fourtune::runtime
