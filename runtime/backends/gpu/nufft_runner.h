// Programs bound to memory of a device: slots that all parts of a transform share, parts that are launched one after
// the other, and the times of their stages.
//
// In a part's program, workspace i is slot i; first and second are arrays of the call. Slots only grow, so a second set
// of points that is not larger allocates nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "generator/codegen/kernel_source.h"
#include "runtime/backends/gpu/launch_arguments.h"
#include "runtime/backends/gpu/nufft_queue.h"

namespace fourtune::runtime::gpu {

// Launches with their kernels loaded, or a library's transform of one slot.
class Part {
 public:
  std::int64_t bytes() const;  // of tables and the library's work area

 private:
  friend class Runner;
  std::vector<generator::Launch> launches_;
  std::vector<int> kernels_;  // of the queue
  std::vector<std::string> entries_;
  std::vector<std::unique_ptr<QueueMemory>> constants_;
  std::vector<LaunchArguments> arguments_;
  std::uint64_t bound_ = 0;  // Runner::epoch_ when the arguments were made
  std::unique_ptr<LibraryFft> library_;
  int slot_ = 0;  // of the library's data
};

class Runner {
 public:
  Runner(std::unique_ptr<Queue> queue, int slots, bool time_stages);

  Queue& queue() { return *queue_; }

  std::vector<KernelReport> kernels() const { return queue_->kernels(); }

  // ---- memory ----
  // At least `bytes`. Throws Error{out_of_memory}; the slot then has what it had, or nothing.
  void reserve(int slot, std::int64_t bytes, const char* name, bool kept = false);
  void free(int slot);
  // A slot that is another one's memory.
  void alias(int slot, int of);
  // A slot that is the caller's array; parts that read it are bound anew.
  void point(int slot, std::byte* data);
  std::byte* data(int slot) const;
  std::int64_t slot_bytes(int slot) const { return memory_[index(slot)] ? memory_[index(slot)]->bytes : 0; }
  std::int64_t held() const;  // bytes of all slots

  // ---- parts ----
  // Loads the kernels of all of them at once, so that they are compiled side by side.
  void preload(const std::vector<const generator::GpuProgram*>& programs);
  // Loads the kernels that are new and uploads the tables.
  Part make(const generator::GpuProgram& program);
  Part make_library(const Problem& problem, int slot);
  // The same launches for other counts of points: kernels and tables stay.
  void change(Part& part, const generator::GpuProgram& program);
  // Puts the addresses of its slots into the arguments, if they changed (always: whether or not they did), so that
  // launch allocates nothing.
  void bind(Part& part, bool always = false);
  // Within a run.
  void launch(Part& part, std::byte* first, std::byte* second);
  // Within a run: what launches() will launch in later runs is made ready to start without allocating. Nothing runs.
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
  std::vector<LaunchTime> launch_times();  // one by one, with the bytes and operations that they have to do

 private:
  static std::size_t index(int slot) { return static_cast<std::size_t>(slot); }
  void mark(const std::string& stage, const generator::Launch* launch, const std::string* entry);
  std::vector<int> load(const std::vector<generator::KernelSource>& sources);

  std::unique_ptr<Queue> queue_;
  std::vector<std::unique_ptr<QueueMemory>> memory_;
  std::vector<int> alias_;  // -1: own memory
  std::vector<std::byte*> pointed_;
  std::vector<generator::KernelSource> sources_;  // loaded ones
  std::vector<int> numbers_;
  std::uint64_t epoch_ = 1;
  bool timed_;
  int next_ = 0, kept_ = 0;  // marks used, and those of set_points
  // What follows each mark; an empty stage: nothing.
  struct Timed {
    std::string stage, entry;
    std::int64_t bytes = 0;
    double flops = 0;
  };
  std::vector<Timed> marks_;
};

}  // namespace fourtune::runtime::gpu
