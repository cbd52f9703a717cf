// Runs the threads of a launch as fibers on one OS thread, block after block (cluster after cluster). Scheduling is in
// engine.cpp, calls from kernels in host_calls.cpp, error messages in engine_report.cpp.
//
// A thread runs until it has to wait (barrier, warp operation, mbarrier, pause) or ends. Then the next thread of the
// round runs, in the requested order; threads that may continue form the next round. So every order of threads between
// two synchronisations can be produced, and data that a missing barrier leaves unordered is read in the wrong order.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "runtime/backends/emulated/async_copies.h"
#include "runtime/backends/emulated/guarded_memory.h"
#include "runtime/backends/emulated/kernel_fault.h"
#include "runtime/backends/emulated/module.h"
#include "runtime/backends/emulated/shadow.h"

namespace fourtune::runtime::emulated {

enum class ExecutionOrder { forward, reverse, random };
// When asynchronous copies land: as late as possible, or each at a random moment before its wait.
enum class CopyTiming { late, random };

struct RunOptions {
  ExecutionOrder threads = ExecutionOrder::forward;
  ExecutionOrder blocks = ExecutionOrder::forward;
  CopyTiming copies = CopyTiming::late;
  std::uint64_t seed = 1;
  bool instrumented = false;  // checks races, uninitialised reads, exact bounds; about ten times slower
  bool undefined = false;     // traps on undefined behaviour
  int second_call = 0;   // the launch of a program that begins a second call, such as an execute; 0: it is one call
  double seconds = 120;  // of processor time, limit for one launch
};

class Engine {
 public:
  explicit Engine(const RunOptions& options);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  // Device memory that kernels may use; it must outlive the engine. initialised: the host wrote it.
  void attach(const GuardedMemory& buffer, bool initialised);
  // Throws KernelFault. The engine can launch again afterwards.
  // Of the launches of a call, kernels that wait for the earlier ones themselves start before these have ended
  // (templates/launch_order.cuh), except for the first one. A new engine begins a call.
  void begin_call() { call_first_ = serial_; }
  void launch(Module& module, const generator::KernelSource& source, const generator::Extent3& grid, void** arguments);

  // Kernels call these through the table of host_table.h; `current` is set while a fiber runs.
  static Engine* current();
  static const FourtuneEmulatedHost host_table;

 private:
  friend struct HostCalls;
  enum class State : std::uint8_t { ready, barrier, cluster_barrier, warp, mbarrier, paused, left };
  struct Fiber {
    void* context = nullptr;
    std::uint32_t rank = 0;    // rank of its block in the cluster
    std::uint32_t linear = 0;  // linear index in its block
    Index3 index{};
    State state = State::ready;
    int line = 0;
    unsigned mask = 0;
    int kind = 0, source = 0;
    unsigned long long value = 0, result = 0;
    void* mbarrier = nullptr;
    int parity = 0;
    std::uint32_t cluster_arrivals = 0, cluster_waits = 0;  // counts at the cluster's barrier
    bool waited = false;                                    // for the kernel ahead
  };
  struct Trouble {
    FaultKind kind{};
    std::uint32_t fiber = 0;
    int line = 0;                 // if known; otherwise
    const void* where = nullptr;  // the address to look up
    const void* address = nullptr;
    std::size_t bytes = 0;
    bool is_write = false;
    AccessTrouble access;
    std::string text;
  };

  void run_cluster(std::uint32_t first_block);
  void start_fibers();
  void sort_round(std::vector<std::uint32_t>& round);
  void resume(std::uint32_t id);
  void suspend_as_is();  // returns to the scheduler; the fiber's state says why
  bool on_stack(const void* address) const;
  [[noreturn]] void fail(Trouble trouble);
  [[noreturn]] void raise(const Trouble& trouble);
  [[noreturn]] void raise_stuck();
  void wake(std::uint32_t id);
  void arrive_at_barrier(Fiber& fiber);
  void arrive_at_cluster();
  void arrive_at_warp(Fiber& fiber);
  void release_warp();
  bool wake_mbarrier_waiters();
  void leave(Fiber& fiber);
  void check_bounds(const void* address, std::size_t bytes, bool is_write, int line);
  void access(void* address, std::size_t bytes, AccessKind kind, void* where);
  void check_guards();
  std::string describe_waits() const;
  std::string describe_address(const void* address, std::size_t bytes) const;
  std::string describe_access(const Trouble& trouble) const;
  void find_lanes(const Fiber& fiber, unsigned mask);
  std::uint32_t& waiting_in_warp(const Fiber& fiber) { return in_warp_[fiber.rank * warps_ + fiber.linear / 32]; }
  Index3 block_of(std::uint32_t linear) const;

  RunOptions options_;
  std::mt19937_64 random_;
  std::vector<const GuardedMemory*> buffers_;
  std::unique_ptr<Shadow> shadow_;
  AsyncCopies copies_;
  // State of the launch.
  Module* module_ = nullptr;
  const generator::KernelSource* source_ = nullptr;
  generator::Extent3 grid_{};
  void** arguments_ = nullptr;
  bool overlaps_ = false;  // with the kernel ahead
  std::uint32_t threads_ = 0, warps_ = 0, cluster_ = 1, serial_ = 1, launch_serial_ = 1, call_first_ = 1;
  // State of the running cluster.
  std::vector<std::uint32_t> cluster_blocks_;  // linear indices in the grid, by rank
  std::vector<Index3> block_indices_;          // the same as three numbers
  std::vector<std::uint32_t> at_barrier_;      // how many threads of each block wait at its barrier
  std::vector<std::uint32_t> in_warp_;         // how many threads of each warp wait in a warp operation
  std::vector<GuardedMemory> shared_;
  std::vector<Fiber> fibers_;
  std::vector<std::uint32_t> ready_;
  std::vector<std::uint32_t> lanes_;  // of the current warp operation; not on a fiber's stack, which may be abandoned
  std::uint32_t running_ = 0, left_ = 0;
  std::uint32_t cluster_phases_ = 0;  // how often all threads of the cluster have arrived
  bool in_fiber_ = false;
  void* scheduler_ = nullptr;
  bool failed_ = false;
  Trouble trouble_;
};

}  // namespace fourtune::runtime::emulated
