// The plans that the paper fft3d-interleaved-plans prints, as printed.
#pragma once

#include <string>
#include <vector>

#include "generator/plan/fft/notation.h"

namespace fourtune::generator::fft {

struct PaperPlan {
  const char* section;  // section of the paper: "A.1.3"
  const char* title;    // "Tesla 1024x256x256"
  Lengths lengths;      // x, y, z
  const char* printed;  // as printed, with its typography
  // Where the printed text is wrong: the wrong words, what they evidently should be, and the rule that refuses them;
  // else "".
  const char* misprint;
  const char* correction;
  const char* rule;
};

// In the order of the paper. Our copy lacks A.1.1 and all but the end of A.1.2, so these are missing here.
const std::vector<PaperPlan>& published_plans();

std::string corrected(const PaperPlan& plan);  // the printed text with the correction; parse_fft_plan accepts it

// The end of A.1.2 (512x256x256), the only part in our copy. It is not a plan by itself.
extern const char* const paper_fragment_512x256x256;

}  // namespace fourtune::generator::fft
