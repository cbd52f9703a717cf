// The backends that the command line can name: those of the library, and the emulated one, which it has not. Every
// subcommand that names one takes it from here, so that all know, list and refuse the same ones.
#pragma once

#include <span>
#include <string>

#include "runtime/backends/backend.h"

namespace CLI {
class App;
}

namespace fourtune::tools {

// One thread, as all below.
std::span<const runtime::Backend* const> command_backends();
// Empty: cpu. Throws Error{backend_unavailable} that lists them.
const runtime::Backend& bench_backend(const std::string& name);
// Throws so too, and Error{invalid_option} for a device that is not there.
const runtime::Backend& checked_backend(const std::string& name, int device);

// --backend NAME and --device N, in the same words everywhere. `otherwise` says what runs without --backend.
void add_backend_option(CLI::App& command, std::string& backend, const std::string& otherwise = "cpu");
void add_device_option(CLI::App& command, int& device);

}  // namespace fourtune::tools
