// What is done with packs before they are written: the same whatever the order of the inputs, and nothing is lost.
#include "db/pack_edit.h"

#include <algorithm>
#include <string>
#include <vector>

#include "db/pack_writer.h"
#include "tests/db/support.h"

namespace fourtune::db::testing {
namespace {

PackPlan plan_of(const std::string& problem, const std::string& plan, double ns, std::int64_t created_ms = 1000) {
  PackPlan one;
  one.verdict = sample_verdict(plan);
  one.verdict.problem = problem;
  one.verdict.winner_ns = ns;
  one.verdict.incumbent_ns = 2000;
  one.verdict.ratio_low = one.verdict.ratio_high = 2000 / ns;
  one.verdict.rounds = 9;
  one.environment = sample_environment();
  one.created_ms = created_ms;
  one.kin = "nufft 1 2d f32";
  return one;
}

PackContents contents_of(std::vector<PackPlan> plans, const std::string& source = "a") {
  PackContents contents;
  contents.manifest = {"sample", "1.0", "CC0", "fourtune 0", sample_environment().generator, {source}};
  contents.plans = std::move(plans);
  return contents;
}

PackKernel kernel_of(const std::string& digest, const std::string& target, std::size_t bytes = 1000,
                     const std::string& compiler = "nvrtc 13.0") {
  PackKernel one;
  one.digest = digest, one.entry = "spread", one.target = target, one.compiler = compiler;
  // Does not become smaller.
  std::uint64_t state = 88172645463325252u + bytes;
  for (std::size_t i = 0; i < bytes; ++i) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    one.kernel.image.push_back(std::byte(state & 0xff));
  }
  return one;
}

// "problem rank plan"
std::vector<std::string> lines_of(const std::vector<PackPlan>& plans) {
  std::vector<std::string> lines;
  for (const PackPlan& plan : plans)
    lines.push_back(plan.verdict.problem + " " + std::to_string(plan.rank) + " " + plan.verdict.plan);
  return lines;
}
using Lines = std::vector<std::string>;

// ---- from databases
class FromADatabase : public ::testing::Test {
 protected:
  TempFolder folder;
  fs::path path = folder / "tuning.db";
  FromDatabase options;

