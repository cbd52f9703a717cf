// The backends that this process can use.
#pragma once

#include <string_view>
#include <vector>

#include "runtime/backends/backend.h"

namespace fourtune::runtime {

// The backends of this build that work on this machine, cpu first. Looks for a GPU driver.
std::vector<const Backend*> backends();
// The backend of this name, also where it cannot run; null for an unknown name. Looks for no driver.
const Backend* known_backend(std::string_view name);
// An empty name means "cpu": the library cannot know where its caller's arrays are, so a GPU must be asked for by name,
// and no driver is looked for before that. Throws Error{backend_unavailable}, naming the usable backends, when the name
// is unknown or the backend cannot run here.
const Backend& find_backend(std::string_view name);
// Appends a backend to the list of this process; it must live as long as the process. For backends outside the library,
// such as the emulated one. Call it before other threads use the list.
void add_backend(const Backend& backend);

}  // namespace fourtune::runtime
