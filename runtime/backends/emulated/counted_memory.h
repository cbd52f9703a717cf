// What emulated devices hold: arrays of ArrayMemory, and what nonuniform executors and sets of programs allocate. Ffts
// have their workspaces elsewhere.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/backends/backend.h"

namespace fourtune::runtime::emulated {

// Bytes of all devices now, and the most since the last forget_most_held(). Any thread may ask.
std::int64_t held_bytes();
std::int64_t most_held_bytes();
void forget_most_held();

// Notes an allocation, or with a negative number its end.
void count_bytes(std::int64_t bytes) noexcept;
// The same memory, counted.
std::unique_ptr<ArrayMemory> counted(std::unique_ptr<ArrayMemory> memory);

}  // namespace fourtune::runtime::emulated
