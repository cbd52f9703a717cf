// Parses a command-line argument that is a plan in the X/Y/Z notation.
#pragma once

#include <string>

#include "generator/plan/fft/notation.h"

namespace fourtune::tools {

// Accepts the notation, or a whole plan text that contains it ("cuda;fft=interleaved{...}", as `fourtune plan --list`
// prints). Throws UsageError that names the broken rule. `lengths`: the lengths that the plan must have; 0: any.
generator::fft::FftPlan fft_plan_argument(const std::string& text, const generator::fft::Lengths& lengths = {0, 0, 0});

}  // namespace fourtune::tools
