#include "runtime/backends/cuda/compile_memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>

namespace fourtune::runtime::cuda {
namespace {

constexpr std::size_t kPage = 4096;
#ifndef MADV_POPULATE_WRITE
constexpr int MADV_POPULATE_WRITE = 23;  // Linux 5.14; others refuse it, and pages come when they are touched
#endif

// A block of the heap that holds nothing yet: what becomes of its pages matters to nobody. Null if there is no memory.
class Block {
 public:
  explicit Block(std::size_t bytes) : at_(std::malloc(bytes)), bytes_(bytes) {}
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() { std::free(at_); }
  // Of its first `bytes` bytes, the pages that are its own.
  void advise(std::size_t bytes, int advice) const {
    if (at_ == nullptr) return;
    const std::size_t skipped = (kPage - reinterpret_cast<std::uintptr_t>(at_) % kPage) % kPage;
    const std::size_t end = bytes < bytes_ ? bytes : bytes_;
    madvise(static_cast<char*>(at_) + skipped, (end - skipped) / kPage * kPage, advice);
  }

 private:
  void* volatile at_;  // volatile: a compiler may leave out a malloc that is only freed
  std::size_t bytes_;
};

}  // namespace

CompileMemory::CompileMemory() {
  // glibc gives a process's first large block a separate mapping; once that is freed, it takes them from the heap.
  { const Block first(kBytes); }
  const Block room(kBytes);
  room.advise(kPresent, MADV_POPULATE_WRITE);
}

CompileMemory::~CompileMemory() { Block(kBytes).advise(kBytes, MADV_DONTNEED); }

}  // namespace fourtune::runtime::cuda
