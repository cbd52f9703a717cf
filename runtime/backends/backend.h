// Where transforms run. A backend turns (problem, plan) into an Executor; tuner and public API use the same one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fourtune/device_traits.h"
#include "fourtune/problem.h"
#include "fourtune/transform.h"
#include "generator/plan/plan.h"

namespace fourtune::runtime {

using fourtune::MemoryUse;
using fourtune::ModeOrder;
using fourtune::Only;
using fourtune::StageTime;
using PointSet = fourtune::Points;

struct ExecutorOptions {
  bool deterministic = false;    // bit-identical results from run to run and for any thread count
  bool trust_points = false;     // skip the NaN/Inf check
  bool distinct_points = false;  // each transform of a batch has its own, one after the other; the plan is for one
  ModeOrder mode_order = ModeOrder::centred;
  Only only = Only::whole;  // spread or interpolate only: modes array is the fine grid (FFT order)
  std::string wisdom;       // FFTW wisdom to start from; empty: none
  // GPUs only.
  int device = 0;
  void* stream = nullptr;        // CUstream of the caller; null: the device's default stream
  bool time_stages = false;      // events between the stages; stage_times() is empty without
  double compile_seconds = 120;  // most for one kernel
};

// A kernel that does not compile, or not in time. (Status internal: no text of ours should.)
class CompileError : public Error {
 public:
  CompileError(const std::string& message, bool timed_out) : Error(Status::internal, message), timed_out_(timed_out) {}
  bool timed_out() const noexcept { return timed_out_; }

 private:
  bool timed_out_;
};

// Memory that a backend's executors take, for the tuner and the command line; applications bring their own arrays.
class ArrayMemory {
 public:
  virtual ~ArrayMemory() = default;
  // Contents are undefined. Throws Error{out_of_memory}. Released before the ArrayMemory ends.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* array) noexcept = 0;
  // Both wait until done. Uploads start at the array's first byte, downloads anywhere in it.
  virtual void upload(void* array, const void* host, std::size_t bytes) = 0;
  virtual void download(void* host, const void* array, std::size_t bytes) = 0;
  // Both on the default stream, without waiting. Arrays of this memory.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  virtual void fill(void* array, unsigned char byte, std::size_t bytes) = 0;
  // Until everything started on the default stream is done.
  virtual void wait() = 0;
  // Bytes that can still be allocated by anyone, freed ones that a pool of the process keeps among them; 0: unknown.
  virtual std::int64_t free_bytes() const { return 0; }
};

// Times what is started on the default stream between two marks: by events on a GPU, by the clock elsewhere.
class StreamTimer {
 public:
  virtual ~StreamTimer() = default;
  virtual void start() = 0;
  virtual void stop() = 0;
  // Between the last start and stop; waits for the work.
  virtual double seconds() = 0;
};

// By the wall clock, for backends whose work is done when a call returns.
std::unique_ptr<StreamTimer> clock_timer();

// A kernel of a bound transform and what it takes of a GPU.
struct KernelReport {
  std::string entry;
  int registers = 0;              // per thread
  int spill_bytes = 0;            // per thread, stores plus loads; -1: unknown
  std::int64_t shared_bytes = 0;  // per block
  int blocks = 0;                 // resident on a multiprocessor
  bool compiled = false;          // when it was bound; else it came from the kernel store
};
// As a run's row keeps it: a JSON list, empty without kernels.
std::string kernels_text(std::span<const KernelReport> kernels);

// A launch of the last set_points and execute.
struct LaunchTime {
  std::string stage;
  std::string entry;
  double seconds = 0;
  std::int64_t bytes = 0;  // global memory that it has to move
  double flops = 0;        // operations that it does
};

// One bound transform. Not thread-safe; different executors may run at the same time on different threads.
class Executor {
 public:
  virtual ~Executor() = default;
  // nufft only. Throws Error{invalid_point} naming the first bad index.
  virtual void set_points(const PointSet& points) = 0;
  // Type 3: where later points will lie (transform.h). Where it makes no difference it is not looked at.
  virtual void set_bounds(const Bounds&) {}
  // Types 1, 3 and ffts: first -> second; type 2: second -> first (see fourtune.h). adjoint: the conjugate transpose,
  // in the other direction. Allocates nothing once warm.
  virtual void execute(void* first, void* second, bool adjoint) = 0;
  virtual MemoryUse memory() const = 0;
  // Stages of the last set_points and execute, in order.
  virtual std::span<const StageTime> stage_times() const = 0;
  // The plan as bound (type 3 fills in its grids in set_points).
  virtual const generator::Plan& plan() const = 0;
  // FFTW wisdom gathered while planning (to be stored with a run); empty when there is none.
  virtual std::string wisdom() const { return {}; }
  // GPUs: the kernels of the forward transform.
  virtual std::vector<KernelReport> kernels() const { return {}; }
  // GPUs, with time_stages: every launch of the last set_points and execute, in order; waits for them.
  virtual std::vector<LaunchTime> launch_times() const { return {}; }
  // GPUs: later executes run there. Throws Error{invalid_argument} where there are no streams.
  virtual void set_stream(void* stream);
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  // Devices of this backend that this process may use, numbered from 0.
  virtual int device_count() const { return 1; }
  // Throws Error{invalid_option} that says how many devices there are.
  void check_device(int device) const;
  // Asking takes nothing of the device: no context, no memory. Throws as check_device.
  DeviceTraits traits(int device = 0) const {
    check_device(device);
    return traits_of(device);
  }
  virtual std::unique_ptr<Executor> bind(const Problem& problem, const generator::Plan& plan,
                                         const ExecutorOptions& options) const = 0;
  // Compiles what bind will then find ready; from any thread. Nothing where nothing is compiled. Throws as bind does.
  virtual void prepare(const Problem& problem, const generator::Plan& plan, const ExecutorOptions& options) const {
    (void)problem, (void)plan, (void)options;
  }
  // Memory of this device; host memory unless the backend says otherwise.
  virtual std::unique_ptr<ArrayMemory> memory(int device) const;
  virtual std::unique_ptr<StreamTimer> timer(int device) const;

 protected:
  // Of a device that is there.
  virtual DeviceTraits traits_of(int device) const = 0;
};

}  // namespace fourtune::runtime
