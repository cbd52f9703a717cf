// The CUDA text of one pass, and the shared-memory layout that it uses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/codegen/fft/lower/pass.h"
#include "generator/codegen/kernel_source.h"

namespace fourtune::generator::fft {

// The places of a tile's values in shared memory between two rounds: a stride in values for every tile atom.
struct SharedLayout {
  std::vector<std::int64_t> stride;  // by atom; 0 for atoms of the grid
  std::int64_t values = 0;           // size including padding
  // Swizzled: [atom][bit]; the address is the exclusive or of these values, not their sum. Empty: strides are used.
  std::vector<std::vector<std::int64_t>> bits;
  double conflicts = 1;      // shared-memory passes per access, mean of writing and reading; 1 means no conflicts
  bool within_warp = false;  // no value moves to another warp
};
// Where the blocks of a cluster change (to.blocks differs), to.blocks choose the block, and strides are within that
// block. `word`: bytes per value (4, 8 or 16). pad: the layout with the fewest bank conflicts that the search found;
// plain: the same without padding; swizzle: no padding and no conflicts, only for powers of two (else
// Error{invalid_plan}, "rule banks").
SharedLayout shared_layout(const PassSpec& pass, const Round& from, const Round& to, int word);
// The same for a resident tile: one layout for all rounds.
SharedLayout resident_layout(const PassSpec& pass, int word);

struct PassText {
  std::string text;  // only the function; the passes of a file share the prelude and the codelets
  std::string entry;
  std::uint32_t shared_bytes = 0;
  std::vector<int> codelets;  // sizes of the codelets that it calls
  double conflicts = 1;       // of the worst exchange
};
PassText emit_pass(const PassSpec& pass);

// Text that precedes the passes: types, device functions, and codelets of these sizes.
std::string emit_prelude(Precision precision, const std::vector<int>& codelets);
// A whole translation unit for one pass.
KernelSource emit_kernel(const PassSpec& pass);

}  // namespace fourtune::generator::fft
