// Tuning databases that become one: rows of several files, each once, in any order.
#include "db/merge_stores.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/random.h"
#include "tests/db/support.h"

namespace fourtune::db {
namespace {

using namespace testing;

// A database with one session, in which each of these runs and verdicts was recorded.
struct Writer {
  TuningStore store;
  SessionId session;

  Writer(const fs::path& path, const std::string& command)
      : store(TuningStore::open_for_writing(path)), session(begin(command)) {}
  SessionId begin(const std::string& command) {
    SessionStart start = sample_session();
    start.command = command;
    return store.begin_session(start);
  }
  void run(const std::string& plan, std::int64_t started_ms) {
    Run run = sample_run(plan);
    run.started_ms = started_ms;
    store.record_run(session, run);
  }
  VerdictId verdict(const std::string& plan, double winner_ns, const std::string& replaces = {}) {
    Verdict verdict = sample_verdict(plan);
    verdict.winner_ns = winner_ns;
    verdict.replaces = replaces;
    if (!replaces.empty()) verdict.incumbent_ns = 2 * winner_ns, verdict.ratio_low = 1.9, verdict.ratio_high = 2.1;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // verdicts are drawn at different times
    return store.record_verdict(session, verdict);
  }
};

class MergeStores : public ::testing::Test {
 protected:
  MergedStores merge(const std::string& out, const std::vector<std::string>& inputs,
                     MergePolicy policy = MergePolicy::newest) {
    std::vector<StoreContents> contents;
    for (const std::string& input : inputs) contents.push_back(contents_of_store(folder / input));
    return merge_stores(folder / out, contents, policy);
  }
  std::string winner(const std::string& file) {
    const auto winner = TuningStore::open_for_reading(folder / file).winner(kProblem, sample_environment());
    return winner ? winner->plan : "none";
  }
  std::size_t runs(const std::string& file) {
    return TuningStore::open_for_reading(folder / file).runs(kProblem).size();
  }

