// A device as the nonuniform executors use it: memory, kernels, and runs of launches on a stream. Each backend has one
// class (nufft_queue.cpp in cuda/ and emulated/). Use from one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "generator/codegen/kernel_source.h"
#include "runtime/backends/backend.h"
#include "runtime/backends/gpu/launch_arguments.h"

namespace fourtune::runtime::gpu {

// Device memory, freed when the object is destroyed.
class QueueMemory {
 public:
  virtual ~QueueMemory() = default;
  std::byte* data = nullptr;
  std::int64_t bytes = 0;
  // Later runs read its contents. The emulator overwrites all other memory between two runs.
  bool kept = false;
};

// An in-place transform by the device's FFT library.
class LibraryFft {
 public:
  virtual ~LibraryFft() = default;
  virtual void run(std::byte* data) = 0;  // call it between Queue::begin and end
  virtual std::int64_t bytes() const = 0;
};

enum class Access { in, out, both };

class Queue {
 public:
  virtual ~Queue() = default;

  virtual const DeviceTraits& traits() const = 0;
  // Throws Error{out_of_memory} that says how much was requested. `name` must outlive the queue.
  virtual std::unique_ptr<QueueMemory> allocate(std::int64_t bytes, const char* name) = 0;
  virtual void upload(QueueMemory& memory, std::span<const std::byte> bytes) = 0;
  // Compiles and loads kernels; returns the number of each. Throws with the compiler's message.
  virtual std::vector<int> load(std::span<const generator::KernelSource> sources) = 0;
  virtual std::vector<KernelReport> kernels() const { return {}; }
  // Throws Error{unsupported} where there is no such library.
  virtual std::unique_ptr<LibraryFft> library_fft(const Problem& problem) = 0;

  // Begins a run: the work of one call on the stream, ordered after what earlier runs left on other streams.
  virtual void begin(void* stream) = 0;
  // The address at which kernels see the caller's array until end(). Throws Error{invalid_argument} for an array that
  // they cannot access.
  virtual std::byte* open(void* array, std::int64_t bytes, Access access, const char* name) = 0;
  // The launch may wait in a list until flush, read, mark, a library's transform or the end of the run.
  virtual void launch(int kernel, const generator::Extent3& grid, LaunchArguments& arguments) = 0;
  virtual void flush() {}
  // Until end_rehearsal, launches and a library's transforms do not run; instead everything is allocated that starting
  // them in another run would allocate. Returns false when there is nothing to prepare; launches would then run.
  virtual bool begin_rehearsal() { return false; }
  virtual void end_rehearsal() {}
  // Copies to the host, after everything launched before is done.
  virtual void read(void* host, const std::byte* device, std::size_t bytes) = 0;
  // completed: false after an error; arrays opened for writing then keep their old contents where that is possible.
  virtual void end(bool completed) noexcept = 0;

  // Marks a moment of the run; indices start from 0, and a mark is created on first use.
  virtual void mark(int index) = 0;
  virtual double seconds(int from, int to) = 0;  // time between two marks; waits for the later one
};

// Calls begin, and end when destroyed.
class LaunchScope {
 public:
  LaunchScope(Queue& queue, void* stream) : queue_(queue) { queue_.begin(stream); }
  LaunchScope(const LaunchScope&) = delete;
  LaunchScope& operator=(const LaunchScope&) = delete;
  ~LaunchScope() { queue_.end(completed_); }
  // Call this when everything is launched. Throws what launching throws.
  void complete() {
    queue_.flush();
    completed_ = true;
  }

 private:
  Queue& queue_;
  bool completed_ = false;
};

}  // namespace fourtune::runtime::gpu
