// The backends that the command line can name: those of the library, and the emulated one, which it has not.
#pragma once

#include <string>

#include "runtime/backend.h"

namespace fourtune::tools {

// Empty: the best one here. Throws Error{backend_unavailable}. One thread.
const runtime::Backend& bench_backend(const std::string& name);

}  // namespace fourtune::tools
