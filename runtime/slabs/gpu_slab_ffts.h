// The transforms of a nonuniform transform by slabs on a GPU: planes of the fine grid to and from the modes that are
// kept of them, and lines along the last dimension to and from modes. Pruning, zero padding and deconvolution are in
// the kernels that read or write modes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "generator/codegen/nufft/fft.h"
#include "runtime/backends/gpu/program_set.h"

namespace fourtune::runtime {

class GpuSlabFfts {
 public:
  // grid: of the whole transform, with the transforms' sign and all factors; its batch is not used.
  GpuSlabFfts(std::unique_ptr<gpu::Queue> queue, void* stream, const generator::gpu_nufft::GridFft& grid);

  // Arrays of lines: elements from one position to the next.
  struct Strides {
    std::int64_t modes = 1, fine = 1;
  };
  // Makes transforms of so many planes, or of so many lines side by side, for one sign and direction. Throws what
  // compiling and allocating throw.
  void prepare_planes(std::int64_t count, int sign, bool to_modes);
  // The same where kept planes lie in the memory of the grid, each before its plane. Up to how many planes may be
  // transformed at a time: a single kernel reads some planes while it writes others.
  std::int64_t prepare_planes_inside(std::int64_t count, int sign, bool to_modes);
  void prepare_lines(std::int64_t count, const Strides& strides, int sign, bool to_modes);
  // From now on kept planes lie in an array of several ranks. Either each has a whole one, and the first step, that of
  // planes or of lines, stores some rows that cross there, while the second one loads the others from there. Or each
  // has its own planes alone (no of_columns): the step of lines loads and stores what belongs to others where it is. To
  // be called before anything is prepared.
  struct Shared {
    std::optional<generator::fft::RankArrays> of_columns;
    generator::fft::RankArrays of_planes;  // eighths: of the rows that are stored
  };
  void share(const Shared& shared);
  // Where it is now.
  void look(const gpu::ProgramSet::Ranks& ranks) { ranks_ = ranks; }
  // Of planes that lie one after the other on both sides.
  void planes(void* grid, void* kept, std::int64_t count, int sign, bool to_modes);
  // lines: those of `count` adjacent ones from these addresses on.
  void lines(void* fine, void* modes, std::int64_t count, int sign, bool to_modes);
  std::int64_t bytes() const { return programs_.bytes(); }

 private:
  using Key = std::array<std::int64_t, 3>;  // count, sign, direction
  generator::GpuProgram planes_program(std::int64_t count, int sign, bool to_modes) const;
  int last() const { return grid_.dim - 1; }
  // Cells along a dimension that the array of the grid has.
  std::int64_t cells(int dimension) const {
    const auto d = static_cast<std::size_t>(dimension);
    return grid_.held[d] == 0 ? grid_.fine[d] : grid_.held[d];
  }
  std::int64_t element() const { return 2 * real_bytes(grid_.precision); }

  generator::gpu_nufft::GridFft grid_;
  gpu::ProgramSet programs_;
  Strides strides_;
  std::map<Key, int> planes_, lines_;
  std::optional<Shared> shared_;
  gpu::ProgramSet::Ranks ranks_;
  bool shares_planes() const { return shared_ && shared_->of_columns; }
  void run(int number, const gpu::ProgramSet::Array& first, const gpu::ProgramSet::Array& second) {
    first.of_ranks || second.of_ranks ? programs_.run(number, first, second, ranks_)
                                      : programs_.run(number, first, second);
  }
};

}  // namespace fourtune::runtime
