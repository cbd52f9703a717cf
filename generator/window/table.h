// Windows whose weights come from a look-up table (WindowChoice::table).
#pragma once

#include "generator/window/window.h"

namespace fourtune::generator {

// As aliasing_error, but the weights are interpolated linearly between `entries` + 1 values of the window per cell.
// Throws Error{invalid_argument} if entries is below 1.
double aliasing_error_of_table(const Window& window, int entries, int dim, int stages = 1);

}  // namespace fourtune::generator
