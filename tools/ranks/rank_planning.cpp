#include "tools/ranks/rank_planning.h"

#include <algorithm>
#include <array>
#include <set>

#include "runtime/backends/families.h"
#include "runtime/distributed/choose_plan.h"
#include "runtime/distributed/fft_cost.h"
#include "runtime/distributed/slab_cost.h"
#include "runtime/environment.h"
#include "runtime/plan_sources.h"

namespace fourtune::tools {
namespace {

using runtime::distributed::Balance;
using runtime::distributed::Chunks;
using runtime::distributed::Cut;
using runtime::distributed::Decomposition;
using runtime::distributed::Kept;
using runtime::distributed::RankExchange;
using runtime::distributed::RankPlan;

// The plans of a rank that are combined with decompositions: the cost model knows those of one process well.
constexpr int kMostLocals = 48;
constexpr int kWays = 7;                 // exchanges, with where kept planes lie
constexpr double kBytesPerSecond = 4e9;  // of messages between ranks of one machine, for the model

std::vector<generator::Candidate> best_first(const Problem& problem, const DeviceTraits& traits) {
  std::vector<generator::Candidate> all = runtime::runnable(generator::candidates(problem, traits)).candidates;
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.estimate < b.estimate; });
  return all;
}

}  // namespace

// Collects plans with their place in the space: which decomposition with which balance, which chunks, which plan of a
// rank.
class RankPlanning::Collector {
 public:
  Collector(const Problem& problem, tuner::ListedPlans& listed) : problem_(problem), listed_(listed) {
    listed.axes = {"decomposition", "chunks", "cut", "local", "exchange"};
  }
  bool is_new(const RankPlan& plan) const { return !seen_.contains(to_text(plan, problem_)); }
  void add(const RankPlan& plan, std::array<int, 5> place, double estimate) {
    listed_.texts.push_back(to_text(plan, problem_));
    listed_.space.coordinates.emplace_back(place.begin(), place.end());
    listed_.space.estimates.push_back(estimate);
    seen_.insert(listed_.texts.back());
  }

 private:
  const Problem& problem_;
  tuner::ListedPlans& listed_;
  std::set<std::string> seen_;
};

db::Environment RankPlanning::environment() const { return environment_of(crew_, runtime::environment_here(rank_)); }

std::string RankPlanning::chosen(const Problem& problem, const db::Lookup* lookup) const {
  return to_text(choose_on_first(crew_, problem, rank_, {}, lookup).plan, problem);
}

std::string RankPlanning::untuned(const Problem& problem) const { return chosen(problem, nullptr); }

std::string RankPlanning::served(const Problem& problem, const std::filesystem::path& database) const {
  const db::Lookup lookup = runtime::lookup_beside(database);
  return chosen(problem, &lookup);
}

