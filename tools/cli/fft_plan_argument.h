// A plan in the X/Y/Z notation as an argument of the command line.
#pragma once

#include <string>

#include "generator/plan/fft/notation.h"

namespace fourtune::tools {

// The notation, or a whole plan text that holds it ("cuda;fft=interleaved{...}", as `fourtune plan --list` prints).
// Throws UsageError with the broken rule. `lengths`: that the plan has to have; 0: any.
generator::fft::FftPlan fft_plan_argument(const std::string& text, const generator::fft::Lengths& lengths = {0, 0, 0});

}  // namespace fourtune::tools
