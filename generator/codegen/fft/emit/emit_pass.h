// The CUDA text of one pass.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/codegen/fft/lower/pass.h"
#include "generator/codegen/kernel_source.h"

namespace fourtune::generator::fft {

struct PassText {
  std::string text;  // only the function; the passes of a file share the prelude and the codelets
  std::string entry;
  std::uint32_t shared_bytes = 0;
  std::vector<int> codelets;  // sizes of the codelets that it calls
  double conflicts = 1;       // of the worst exchange
};
// Throws Error{invalid_plan} naming the rule (broken_rule of pass_memory.h) that the pass breaks. Without `text`: what
// else follows from the pass.
PassText emit_pass(const PassSpec& pass, bool text = true);

// Text that precedes the passes: types, device functions, and codelets of these sizes.
std::string emit_prelude(Precision precision, const std::vector<int>& codelets);
// A whole translation unit for one pass; without `text`: its launch geometry alone.
KernelSource emit_kernel(const PassSpec& pass, bool text = true);

}  // namespace fourtune::generator::fft
