// What is done with packs before they are written: made from databases, merged, compared, divided and cut. All
// functions are pure: the same inputs give the same contents, on any machine and in any order where nothing else is
// said.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/pack_contents.h"
#include "db/tuning_store.h"

namespace fourtune::db {

inline constexpr std::size_t kAllRunnersUp = std::numeric_limits<std::size_t>::max();

// Two environments are of the same device when backend, device, isa and traits are equal: driver, compiler and
// libraries may differ. A pack that these functions made has one winner for each problem and device.
bool is_same_device(const Environment& a, const Environment& b) noexcept;

// Whether the plans of this problem in this environment are taken.
using KeepPlan = std::function<bool(const std::string& problem, const Environment&)>;

struct FromDatabase {
  KeepPlan keep;  // empty: all
  std::size_t runners_up = 0;
  // Fills in kin and size. A plan for which it throws Error is passed over.
  std::function<void(PackPlan&)> place;
};
struct DatabasePlans {
  std::vector<PackPlan> plans;
  std::size_t passed_over = 0;  // winners that cannot be placed or have line breaks, with their runners-up
};
// The winner of every problem in every environment, rank 0, and the runners-up behind it. A runner-up was not compared
// in turns: its time is the median of its samples, its interval is 1 and its rounds are 0. Everything is of one moment,
// also while other processes write the file. Throws StoreError.
DatabasePlans from_database(const TuningStore& store, const FromDatabase& options);

// The plans that `keep` takes. A kernel stays unless it is for a target of which no plan is left.
PackContents filtered(PackContents contents, const KeepPlan& keep);

enum class MergePolicy {
  newest,   // the verdict that was drawn last
  fastest,  // the least median
  first,    // that of the input that is named first
};
const char* to_string(MergePolicy) noexcept;
// Throws Error{invalid_option} with a list of the names.
MergePolicy merge_policy_from(std::string_view name);

// Whether the policy prefers one of two accounts of plans for one problem on one device to the other: a winner goes
// before a runner-up, ties by the plan's text. MergePolicy::first says nothing here.
bool is_preferred(const PackPlan& a, const PackPlan& b, MergePolicy policy);

struct MergeOptions {
  MergePolicy policy = MergePolicy::newest;
  std::size_t runners_up = kAllRunnersUp;
};
// Inputs have different winners for one problem on one device.
struct MergeConflict {
  PackPlan chosen;
  std::vector<PackPlan> others;  // the fastest first
};
struct Merged {
  PackContents contents;
  std::vector<MergeConflict> conflicts;  // sorted by problem
};
// One winner for each problem and device, by the policy, ties by the plan's text. Every other plan of the inputs, the
// winners that were not chosen too, can be a runner-up: the fastest are kept. Kernels are united by digest. The order
// of the inputs matters for MergePolicy::first only. In the manifest, name, version and program are those of all
// inputs, or empty where they differ; licences, sources and borrowings are united. Throws Error{invalid_argument} for
// inputs of several plan languages, and for none.
Merged merge(std::span<const PackContents> inputs, const MergeOptions& options);

struct PackChange {
  PackPlan before, after;
  double gain = 1;  // old time / new time
};
struct PackDifference {
  std::vector<PackPlan> added, removed;  // winners of which the other pack has none for that problem and device
  std::vector<PackChange> changed;       // another plan wins
  std::size_t same = 0;                  // the same plan wins
  std::size_t measured_again = 0;        // of these, with other evidence
  std::size_t kernels_added = 0, kernels_removed = 0;
};
// Compares the winners. Lists are sorted by problem.
PackDifference diff(const PackContents& before, const PackContents& after);

enum class SplitBy { device, arch };
// One part for each device or instruction set, under its name. A kernel goes with the plans of its target; one for a
// target of which there are no plans goes with every part, since a later architecture may run it.
std::map<std::string, PackContents> split(const PackContents& contents, SplitBy by);

struct PruneOptions {
  std::optional<std::size_t> max_bytes;
  std::optional<std::int64_t> older_than_ms;  // verdicts from before go
  std::optional<double> gain_below;           // winners whose gain is not shown to reach it (ratio_low) go
  // The size of the file; empty: that of an unsigned pack.
  std::function<std::size_t(const PackContents&)> bytes_of;
};
// A winner goes with its runners-up. For a size, kernels go first, the largest of them before others, then runners-up,
// then winners, of both those with the least gain. Throws Error{invalid_argument} when an empty pack is larger than
// max_bytes.
PackContents prune(PackContents contents, const PruneOptions& options);

}  // namespace fourtune::db
