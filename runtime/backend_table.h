// The backends that this process can use.
#pragma once

#include <span>
#include <string_view>

#include "runtime/backends/backend.h"

namespace fourtune::runtime {

// Backends of this build that work on this machine, cpu first. Looks for a GPU's driver.
std::span<const Backend* const> backends();
// An empty name is "cpu": a library cannot know where its caller's arrays are, so a GPU is asked for by name, and no
// driver is looked for before that. Throws Error{backend_unavailable} when the name is unknown or the backend cannot
// run here, naming those that can.
const Backend& find_backend(std::string_view name);
// Adds a backend behind the others, for this process; it must live as long. For backends that the library has not (the
// emulated one). Call it before the first use of backends(), or from one thread.
void add_backend(const Backend& backend);

}  // namespace fourtune::runtime
