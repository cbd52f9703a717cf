// A file in memory that has no name: rank 0 makes it, and the others open it by rank 0's number for it. It needs no
// room in /dev/shm, which containers make small, and no permission to read another process's memory, which they often
// deny.
#include "runtime/distributed/machine_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "fourtune/status.h"

namespace fourtune::runtime::distributed {
namespace {

// Closed when it ends.
class File {
 public:
  explicit File(int number) : number_(number) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { reset(-1); }
  void reset(int number) {
    if (number_ >= 0) ::close(number_);
    number_ = number;
  }
  int number() const { return number_; }

 private:
  int number_;
};

[[noreturn]] void fail(const char* what, std::int64_t bytes) {
  throw Error(Status::out_of_memory,
              fmt::format("{} bytes that the ranks of a machine share: {}: {}", bytes, what, std::strerror(errno)));
}

}  // namespace

void MachineMemory::Unmap::operator()(char* memory) const noexcept {
  ::munmap(memory, static_cast<std::size_t>(bytes));
}

void MachineMemory::resize(const Communicator& ranks, std::int64_t bytes) {
  if (memory_ && bytes <= memory_.get_deleter().bytes) return;
  memory_.reset();
  File file(-1);
  std::string path;
  ranks.together([&] {
    if (ranks.rank() != 0) return;
    file.reset(::memfd_create("fourtune", MFD_CLOEXEC));
    if (file.number() < 0) fail("memfd_create", bytes);
    if (::ftruncate(file.number(), bytes) != 0) fail("ftruncate", bytes);
    path = fmt::format("/proc/{}/fd/{}", ::getpid(), file.number());
  });
  ranks.take_first(path);
  std::unique_ptr<char, Unmap> mapped;
  ranks.together([&] {
    if (ranks.rank() != 0) file.reset(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (file.number() < 0) fail("open", bytes);
    void* const at =
        ::mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
    if (at == MAP_FAILED) fail("mmap", bytes);
    mapped = {static_cast<char*>(at), Unmap{bytes}};
    // Where the system gives such pages to files in memory.
    ::madvise(at, static_cast<std::size_t>(bytes), MADV_HUGEPAGE);
  });
  memory_ = std::move(mapped);
}

void meet(const Communicator& ranks) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  ranks.barrier();
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

// Every rank writes its number and looks at those of all: a file that another rank opened by this name may be another
// one, where ranks have separate numbers of processes.
std::string why_no_machine_memory(const Communicator& ranks) {
  if (ranks.size() == 1) return "there is one rank";
  if (ranks.machines() > 1) return "the ranks are on several machines";
  try {
    MachineMemory memory;
    memory.resize(ranks, ranks.size() * static_cast<std::int64_t>(sizeof(int)));
    int* const numbers = reinterpret_cast<int*>(memory.data());
    numbers[ranks.rank()] = ranks.rank() + 1;
    meet(ranks);
    ranks.together([&] {
      for (int rank = 0; rank < ranks.size(); ++rank)
        if (numbers[rank] != rank + 1)
          throw Error(Status::unsupported, "what one rank writes does not reach the others");
    });
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace fourtune::runtime::distributed
