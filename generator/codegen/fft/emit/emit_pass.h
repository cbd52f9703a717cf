// The CUDA text of one pass, and the layout of shared memory that it is written for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/codegen/fft/lower/pass.h"
#include "generator/codegen/kernel_source.h"

namespace fourtune::generator::fft {

// Where the values of a tile lie in shared memory between two rounds: a stride for every tile atom, in values.
struct SharedLayout {
  std::vector<std::int64_t> stride;  // by atom; 0 for atoms of the grid
  std::int64_t values = 0;           // size, padding included
  // Swizzled: [atom][bit], the address is the exclusive or of these instead of the sum. Empty: strides.
  std::vector<std::vector<std::int64_t>> bits;
  double conflicts = 1;      // shared-memory passes per access, mean of write and read; 1 is free of conflicts
  bool within_warp = false;  // no value changes its warp
};
// Where blocks of a cluster change (to.blocks differs), to.blocks choose the block and the stride is that inside it.
// `word` bytes per value (4, 8 or 16). pad: the layout with fewest bank conflicts that the search found; plain: the
// same without padding; swizzle: no padding and no conflicts, for powers of two only (Error{invalid_plan}, "rule
// banks").
SharedLayout shared_layout(const PassSpec& pass, const Round& from, const Round& to, int word);
// The same for a resident tile: one layout for all rounds.
SharedLayout resident_layout(const PassSpec& pass, int word);

struct PassText {
  std::string text;  // the function alone; prelude and codelets are shared by the passes of a file
  std::string entry;
  std::uint32_t shared_bytes = 0;
  std::vector<int> codelets;  // sizes it calls
  double conflicts = 1;       // worst exchange
};
PassText emit_pass(const PassSpec& pass);

// Text in front of the passes: types, device functions, the codelets of these sizes.
std::string emit_prelude(Precision precision, const std::vector<int>& codelets);
// A whole translation unit of one pass.
KernelSource emit_kernel(const PassSpec& pass);

}  // namespace fourtune::generator::fft
