// Programs of a device that are bound once and run on arrays of the caller, one after the other. They share workspaces.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "generator/codegen/fft/lower/pass.h"
#include "runtime/backends/gpu/alignment.h"
#include "runtime/backends/gpu/nufft_runner.h"

namespace fourtune::runtime::gpu {

class ProgramSet {
 public:
  // An array of a program: as many bytes as the kernels may touch.
  struct Array {
    void* at = nullptr;
    std::int64_t bytes = 0;
    Access access = Access::in;
    bool of_ranks = false;  // lies in the array of several ranks (below)
  };
  // stream: of the device, where programs run. Use from one thread at a time.
  ProgramSet(std::unique_ptr<Queue> queue, void* stream) : runner_(std::move(queue), kSlots, false), stream_(stream) {}

  // The number of the program for run(). Throws what compiling and allocating throw.
  int add(const generator::GpuProgram& program) {
    for (std::size_t w = 0; w < program.workspace_bytes.size(); ++w)
      if (program.workspace_bytes[w] > runner_.slot_bytes(static_cast<int>(w)))
        runner_.reserve(static_cast<int>(w), program.workspace_bytes[w], "a workspace");
    parts_.push_back({runner_.make(program), program.alignment});
    return static_cast<int>(parts_.size()) - 1;
  }
  // Does not wait. Allocates nothing after the first time, unless add() came between. Throws Error{invalid_argument}
  // for arrays that the kernels need at other addresses.
  void run(int number, const Array& first, const Array& second) {
    Bound& bound = aligned(number, first, second);
    LaunchScope run(runner_.queue(), stream_);
    std::byte* const from = runner_.queue().open(first.at, first.bytes, first.access, "the first array");
    std::byte* const to = runner_.queue().open(second.at, second.bytes, second.access, "the second array");
    runner_.launch(bound.part, from, to);
    run.complete();
  }
  // The same where a program takes an array of several ranks (fft::RankArrays). Each rank holds all of it, or a piece.
  struct Ranks {
    struct Piece {
      std::int64_t first = 0, bytes = 0;  // of the whole array
    };
    std::span<void* const> arrays;  // of each rank: where the whole array begins, or would begin
    int own = 0;                    // this rank
    std::span<const Piece> pieces;  // by rank
  };
  void run(int number, const Array& first, const Array& second, const Ranks& ranks) {
    Bound& bound = aligned(number, first, second);
    LaunchScope run(runner_.queue(), stream_);
    std::vector<std::byte*> begins;
    for (std::size_t r = 0; r < ranks.arrays.size(); ++r) {
      const auto& [at, bytes] = ranks.pieces[r];
      auto* const piece = moved(static_cast<std::byte*>(ranks.arrays[r]), at);
      begins.push_back(moved(runner_.queue().open(piece, bytes, Access::both, "an array of a rank"), -at));
    }
    const auto own = static_cast<std::size_t>(ranks.own);
    tell(begins[own], begins);
    const auto open = [&](const Array& array, const char* name) {
      if (!array.of_ranks) return runner_.queue().open(array.at, array.bytes, array.access, name);
      return moved(begins[own], distance(ranks.arrays[own], array.at));
    };
    std::byte* const from = open(first, "the first array");
    runner_.launch(bound.part, from, open(second, "the second array"));
    run.complete();
  }
  const DeviceTraits& traits() { return runner_.queue().traits(); }
  std::int64_t bytes() const {
    std::int64_t sum = runner_.held();
    for (const Bound& bound : parts_) sum += bound.part.bytes();
    return sum;
  }

 private:
  static constexpr int kSlots = generator::fft::rank_addresses + 1;
  struct Bound {
    BoundLaunches part;
    std::array<int, 2> alignment{1, 1};
  };
  // Where a rank holds a piece, the array that it is a piece of may begin outside any memory.
  static std::byte* moved(std::byte* at, std::int64_t bytes) { return at + bytes; }
  static std::int64_t distance(const void* from, const void* to) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from));
  }
  Bound& aligned(int number, const Array& first, const Array& second) {
    Bound& bound = parts_[static_cast<std::size_t>(number)];
    check_alignment(first.at, bound.alignment[0], "the first array");
    check_alignment(second.at, bound.alignment[1], "the second array");
    return bound;
  }
  // Writes where the ranks' arrays are, unless the kernels know.
  void tell(const std::byte* own, const std::vector<std::byte*>& all) {
    const auto number = [](const std::byte* at) {
      return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(at));
    };
    std::vector<std::int64_t> addresses{number(own)};
    for (const std::byte* const one : all) addresses.push_back(number(one) - number(own));
    if (addresses == told_) return;
    runner_.reserve(generator::fft::rank_addresses, static_cast<std::int64_t>(std::span(addresses).size_bytes()),
                    "addresses of arrays", true);
    runner_.upload(generator::fft::rank_addresses, std::as_bytes(std::span(addresses)));
    told_ = addresses;
  }
  Runner runner_;
  void* stream_;
  std::vector<Bound> parts_;
  std::vector<std::int64_t> told_;
};

}  // namespace fourtune::runtime::gpu
