// Lists of the points of an array by where they go, made on a device, and copies of items in the order of such a list:
// the points themselves once, and their values in every transform.
//
// A point's destinations follow from its first cell along the last dimension of the grid: that of the slab with the
// cell, and another one whose slab the point's window reaches.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "generator/codegen/nufft/kernels.h"
#include "runtime/backends/gpu/nufft_runner.h"

namespace fourtune::runtime {

class PointLists {
 public:
  struct Bytes {
    void* at;
    std::int64_t count;
  };
  // Items of a list, where the array begins that their numbers point into, in items, and where they lie in the packed
  // array (-1: where in the list).
  struct Range {
    std::int64_t begin = 0, end = 0, unpacked = 0, packed = -1;
  };
  // lists: how many there are at a time. stream: of the device, where kernels run. pieces: that sending() may have,
  // what it clears among them.
  PointLists(const Problem& problem, std::unique_ptr<gpu::Queue> queue, void* stream, int lists = 1, int pieces = 0);

  // Memory for so many points at most, of which up to `listed` items are listed. What is reserved never shrinks. Throws
  // Error{out_of_memory}.
  void reserve(std::int64_t points, std::int64_t listed, std::int64_t cells, std::int64_t destinations);
  // How many points begin at each cell of the last dimension. Arrays are in the device's memory; `first` is the number
  // of their first point in messages. At most 2^31 - 1 of them. Throws
  // Error{invalid_point | out_of_memory}.
  std::vector<std::int64_t> locate(const generator::nufft::StageKernels& kernels, const PointSet& points,
                                   std::int64_t cells, std::int64_t first = 0,
                                   const std::array<generator::nufft::Map, 3>& maps = {});
  // Lists the points located last: those of destination d from starts[d] on, in any order. owners, neighbours: of each
  // cell; -1: no neighbour.
  void list(const std::vector<std::int32_t>& owners, const std::vector<std::int32_t>& neighbours,
            const std::vector<std::int64_t>& starts, int which = 0);
  // The 32-bit numbers of a list, in the device's memory.
  void* at(int which = 0) const { return runner_.data(kList) + 4 * which * listed_; }

  // Copies from an array to items in the order of the list (packs), or back; of complex numbers or real ones.
  gpu::BoundLaunches copies(std::span<const Range> ranges, bool complex, bool packs, int which = 0);
  struct Items {
    void* at = nullptr;
    std::int64_t count = 0;
  };
  void run(gpu::BoundLaunches& copies, const Items& from, const Items& to, bool complex, bool packs);
  // Packs each range into a separate array, in the memory of this device or of another one that it reaches; cleared:
  // bytes, a multiple of 16, of an array of this device behind these, which becomes 0. beside: while other kernels run,
  // to which it leaves most of the device. stream: that it runs on; null: as all else.
  gpu::BoundLaunches sending(std::span<const Range> pieces, bool complex, std::int64_t cleared = 0,
                             bool beside = false);
  void send(gpu::BoundLaunches& sending, const Items& from, std::span<const Items> to, bool complex,
            const Bytes& cleared = {}, void* stream = nullptr);
  // Puts values back from such arrays.
  gpu::BoundLaunches fetching(std::span<const Range> pieces, bool complex, bool beside = false);
  void fetch(gpu::BoundLaunches& fetching, std::span<const Items> from, const Items& to, bool complex,
             void* stream = nullptr);
  std::int64_t held() const { return runner_.held(); }

 private:
  enum Slot : int { kX, kY, kZ, kCells, kCounts, kStatus, kOwners, kNeighbours, kNext, kList, kPieces };
  std::int64_t most_blocks(bool beside);
  std::int64_t item_bytes(bool complex) const { return (complex ? 2 : 1) * real_bytes(problem_.precision); }

  Problem problem_;
  gpu::Runner runner_;
  void* stream_;
  int lists_;
  std::int64_t own_ = 0, listed_ = 0;  // points located last; room of a list
  gpu::BoundLaunches locating_, listing_;
};

}  // namespace fourtune::runtime
