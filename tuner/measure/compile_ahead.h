// Compiles the kernels of the plans that come next while the present one is being measured.
//
// 1. A kernel that several plans share is compiled once.
// 2. Threads work on the plan that will be measured first, its slowest kernel before the others; who finds no kernel of
//    it left takes one of the next plan. So all threads are busy while plans wait, and the first plan is ready early.
// 3. A thread makes the texts of the next plan whenever fewer kernels are ready than there are threads.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/backends/backend.h"

namespace fourtune::tuner {

// Compiles one kernel, or throws. Used by one thread.
using KernelCompiler = std::function<runtime::KernelImage(const runtime::KernelJob&)>;

// Must be used by one thread only.
class CompileAhead {
 public:
  // The kernels of a plan that nobody has compiled; may throw.
  using ListKernels = std::function<std::vector<runtime::KernelJob>(const std::string& plan)>;
  using KeepKernel = std::function<void(const runtime::KernelJob&, runtime::KernelImage)>;

  // Everything given is called on `threads` threads that this object owns, make_compiler once on each that compiles.
  CompileAhead(int threads, std::function<KernelCompiler()> make_compiler, KeepKernel keep);
  CompileAhead(const CompileAhead&) = delete;
  CompileAhead& operator=(const CompileAhead&) = delete;
  // Waits for the compilations in progress and drops those that have not begun.
  ~CompileAhead();

  // From now on plans are those of this problem. Plans of others are dropped, but not the kernels in progress.
  void begin(const std::string& problem, ListKernels list);
  // Queues each plan once, in this order and before those of other problems.
  void add(const std::vector<std::string>& plans);
  // Queues plans of a problem that begins later, after all others.
  void announce(const std::string& problem, const ListKernels& list, const std::vector<std::string>& plans);
  // Whether finish(plan) would return at once.
  bool ready(const std::string& plan);
  // Waits until this plan's kernels are compiled, before those of all others, and rethrows what listing or compiling
  // them threw. Returns at once when the plan was not added.
  void finish(const std::string& plan);

 private:
  enum class State { queued, busy, done };
  struct Kernel {
    runtime::KernelJob job;
    State state = State::queued;
    std::exception_ptr error;
  };
  using Name = std::pair<std::string, std::string>;  // problem and plan
  struct Plan {
    Name name;
    ListKernels list;
    State listing = State::queued;
    std::vector<std::shared_ptr<Kernel>> kernels;
    std::exception_ptr error;  // of listing
    bool done() const;
  };

  void queue(const Name& name, const ListKernels& list, const std::deque<std::shared_ptr<Plan>>::iterator& before);
  void run();
  // What a thread may do next: a plan to list, a kernel to compile, or neither. Call with the lock.
  std::shared_ptr<Plan> next_plan();
  std::shared_ptr<Kernel> next_kernel() const;
  std::size_t ready_kernels() const;
  void list(const std::shared_ptr<Plan>& plan, std::unique_lock<std::mutex>& lock);
  void compile(const std::shared_ptr<Kernel>& kernel, KernelCompiler& compiler, std::unique_lock<std::mutex>& lock);

  const std::function<KernelCompiler()> make_compiler_;
  const KeepKernel keep_;
  const std::size_t thread_count_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string problem_;
  ListKernels list_;
  std::deque<std::shared_ptr<Plan>> waiting_;  // in the order of measuring
  std::map<Name, std::shared_ptr<Plan>> plans_;
  std::map<std::string, std::shared_ptr<Kernel>> known_;  // by key
  bool stop_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace fourtune::tuner
