// Arrays of emulated devices, which other processes can open: what a driver does for GPUs on one machine.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/backends/backend.h"
#include "runtime/backends/device_streams.h"

namespace fourtune::runtime::emulated {

// Any thread may use it.
std::unique_ptr<ArrayMemory> shared_memory();

// As DeviceStreams::share, for arrays of shared_memory(); opens and closes an allocation of another process.
SharedPlace shared_place(const void* array);
void* open_shared(const SharedPlace& place);
void close_shared(void* begin) noexcept;
// Whether this byte is in an open allocation of another process.
bool is_reached(const void* byte);

// Bytes that this process has copied to other ones, or its kernels have been given to write there or to read from
// there.
std::int64_t reached_bytes();
void count_reached_bytes(std::int64_t bytes) noexcept;

}  // namespace fourtune::runtime::emulated
