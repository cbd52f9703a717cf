// Looks at the application's arrays before each call, if FOURTUNE_CHECK is set in the environment. It takes longer than
// many transforms, so it is for finding mistakes.
#pragma once

#include <memory>

#include "runtime/transform_core.h"

namespace fourtune::runtime {

// Whether FOURTUNE_CHECK is set, and not to 0.
bool checks_arrays();

// A core that first throws Error{invalid_argument} for arrays which are shorter than the problem says, as far as that
// can be told (memory_extent.h), which overlap, or whose values are NaN or infinite; then it does what `core` does.
// Arrays in a GPU's memory are looked at for overlaps alone.
std::unique_ptr<TransformCore> with_checked_arrays(std::unique_ptr<TransformCore> core, const Options& options);

}  // namespace fourtune::runtime
