// Kernels that move points, and values with them, to the ranks whose slabs of the grid they reach. Locating is
// StageKernels::emit_cells; these do not depend on a grid.
#pragma once

#include <cstdint>
#include <span>

#include "fourtune/problem.h"
#include "generator/codegen/kernel_source.h"

namespace fourtune::generator::nufft {

// Lists m points by destinations, those of a destination in any order: a 32-bit number of each. cells: 32-bit numbers;
// owners, neighbours: the destinations of a cell (32 bits; -1: no neighbour); next: 64-bit numbers, where each
// destination begins in the list, left at its end.
void emit_list(GpuProgram& program, const BufferRef& cells, const BufferRef& owners, const BufferRef& neighbours,
               const BufferRef& next, const BufferRef& list, std::int64_t m, std::int64_t destinations);
// Copies n items between an array in the order of the list (packed) and one that its numbers point into. complex: of
// two numbers each.
void emit_packing(GpuProgram& program, const BufferRef& from, const BufferRef& list, const BufferRef& to,
                  std::int64_t n, Precision precision, bool complex, bool packs);
// Packs pieces of the list into separate arrays, some of which may be in the memory of other GPUs, or puts them back.
struct ListedPiece {
  BufferRef at;
  std::int64_t begin = 0, count = 0;  // items of the list
};
// An array of so many bytes, a multiple of 16, that is set to 0 meanwhile: links keep the memory half idle.
inline ListedPiece cleared_piece(const BufferRef& at, std::int64_t bytes) { return {at, -1, bytes / 16}; }
// blocks: at most; 0: as many as finish soonest alone.
void emit_sending(GpuProgram& program, const BufferRef& from, const BufferRef& list,
                  std::span<const ListedPiece> pieces, Precision precision, bool complex, std::int64_t blocks = 0);
void emit_fetching(GpuProgram& program, std::span<const ListedPiece> pieces, const BufferRef& list, const BufferRef& to,
                   Precision precision, bool complex, std::int64_t blocks = 0);

}  // namespace fourtune::generator::nufft
