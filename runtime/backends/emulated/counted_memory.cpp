#include "runtime/backends/emulated/counted_memory.h"

#include <atomic>
#include <map>
#include <utility>

namespace fourtune::runtime::emulated {
namespace {

std::atomic<std::int64_t> held{0}, most{0};

class Counted final : public ArrayMemory {
 public:
  explicit Counted(std::unique_ptr<ArrayMemory> memory) : memory_(std::move(memory)) {}
  void* allocate(std::size_t bytes) override {
    void* const array = memory_->allocate(bytes);
    count_bytes(sizes_[array] = static_cast<std::int64_t>(bytes));
    return array;
  }
  void release(void* array) noexcept override {
    const auto found = sizes_.find(array);
    if (found != sizes_.end()) {
      count_bytes(-found->second);
      sizes_.erase(found);
    }
    memory_->release(array);
  }
  void upload(void* array, const void* host, std::size_t bytes) override { memory_->upload(array, host, bytes); }
  void download(void* host, const void* array, std::size_t bytes) override { memory_->download(host, array, bytes); }
  void copy(void* to, const void* from, std::size_t bytes) override { memory_->copy(to, from, bytes); }
  void fill(void* array, unsigned char byte, std::size_t bytes) override { memory_->fill(array, byte, bytes); }
  void wait() override { memory_->wait(); }

 private:
  std::unique_ptr<ArrayMemory> memory_;
  std::map<void*, std::int64_t> sizes_;
};

}  // namespace

std::int64_t held_bytes() { return held; }
std::int64_t most_held_bytes() { return most; }
void forget_most_held() { most = held.load(); }

void count_bytes(std::int64_t bytes) noexcept {
  const std::int64_t now = held += bytes;
  for (std::int64_t before = most; now > before && !most.compare_exchange_weak(before, now);) {
  }
}

std::unique_ptr<ArrayMemory> counted(std::unique_ptr<ArrayMemory> memory) {
  return std::make_unique<Counted>(std::move(memory));
}

}  // namespace fourtune::runtime::emulated
