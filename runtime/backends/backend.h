// Where transforms run. A backend turns (problem, plan) into an Executor, which the tuner and the public API both use.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fourtune/device_traits.h"
#include "fourtune/problem.h"
#include "fourtune/transform.h"
#include "generator/plan/plan.h"
#include "runtime/backends/device_sensors.h"
#include "runtime/backends/device_streams.h"

namespace fourtune::db {
class Pack;
}

namespace fourtune::runtime {

using fourtune::MemoryUse;
using fourtune::ModeOrder;
using fourtune::Only;
using fourtune::StageTime;
using PointSet = fourtune::Points;

// Where the grid of spreading or interpolating alone begins; otherwise at 0.
inline bool begins_at_minus_pi(Only only) { return only == Only::spread_centred || only == Only::interpolate_centred; }

// The grid of an executor that only spreads or interpolates is a slab of a periodic one, along the last dimension.
// Points are located in the whole grid, and lie where their windows stay inside the slab.
struct GridSlab {
  std::int64_t period = 0;  // cells of the whole grid along that dimension; 0: this grid is the whole one
  std::int64_t start = 0;   // the slab's first cell
  std::int64_t before = 0;  // its first cells that belong to another slab, whole bins of the plan
  // deterministic: replaces the bounds of this executor's values (bits of a double that is not negative) and points by
  // those of all executors that share the whole grid. It may wait for them. Null: they are its own.
  std::function<void(std::array<std::uint64_t, 2>&)> agree;
};

struct ExecutorOptions {
  bool deterministic = false;    // bit-identical results from run to run and for any thread count
  bool trust_points = false;     // skip the NaN/Inf check
  bool exact_points = false;     // points keep all digits of their precision
  bool distinct_points = false;  // each transform of a batch has separate points, set after set; the plan is for one
  ModeOrder mode_order = ModeOrder::centred;
  Only only = Only::whole;  // spread or interpolate only: the modes array is the fine grid (x fastest)
  GridSlab slab;            // of `only`, on GPUs
  std::string wisdom;       // FFTW wisdom to start from; empty means none
  // The options below apply to GPUs only.
  int device = 0;
  void* stream = nullptr;        // the caller's CUstream; null means the device's default stream
  bool time_stages = false;      // records events between the stages; without it stage_times() is empty
  double compile_seconds = 120;  // limit for compiling one kernel
  bool crowded = false;          // makes the kernels for crowded bins at once, not when set_points first meets one
  std::vector<std::shared_ptr<const db::Pack>> kernel_packs;  // whose kernels may run
};

// Thrown when a kernel does not compile, or not in time. (Status internal: no generated text should fail to compile.)
class CompileError : public Error {
 public:
  CompileError(const std::string& message, bool timed_out) : Error(Status::internal, message), timed_out_(timed_out) {}
  bool timed_out() const noexcept { return timed_out_; }

