#include "runtime/memory_extent.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

// Of the address sanitizer's run-time, if the program has it: the first byte of the region that may not be touched.
// NOLINTNEXTLINE(bugprone-reserved-identifier): its name is the sanitizer's
extern "C" void* __asan_region_is_poisoned(void* start, std::size_t size) __attribute__((weak));

namespace fourtune::runtime {
namespace {

using Address = std::uintptr_t;

std::string ends_early(std::int64_t wanted, Address start, Address end) {
  return fmt::format("needs {} bytes, and its memory ends after {}", wanted, end - start);
}

// The end of the run of mapped pages around `start` with the rights that are needed; `start` if there is none.
Address end_of_mapping(Address start, Address wanted_end, bool writable) {
  std::ifstream maps("/proc/self/maps");
  Address reached = start;
  for (std::string line; reached < wanted_end && std::getline(maps, line);) {
    unsigned long from = 0, to = 0;
    char rights[5] = {};
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &from, &to, rights) != 3) continue;
    const bool allowed = rights[0] == 'r' && (!writable || rights[1] == 'w');
    if (from <= reached && reached < to && allowed) reached = to;
  }
  return reached;
}

// glibc's malloc gives a large array pages that hold nothing else. They begin with two numbers before the array: 0, and
// the size of all with the bit "mapped". The end of these pages, or 0 if it is no such array.
Address end_of_own_pages(const void* array) {
  const auto start = reinterpret_cast<Address>(array);
  const auto page = static_cast<Address>(::sysconf(_SC_PAGESIZE));
  constexpr Address kHeader = 2 * sizeof(std::size_t);
  constexpr std::size_t kFlags = 7, kMapped = 2;
  if (start % page != kHeader) return 0;
  std::size_t header[2];
  std::memcpy(header, static_cast<const char*>(array) - kHeader, kHeader);  // on the same page
  const std::size_t size = header[1] & ~kFlags;
  return header[0] == 0 && (header[1] & kFlags) == kMapped && size > 0 && size % page == 0 ? start - kHeader + size : 0;
}

}  // namespace

std::string why_too_short(const void* start, std::int64_t bytes, bool writable) {
  const auto begin = reinterpret_cast<Address>(start);
  const Address end = begin + static_cast<Address>(bytes);
  if (bytes <= 0) return {};
  if (const Address reached = end_of_mapping(begin, end, writable); reached < end) {
    if (reached == begin)
      return fmt::format("is at {}, where there is no memory that can be {}", start, writable ? "written" : "read");
    return ends_early(bytes, begin, reached);
  }
  if (const Address own = end_of_own_pages(start); own != 0 && own < end) return ends_early(bytes, begin, own);
  if (__asan_region_is_poisoned)
    if (void* const first = __asan_region_is_poisoned(const_cast<void*>(start), static_cast<std::size_t>(bytes)))
      return ends_early(bytes, begin, reinterpret_cast<Address>(first));
  return {};
}

}  // namespace fourtune::runtime
