// The option devices: which devices share a batch.
#pragma once

#include <string>
#include <vector>

#include "runtime/backends/backend.h"

namespace fourtune::runtime {

// "all", or numbers with commas, in their order. Throws Error{invalid_option} for other texts, a device that is named
// twice, and one that the backend does not have.
std::vector<int> device_list(const std::string& text, const Backend& backend);

}  // namespace fourtune::runtime
