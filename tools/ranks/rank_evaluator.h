// The evaluator of a tuning session whose transforms run on all ranks. The session is on rank 0; the other ranks serve
// it, doing what it orders, so that every measurement is collective.
#pragma once

#include <mpi.h>

#include <atomic>

#include "tools/ranks/rank_bench.h"
#include "tuner/measure/evaluator.h"

namespace fourtune::tools {

// On rank 0. Times are those of the slowest rank, from a barrier on. A plan that ends a rank ends the session too, as
// MPI has it.
class RankEvaluator final : public tuner::Evaluator {
 public:
  // stop: a flag that ends the session early; may be null.
  RankEvaluator(MPI_Comm comm, const RankHardware& hardware, const std::atomic<bool>* stop);
  ~RankEvaluator() override;  // the others go on behind serve()
  RankEvaluator(const RankEvaluator&) = delete;
  RankEvaluator& operator=(const RankEvaluator&) = delete;

  const RankBench& bench() const { return bench_; }
  DeviceTraits traits() override { return bench_.traits(); }
  tuner::Spent load(const Problem& problem, std::uint64_t seed, const std::vector<std::string>& plans = {}) override;
  tuner::Evaluation evaluate(const tuner::EvaluationRequest& request) override;
  tuner::FinalsResult finals(const tuner::FinalsRequest& request) override;

 private:
  void require_going() const;
  void bind(const std::string& plan);
  double set_points(std::size_t transform);
  tuner::Validation check(std::size_t transform);
  double run(std::size_t transform, int count);
  void release();
  tuner::Workload workload(std::size_t transform);
  std::vector<db::StageNs> stages_of(std::size_t transform) const;

  RankBench bench_;
  const std::atomic<bool>* stop_;
};

// On every other rank: returns when rank 0's evaluator ends.
void serve(MPI_Comm comm, const RankHardware& hardware);

}  // namespace fourtune::tools
