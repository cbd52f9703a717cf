// The plans of transforms over ranks, for a tuning session: the decomposition, its balance, grid and chunks, and the
// plan of a rank.
#pragma once

#include <utility>
#include <vector>

#include "fourtune/device_traits.h"
#include "runtime/distributed/tuned_plan.h"
#include "tuner/session/planning.h"

namespace fourtune::tools {

class RankPlanning final : public tuner::Planning {
 public:
  // rank: the device of one rank, with its share of the cores.
  RankPlanning(const runtime::distributed::Crew& crew, const DeviceTraits& rank) : crew_(crew), rank_(rank) {}
  db::Environment environment() const override;
  tuner::ListedPlans list(const Problem& problem) const override;
  std::string untuned(const Problem& problem) const override;
  std::string library(const Problem&) const override { return {}; }
  std::string served(const Problem& problem, const std::filesystem::path& database) const override;
  std::string fault(const std::string& plan, const Problem& problem) const override;
  generator::Cost expected(const Problem& problem) const override;

 private:
  class Collector;
  std::string chosen(const Problem& problem, const db::Lookup* lookup) const;
  void list_slabs(const Problem& problem, Collector& collector) const;
  void list_pencils(const Problem& problem, const generator::Candidate& local, int number, Collector& collector) const;
  double pencil_seconds(const Problem& problem, const generator::Plan& local, double alone,
                        const runtime::distributed::RankGrid& grid) const;
  void list_replicated(const Problem& problem, Collector& collector) const;
  Problem of_one_rank(const Problem& problem) const;
  double exchange_seconds(const Problem& problem, const generator::Plan& local,
                          runtime::distributed::Decomposition decomposition) const;
  std::vector<runtime::distributed::RankExchange> exchanges() const;
  std::vector<std::pair<runtime::distributed::RankExchange, runtime::distributed::Kept>> ways_of(
      const generator::Plan& local, const Problem& problem) const;
  std::vector<int> parts_of(const Problem& problem, runtime::distributed::RankExchange way) const;
  std::vector<runtime::distributed::Chunks> chunks_of(const Problem& problem) const;

  runtime::distributed::Crew crew_;
  DeviceTraits rank_;
};

}  // namespace fourtune::tools
