// Windows whose weights are looked up (WindowChoice::table).
#pragma once

#include "generator/window/window.h"

namespace fourtune::generator {

// As aliasing_error, with straight lines between `entries` + 1 values of the window a cell for weights. Throws
// Error{invalid_argument} below one entry.
double aliasing_error_of_table(const Window& window, int entries, int dim, int stages = 1);

}  // namespace fourtune::generator
