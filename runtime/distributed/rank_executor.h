// One distributed transform, bound on every rank. All functions that communicate are called by all ranks.
// Sources: host_*.cpp on processors, gpu_*.cpp on GPUs, replicated.cpp where each rank has the whole array.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <span>

#include "fourtune/problem.h"
#include "runtime/backends/backend.h"
#include "runtime/distributed/communicator.h"
#include "runtime/distributed/rank_plan.h"
#include "runtime/slabs/split.h"

namespace fourtune::runtime::distributed {

struct RankOptions {
  bool deterministic = false;
  bool trust_points = false;
  ModeOrder mode_order = ModeOrder::centred;
  std::int64_t cache_bytes = 0;  // that processors share; 0: unknown
};

// The GPU of a rank. All of it outlives an executor.
struct RankDevice {
  const Backend* backend = nullptr;
  int number = 0;
  DeviceStreams* streams = nullptr;
  const class NcclRanks* nccl = nullptr;  // where the plan's exchange is nccl
};

class RankExecutor {
 public:
  virtual ~RankExecutor() = default;
  // This rank's points. Throws the same Error on every rank.
  virtual void set_points(const PointSet& points) = 0;
  // This rank's parts of the arrays (fourtune/distributed.h). Throws the same Error on every rank.
  virtual void execute(void* first, void* second, bool adjoint) = 0;
  // Collective. Before this ends, or its arrays do: others may still see this rank's memory (RankExchange::peer).
  virtual void let_go() {}
  virtual MemoryUse memory() const = 0;
  virtual std::span<const StageTime> stage_times() const = 0;
};

// The problem has this rank's point counts for replicated plans, and those of all ranks together for others.
std::unique_ptr<RankExecutor> make_host_fft(const Communicator& ranks, const Problem& problem, const RankPlan& plan,
                                            const RankOptions& options);
std::unique_ptr<RankExecutor> make_gpu_fft(const Communicator& ranks, const Problem& problem, const RankPlan& plan,
                                           const RankOptions& options, const RankDevice& device);
std::unique_ptr<RankExecutor> make_host_nufft(const Communicator& ranks, const Problem& problem, const RankPlan& plan,
                                              const RankOptions& options);
std::unique_ptr<RankExecutor> make_host_type3(const Communicator& ranks, const Problem& problem, const RankPlan& plan,
                                              const RankOptions& options);
// RankExchange::kernels
std::unique_ptr<RankExecutor> make_gpu_joined_fft(const Communicator& ranks, const Problem& problem,
                                                  const RankPlan& plan, const RankOptions& options,
                                                  const RankDevice& device);
std::unique_ptr<RankExecutor> make_gpu_nufft_slabs(const Communicator& ranks, const Problem& problem,
                                                   const RankPlan& plan, const RankOptions& options,
                                                   const RankDevice& device);
// Type 3 by slabs.
std::unique_ptr<RankExecutor> make_gpu_type3(const Communicator& ranks, const Problem& problem, const RankPlan& plan,
                                             const RankOptions& options, const RankDevice& device);
// Types 1 and 2 with an exchange by NCCL.
std::unique_ptr<RankExecutor> make_gpu_replicated(const Communicator& ranks, const Problem& problem,
                                                  const fourtune::Options& options, const RankDevice& device);
std::unique_ptr<RankExecutor> make_replicated(const Communicator& ranks, const Problem& problem,
                                              const fourtune::Options& options);

// How the columns of modes are split over so many ranks: the last dimension but one.
Split mode_columns(const Problem& problem, int ranks);

// Work of one rank between exchanges. After a failure it runs nothing more, so that this rank still takes part in the
// exchanges that follow; rethrow() then fails.
class LocalWork {
 public:
  template <class Work>
  void run(Work&& work) {
    if (!error_) always(work);
  }
  // Also after a failure, of which the first one is kept.
  template <class Work>
  void always(Work&& work) {
    try {
      work();
    } catch (...) {
      if (!error_) error_ = std::current_exception();
    }
  }
  bool failed() const { return error_ != nullptr; }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }
  // The end of an execute. Only what makes or allocates something can fail, and that happens once: later calls need no
  // agreement. All ranks pass the same `warm`.
  void end(const Communicator& ranks, bool& warm) const {
    if (warm) return rethrow();
    ranks.together([&] { rethrow(); });
    warm = true;
  }

 private:
  std::exception_ptr error_;
};

}  // namespace fourtune::runtime::distributed
