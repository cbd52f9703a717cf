// The backends that the command line can name: those of the library, and the emulated one, which is not in the library.
// Every subcommand takes them from here, so that all accept, list and refuse the same ones.
#pragma once

#include <span>
#include <string>

#include "runtime/backends/backend.h"

namespace CLI {
class App;
}

namespace fourtune::tools {

// To be called from one thread, like all functions below.
std::span<const runtime::Backend* const> command_backends();
// An empty name means cpu. Throws Error{backend_unavailable} that lists the backends.
const runtime::Backend& bench_backend(const std::string& name);
// Throws the same, and Error{invalid_option} for a device that does not exist.
const runtime::Backend& checked_backend(const std::string& name, int device);

// Declares --backend NAME and --device N with the same help everywhere. `otherwise` says what runs without --backend.
void add_backend_option(CLI::App& command, std::string& backend, const std::string& otherwise = "cpu");
void add_device_option(CLI::App& command, int& device);

}  // namespace fourtune::tools
