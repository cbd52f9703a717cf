// Kernels access whole complex values, some of them whole runs of values. A misaligned array would cause a fault that
// destroys the application's context, so it is refused before anything is launched.
#pragma once

#include <fmt/format.h>

#include <cstdint>

#include "fourtune/status.h"

namespace fourtune::runtime::gpu {

// Throws Error{invalid_argument} unless the array starts at a multiple of `bytes`. A null pointer passes.
inline void check_alignment(const void* array, std::int64_t bytes, const char* name) {
  const auto address = reinterpret_cast<std::uintptr_t>(array);
  if (const auto off = address % static_cast<std::uintptr_t>(bytes); off != 0)
    throw Error(Status::invalid_argument,
                fmt::format("{} starts {} bytes past a multiple of {}; the kernels of this plan need it aligned to {} "
                            "bytes, as memory from cudaMalloc is",
                            name, off, bytes, bytes));
}

}  // namespace fourtune::runtime::gpu