std::string RankPlanning::fault(const std::string& plan, const Problem& problem) const {
  try {
    runtime::distributed::parse_tuned(plan, problem, crew_.ranks);
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

// A rank's share of the points, and the whole grid: what replicated plans compute.
Problem RankPlanning::of_one_rank(const Problem& problem) const {
  Problem own = problem;
  const bool shares_sources = problem.type == 3 && problem.m && problem.k && *problem.m < *problem.k;
  if (own.m && !shares_sources) own.m = std::max<std::int64_t>(1, *own.m / crew_.ranks);
  if (own.k && shares_sources) own.k = std::max<std::int64_t>(1, *own.k / crew_.ranks);
  return own;
}

generator::Cost RankPlanning::expected(const Problem& problem) const {
  return generator::estimate(generator::default_plan(problem, rank_), problem, rank_);
}

// The bytes that a rank sends (docs/design/distributed.md) at the speed of memory.
double RankPlanning::exchange_seconds(const Problem& problem, const generator::Plan& local,
                                      Decomposition decomposition) const {
  const double value = 2.0 * static_cast<double>(real_bytes(problem.precision) * problem.batch);
  const double away = 1 - 1.0 / crew_.ranks, points = static_cast<double>(problem.m.value_or(0));
  double modes = problem.kind == Kind::nufft && problem.type == 3 ? static_cast<double>(problem.k.value_or(0))
                                                                  : static_cast<double>(mode_count(problem));
  if (decomposition == Decomposition::replicated) return value * modes * away * 2 / kBytesPerSecond;
  if (problem.kind == Kind::nufft && problem.type != 3) {
    const auto last = static_cast<std::size_t>(problem.dim - 1);
    modes *= static_cast<double>(local.window.fine[last]) / static_cast<double>(problem.n[last]);
  }
  return value * away * (modes + 3 * points) / crew_.ranks / kBytesPerSecond;
}

std::vector<Chunks> RankPlanning::chunks_of(const Problem& problem) const {
  std::vector<Chunks> all{{1, Cut::planes}};
  if (crew_.ranks == 1) return all;
  for (const int count : {2, 4, 8, 16})
    for (const Cut cut : {Cut::planes, Cut::columns}) all.push_back({count, cut});
  for (const int count : {1, 2, 4, 8, 16})
    if (problem.batch > count) all.push_back({count, Cut::batch});
  return all;
}

// The ways that there are.
std::vector<RankExchange> RankPlanning::exchanges() const {
  std::vector<RankExchange> all;
  const bool gpu = generator::is_gpu(rank_.backend);
  for (const RankExchange way : {RankExchange::kernels, RankExchange::peer, RankExchange::nccl, RankExchange::mpi,
                                 RankExchange::shared, RankExchange::host})
    if (crew_.means.why_not(way).empty() && (way == RankExchange::host || gpu == (way != RankExchange::shared)))
      all.push_back(way);
  return all;
}

// Those of slabs with this plan of a rank, and where kept planes lie.
std::vector<std::pair<RankExchange, Kept>> RankPlanning::ways_of(const generator::Plan& local,
                                                                 const Problem& problem) const {
  std::vector<std::pair<RankExchange, Kept>> all;
  for (const RankExchange way : exchanges())
    for (const Kept kept : {Kept::apart, Kept::grid}) {
      if (kept == Kept::grid && (way != RankExchange::kernels || problem.kind == Kind::fft)) continue;
      if (way != RankExchange::kernels || runtime::distributed::no_kernels(local, problem, crew_.ranks, kept).empty())
        all.emplace_back(way, kept);
    }
  return all;
}

// More than one where values take long to come back.
std::vector<int> RankPlanning::parts_of(const Problem& problem, RankExchange way) const {
  const bool one = runtime::distributed::usual_parts(problem, crew_.ranks) == 1 ||
                   !runtime::distributed::no_parts(problem, rank_.backend, way, false).empty();
  return one ? std::vector{1} : std::vector{1, 2, 4};
}

// What the busiest rank of a grid takes, with a plan that takes `alone` on one rank.
double RankPlanning::pencil_seconds(const Problem& problem, const generator::Plan& local, double alone,
                                    const runtime::distributed::RankGrid& grid) const {
  namespace distributed = runtime::distributed;
  const double value = 2.0 * static_cast<double>(real_bytes(problem.precision) * problem.batch) / kBytesPerSecond;
  if (problem.kind == Kind::fft)
    return alone * distributed::fft_work(problem, grid) / distributed::fft_work(problem, {}) +
           value * distributed::fft_sent(problem, grid);
  const double points = 3 * static_cast<double>(problem.m.value_or(0)) * (1 - 1.0 / crew_.ranks) / crew_.ranks;
  return alone * distributed::pencil_cells(local, grid) / distributed::pencil_cells(local, {}) +
         value * (distributed::pencil_sent(local, problem, grid) + points);
}

// Every grid of pencils, balance and cut with this plan of a rank, which slabs can have.
void RankPlanning::list_pencils(const Problem& problem, const generator::Candidate& local, int number,
                                Collector& collector) const {
  if (!runtime::distributed::no_pencils(problem, local.plan.backend).empty()) return;
  RankPlan pencils;
  pencils.decomposition = Decomposition::pencils;
  pencils.local = runtime::distributed::fit_for_pencils(local.plan, problem);
  if (!runtime::distributed::pencils_fault(pencils.local, problem).empty()) return;
  constexpr int kFirst = 3;  // decompositions before the first grid
  for (const auto& grid : runtime::distributed::grids_of(crew_.ranks)) {
    if (grid.in_plane == 1) continue;  // slabs
    pencils.grid = grid;
    const double estimate = pencil_seconds(problem, pencils.local, local.estimate, grid);
    for (const Balance balance : {Balance::points, Balance::planes}) {
      if (problem.kind == Kind::fft && balance == Balance::planes) continue;  // it has no points
      pencils.balance = balance;
      for (const Chunks& chunks : chunks_of(problem))
        for (const RankExchange way : exchanges()) {
          if (way == RankExchange::kernels || way == RankExchange::shared) continue;  // slabs alone have these
          pencils.chunks = chunks, pencils.exchange = way;
          if (!collector.is_new(pencils)) continue;  // plans that differ in tiles that do not fit
          collector.add(pencils,
                        {kFirst + 2 * grid.in_plane + static_cast<int>(balance), chunks.count,
                         static_cast<int>(chunks.cut), number, static_cast<int>(way)},
                        estimate);
        }
    }
  }
}

// Every balance and cut of slabs with plans of a rank that slabs can have.
void RankPlanning::list_slabs(const Problem& problem, Collector& collector) const {
  const bool fft = problem.kind == Kind::fft;
  int number = 0;
  for (const generator::Candidate& candidate : best_first(problem, rank_)) {
    RankPlan slabs;
    slabs.local = runtime::distributed::fit_for_slabs(candidate.plan, problem, rank_, false);
    if (!generator::is_gpu(slabs.local.backend)) {
      slabs.local.cpu().fft.rigor = generator::Rigor::estimate;  // ranks that measured would choose differently
      slabs.local.cpu().threads = rank_.cores;                   // each rank has its own
    }
    if (!runtime::distributed::slabs_fault(slabs.local, problem).empty() || !collector.is_new(slabs)) continue;
    slabs.grid = {1, crew_.ranks};
    const double estimate =
        candidate.estimate / crew_.ranks + exchange_seconds(problem, slabs.local, Decomposition::slabs);
    for (const Balance balance : {Balance::points, Balance::planes})
      for (const Chunks& chunks : chunks_of(problem)) {
        if (fft && balance == Balance::planes) continue;  // it has no points
        slabs.balance = balance;
        slabs.chunks = chunks;
        const int decomposition = balance == Balance::points ? 0 : 1;
        for (const auto& [way, kept] : ways_of(slabs.local, problem)) {
          if (way == RankExchange::kernels && chunks != Chunks{}) continue;
          if (way == RankExchange::shared && !runtime::distributed::no_shared(problem, chunks).empty()) continue;
          slabs.exchange = way, slabs.kept = kept;
          const int place = static_cast<int>(way) + static_cast<int>(kept);  // kernels are the last way
          for (const int parts : parts_of(problem, way)) {
            slabs.parts = parts;
            collector.add(
                slabs, {decomposition, chunks.count, static_cast<int>(chunks.cut), number, place + kWays * (parts - 1)},
                estimate);
          }
        }
      }
    generator::Candidate fitted = candidate;
    fitted.plan = slabs.local;
    list_pencils(problem, fitted, number, collector);
    if (++number == kMostLocals) return;
  }
}

void RankPlanning::list_replicated(const Problem& problem, Collector& collector) const {
  int number = 0;
  for (const generator::Candidate& candidate : best_first(of_one_rank(problem), rank_)) {
    RankPlan plan;
    plan.decomposition = Decomposition::replicated;
    plan.replicated = generator::to_text(candidate.plan, problem);
    if (!collector.is_new(plan)) continue;
    const double exchange = exchange_seconds(problem, candidate.plan, Decomposition::replicated);
    for (const RankExchange way : exchanges()) {
      if (way == RankExchange::peer || way == RankExchange::mpi || way == RankExchange::shared ||
          (way == RankExchange::nccl && problem.type == 3))
        continue;
      plan.exchange = way;
      collector.add(plan, {2, 1, 0, number, static_cast<int>(way)}, candidate.estimate + exchange);
    }
    if (++number == kMostLocals) return;
  }
}

tuner::ListedPlans RankPlanning::list(const Problem& problem) const {
  tuner::ListedPlans listed;
  Collector collector(problem, listed);
  const bool fft = problem.kind == Kind::fft;
  if (fft || generator::is_gpu(rank_.backend) == crew_.means.gpus) list_slabs(problem, collector);
  if (!fft) list_replicated(problem, collector);
  listed.floor_seconds = [](std::size_t) { return 0.0; };
  return listed;
}

}  // namespace fourtune::tools
