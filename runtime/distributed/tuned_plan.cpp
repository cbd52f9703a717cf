#include "runtime/distributed/tuned_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/duration.h"
#include "base/text.h"
#include "generator/plan/accuracy.h"
#include "runtime/backends/families.h"
#include "runtime/neighbour.h"
#include "runtime/validity.h"

namespace fourtune::runtime::distributed {
namespace {

constexpr std::size_t kLongest = 5000;      // bytes of a stored text that an explanation shows
constexpr std::size_t kMostPassedOver = 8;  // limits the cost of a file full of plans that fit nothing

// Finds one entry after the other until one fits.
class Finder {
 public:
  Finder(const Problem& problem, const db::Environment& here, const db::Lookup& lookup, int ranks, std::string& notes)
      : problem_(problem), here_(here), lookup_(lookup), ranks_(ranks), notes_(notes) {}

  std::optional<TunedPlan> find() {
    while (passed_over_.size() < kMostPassedOver) {
      db::FoundEntry entry =
          lookup_.winner(to_token(problem_), here_, [&](const db::LookupEntry& one) { return accepts(one); });
      if (!entry) entry = covering();
      if (!entry) return std::nullopt;
      if (auto plan = taken(*entry)) return plan;
      passed_over_.push_back(entry);
    }
    return std::nullopt;
  }

 private:
  bool accepts(const db::LookupEntry& entry) const {
    return db::freshness(entry.verdict.environment, here_) < db::Freshness::kindred &&
           std::none_of(passed_over_.begin(), passed_over_.end(), [&](const auto& other) { return *other == entry; });
  }
  db::FoundEntry covering() const {
    const auto distance = [&](const db::LookupEntry& entry) {
      if (!accepts(entry)) return kInfinity;
      try {
        const Problem measured = parse_problem(entry.verdict.problem);
        std::string why;
        return covers(entry.verdict.validity, measured, problem_, why) ? distance_between(measured, problem_)
                                                                       : kInfinity;
      } catch (const Error&) {
        return kInfinity;
      }
    };
    const Neighbourhood near = neighbourhood_of(problem_);
    constexpr double kReach = 0.6001;  // a type 3's m and k may differ by a factor of 2
    return lookup_.nearest(here_, distance, {near.kin, near.size, kReach});
  }

  std::optional<TunedPlan> taken(const db::LookupEntry& entry) {
    const db::StoredVerdict& verdict = entry.verdict;
    try {
      TunedPlan tuned;
      tuned.plan = parse_tuned(verdict.plan, problem_, ranks_);
      tuned.why = fmt::format(
          "from {}: tuned on as many ranks for {} (measurement {}, {})",
          text::shown(lookup_.layers()[entry.layer].path.string(), kLongest), text::shown(verdict.problem, kLongest),
          db::to_string(db::freshness(verdict.environment, here_)), text::duration(verdict.winner_ns * 1e-9));
      return tuned;
    } catch (const Error& error) {
      notes_ += fmt::format("passed over: the plan stored for {}: {}\n", text::shown(verdict.problem, kLongest),
                            text::shown(error.what(), kLongest));
      return std::nullopt;
    }
  }

  const Problem& problem_;
  const db::Environment& here_;
  const db::Lookup& lookup_;
  int ranks_;
  std::string& notes_;
  std::vector<db::FoundEntry> passed_over_;
};

}  // namespace

db::Environment environment_of(const Crew& crew, db::Environment rank) {
  const std::string machines = crew.machines > 1 ? fmt::format(" on {} machines", crew.machines) : "";
  rank.backend = fmt::format("{} ranks={} machines={}", rank.backend, crew.ranks, crew.machines);
  rank.device = fmt::format("{} ranks{} of {}", crew.ranks, machines, rank.device);
  return rank;
}

RankPlan parse_tuned(const std::string& text, const Problem& problem, int ranks) {
  const ForcedPlan parts = parse_forced(text, problem);
  if (!parts.decomposition) throw Error(Status::invalid_plan, "it names no decomposition");
  RankPlan plan;
  plan.decomposition = *parts.decomposition;
  plan.balance = parts.balance.value_or(Balance::points);
  plan.chunks = parts.chunks.value_or(Chunks{});
  plan.grid = parts.grid.value_or(RankGrid{1, ranks});
  require_grid(plan.grid, ranks);
  plan.exchange = parts.exchange.value_or(RankExchange::host);
  plan.kept = parts.kept.value_or(Kept::apart);
  plan.parts = parts.parts.value_or(1);
  if (plan.decomposition == Decomposition::replicated) {
    if (problem.kind == Kind::fft) throw Error(Status::invalid_plan, "an fft has no points to leave where they are");
    plan.replicated = parts.local;
    if (parts.local.empty()) return plan;
  }
  generator::Plan local = generator::parse_plan(parts.local, problem);
  local.chunk = static_cast<int>(std::min<std::int64_t>(local.chunk, problem.batch));
  require_families(local);
  std::string fault = generator::accuracy_fault(local, problem);
  if (fault.empty() && plan.decomposition == Decomposition::slabs) fault = slabs_fault(local, problem);
  if (fault.empty() && plan.decomposition == Decomposition::pencils) {
    fault = no_pencils(problem, local.backend);
    if (fault.empty()) fault = pencils_fault(local, problem);
  }
  if (!fault.empty()) throw Error(Status::invalid_plan, fault);
  plan.local = local;
  if (plan.decomposition == Decomposition::replicated) plan.replicated = generator::to_text(local, problem);
  return plan;
}

std::optional<TunedPlan> find_tuned(const Problem& problem, const db::Environment& here, const db::Lookup& lookup,
                                    int ranks, std::string& notes) {
  return Finder(problem, here, lookup, ranks, notes).find();
}

}  // namespace fourtune::runtime::distributed
