// Programs bound to device memory: slots that all parts of a transform share, parts that are launched one after the
// other, and the times of their stages.
//
// In a part's program, workspace i is slot i; first and second are the arrays of the call. Slots only grow, so a new
// set of points that is not larger allocates nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "generator/codegen/kernel_source.h"
#include "runtime/backends/gpu/launch_arguments.h"
#include "runtime/backends/gpu/nufft_queue.h"

namespace fourtune::runtime::gpu {

// Launches with loaded kernels, or a library's transform on one slot.
class BoundLaunches {
 public:
  std::int64_t bytes() const;  // size of tables and of the library's work area

 private:
  friend class Runner;
  std::vector<generator::Launch> launches_;
  std::vector<int> kernels_;  // numbers from the queue
  std::vector<std::string> entries_;
  std::vector<std::unique_ptr<QueueMemory>> constants_;
  std::vector<LaunchArguments> arguments_;
  std::uint64_t bound_ = 0;  // Runner::epoch_ when the arguments were made
  std::unique_ptr<LibraryFft> library_;
  int slot_ = 0;  // the slot of the library's data
};

class Runner {
 public:
  Runner(std::unique_ptr<Queue> queue, int slots, bool time_stages);

  Queue& queue() { return *queue_; }

  std::vector<KernelReport> kernels() const { return queue_->kernels(); }

  // ---- memory ----
  // Gives the slot at least `bytes`. Throws Error{out_of_memory}; the slot then keeps its memory or has none.
  void reserve(int slot, std::int64_t bytes, const char* name, bool kept = false);
  void free(int slot);
  // Makes a slot use another slot's memory.
  void alias(int slot, int of);
  // Makes a slot refer to the caller's array; parts that use it are bound again.
  void point(int slot, std::byte* data);
  std::byte* data(int slot) const;
  // Writes the beginning of a slot that was reserved, and waits; call it when nothing that uses the slot is under way.
  void upload(int slot, std::span<const std::byte> bytes) { queue_->upload(*memory_[index(slot)], bytes); }
  std::int64_t slot_bytes(int slot) const { return memory_[index(slot)] ? memory_[index(slot)]->bytes : 0; }
  std::int64_t held() const;  // total size of all slots

  // ---- parts ----
  // Loads the kernels of all programs at once, so that they are compiled in parallel.
  void preload(const std::vector<const generator::GpuProgram*>& programs);
  // Loads kernels that are not loaded yet and uploads the tables.
  BoundLaunches make(const generator::GpuProgram& program);
  BoundLaunches make_library(const Problem& problem, int slot);
  // Sets the same launches for other point counts: kernels and tables stay.
  void change(BoundLaunches& part, const generator::GpuProgram& program);
  // Writes the addresses of the part's slots into its arguments if they changed (with `always`, in any case), so that
  // launch allocates nothing.
  void bind(BoundLaunches& part, bool always = false);
  // Call this within a run.
  void launch(BoundLaunches& part, std::byte* first, std::byte* second);
  // Call this within a run: prepares the launches that launches() makes, so that later runs start them without
  // allocating. Nothing runs.
  template <class Launches>
  void rehearse(const Launches& launches) {
    if (timed_ || !queue_->begin_rehearsal()) return;
    launches();
    queue_->end_rehearsal();
  }

  // ---- stages ----
  void begin_set_points() { next_ = kept_ = 0, marks_.clear(); }
  void begin_execute() { next_ = kept_, marks_.resize(static_cast<std::size_t>(kept_)); }
  void end_stages(bool set_points);
  std::vector<StageTime> stage_times();
  std::vector<LaunchTime> launch_times();  // one by one, with the bytes and operations required

 private:
  static std::size_t index(int slot) { return static_cast<std::size_t>(slot); }
  void mark(const std::string& stage, const generator::Launch* launch, const std::string* entry);
  std::vector<int> load(const std::vector<generator::KernelSource>& sources);

  std::unique_ptr<Queue> queue_;
  std::vector<std::unique_ptr<QueueMemory>> memory_;
  std::vector<int> alias_;  // -1: has separate memory
  std::vector<std::byte*> pointed_;
  std::vector<generator::KernelSource> sources_;  // the loaded kernels
  std::vector<int> numbers_;
  std::uint64_t epoch_ = 1;
  bool timed_;
  int next_ = 0, kept_ = 0;  // number of marks used, and of those made by set_points
  // What follows each mark; an empty stage means nothing follows.
  struct Timed {
    std::string stage, entry;
    std::int64_t bytes = 0;
    double flops = 0;
  };
  std::vector<Timed> marks_;
};

}  // namespace fourtune::runtime::gpu
