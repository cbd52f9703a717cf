#include "runtime/backends/emulated/nufft_queue.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <vector>

#include "fourtune/status.h"
#include "runtime/backends/emulated/counted_memory.h"
#include "runtime/backends/emulated/emulated_backend.h"
#include "runtime/backends/emulated/guarded_memory.h"
#include "runtime/backends/emulated/module.h"
#include "runtime/backends/emulated/shared_memory.h"

namespace fourtune::runtime::emulated {
namespace {

class EmulatedQueue;

class EmulatedMemory final : public gpu::QueueMemory {
 public:
  EmulatedMemory(EmulatedQueue& queue, std::int64_t size, const char* name);
  ~EmulatedMemory() override;
  GuardedMemory memory;

 private:
  EmulatedQueue& queue_;
};

class EmulatedQueue final : public gpu::Queue {
 public:
  explicit EmulatedQueue(const RunOptions& options) : options_(options) {}

  const DeviceTraits& traits() const override { return traits_; }
  std::unique_ptr<gpu::QueueMemory> allocate(std::int64_t bytes, const char* name) override {
    return std::make_unique<EmulatedMemory>(*this, bytes, name);
  }
  void upload(gpu::QueueMemory& memory, std::span<const std::byte> bytes) override {
    std::copy(bytes.begin(), bytes.end(), memory.data);
  }
  std::vector<int> load(std::span<const generator::KernelSource> sources) override {
    auto modules = compile_modules(sources, {options_.instrumented, options_.undefined});
    std::vector<int> numbers;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      modules_.push_back({sources[i], std::move(modules[i])});
      numbers.push_back(static_cast<int>(modules_.size()) - 1);
    }
    return numbers;
  }
  std::unique_ptr<gpu::LibraryFft> library_fft(const Problem&) override {
    throw Error(Status::unsupported, "fft=cufft: the emulated backend has no FFT library; choose generated kernels");
  }

  void begin(void*) override {
    engine_.emplace(options_);
    for (EmulatedMemory* each : live_) {
      if (!each->kept) each->memory.poison();
      engine_->attach(each->memory, each->kept);
    }
    ++options_.seed;
  }
  std::byte* open(void* array, std::int64_t bytes, gpu::Access access, const char* name) override {
    opened_.push_back({GuardedMemory(static_cast<std::size_t>(bytes), name), array, access, {}});
    Opened& opened = opened_.back();
    const bool in = access != gpu::Access::out;
    opened.memory.poison();
    if (in && bytes > 0) std::memcpy(opened.memory.data(), array, static_cast<std::size_t>(bytes));
    if (access == gpu::Access::in && is_reached(array)) count_reached_bytes(bytes);
    if (access == gpu::Access::both)
      opened.before.assign(opened.memory.data(), opened.memory.data() + opened.memory.size());
    engine_->attach(opened.memory, in);
    return opened.memory.data();
  }
  void launch(int kernel, const generator::Extent3& grid, gpu::LaunchArguments& arguments) override {
    LoadedModule& loaded = modules_[static_cast<std::size_t>(kernel)];
    engine_->launch(*loaded.module, loaded.source, grid, arguments.pointers().data());
  }
  void read(void* host, const std::byte* device, std::size_t bytes) override { std::memcpy(host, device, bytes); }
  void end(bool completed) noexcept override {
    if (completed)
      for (const Opened& opened : opened_)
        if (opened.access != gpu::Access::in && opened.memory.size() > 0) write_back(opened);
    engine_.reset();
    opened_.clear();
  }
  void mark(int index) override {
    if (marks_.size() <= static_cast<std::size_t>(index)) marks_.resize(static_cast<std::size_t>(index) + 1);
    marks_[static_cast<std::size_t>(index)] = std::chrono::steady_clock::now();
  }
  double seconds(int from, int to) override {
    return std::chrono::duration<double>(marks_[static_cast<std::size_t>(to)] - marks_[static_cast<std::size_t>(from)])
        .count();
  }

 private:
  friend class EmulatedMemory;
  struct LoadedModule {
    generator::KernelSource source;
    std::unique_ptr<Module> module;
  };
  struct Opened {
    GuardedMemory memory;
    void* array = nullptr;
    gpu::Access access{};
    std::vector<std::byte> before;  // Access::both
  };
  // Where kernels may have kept bytes, other ranks may have written meanwhile.
  static void write_back(const Opened& opened) noexcept {
    auto* const to = static_cast<std::byte*>(opened.array);
    const std::byte* const from = opened.memory.data();
    std::int64_t written = 0;
    if (opened.before.empty()) {
      std::memcpy(to, from, opened.memory.size());
      written = static_cast<std::int64_t>(opened.memory.size());
    }
    for (std::size_t i = 0; i < opened.before.size(); ++i)
      if (opened.before[i] != from[i]) to[i] = from[i], ++written;
    if (is_reached(to)) count_reached_bytes(written);
  }
  // The engine keeps the addresses of what is attached.
  struct OpenedList : std::vector<Opened> {
    OpenedList() { reserve(kMostArrays); }
  };
  static constexpr std::size_t kMostArrays = 16;

  RunOptions options_;
  const DeviceTraits traits_ = emulated_traits();
  std::vector<EmulatedMemory*> live_;
  std::vector<LoadedModule> modules_;
  OpenedList opened_;
  std::optional<Engine> engine_;
  std::vector<std::chrono::steady_clock::time_point> marks_;
};

EmulatedMemory::EmulatedMemory(EmulatedQueue& queue, std::int64_t size, const char* name)
    : memory(static_cast<std::size_t>(size), name), queue_(queue) {
  data = memory.data();
  bytes = size;
  queue_.live_.push_back(this);
  count_bytes(bytes);
}
EmulatedMemory::~EmulatedMemory() {
  count_bytes(-bytes);
  std::erase(queue_.live_, this);
}

}  // namespace

std::unique_ptr<gpu::Queue> make_queue(const RunOptions& options) { return std::make_unique<EmulatedQueue>(options); }

}  // namespace fourtune::runtime::emulated