  void SetUp() override {
    options.place = [](PackPlan& plan) { plan.kin = "kin of " + plan.verdict.problem, plan.size = 3; };
    add(sample_environment(), kProblem, {{"fast", 1000}, {"faster", 900}, {"slow", 3000}, {"slower", 4000}}, "fast");
  }
  // Runs with these times, and the verdict for one of them.
  void add(const Environment& environment, const std::string& problem,
           const std::vector<std::pair<std::string, std::int64_t>>& times, const std::string& winner) {
    auto store = TuningStore::open_for_writing(path, 1000, Journal::rollback);
    SessionStart start = sample_session();
    start.environment = environment;
    const SessionId session = store.begin_session(start);
    for (const auto& [plan, ns] : times) {
      db::Run run = sample_run(plan);
      run.problem = problem;
      run.samples_ns = {ns, ns + 10, ns - 10};
      run.wisdom = "wisdom of " + plan;
      store.record_run(session, run);
    }
    db::Run failed = sample_run("failed", RunStatus::wrong_result);
    failed.problem = problem;
    store.record_run(session, failed);
    Verdict verdict = sample_verdict(winner);
    verdict.problem = problem, verdict.winner_ns = 1000, verdict.incumbent_ns = 1500;
    verdict.ratio_low = 1.4, verdict.ratio_high = 1.6, verdict.rounds = 7;
    store.record_verdict(session, verdict);
    store.finish_session(session, SessionEnd::complete);
  }
  DatabasePlans read() const { return from_database(TuningStore::open_for_reading(path), options); }
};

TEST_F(FromADatabase, WinnersHaveTheirEvidence) {
  const auto plans = read().plans;
  ASSERT_EQ(lines_of(plans), (Lines{kProblem + " 0 fast"}));
  EXPECT_EQ(plans[0].verdict.winner_ns, 1000);
  EXPECT_EQ(plans[0].verdict.incumbent_ns, 1500);
  EXPECT_EQ(plans[0].verdict.ratio_low, 1.4);
  EXPECT_EQ(plans[0].verdict.rounds, 7);
  EXPECT_EQ(plans[0].error, 1.25e-6);
  EXPECT_EQ(plans[0].wisdom, "wisdom of fast");
  EXPECT_EQ(plans[0].kin, "kin of " + kProblem);
  EXPECT_EQ(plans[0].environment, sample_environment());
  EXPECT_GT(plans[0].created_ms, 0);
}

TEST_F(FromADatabase, RunnersUpComeByTheirMediansAndSayThatTheyWereNotCompared) {
  options.runners_up = 2;
  const auto plans = read().plans;
  ASSERT_EQ(lines_of(plans), (Lines{kProblem + " 0 fast", kProblem + " 1 faster", kProblem + " 2 slow"}));
  EXPECT_EQ(plans[2].verdict.winner_ns, 3000);
  EXPECT_EQ(plans[2].verdict.rounds, 0);
  EXPECT_EQ(plans[2].verdict.ratio_low, 1);
  EXPECT_EQ(plans[2].verdict.ratio_high, 1);
  EXPECT_EQ(plans[2].wisdom, "wisdom of slow");
  EXPECT_EQ(plans[2].verdict.validity, plans[0].verdict.validity);
  options.runners_up = 9;
  EXPECT_EQ(read().plans.size(), 4u) << "one that failed is none";
}

TEST_F(FromADatabase, EveryEnvironmentHasItsWinnersUnlessTheyAreNotKept) {
  Environment other = sample_environment();
  other.device = "Another";
  add(other, kOtherProblem, {{"fast", 1000}}, "fast");
  EXPECT_EQ(read().plans.size(), 2u);
  options.keep = [](const std::string& problem, const Environment& e) {
    return problem == kOtherProblem && e.device == "Another";
  };
  EXPECT_EQ(lines_of(read().plans), (Lines{kOtherProblem + " 0 fast"}));
}

TEST_F(FromADatabase, WhatCannotBePlacedOrWrittenCostsItselfOnly) {
  add(sample_environment(), "nonsense", {{"fast", 1000}}, "fast");
  add(sample_environment(), kOtherProblem, {{"two\nlines", 1000}}, "two\nlines");
  options.place = [](PackPlan& plan) {
    if (plan.verdict.problem == "nonsense") throw Error(Status::invalid_problem, "nonsense");
  };
  const DatabasePlans found = read();
  EXPECT_EQ(found.passed_over, 2u);
  EXPECT_EQ(lines_of(found.plans), (Lines{kProblem + " 0 fast"}));
}

TEST_F(FromADatabase, OneMomentIsReadWhileAnotherProcessWrites) {
  bool has_written = false;
  options.place = [&](PackPlan&) {
    if (has_written) return;
    has_written = true;
    // The reader is in the middle of its work.
    EXPECT_EQ(wait_for(start_child([&] {
                auto store = TuningStore::open_for_writing(path, 1000, Journal::write_ahead);
                const SessionId session = store.begin_session(sample_session());
                db::Run run = sample_run("fast");
                run.error = 1;
                store.record_run(session, run);
                return 0;
              })),
              0);
  };
  {  // changes the journal of the file, so that readers and the writer do not wait for each other
    TuningStore::open_for_writing(path, 1000, Journal::write_ahead);
  }
  EXPECT_EQ(read().plans.at(0).error, 1.25e-6) << "the run came later than the verdict that was read";
  EXPECT_TRUE(has_written);
  EXPECT_EQ(read().plans.at(0).error, 1);
}

// ---- merge
TEST(PackMerge, InputsOfSeveralPlanLanguagesAreRefusedInTheSameWordsInAnyOrder) {
  PackContents older = contents_of({}), newer = contents_of({});
  older.manifest.plan_language = "plans 6", newer.manifest.plan_language = "plans 7";
  for (const auto& inputs : {std::vector{older, newer}, std::vector{newer, older}}) {
    try {
      merge(inputs, {});
      ADD_FAILURE() << "merged";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::invalid_argument);
      EXPECT_STREQ(error.what(), "plan languages are mixed: 'plans 6' and 'plans 7'; make one pack for each");
    }
  }
}

