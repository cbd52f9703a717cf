// The streams of backends that work in the memory of this process: work is done when a call returns.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <new>

#include "fourtune/status.h"
#include "runtime/backends/device_streams.h"

namespace fourtune::runtime {
namespace {

class ProcessStreams final : public DeviceStreams {
 public:
  void* stream(Lane) const override { return nullptr; }
  void copy(Lane, const Rows& to, const Rows& from, std::int64_t bytes, std::int64_t rows) override {
    for (std::int64_t row = 0; row < rows; ++row)
      std::memcpy(static_cast<char*>(to.at) + row * to.stride, static_cast<const char*>(from.at) + row * from.stride,
                  static_cast<std::size_t>(bytes));
  }
  void follow(Lane, Lane) override {}
  void mark(int, Lane) override {}
  void follow_mark(Lane, int) override {}
  void wait_for_mark(int) override {}
  void wait(Lane) override {}
  void* allocate_host(std::int64_t bytes) override {
    void* const memory = ::operator new(static_cast<std::size_t>(bytes), kAlignment, std::nothrow);
    if (memory == nullptr) throw Error(Status::out_of_memory, fmt::format("{} bytes of memory are needed", bytes));
    return memory;
  }
  void release_host(void* memory) noexcept override { ::operator delete(memory, kAlignment); }
  // Kernels may need what a GPU's allocations promise.
  bool reaches(const void* array) const override { return reinterpret_cast<std::uintptr_t>(array) % 64 == 0; }
  std::string identity() const override {
    std::array<char, 256> host{};
    gethostname(host.data(), host.size() - 1);
    return fmt::format("process {} of {}", getpid(), host.data());
  }
  std::shared_ptr<void> current() const override { return nullptr; }

 private:
  static constexpr std::align_val_t kAlignment{64};
};

}  // namespace

SharedPlace DeviceStreams::share(const void*) const {
  throw Error(Status::unsupported, "this backend shares no memory with other processes");
}
void* DeviceStreams::reach(const SharedPlace&) {
  throw Error(Status::unsupported, "this backend reaches no memory of other processes");
}

std::unique_ptr<DeviceStreams> process_streams() { return std::make_unique<ProcessStreams>(); }

}  // namespace fourtune::runtime
