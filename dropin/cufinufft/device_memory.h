#pragma once

#include <cstdint>

namespace fourtune::dropin {

// Bytes of this device's memory; 0: not known. For devices that a transform has been made for.
std::int64_t device_memory(int device) noexcept;

}  // namespace fourtune::dropin
