// A device as the nonuniform executors drive it: memory, kernels, and runs of launches on a stream. One class a
// backend. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "generator/codegen/kernel_source.h"
#include "runtime/backends/backend.h"

namespace fourtune::runtime::gpu {

// Device memory, freed with the object.
class QueueMemory {
 public:
  virtual ~QueueMemory() = default;
  std::byte* data = nullptr;
  std::int64_t bytes = 0;
  // What it holds is read by later runs. The emulator spoils everything else between two runs.
  bool kept = false;
};

// An in-place transform by the device's FFT library.
class LibraryFft {
 public:
  virtual ~LibraryFft() = default;
  virtual void run(std::byte* data) = 0;  // between Queue::begin and end
  virtual std::int64_t bytes() const = 0;
};

enum class Access { in, out };

class Queue {
 public:
  virtual ~Queue() = default;

  // Throws Error{out_of_memory} that tells how much was asked for. `name` outlives the queue.
  virtual std::unique_ptr<QueueMemory> allocate(std::int64_t bytes, const char* name) = 0;
  virtual void upload(QueueMemory& memory, std::span<const std::byte> bytes) = 0;
  // Compiles and loads; what comes back is the number of each kernel. Throws what the compiler says.
  virtual std::vector<int> load(std::span<const generator::KernelSource> sources) = 0;
  virtual std::vector<KernelReport> kernels() const { return {}; }
  // Throws Error{unsupported} where there is no such library.
  virtual std::unique_ptr<LibraryFft> library_fft(const Problem& problem) = 0;

  // A run: work of one call on the stream, after what earlier runs left on other ones.
  virtual void begin(void* stream) = 0;
  // The caller's array as kernels see it until end(). Throws Error{invalid_argument} for one that they cannot.
  virtual std::byte* open(void* array, std::int64_t bytes, Access access, const char* name) = 0;
  // May wait in a list until flush, read, mark, a library's transform or the end of the run.
  virtual void launch(int kernel, const generator::Extent3& grid, std::span<void*> arguments) = 0;
  virtual void flush() {}
  // Launches up to end_rehearsal, a library's transforms among them, do not run: what starting them in another run
  // would allocate is made. False: there is nothing to make, and launches would run.
  virtual bool begin_rehearsal() { return false; }
  virtual void end_rehearsal() {}
  // To the host, when everything launched before is done.
  virtual void read(void* host, const std::byte* device, std::size_t bytes) = 0;
  // completed: false after an error, when the arrays opened for writing are left as they were where that is possible.
  virtual void end(bool completed) noexcept = 0;

  // A moment of the run; index from 0, made when first used.
  virtual void mark(int index) = 0;
  virtual double seconds(int from, int to) = 0;  // between two marks; waits for the later one
};

// begin and end.
class Run {
 public:
  Run(Queue& queue, void* stream) : queue_(queue) { queue_.begin(stream); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() { queue_.end(completed_); }
  // All is launched. Throws what launching throws.
  void complete() {
    queue_.flush();
    completed_ = true;
  }

 private:
  Queue& queue_;
  bool completed_ = false;
};

}  // namespace fourtune::runtime::gpu
