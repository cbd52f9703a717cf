#include "db/pack_edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "db/database.h"
#include "db/pack_writer.h"

namespace fourtune::db {
namespace {

auto device_order(const Environment& e) { return std::tie(e.backend, e.device, e.isa, e.traits); }
auto environment_order(const Environment& e) {
  return std::tie(e.backend, e.device, e.isa, e.traits, e.driver, e.compiler, e.libraries, e.generator);
}

// Any order of plans that says nothing about which is better, to make choices independent of the inputs' order.
bool is_before(const PackPlan& a, const PackPlan& b) {
  const auto key = [](const PackPlan& p) {
    const Verdict& v = p.verdict;
    return std::make_tuple(std::cref(v.problem), environment_order(p.environment), std::cref(v.plan), p.rank,
                           std::cref(v.validity), v.winner_ns, v.incumbent_ns, v.ratio_low, v.ratio_high, v.rounds,
                           p.error.value_or(-1), p.created_ms, std::cref(p.wisdom), std::cref(p.kin), p.size,
                           v.objective);
  };
  return key(a) < key(b);
}

bool is_faster(const PackPlan& a, const PackPlan& b) {
  const auto key = [](const PackPlan& p) { return std::tie(p.verdict.winner_ns, p.verdict.plan); };
  return key(a) != key(b) ? key(a) < key(b) : is_before(a, b);
}

// A plan and the input that it is from.
struct Entry {
  PackPlan plan;
  std::size_t input = 0;
};

bool is_preferred_entry(const Entry& a, const Entry& b, MergePolicy policy) {
  if (policy == MergePolicy::first && a.input != b.input) return a.input < b.input;
  return is_preferred(a.plan, b.plan, policy);
}

// All plans for one problem on one device.
using GroupKey = std::array<std::string, 5>;
GroupKey group_of(const PackPlan& plan) {
  const Environment& e = plan.environment;
  return GroupKey{plan.verdict.problem, e.backend, e.device, e.isa, e.traits};
}

// The winner first, unless there is none, then runners-up, the fastest first. Each plan's text stands once.
struct Ranking {
  std::vector<PackPlan> plans;
  bool has_winner = false;
  std::vector<PackPlan> other_winners;  // different plans, the fastest first
};
Ranking ranking_of(std::vector<Entry> entries, MergePolicy policy) {
  std::sort(entries.begin(), entries.end(),
            [&](const Entry& a, const Entry& b) { return is_preferred_entry(a, b, policy); });
  const auto winner = std::find_if(entries.begin(), entries.end(), [](const Entry& e) { return e.plan.rank == 0; });
  Ranking ranking;
  ranking.has_winner = winner != entries.end();
  std::set<std::string> seen;
  if (ranking.has_winner) {
    seen.insert(winner->plan.verdict.plan);
    ranking.plans.push_back(winner->plan);
  }
  std::set<std::string> won;
  for (const Entry& entry : entries)
    if (entry.plan.rank == 0) won.insert(entry.plan.verdict.plan);
  std::vector<PackPlan> rest;
  for (Entry& entry : entries)
    if (seen.insert(entry.plan.verdict.plan).second) rest.push_back(std::move(entry.plan));
  std::sort(rest.begin(), rest.end(), is_faster);
  for (PackPlan& plan : rest) {
    if (won.contains(plan.verdict.plan)) ranking.other_winners.push_back(plan);
    ranking.plans.push_back(std::move(plan));
  }
  return ranking;
}

using Groups = std::map<GroupKey, std::vector<Entry>>;
Groups groups_of(std::span<const PackContents> inputs) {
  Groups groups;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (const PackPlan& plan : inputs[i].plans) groups[group_of(plan)].push_back({plan, i});
  return groups;
}

// The winner of every problem and device.
std::map<GroupKey, PackPlan> winners_of(const PackContents& contents) {
  std::map<GroupKey, PackPlan> winners;
  for (auto& [key, entries] : groups_of({&contents, 1}))
    if (Ranking ranking = ranking_of(std::move(entries), MergePolicy::newest); ranking.has_winner)
      winners.emplace(key, std::move(ranking.plans.front()));
  return winners;
}

std::vector<PackKernel> united_kernels(std::span<const PackContents> inputs, MergePolicy policy) {
  std::map<std::string, PackKernel> kernels;
  // Two compilers make different images of one text; which one is kept must not depend on the order.
  const auto key = [](const PackKernel& k) {
    return std::make_tuple(std::cref(k.compiler), std::cref(k.entry), std::cref(k.target), std::cref(k.kernel.image),
                           std::cref(k.kernel.log));
  };
  for (const PackContents& input : inputs)
    for (const PackKernel& kernel : input.kernels) {
      const auto [place, added] = kernels.try_emplace(kernel.digest, kernel);
      if (!added && policy != MergePolicy::first && key(place->second) < key(kernel)) place->second = kernel;
    }
  std::vector<PackKernel> all;
  all.reserve(kernels.size());
  for (auto& [digest, kernel] : kernels) all.push_back(std::move(kernel));
  return all;
}

PackManifest united_manifest(std::span<const PackContents> inputs) {
  PackManifest manifest = inputs.front().manifest;
  std::set<std::string> licences, sources;
  for (const PackContents& input : inputs) {
    const PackManifest& other = input.manifest;
    if (other.plan_language != manifest.plan_language)
      throw Error(Status::invalid_argument,
                  fmt::format("plan languages are mixed: '{}' and '{}'; make one pack for each",
                              text::shown(std::min(other.plan_language, manifest.plan_language)),
                              text::shown(std::max(other.plan_language, manifest.plan_language))));
    if (other.name != manifest.name) manifest.name.clear();
    if (other.version != manifest.version) manifest.version.clear();
    if (other.program != manifest.program) manifest.program.clear();
    // A licence may itself be a list that an earlier merge made.
    for (const std::string_view licence : text::split(other.licence, ';')) {
      const auto first = licence.find_first_not_of(' ');
      if (first != licence.npos) licences.emplace(licence.substr(first));
    }
    sources.insert(other.sources.begin(), other.sources.end());
    if (&input == &inputs.front()) continue;
    for (const Borrowing& one : other.borrowings)
      if (std::find(manifest.borrowings.begin(), manifest.borrowings.end(), one) == manifest.borrowings.end())
        manifest.borrowings.push_back(one);
  }
  manifest.licence = fmt::format("{}", fmt::join(licences, "; "));
  manifest.sources.assign(sources.begin(), sources.end());
  return manifest;
}

bool has_line_break(const PackPlan& plan) {
  for (const std::string* text : {&plan.verdict.problem, &plan.verdict.plan, &plan.verdict.validity})
    if (text->find('\n') != text->npos) return true;
  return false;
}

std::set<std::string> targets_of(const std::vector<PackPlan>& plans) {
  std::set<std::string> targets;
  for (const PackPlan& plan : plans) targets.insert(plan.environment.isa);
  return targets;
}

// The architecture that a kernel was made for: PTX for compute_90 comes from plans of sm_90.
std::string architecture_of(const PackKernel& kernel) {
  constexpr std::string_view kPtx = "compute_";
  return kernel.target.starts_with(kPtx) ? "sm_" + kernel.target.substr(kPtx.size()) : kernel.target;
}

// The kernels that go with `part`, which holds some of the plans of `whole`.
std::vector<PackKernel> kernels_with(const std::vector<PackPlan>& part, const PackContents& whole) {
  const auto here = targets_of(part), anywhere = targets_of(whole.plans);
  std::vector<PackKernel> kernels;
  for (const PackKernel& kernel : whole.kernels) {
    const std::string architecture = architecture_of(kernel);
    if (here.contains(architecture) || !anywhere.contains(architecture)) kernels.push_back(kernel);
  }
  return kernels;
}

}  // namespace

bool is_same_device(const Environment& a, const Environment& b) noexcept { return device_order(a) == device_order(b); }

DatabasePlans from_database(const TuningStore& store, const FromDatabase& options) {
  const auto moment = store.one_moment();
  DatabasePlans found;
  for (const StoredVerdict& winner : store.winners()) {
    if (options.keep && !options.keep(winner.problem, winner.environment)) continue;
    PackPlan first;
    first.verdict = winner;
    first.verdict.replaces.clear();
    first.environment = winner.environment;
    first.created_ms = winner.created_ms;
    try {
      if (options.place) options.place(first);
    } catch (const Error&) {
      ++found.passed_over;
      continue;
    }
    if (has_line_break(first)) {
      ++found.passed_over;
      continue;
    }
    auto history = store.history(winner.problem, winner.environment);
    std::stable_sort(history.begin(), history.end(),
                     [](const PlanHistory& a, const PlanHistory& b) { return a.median_ns < b.median_ns; });
    const std::size_t place = found.plans.size();
    found.plans.push_back(first);
    int rank = 0;
    for (const PlanHistory& plan : history) {
      if (plan.plan == winner.plan) found.plans[place].error = plan.worst_error;
      if (plan.plan == winner.plan || plan.samples_ns.empty() || static_cast<std::size_t>(rank) >= options.runners_up)
        continue;
      PackPlan next = first;
      next.verdict.plan = plan.plan;
      next.verdict.winner_ns = plan.median_ns;
      next.verdict.incumbent_ns = 0;
      next.verdict.ratio_low = next.verdict.ratio_high = 1;
      next.verdict.rounds = 0;
      next.verdict.objective = Objective::time;  // it has won nothing
      next.error = plan.worst_error;
      if (has_line_break(next) || !(plan.median_ns > 0)) continue;
      next.rank = ++rank;
      found.plans.push_back(std::move(next));
    }
    for (std::size_t i = place; i < found.plans.size(); ++i)
      found.plans[i].wisdom = store.wisdom(winner.problem, found.plans[i].verdict.plan, winner.environment);
  }
  return found;
}

PackContents filtered(PackContents contents, const KeepPlan& keep) {
  std::vector<PackPlan> kept;
  for (const PackPlan& plan : contents.plans)
    if (keep(plan.verdict.problem, plan.environment)) kept.push_back(plan);
  contents.kernels = kernels_with(kept, contents);
  contents.plans = std::move(kept);
  return contents;
}

const char* to_string(MergePolicy policy) noexcept {
  return policy == MergePolicy::newest ? "newest" : policy == MergePolicy::fastest ? "fastest" : "first";
}

MergePolicy merge_policy_from(std::string_view name) {
  for (const MergePolicy policy : {MergePolicy::newest, MergePolicy::fastest, MergePolicy::first})
    if (name == to_string(policy)) return policy;
  throw Error(Status::invalid_option, fmt::format("'{}' is no policy: newest, fastest or first", text::shown(name)));
}

bool is_preferred(const PackPlan& a, const PackPlan& b, MergePolicy policy) {
  if ((a.rank == 0) != (b.rank == 0)) return a.rank == 0;  // it was compared in turns
  if (policy == MergePolicy::newest && a.created_ms != b.created_ms) return a.created_ms > b.created_ms;
  if (policy == MergePolicy::fastest && a.verdict.winner_ns != b.verdict.winner_ns)
    return a.verdict.winner_ns < b.verdict.winner_ns;
  if (a.verdict.plan != b.verdict.plan) return a.verdict.plan < b.verdict.plan;
  return is_before(a, b);
}

Merged merge(std::span<const PackContents> inputs, const MergeOptions& options) {
  if (inputs.empty()) throw Error(Status::invalid_argument, "there is no pack to merge");
  Merged merged;
  merged.contents.manifest = united_manifest(inputs);
  merged.contents.kernels = united_kernels(inputs, options.policy);
  for (auto& [key, entries] : groups_of(inputs)) {
    Ranking ranking = ranking_of(std::move(entries), options.policy);
    if (!ranking.other_winners.empty())
      merged.conflicts.push_back({ranking.plans.front(), std::move(ranking.other_winners)});
    const int first = ranking.has_winner ? 0 : 1;
    for (std::size_t i = 0; i < ranking.plans.size(); ++i) {
      const std::size_t rank = i + static_cast<std::size_t>(first);
      if (rank > options.runners_up) break;
      ranking.plans[i].rank = static_cast<int>(rank);
      merged.contents.plans.push_back(std::move(ranking.plans[i]));
    }
  }
  return merged;
}

PackDifference diff(const PackContents& before, const PackContents& after) {
  PackDifference difference;
  const auto old_ones = winners_of(before), new_ones = winners_of(after);
  for (const auto& [key, plan] : old_ones) {
    const auto now = new_ones.find(key);
    if (now == new_ones.end()) {
      difference.removed.push_back(plan);
    } else if (now->second.verdict.plan != plan.verdict.plan) {
      difference.changed.push_back({plan, now->second, plan.verdict.winner_ns / now->second.verdict.winner_ns});
    } else {
      ++difference.same;
      difference.measured_again += now->second != plan;
    }
  }
  for (const auto& [key, plan] : new_ones)
    if (!old_ones.contains(key)) difference.added.push_back(plan);
  const auto digests = [](const PackContents& contents) {
    std::set<std::string> all;
    for (const PackKernel& kernel : contents.kernels) all.insert(kernel.digest);
    return all;
  };
  const auto old_kernels = digests(before), new_kernels = digests(after);
  for (const std::string& digest : new_kernels) difference.kernels_added += !old_kernels.contains(digest);
  for (const std::string& digest : old_kernels) difference.kernels_removed += !new_kernels.contains(digest);
  return difference;
}

std::map<std::string, PackContents> split(const PackContents& contents, SplitBy by) {
  std::map<std::string, PackContents> parts;
  for (const PackPlan& plan : contents.plans)
    parts[by == SplitBy::device ? plan.environment.device : plan.environment.isa].plans.push_back(plan);
  for (auto& [name, part] : parts) {
    part.manifest = contents.manifest;
    part.kernels = kernels_with(part.plans, contents);
  }
  return parts;
}

PackContents prune(PackContents contents, const PruneOptions& options) {
  // The gain and the date of a plan are those of its winner.
  struct Ranked {
    PackPlan plan;
    double gain = 0;
  };
  const auto winners = winners_of(contents);
  std::vector<Ranked> plans;
  for (PackPlan& plan : contents.plans) {
    const auto found = winners.find(group_of(plan));
    const PackPlan& winner = found == winners.end() ? plan : found->second;
    const bool is_old = options.older_than_ms && winner.created_ms < *options.older_than_ms;
    const bool is_small = options.gain_below && winner.verdict.ratio_low < *options.gain_below;
    const double gain = winner.verdict.ratio_low;
    if (!is_old && !is_small) plans.push_back({std::move(plan), gain});
  }
  // What stays longest comes first.
  std::sort(plans.begin(), plans.end(), [](const Ranked& a, const Ranked& b) {
    const auto key = [](const Ranked& r) { return std::make_tuple(r.plan.rank, -r.gain); };
    return key(a) != key(b) ? key(a) < key(b) : is_before(a.plan, b.plan);
  });
  PackContents left;
  left.manifest = std::move(contents.manifest);
  left.kernels = std::move(contents.kernels);
  for (Ranked& one : plans) left.plans.push_back(std::move(one.plan));
  if (!options.max_bytes) return left;

  std::sort(left.kernels.begin(), left.kernels.end(), [](const PackKernel& a, const PackKernel& b) {
    const auto key = [](const PackKernel& k) { return std::make_tuple(k.kernel.image.size(), std::cref(k.digest)); };
    return key(a) < key(b);
  });
  const auto bytes =
      options.bytes_of ? options.bytes_of : [](const PackContents& some) { return pack_bytes(some).size(); };
  const auto first_ones = [&](std::size_t count) {
    PackContents some;
    some.manifest = left.manifest;
    const std::size_t of_plans = std::min(count, left.plans.size());
    some.plans.assign(left.plans.begin(), left.plans.begin() + static_cast<std::ptrdiff_t>(of_plans));
    some.kernels.assign(left.kernels.begin(), left.kernels.begin() + static_cast<std::ptrdiff_t>(count - of_plans));
    return some;
  };
  const std::size_t all = left.plans.size() + left.kernels.size();
  if (bytes(left) <= *options.max_bytes) return left;
  const std::size_t least = bytes(first_ones(0));
  if (least > *options.max_bytes)
    throw Error(Status::invalid_argument,
                fmt::format("an empty pack has {} bytes, more than {}", least, *options.max_bytes));
  // The first `fits` fit, the first `too_many` do not. Writing a large pack takes seconds, so a large one may end a
  // little below the size.
  std::size_t fits = 0, too_many = all;
  while (too_many - fits > 1 + fits / 200) {
    const std::size_t count = fits + (too_many - fits) / 2;
    (bytes(first_ones(count)) <= *options.max_bytes ? fits : too_many) = count;
  }
  return first_ones(fits);
}

}  // namespace fourtune::db
