// The backends that the command line can name: those of the library, and the emulated one, which is not in the library.
// Every subcommand takes them from here, so that all accept, list and refuse the same ones.
#pragma once

#include <string>
#include <vector>

#include "runtime/backends/backend.h"

namespace CLI {
class App;
}

namespace fourtune::tools {

// The first call of any of these belongs to one thread.
std::vector<const runtime::Backend*> command_backends();
// An empty name means cpu. Throws Error{backend_unavailable} that lists the backends.
const runtime::Backend& bench_backend(const std::string& name);
// The backend of this name, also where it cannot run, so no driver is looked for; null for an unknown name.
const runtime::Backend* known_backend(const std::string& name);
// What that backend can do; an unknown name has the capabilities of the processor.
runtime::Capabilities capabilities_of(const std::string& name);
// Throws the same as bench_backend, and Error{invalid_option} for a device that does not exist. Warns on stderr of a
// calibration of the device that is of no use.
const runtime::Backend& checked_backend(const std::string& name, int device);

// Declares --backend NAME and --device N with the same help everywhere. `otherwise` says what runs without --backend.
void add_backend_option(CLI::App& command, std::string& backend, const std::string& otherwise = "cpu");
void add_device_option(CLI::App& command, int& device);

}  // namespace fourtune::tools