  TempFolder folder;
};

TEST_F(MergeStores, AWinnerKeepsTheObjectiveByWhichItWon) {
  {
    Writer a(folder / "a", "one"), b(folder / "b", "two");
    a.verdict("plan-1", 900);
    Verdict by_energy = sample_verdict("plan-2");
    by_energy.objective = Objective::energy;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    b.store.record_verdict(b.session, by_energy);
  }
  merge("ab", {"a", "b"});
  const auto store = TuningStore::open_for_reading(folder / "ab");
  EXPECT_EQ(store.winner(kProblem, sample_environment())->objective, Objective::energy);
  EXPECT_FALSE(store.damage().any());
}

TEST_F(MergeStores, AnyOrderGivesTheSameBytesAndLosesNothing) {
  {
    Writer a(folder / "a", "one"), b(folder / "b", "two"), c(folder / "c", "three");
    a.run("plan-1", 1000), a.run("plan-2", 3000), a.verdict("plan-1", 900);
    b.run("plan-3", 2000), b.run("plan-1", 2000), b.verdict("plan-3", 800);
    c.run("plan-4", 2000);
    a.store.finish_session(a.session, SessionEnd::complete);
  }
  const MergedStores merged = merge("abc", {"a", "b", "c"});
  EXPECT_EQ(merged.sessions, 3u);
  EXPECT_EQ(merged.runs, 5u);
  EXPECT_EQ(merged.verdicts, 2u);
  std::vector<std::string> order{"a", "b", "c"};
  while (std::next_permutation(order.begin(), order.end())) {
    const std::string out = order[0] + order[1] + order[2];
    merge(out, order);
    EXPECT_EQ(bytes_of(folder / out), bytes_of(folder / "abc")) << out;
  }
  merge("twice", {"a", "b", "c", "b", "a"});
  EXPECT_EQ(bytes_of(folder / "twice"), bytes_of(folder / "abc"));

  const auto store = TuningStore::open_for_reading(folder / "abc");
  EXPECT_FALSE(store.damage().any());
  EXPECT_EQ(store.sessions().size(), 3u);
  const auto sessions = store.sessions();
  EXPECT_EQ(std::count_if(sessions.begin(), sessions.end(), [](const auto& s) { return s.end.has_value(); }), 1);
  std::vector<std::string> plans;
  for (const StoredRun& run : store.runs(kProblem)) plans.push_back(run.plan + "@" + std::to_string(run.started_ms));
  EXPECT_EQ(plans.front(), "plan-1@1000");
  EXPECT_EQ(plans.back(), "plan-2@3000");
  db::Run first = TuningStore::open_for_reading(folder / "a").runs(kProblem).front();
  EXPECT_EQ(static_cast<const db::Run&>(store.runs(kProblem).front()), first) << "every field";
}

TEST_F(MergeStores, ASecondMergeAddsNothingAndAnUnfinishedSessionIsCompletedByALaterOne) {
  Writer a(folder / "a", "one");
  a.run("plan-1", 1000);
  EXPECT_EQ(merge("out", {"a"}).runs, 1u) << "of a shard that is being written";
  a.run("plan-2", 2000);
  a.verdict("plan-2", 700);
  a.store.finish_session(a.session, SessionEnd::interrupted);
  const MergedStores more = merge("out", {"a"});
  EXPECT_EQ(more.sessions, 0u);
  EXPECT_EQ(more.runs, 1u);
  EXPECT_EQ(more.verdicts, 1u);
  const auto sessions = TuningStore::open_for_reading(folder / "out").sessions();
  ASSERT_EQ(sessions.size(), 1u);
  EXPECT_EQ(sessions[0].end, SessionEnd::interrupted);
  const MergedStores none = merge("out", {"a", "a"});
  EXPECT_EQ(none.sessions + none.runs + none.verdicts, 0u);
}

TEST_F(MergeStores, DifferentWinnersAreAConflictThatThePolicyDecidesAsForPacks) {
  {
    Writer a(folder / "a", "one"), b(folder / "b", "two");
    a.verdict("fast", 500);
    b.verdict("late", 600);
  }
  const MergedStores newest = merge("newest", {"a", "b"});
  EXPECT_EQ(winner("newest"), "late");
  ASSERT_EQ(newest.conflicts.size(), 1u);
  EXPECT_EQ(newest.conflicts[0].chosen.verdict.plan, "late");
  ASSERT_EQ(newest.conflicts[0].others.size(), 1u);
  EXPECT_EQ(newest.conflicts[0].others[0].verdict.plan, "fast");
  merge("fastest", {"b", "a"}, MergePolicy::fastest);
  EXPECT_EQ(winner("fastest"), "fast");
  EXPECT_EQ(merge("fastest", {"b", "a"}, MergePolicy::fastest).verdicts, 0u) << "it is written once more, but once";
  const auto verdicts = TuningStore::open_for_reading(folder / "fastest").verdicts().size();
  merge("fastest", {"b", "a"}, MergePolicy::fastest);
  EXPECT_EQ(TuningStore::open_for_reading(folder / "fastest").verdicts().size(), verdicts);
  EXPECT_EQ(status_of([&] { merge("first", {"a"}, MergePolicy::first); }), Status::invalid_option);
  EXPECT_FALSE(fs::exists(folder / "first"));
}

TEST_F(MergeStores, AVerdictThatAShardWentOnFromIsNoCandidate) {
  Writer(folder / "out", "before").verdict("old", 400);  // measured on a quiet day
  merge("shard", {"out"});
  EXPECT_EQ(winner("shard"), "old");
  Writer(folder / "shard", "after").verdict("new", 450, "old");  // compared in turns with the old one
  EXPECT_TRUE(merge("out", {"shard"}, MergePolicy::fastest).conflicts.empty());
  EXPECT_EQ(winner("out"), "new");
}

TEST_F(MergeStores, AWithdrawnVerdictIsWithdrawnWhereverItWas) {
  Writer a(folder / "a", "one");
  a.verdict("right", 900);
  const VerdictId wrong = a.verdict("wrong", 500, "right");
  merge("out", {"a"});
  merge("fastest", {"a"}, MergePolicy::fastest);
  EXPECT_EQ(winner("out"), "wrong");
  a.store.withdraw_verdict(wrong, "its result was wrong");
  merge("out", {"a"});
  EXPECT_EQ(winner("out"), "right");
  merge("new", {"out", "fastest"});
  EXPECT_EQ(winner("new"), "right");
}

TEST_F(MergeStores, ACopyThatAMergeWroteIsWithdrawnWithItsOriginal) {
  Writer(folder / "a", "one").verdict("fast", 500);
  Writer(folder / "b", "two").verdict("late", 600);
  merge("out", {"a", "b"}, MergePolicy::fastest);
  ASSERT_EQ(winner("out"), "fast");
  auto store = TuningStore::open_for_writing(folder / "out");
  store.withdraw_verdict(store.winner(kProblem, sample_environment())->id, "wrong");
  EXPECT_EQ(winner("out"), "late");
  EXPECT_FALSE(store.damage().any());
}

TEST_F(MergeStores, FilesThatCannotBeReadAreNamedErrorsAndTheOutputStays) {
  Writer(folder / "a", "one").run("plan-1", 1000);
  merge("out", {"a"});
  const std::string before = bytes_of(folder / "out"), whole = bytes_of(folder / "a");
  write_bytes(folder / "cut", std::string_view(whole).substr(0, whole.size() - 4096));
  write_bytes(folder / "ragged", std::string_view(whole).substr(0, whole.size() - 100));
  write_bytes(folder / "text", "this is no database, but it is long enough to be taken for one by somebody hasty");
  write_bytes(folder / "newer", whole);
  raw_sql(folder / "newer", "PRAGMA user_version = 99");
  EXPECT_EQ(fault_of([&] { merge("out", {"a", "cut"}); }), StoreFault::damaged);
  EXPECT_EQ(fault_of([&] { merge("out", {"a", "ragged"}); }), StoreFault::damaged);
  EXPECT_EQ(fault_of([&] { merge("out", {"text", "a"}); }), StoreFault::foreign);
  EXPECT_EQ(fault_of([&] { merge("out", {"newer"}); }), StoreFault::newer);
  EXPECT_EQ(fault_of([&] { merge("text", {"a"}); }), StoreFault::foreign);
  EXPECT_EQ(bytes_of(folder / "out"), before);
  EXPECT_EQ(bytes_of(folder / "text").substr(0, 19), "this is no database");
}

TEST_F(MergeStores, ADamagedRowIsLeftOutAndCounted) {
  {
    Writer a(folder / "a", "one");
    a.run("plan-1", 1000), a.run("plan-2", 2000);
  }
  raw_sql(folder / "a", "UPDATE run SET memory_bytes = 7 WHERE id = 1");
  const StoreContents contents = contents_of_store(folder / "a");
  EXPECT_EQ(contents.damage.runs, 1u);
  merge("out", {"a"});
  EXPECT_EQ(runs("out"), 1u);
  EXPECT_FALSE(TuningStore::open_for_reading(folder / "out").damage().any());
}

TEST_F(MergeStores, InStepsOrAtOnceTheRowsAndTheWinnersAreTheSame) {
  tuner::Random random(11);
  const std::vector<std::string> problems{kProblem, kOtherProblem};
  for (int round = 0; round < 6; ++round) {
    std::vector<std::string> files;
    for (int f = 0; f < 3; ++f) {
      files.push_back("in" + std::to_string(round) + "-" + std::to_string(f));
      Writer writer(folder / files.back(), "shard " + std::to_string(f));
      for (std::uint64_t i = 0, count = random.next() % 6; i < count; ++i) {
        Verdict verdict = sample_verdict("plan-" + std::to_string(random.next() % 3));
        verdict.problem = problems[random.next() % 2];
        verdict.winner_ns = static_cast<double>(100 + random.next() % 5);
        const VerdictId id = writer.store.record_verdict(writer.session, verdict);
        if (random.next() % 4 == 0) writer.store.withdraw_verdict(id, "wrong");
        writer.run("plan-" + std::to_string(random.next() % 3), static_cast<std::int64_t>(1000 + random.next() % 3));
        std::this_thread::sleep_for(std::chrono::milliseconds(random.next() % 2));
      }
    }
    const std::string at_once = "once" + std::to_string(round), in_steps = "steps" + std::to_string(round);
    merge(at_once, files);
    merge(in_steps, {files[2]});
    merge(in_steps, {files[0]});
    merge(in_steps, {files[1], files[0]});
    const auto once = TuningStore::open_for_reading(folder / at_once),
               steps = TuningStore::open_for_reading(folder / in_steps);
    for (const std::string& problem : problems) {
      EXPECT_EQ(once.runs(problem).size(), steps.runs(problem).size());
      const auto a = once.winner(problem, sample_environment()), b = steps.winner(problem, sample_environment());
      ASSERT_EQ(a.has_value(), b.has_value());
      if (a) {
        EXPECT_EQ(static_cast<const Verdict&>(*a), static_cast<const Verdict&>(*b));
        EXPECT_EQ(a->created_ms, b->created_ms);
      }
    }
    EXPECT_FALSE(steps.damage().any());
  }
}

TEST_F(MergeStores, AMergeThatIsKilledLeavesTheOutputAsItWasOrWhole) {
  {
    Writer a(folder / "a", "one");
    for (int i = 0; i < 200; ++i) a.run("plan-" + std::to_string(i), 1000 + i);
  }
  std::size_t whole = 0;
  for (int round = 0; round < 8; ++round) {
    const std::string out = "out" + std::to_string(round);
    Writer(folder / out, "own").run("own", 500);
    const pid_t child = start_child([&] { return merge(out, {"a"}).runs == 200 ? 0 : 1; });
    ::usleep(static_cast<useconds_t>(2000 * round));
    ::kill(child, SIGKILL);
    wait_for(child);
    const std::size_t now = runs(out);
    EXPECT_TRUE(now == 1 || now == 201) << now;
    whole += now == 201;
    merge(out, {"a"});
    EXPECT_EQ(runs(out), 201u);
  }
  EXPECT_LT(whole, 8u) << "none was killed before its end";
}

}  // namespace
}  // namespace fourtune::db
