// The option devices: which devices share a batch, and what they may allocate.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/backends/backend.h"

namespace fourtune::runtime {

struct ListedDevice {
  int number = 0;
  std::int64_t most_bytes = 0;  // 0: all there is
};

// "all", or numbers with commas, in their order, each with the bytes that may be allocated there behind a colon if they
// are limited: "all:20e9", "0:2e10,1". Throws Error{invalid_option} for other texts, a device that is named twice, and
// one that the backend does not have.
std::vector<ListedDevice> device_list(const std::string& text, const Backend& backend);

}  // namespace fourtune::runtime
