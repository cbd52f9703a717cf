// How much memory there is behind a pointer of the application, as far as this can be told.
#pragma once

#include <cstdint>
#include <string>

namespace fourtune::runtime {

// Why `bytes` bytes from `start` on are no array that may be read (and written, where `writable`); empty: nothing
// speaks against it. Host memory only. It knows, from the coarsest to the finest:
// - what the process has mapped, and for writing;
// - arrays for which malloc maps separate pages (128 KiB and more at first), to the end of their last page;
// - in programs built with the address sanitizer, every array of malloc and new, and those on the stack until an
//   exception was thrown, when it forgets them.
std::string why_too_short(const void* start, std::int64_t bytes, bool writable);

}  // namespace fourtune::runtime
