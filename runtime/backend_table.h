// The backends that this process can use.
#pragma once

#include <span>
#include <string_view>

#include "runtime/backends/backend.h"

namespace fourtune::runtime {

// The backends of this build that work on this machine, cpu first. Looks for a GPU driver.
std::span<const Backend* const> backends();
// An empty name means "cpu": the library cannot know where its caller's arrays are, so a GPU must be asked for by name,
// and no driver is looked for before that. Throws Error{backend_unavailable}, naming the usable backends, when the name
// is unknown or the backend cannot run here.
const Backend& find_backend(std::string_view name);
// Appends a backend to the list of this process; it must live as long as the process. For backends outside the library,
// such as the emulated one. Call it before the first use of backends(), or from one thread.
void add_backend(const Backend& backend);

}  // namespace fourtune::runtime