TEST(PackMerge, TheOrderOfTheInputsDoesNotMatter) {
  std::vector<PackContents> inputs{
      contents_of({plan_of("p", "a", 500, 3000), plan_of("q", "b", 700)}, "first"),
      contents_of({plan_of("p", "b", 400, 2000), plan_of("r", "c", 700)}, "second"),
      contents_of({plan_of("p", "c", 400, 3000), plan_of("p2", "c", 700), plan_of("q", "b", 600)}, "third")};
  inputs[0].kernels = {kernel_of("k", "sm_90"), kernel_of("x", "sm_90", 10)};
  inputs[1].kernels = {kernel_of("k", "sm_90", 900, "nvrtc 13.1")};
  for (const MergePolicy policy : {MergePolicy::newest, MergePolicy::fastest}) {
    std::vector<std::size_t> order{0, 1, 2};
    std::vector<std::byte> bytes;
    do {
      std::vector<PackContents> permuted;
      for (const std::size_t i : order) permuted.push_back(inputs[i]);
      const Merged merged = merge(permuted, {policy, 1});
      const auto now = pack_bytes(merged.contents);
      if (bytes.empty()) bytes = now;
      EXPECT_EQ(now, bytes) << to_string(policy);
      ASSERT_EQ(merged.conflicts.size(), 1u);
      EXPECT_EQ(merged.contents.kernels.size(), 2u);
      EXPECT_EQ(merged.contents.kernels[0].compiler, "nvrtc 13.1");
      EXPECT_EQ(merged.contents.manifest.sources, (Lines{"first", "second", "third"}));
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST(PackMerge, ThePolicyChoosesTheWinnerAndTheRestAreRunnersUp) {
  const std::vector<PackContents> inputs{contents_of({plan_of("p", "new", 500, 3000)}),
                                         contents_of({plan_of("p", "fast", 400, 2000)}),
                                         contents_of({plan_of("p", "also new", 600, 3000)})};
  const auto merged = [&](MergePolicy policy) { return lines_of(merge(inputs, {policy}).contents.plans); };
  EXPECT_EQ(merged(MergePolicy::newest), (Lines{"p 0 also new", "p 1 fast", "p 2 new"}))
      << "ties go by the plan's text";
  EXPECT_EQ(merged(MergePolicy::fastest), (Lines{"p 0 fast", "p 1 new", "p 2 also new"}));
  EXPECT_EQ(merged(MergePolicy::first), (Lines{"p 0 new", "p 1 fast", "p 2 also new"}));
  EXPECT_EQ(lines_of(merge(inputs, {MergePolicy::fastest, 0}).contents.plans), (Lines{"p 0 fast"}));
  const auto conflicts = merge(inputs, {MergePolicy::fastest, 0}).conflicts;
  ASSERT_EQ(conflicts.size(), 1u);
  EXPECT_EQ(conflicts[0].chosen.verdict.plan, "fast");
  EXPECT_EQ(lines_of(conflicts[0].others), (Lines{"p 0 new", "p 0 also new"}));
}

TEST(PackMerge, AWinnerThatWasComparedGoesBeforeAFasterRunnerUp) {
  PackPlan lucky = plan_of("p", "lucky", 100, 9000);
  lucky.rank = 1;
  const std::vector<PackContents> inputs{contents_of({plan_of("p", "a", 500), lucky}),
                                         contents_of({plan_of("p", "a", 400)})};
  const Merged merged = merge(inputs, {MergePolicy::fastest});
  EXPECT_EQ(lines_of(merged.contents.plans), (Lines{"p 0 a", "p 1 lucky"}));
  EXPECT_EQ(merged.contents.plans[0].verdict.winner_ns, 400);
  EXPECT_TRUE(merged.conflicts.empty()) << "a runner-up is no conflict";
}

TEST(PackMerge, OneDeviceHasOneWinnerWhateverItsDriverAndOtherDevicesHaveTheirs) {
  PackPlan later = plan_of("p", "b", 500, 2000), elsewhere = plan_of("p", "c", 500);
  later.environment.driver = "580";
  elsewhere.environment.device = "Another";
  const std::vector<PackContents> inputs{contents_of({plan_of("p", "a", 400), later, elsewhere})};
  const Merged merged = merge(inputs, {MergePolicy::newest, 0});
  EXPECT_EQ(lines_of(merged.contents.plans), (Lines{"p 0 c", "p 0 b"}));
  EXPECT_EQ(merged.conflicts.size(), 1u);
  EXPECT_FALSE(is_same_device(later.environment, elsewhere.environment));
  EXPECT_TRUE(is_same_device(later.environment, sample_environment()));
}

TEST(PackMerge, MergingAgainChangesNothing) {
  const std::vector<PackContents> inputs{contents_of({plan_of("p", "a", 500, 3000), plan_of("q", "b", 700)}),
                                         contents_of({plan_of("p", "b", 400, 2000)})};
  const PackContents once = merge(inputs, {}).contents;
  const std::vector<PackContents> again{once, inputs[1], once};
  EXPECT_EQ(merge(again, {}).contents, once);
}

TEST(PackMerge, PlanLanguagesAreNotMixed) {
  std::vector<PackContents> inputs{contents_of({plan_of("p", "a", 500)}), contents_of({plan_of("p", "a", 500)})};
  inputs[1].manifest.plan_language = "plan texts 9";
  EXPECT_EQ(status_of([&] { merge(inputs, {}); }), Status::invalid_argument);
  EXPECT_EQ(status_of([&] { merge({}, {}); }), Status::invalid_argument);
}

TEST(PackMerge, TheManifestSaysWhatAllInputsSay) {
  std::vector<PackContents> inputs{contents_of({}), contents_of({})};
  EXPECT_EQ(merge(inputs, {}).contents.manifest, inputs[0].manifest);
  inputs[1].manifest.name = "other", inputs[1].manifest.licence = "MIT", inputs[1].manifest.version = "2";
  const PackManifest manifest = merge(inputs, {}).contents.manifest;
  EXPECT_EQ(manifest.name + manifest.version, "");
  EXPECT_EQ(manifest.licence, "CC0; MIT");
  EXPECT_EQ(manifest.plan_language, inputs[0].manifest.plan_language);
}

TEST(PackMerge, UnitesWhatBorrowedPlansLose) {
  std::vector<PackContents> inputs{contents_of({}), contents_of({})};
  const Borrowing one{"A", "A", "fft", 3, 0.9, 0.8, "2026-11-26"}, other{"A", "B", "fft", 3, 0.9, 0.8, "2026-11-26"};
  inputs[0].manifest.borrowings = {one};
  inputs[1].manifest.borrowings = {other, one};
  EXPECT_EQ(merge(inputs, {}).contents.manifest.borrowings, (std::vector{one, other}));
}

TEST(PackMerge, PoliciesHaveNames) {
  for (const MergePolicy policy : {MergePolicy::newest, MergePolicy::fastest, MergePolicy::first})
    EXPECT_EQ(merge_policy_from(to_string(policy)), policy);
  EXPECT_EQ(status_of([] { merge_policy_from("luck"); }), Status::invalid_option);
}

// ---- diff, split, filter
TEST(PackDiff, SaysWhatChangedAndWhatItGains) {
  const PackContents before = contents_of({plan_of("same", "a", 500), plan_of("again", "a", 500),
                                           plan_of("changed", "a", 500), plan_of("removed", "a", 500)});
  PackContents after = contents_of({plan_of("same", "a", 500), plan_of("again", "a", 400), plan_of("changed", "b", 250),
                                    plan_of("added", "a", 500)});
  after.kernels = {kernel_of("k", "sm_90")};
  const PackDifference difference = diff(before, after);
  EXPECT_EQ(lines_of(difference.added), (Lines{"added 0 a"}));
  EXPECT_EQ(lines_of(difference.removed), (Lines{"removed 0 a"}));
  ASSERT_EQ(difference.changed.size(), 1u);
  EXPECT_EQ(difference.changed[0].before.verdict.plan + difference.changed[0].after.verdict.plan, "ab");
  EXPECT_EQ(difference.changed[0].gain, 2);
  EXPECT_EQ(difference.same, 2u);
  EXPECT_EQ(difference.measured_again, 1u);
  EXPECT_EQ(difference.kernels_added, 1u);
  EXPECT_EQ(diff(after, before).kernels_removed, 1u);
}

PackContents of_two_devices() {
  PackPlan a = plan_of("p", "a", 500), b = plan_of("p", "b", 500), c = plan_of("q", "c", 500);
  a.environment.device = "A", a.environment.isa = "sm_90";
  b.environment.device = "B", b.environment.isa = "sm_100";
  c.environment.device = "C", c.environment.isa = "sm_90";
  PackContents contents = contents_of({a, b, c});
  contents.kernels = {kernel_of("1", "sm_90"), kernel_of("2", "sm_100"), kernel_of("3", "compute_120"),
                      kernel_of("4", "compute_100")};
  return contents;
}
Lines digests_of(const PackContents& contents) {
  Lines digests;
  for (const PackKernel& kernel : contents.kernels) digests.push_back(kernel.digest);
  return digests;
}

TEST(PackSplit, KernelsGoWithThePlansOfTheirTarget) {
  const auto by_device = split(of_two_devices(), SplitBy::device);
  ASSERT_EQ(by_device.size(), 3u);
  EXPECT_EQ(lines_of(by_device.at("A").plans), (Lines{"p 0 a"}));
  EXPECT_EQ(digests_of(by_device.at("A")), (Lines{"1", "3"}));
  EXPECT_EQ(by_device.at("B").manifest, of_two_devices().manifest);
  const auto by_arch = split(of_two_devices(), SplitBy::arch);
  ASSERT_EQ(by_arch.size(), 2u);
  EXPECT_EQ(by_arch.at("sm_90").plans.size(), 2u);
  EXPECT_EQ(digests_of(by_arch.at("sm_90")), (Lines{"1", "3"})) << "no plan is of sm_120, so any may need 3";
  EXPECT_EQ(digests_of(by_arch.at("sm_100")), (Lines{"2", "3", "4"})) << "PTX goes with the plans that it is made of";
}

TEST(PackFilter, LeavesTheKernelsOfWhatIsKept) {
  const PackContents kept =
      filtered(of_two_devices(), [](const std::string&, const Environment& e) { return e.device == "B"; });
  EXPECT_EQ(lines_of(kept.plans), (Lines{"p 0 b"}));
  EXPECT_EQ(digests_of(kept), (Lines{"2", "3", "4"}));
}

// ---- prune
TEST(PackPrune, DropsByAgeAndGainWithTheRunnersUp) {
  PackPlan second = plan_of("old", "b", 900, 9000);
  second.rank = 1;
  const PackContents contents = contents_of(
      {plan_of("old", "a", 500, 1000), second, plan_of("new", "a", 1900, 5000), plan_of("good", "a", 500, 5000)});
  PruneOptions options;
  EXPECT_EQ(prune(contents, options).plans.size(), 4u);
  options.older_than_ms = 2000;
  EXPECT_EQ(lines_of(prune(contents, options).plans), (Lines{"good 0 a", "new 0 a"}));
  options.gain_below = 1.1;
  EXPECT_EQ(lines_of(prune(contents, options).plans), (Lines{"good 0 a"}));
  options.older_than_ms.reset();
  EXPECT_EQ(lines_of(prune(contents, options).plans), (Lines{"good 0 a", "old 0 a", "old 1 b"}));
}

TEST(PackPrune, ForASizeKernelsGoFirstThenRunnersUpThenSmallGains) {
  std::vector<PackPlan> plans;
  for (int i = 0; i < 200; ++i) {
    plans.push_back(plan_of("problem " + std::to_string(i), "plan " + std::to_string(i), 500 + i));
    plans.push_back(plan_of("problem " + std::to_string(i), "other " + std::to_string(i), 900));
    plans.back().rank = 1;
  }
  PackContents contents = contents_of(plans);
  for (int i = 1; i <= 8; ++i)
    contents.kernels.push_back(kernel_of(std::to_string(i), "avx2", static_cast<std::size_t>(i) * 10'000));
  const std::size_t whole = pack_bytes(contents).size();
  std::size_t last_plans = 400, last_kernels = 8;
  for (std::size_t max = whole; max > 30'000; max = max * 3 / 4) {
    PruneOptions options;
    options.max_bytes = max;
    const PackContents left = prune(contents, options);
    EXPECT_LE(pack_bytes(left).size(), max);
    EXPECT_GT(pack_bytes(left).size(), max / 3) << "no more goes than has to";
    EXPECT_TRUE(left.kernels.empty() || left.plans.size() == 400) << "kernels go first";
    for (const PackKernel& kernel : left.kernels) EXPECT_LE(kernel.kernel.image.size(), left.kernels.size() * 10'000);
    const auto runners_up =
        std::count_if(left.plans.begin(), left.plans.end(), [](const PackPlan& p) { return p.rank; });
    const auto winners = std::ssize(left.plans) - runners_up;
    EXPECT_TRUE(runners_up == 0 || winners == 200) << "then runners-up";
    for (const PackPlan& plan : left.plans)
      if (plan.rank == 0) {
        EXPECT_LT(plan.verdict.winner_ns, 500 + winners) << "those with the least gain";
      }
    EXPECT_LE(left.plans.size(), last_plans);
    EXPECT_LE(left.kernels.size(), last_kernels);
    last_plans = left.plans.size(), last_kernels = left.kernels.size();
  }
  EXPECT_LT(last_plans, 200u);
  PruneOptions tiny;
  tiny.max_bytes = 100;
  EXPECT_EQ(status_of([&] { prune(contents, tiny); }), Status::invalid_argument);
}

}  // namespace
}  // namespace fourtune::db::testing
