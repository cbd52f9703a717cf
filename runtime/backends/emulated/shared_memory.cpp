// An array is private until it is first shared. Then an anonymous file with its bytes takes its place, which another
// process of the user opens through /proc.
#include "runtime/backends/emulated/shared_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>

#include "fourtune/status.h"

namespace fourtune::runtime::emulated {
namespace {

struct Mapping {
  std::size_t bytes = 0;
  int file = -1;             // of this process's arrays that are shared
  std::uint64_t number = 0;  // likewise
};
// By the first byte.
using Mappings = std::map<const char*, Mapping, std::less<>>;

std::mutex mutex;
Mappings& own() {
  static auto* const all = new Mappings;  // outlives every thread
  return *all;
}
Mappings& others() {
  static auto* const all = new Mappings;
  return *all;
}
std::uint64_t numbers = 0;
std::atomic<std::int64_t> copied{0};

Mappings::iterator holder(Mappings& all, const void* byte) {
  const char* const at = static_cast<const char*>(byte);
  auto next = all.upper_bound(at);
  if (next == all.begin()) return all.end();
  --next;
  return at < next->first + next->second.bytes ? next : all.end();
}

void* mapped(void* at, std::size_t bytes, int flags, int file = -1) {
  void* const begin = ::mmap(at, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
  return begin == MAP_FAILED ? nullptr : begin;
}

// Puts a file in the place of a private array.
void make_file(const char* begin, Mapping& array) {
  const int file = ::memfd_create("fourtune", MFD_CLOEXEC);
  bool made = file >= 0 && ::ftruncate(file, static_cast<off_t>(array.bytes)) == 0;
  for (std::size_t done = 0; made && done < array.bytes;) {
    const ssize_t wrote = ::pwrite(file, begin + done, array.bytes - done, static_cast<off_t>(done));
    made = wrote > 0;
    if (made) done += static_cast<std::size_t>(wrote);
  }
  if (!made || !mapped(const_cast<char*>(begin), array.bytes, MAP_SHARED | MAP_FIXED, file)) {
    if (file >= 0) ::close(file);
    throw Error(Status::unsupported, "an array cannot be shared with other processes");
  }
  array.file = file;
}

class SharedArrays final : public ArrayMemory {
 public:
  void* allocate(std::size_t bytes) override {
    const std::size_t size = std::max<std::size_t>(bytes, 1);
    void* const at = mapped(nullptr, size, MAP_PRIVATE | MAP_ANONYMOUS);
    if (at == nullptr) throw Error(Status::out_of_memory, fmt::format("{} bytes of memory are needed", bytes));
    const std::lock_guard lock(mutex);
    own()[static_cast<const char*>(at)] = {size, -1, ++numbers};
    return at;
  }
  void release(void* array) noexcept override {
    const std::lock_guard lock(mutex);
    const auto found = own().find(static_cast<const char*>(array));
    if (found == own().end()) return;
    ::munmap(array, found->second.bytes);
    if (found->second.file >= 0) ::close(found->second.file);
    own().erase(found);
  }
  void upload(void* array, const void* host, std::size_t bytes) override { std::memcpy(array, host, bytes); }
  void download(void* host, const void* array, std::size_t bytes) override { std::memcpy(host, array, bytes); }
  void copy(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void fill(void* array, unsigned char byte, std::size_t bytes) override { std::memset(array, byte, bytes); }
  void wait() override {}
};

// What shared_place writes into the bytes of a handle.
struct Handle {
  std::int64_t file, bytes;
};

}  // namespace

std::unique_ptr<ArrayMemory> shared_memory() { return std::make_unique<SharedArrays>(); }

SharedPlace shared_place(const void* array) {
  const std::lock_guard lock(mutex);
  const auto found = holder(own(), array);
  if (found == own().end()) throw Error(Status::unsupported, "this array is not in an emulated device's memory");
  if (found->second.file < 0) make_file(found->first, found->second);
  SharedPlace place;
  const Handle handle{found->second.file, static_cast<std::int64_t>(found->second.bytes)};
  std::memcpy(place.handle.data(), &handle, sizeof handle);
  place.allocation = found->second.number;
  place.process = ::getpid();
  place.offset = static_cast<const char*>(array) - found->first;
  return place;
}

void* open_shared(const SharedPlace& place) {
  Handle handle{};
  std::memcpy(&handle, place.handle.data(), sizeof handle);
  const auto bytes = static_cast<std::size_t>(handle.bytes);
  const int file = ::open(fmt::format("/proc/{}/fd/{}", place.process, handle.file).c_str(), O_RDWR | O_CLOEXEC);
  void* const at = file >= 0 ? mapped(nullptr, bytes, MAP_SHARED, file) : nullptr;
  if (file >= 0) ::close(file);
  if (at == nullptr) throw Error(Status::unsupported, "the memory of another process cannot be opened");
  const std::lock_guard lock(mutex);
  others()[static_cast<const char*>(at)] = {bytes, -1, 0};
  return at;
}

void close_shared(void* begin) noexcept {
  const std::lock_guard lock(mutex);
  const auto found = others().find(static_cast<const char*>(begin));
  if (found == others().end()) return;
  ::munmap(begin, found->second.bytes);
  others().erase(found);
}

bool is_reached(const void* byte) {
  const std::lock_guard lock(mutex);
  return holder(others(), byte) != others().end();
}

std::int64_t reached_bytes() { return copied; }
void count_reached_bytes(std::int64_t bytes) noexcept { copied += bytes; }

}  // namespace fourtune::runtime::emulated