 private:
  bool timed_out_;
};

// A kernel that a plan needs and that nobody has compiled yet.
struct KernelJob {
  std::string key;  // equal for equal kernels
  std::string entry, text;
  int max_registers = 0;   // as in generator::KernelSource
  std::string target;      // for example "sm_90"
  std::size_t weight = 0;  // milliseconds that compiling takes, roughly
};
struct KernelImage {
  std::vector<std::byte> image;
  std::string log;  // the compiler's messages
};

// Thrown when a kernel is in no trusted pack and not in the user's store, and there is no compiler to make it.
class NoCompiler : public Error {
 public:
  explicit NoCompiler(const std::string& message) : Error(Status::backend_unavailable, message) {}
};

// Memory for the arrays of executors. The tuner and the command line use it; applications bring their own arrays.
class ArrayMemory {
 public:
  virtual ~ArrayMemory() = default;
  // The contents are undefined. Throws Error{out_of_memory}. Every array must be released before the ArrayMemory ends.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* array) noexcept = 0;
  // Both wait until the copy is done. An upload starts at the array's first byte, a download anywhere in it.
  virtual void upload(void* array, const void* host, std::size_t bytes) = 0;
  virtual void download(void* host, const void* array, std::size_t bytes) = 0;
  // Both run on the default stream and do not wait. Their arrays belong to this ArrayMemory.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  virtual void fill(void* array, unsigned char byte, std::size_t bytes) = 0;
  // Waits until everything started on the default stream is done.
  virtual void wait() = 0;
  // Bytes that anyone can still allocate, including freed bytes that a pool of this process keeps; 0 means unknown.
  virtual std::int64_t free_bytes() const { return 0; }
};

// Times the work started on the default stream between two marks: with events on a GPU, with the clock elsewhere.
class StreamTimer {
 public:
  virtual ~StreamTimer() = default;
  virtual void start() = 0;
  virtual void stop() = 0;
  // Time between the last start and the last stop; waits for the work to finish.
  virtual double seconds() = 0;
};

// Uses the wall clock, for backends whose work is done when a call returns.
std::unique_ptr<StreamTimer> clock_timer();

// A kernel of a bound transform and the GPU resources that it uses.
struct KernelReport {
  std::string entry;
  int registers = 0;              // per thread
  int spill_bytes = 0;            // per thread, stores plus loads; -1 means unknown
  std::int64_t shared_bytes = 0;  // per block
  int blocks = 0;                 // resident per multiprocessor
  bool compiled = false;          // compiled at binding; otherwise loaded from the kernel store
};
// The reports in the form that the row of a run stores: a JSON list, or an empty text when there are no kernels.
std::string kernels_text(std::span<const KernelReport> kernels);

// One launch of the last set_points and execute.
struct LaunchTime {
  std::string stage;
  std::string entry;
  double seconds = 0;
  std::int64_t bytes = 0;  // global memory traffic that it needs at least
  double flops = 0;        // arithmetic operations that it performs
};

// One bound transform. It is not thread-safe, but different executors may run at the same time on different threads.
class Executor {
 public:
  virtual ~Executor() = default;
  // For a nufft only. Throws Error{invalid_point} that names the first bad index.
  virtual void set_points(const PointSet& points) = 0;
  // Type 3: says where later points will lie (transform.h). An executor for which this makes no difference ignores it.
  virtual void set_bounds(const Bounds&) {}
  // Types 1 and 3 and ffts read first and write second; type 2 reads second and writes first (see fourtune.h). adjoint
  // runs the conjugate transpose, in the other direction. Allocates nothing once warm.
  virtual void execute(void* first, void* second, bool adjoint) = 0;
  virtual MemoryUse memory() const = 0;
  // The stages of the last set_points and execute, in order.
  virtual std::span<const StageTime> stage_times() const = 0;
  // The plan as bound (for type 3, set_points fills in its grids).
  virtual const generator::Plan& plan() const = 0;
  // FFTW wisdom gathered during planning (to be stored with a run); empty when there is none.
  virtual std::string wisdom() const { return {}; }
  // GPUs only: the kernels of the forward transform.
  virtual std::vector<KernelReport> kernels() const { return {}; }
  // GPUs only, with time_stages: every launch of the last set_points and execute, in order; waits for them to finish.
  virtual std::vector<LaunchTime> launch_times() const { return {}; }
  // GPUs only: later executes use this stream. Throws Error{invalid_argument} on a backend without streams.
  virtual void set_stream(void* stream);
  // Of a slab (GridSlab), before set_points: later points lie in the slab that begins at this cell. adds: spreading
  // adds to what the grid holds instead of clearing it first.
  virtual void set_slab(std::int64_t start, bool adds);
};

// The arrays that the executors of a backend take.
enum class MemoryKind {
  host,     // any memory of this process
  aligned,  // memory of this process, aligned as a GPU's allocations are
  device,   // memory of the device
};

// What a backend can do, and what it asks of its callers. Nobody else compares names to find that out. The defaults are
// those of the processor.
struct Capabilities {
  bool streams = false;                  // executors take the caller's stream
  MemoryKind arrays = MemoryKind::host;  // what executors read and write
  bool keeps_kernels = false;            // compiled kernels are kept in the user's database
  bool faults_stay = false;              // after a kernel failed, every later one of the process fails
  double least_sample_seconds = 0;       // shorter samples queue too few launches to keep the device busy
  double modest_megabytes = 60;          // arrays of a problem that takes seconds and not minutes
};

// The software that measurements on a backend depend on; a text is empty where there is none.
struct Software {
  std::string driver;
  std::string compiler;
  std::string libraries;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  virtual Capabilities capabilities() const { return {}; }
  // Says what is missing on this machine; empty when the backend works.
  virtual std::string why_not_available() const { return {}; }
  // Software::driver, without loading anything else.
  virtual std::string driver_version() const { return {}; }
  // Works where the backend does not. Nullopt means that of the processor's backend.
  virtual std::optional<Software> software() const { return std::nullopt; }
  // The number of devices of this backend that this process may use; they are numbered from 0.
  virtual int device_count() const { return 1; }
  // Throws Error{invalid_option} that says how many devices there are.
  void check_device(int device) const;
  // The query uses no resources of the device: no context, no memory. Throws as check_device does.
  DeviceTraits traits(int device = 0) const {
    check_device(device);
    return traits_of(device);
  }
  virtual std::unique_ptr<Executor> bind(const Problem& problem, const generator::Plan& plan,
                                         const ExecutorOptions& options) const = 0;
  // Compiles ahead what bind needs; may be called from any thread. Does nothing on a backend that compiles nothing.
  // Throws as bind does.
  virtual void prepare(const Problem& problem, const generator::Plan& plan, const ExecutorOptions& options) const {
    (void)problem, (void)plan, (void)options;
  }
  // The same in pieces, for those who compile many plans: kernels that bind would compile, what compiles one, and what
  // puts it where bind finds it. Any thread may call them, and compile_kernel also another process, which needs no
  // device. compile_kernel throws CompileError; missing_kernels throws as bind does.
  virtual std::vector<KernelJob> missing_kernels(const Problem& problem, const generator::Plan& plan,
                                                 const ExecutorOptions& options) const {
    (void)problem, (void)plan, (void)options;
    return {};
  }
  virtual KernelImage compile_kernel(const KernelJob& job, double seconds) const;
  virtual void keep_kernel(const KernelJob& job, KernelImage&& image) const { (void)job, (void)image; }
  // Writes kept kernels to where another process finds them; keep_kernel need not.
  virtual void flush_kernels() const {}
  // Memory of this device; it is host memory unless the backend overrides this.
  virtual std::unique_ptr<ArrayMemory> memory(int device) const;
  virtual std::unique_ptr<StreamTimer> timer(int device) const;
  // The device's clocks, power and temperature; null where the backend has no sensors. Throws
  // Error{backend_unavailable} that says what is missing where it should have them.
  virtual std::unique_ptr<DeviceSensors> sensors(int device) const {
    (void)device;
    return nullptr;
  }
  // Streams of this device for work and copies that overlap; those of a backend whose memory is the process's do
  // everything at once.
  virtual std::unique_ptr<DeviceStreams> streams(int device) const;
  // Lets these devices copy from each other's memory without a detour through the host, where they can. Lasts as long
  // as the process.
  virtual void connect(std::span<const int> devices) const { (void)devices; }
  // Makes the device's context current on this thread while the result lives, for libraries that expect this. Null
  // where there is no context.
  virtual std::shared_ptr<void> make_current(int device) const {
    (void)device;
    return nullptr;
  }

 protected:
  // Called only for a device that exists.
  virtual DeviceTraits traits_of(int device) const = 0;
};

}  // namespace fourtune::runtime
