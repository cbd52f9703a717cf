// The records that a tuning store keeps and returns.
#include "db/tuning_store.h"

#include <pwd.h>
#include <unistd.h>

#include <cmath>
#include <limits>

#include "db/limits.h"
#include "tests/db/support.h"

namespace fourtune::db::testing {
namespace {

class Store : public ::testing::Test {
 protected:
  TempFolder folder;
  fs::path path = folder / "deep/er/tuning.db";
  TuningStore store = TuningStore::open_for_writing(path);
  SessionId session = store.begin_session(sample_session());
  Environment environment = sample_environment();

  void record(const std::string& plan, RunStatus status, std::vector<std::int64_t> samples) {
    db::Run run = sample_run(plan, status);
    run.samples_ns = std::move(samples);
    store.record_run(session, run);
  }
};

TEST_F(Store, GivesBackARunAsItWasRecorded) {
  store.record_run(session, sample_run());
  const auto runs = TuningStore::open_for_reading(path).runs(kProblem);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(static_cast<const db::Run&>(runs[0]), sample_run());
  EXPECT_EQ(runs[0].session, session);
}

TEST_F(Store, KeepsEveryStatusAndExtremeNumbers) {
  for (int i = 0; i <= static_cast<int>(RunStatus::interrupted); ++i) {
    db::Run run = sample_run("plan", static_cast<RunStatus>(i));
    run.error = i % 2 ? std::optional(std::numeric_limits<double>::denorm_min()) : std::nullopt;
    run.samples_ns = {std::numeric_limits<std::int64_t>::max(), 0};
    run.round = std::numeric_limits<int>::max();
    store.record_run(session, run);
    EXPECT_EQ(static_cast<const db::Run&>(store.runs(kProblem).back()), run) << to_string(run.status);
  }
}

TEST_F(Store, ReadsAnErrorThatIsNotANumberAsNotMeasured) {
  db::Run run = sample_run("plan", RunStatus::wrong_result);
  run.error = std::nan("");
  store.record_run(session, run);
  EXPECT_EQ(store.runs(kProblem).back().error, std::nullopt);
}

TEST_F(Store, StampsARunWithoutATime) {
  db::Run run = sample_run();
  run.started_ms = 0;
  store.record_run(session, run);
  EXPECT_GT(store.runs(kProblem).back().started_ms, 1700000000000);
}

TEST_F(Store, FiltersRunsByProblemAndSession) {
  const SessionId second = store.begin_session(sample_session());
  store.record_run(session, sample_run("first"));
  store.record_run(second, sample_run("second"));
  db::Run other = sample_run("third");
  other.problem = kOtherProblem;
  store.record_run(second, other);
  EXPECT_EQ(store.runs(kProblem).size(), 2u);
  ASSERT_EQ(store.runs(kProblem, second).size(), 1u);
  EXPECT_EQ(store.runs(kProblem, second)[0].plan, "second");
  EXPECT_TRUE(store.runs("fft:type=c2c,n=1,prec=f32").empty());
  EXPECT_EQ(store.problems(), (std::vector<std::string>{kOtherProblem, kProblem}));
}

TEST_F(Store, GivesBackAVerdictWithItsEvidenceAndEnvironment) {
  Verdict verdict = sample_verdict("new");
  verdict.replaces = "old";
  verdict.incumbent_ns = 1500.5;
  verdict.ratio_low = 1.3;
  verdict.ratio_high = 1.4;
  verdict.rounds = 12;
  const VerdictId id = store.record_verdict(session, verdict);
  const auto winner = store.winner(kProblem, environment);
  ASSERT_TRUE(winner);
  EXPECT_EQ(static_cast<const Verdict&>(*winner), verdict);
  EXPECT_EQ(winner->id, id);
  EXPECT_EQ(winner->session, session);
  EXPECT_EQ(winner->environment, environment);
  EXPECT_GT(winner->created_ms, 1700000000000);
}

TEST_F(Store, LetsTheLatestVerdictWinNotTheFastest) {
  Verdict fast = sample_verdict("fast");
  fast.winner_ns = 1;
  store.record_verdict(session, fast);
  store.record_verdict(session, sample_verdict("later"));
  record("luckiest", RunStatus::ok, {1});
  EXPECT_EQ(store.winner(kProblem, environment)->plan, "later");
  EXPECT_EQ(store.verdicts(kProblem).size(), 2u);
}

TEST_F(Store, GoesBackToTheVerdictBeforeAWithdrawnOne) {
  store.record_verdict(session, sample_verdict("good"));
  const VerdictId bad = store.record_verdict(session, sample_verdict("bad"));
  store.withdraw_verdict(bad, "wrong result later");
  EXPECT_EQ(store.winner(kProblem, environment)->plan, "good");
  EXPECT_EQ(store.verdicts(kProblem).back().withdrawn, "wrong result later");
  EXPECT_EQ(status_of([&] { store.withdraw_verdict(bad, "again"); }), Status::invalid_argument);
  EXPECT_EQ(status_of([&] { store.withdraw_verdict(VerdictId{99}, "unknown"); }), Status::invalid_argument);
  EXPECT_EQ(status_of([&] { store.withdraw_verdict(bad, ""); }), Status::invalid_argument);
}

TEST_F(Store, KeepsWinnersOfEnvironmentsApart) {
  SessionStart other = sample_session();
  other.environment.isa = "avx512";
  const SessionId second = store.begin_session(other);
  store.record_verdict(session, sample_verdict("for avx2"));
  store.record_verdict(second, sample_verdict("for avx512"));
  EXPECT_EQ(store.winner(kProblem, environment)->plan, "for avx2");
  EXPECT_EQ(store.winner(kProblem, other.environment)->plan, "for avx512");
  EXPECT_EQ(store.winners().size(), 2u);
  ASSERT_EQ(store.winners(environment).size(), 1u);
  other.environment.driver = "never seen";
  EXPECT_TRUE(store.winners(other.environment).empty());
  EXPECT_EQ(store.winner(kProblem, other.environment), std::nullopt);
  EXPECT_EQ(store.environments().size(), 2u);
}

TEST_F(Store, SumsUpTheHistoryOfEachPlan) {
  record("a", RunStatus::ok, {10, 30});
  record("b", RunStatus::crash, {});
  record("a", RunStatus::ok, {20});
  record("c", RunStatus::interrupted, {5});
  record("b", RunStatus::interrupted, {});
  const auto history = store.history(kProblem, environment);
  ASSERT_EQ(history.size(), 2u) << "an interrupted run says nothing";
  EXPECT_EQ(history[0].plan, "a");
  EXPECT_EQ(history[0].ok_runs, 2);
  EXPECT_EQ(history[0].samples_ns, (std::vector<std::int64_t>{10, 30, 20}));
  EXPECT_EQ(history[0].median_ns, 20);
  EXPECT_EQ(history[0].worst_error, 1.25e-6);
  EXPECT_EQ(history[1].failed_runs, 1);
  EXPECT_EQ(history[1].last_status, RunStatus::crash);
  EXPECT_EQ(history[1].last_message, sample_run().message);
  EXPECT_TRUE(store.history(kOtherProblem, environment).empty());
}

TEST_F(Store, RanksRunnerUpsByMedianWithoutTheWinner) {
  record("winner", RunStatus::ok, {10});
  record("slow", RunStatus::ok, {1, 50, 60});
  record("fast", RunStatus::ok, {20, 20, 20});
  record("broken", RunStatus::wrong_result, {1});
  store.record_verdict(session, sample_verdict("winner"));
  const auto plans = store.runner_ups(kProblem, environment);
  ASSERT_EQ(plans.size(), 2u);
  EXPECT_EQ(plans[0].plan, "fast");
  EXPECT_EQ(plans[1].plan, "slow");
}

TEST_F(Store, FindsTheLatestWisdomOfAnOkRun) {
  for (const char* wisdom : {"old", "new", ""}) {
    db::Run run = sample_run("plan");
    run.wisdom = wisdom;
    store.record_run(session, run);
  }
  db::Run failed = sample_run("plan", RunStatus::wrong_result);
  failed.wisdom = "of a wrong one";
  store.record_run(session, failed);
  EXPECT_EQ(store.wisdom(kProblem, "plan", environment), "new");
  EXPECT_EQ(store.wisdom(kProblem, "other", environment), "");
}

TEST_F(Store, ListsSessionsWithTheirEnd) {
  SessionStart start = sample_session();
  start.seed = std::numeric_limits<std::uint64_t>::max();
  const SessionId second = store.begin_session(start);
  store.finish_session(second, SessionEnd::interrupted);
  const auto sessions = store.sessions();
  ASSERT_EQ(sessions.size(), 2u);
  EXPECT_EQ(sessions[0].finished_ms, 0);
  EXPECT_EQ(sessions[0].end, std::nullopt);
  EXPECT_EQ(sessions[0].command, sample_session().command);
  EXPECT_EQ(sessions[1].seed, start.seed);
  EXPECT_EQ(sessions[1].end, SessionEnd::interrupted);
  EXPECT_GE(sessions[1].finished_ms, sessions[1].started_ms);
  EXPECT_EQ(sessions[1].budget_seconds, 30);
}

TEST_F(Store, RefusesWhatItCannotKeep) {
  const auto refused = [&](const std::function<void(db::Run&)>& spoil) {
    db::Run run = sample_run();
    spoil(run);
    return status_of([&] { store.record_run(session, run); });
  };
  EXPECT_EQ(refused([](db::Run& run) { run.plan.clear(); }), Status::invalid_argument);
  EXPECT_EQ(refused([](db::Run& run) { run.problem = std::string(kMaxToken + 1, 'x'); }), Status::invalid_argument);
  EXPECT_EQ(refused([](db::Run& run) { run.plan = std::string(kMaxPlan + 1, 'x'); }), Status::invalid_argument);
  EXPECT_EQ(refused([](db::Run& run) { run.wisdom = std::string(kMaxWisdom + 1, 'x'); }), Status::invalid_argument);
  EXPECT_EQ(refused([](db::Run& run) { run.plan = std::string("a\0b", 3); }), Status::invalid_argument);
  EXPECT_EQ(refused([](db::Run& run) { run.samples_ns.resize(kMaxSamples + 1); }), Status::invalid_argument);
  EXPECT_EQ(refused([](db::Run& run) { run.round = -1; }), Status::invalid_argument);
  EXPECT_EQ(status_of([&] { store.record_run(SessionId{77}, sample_run()); }), Status::invalid_argument);
  Verdict verdict = sample_verdict();
  verdict.ratio_low = 2;
  EXPECT_EQ(status_of([&] { store.record_verdict(session, verdict); }), Status::invalid_argument);
  verdict = sample_verdict();
  verdict.winner_ns = std::nan("");
  EXPECT_EQ(status_of([&] { store.record_verdict(session, verdict); }), Status::invalid_argument);
  EXPECT_TRUE(store.runs(kProblem).empty());
  EXPECT_TRUE(store.problems().empty());
}

TEST_F(Store, KeepsTextsUpToTheirLimits) {
  db::Run run = sample_run(std::string(kMaxPlan, 'p'));
  run.problem = std::string(kMaxToken, 't');
  run.wisdom = std::string(kMaxWisdom, 'w');
  run.message = std::string(kMaxText, 'm');
  run.samples_ns.assign(kMaxSamples, std::numeric_limits<std::int64_t>::min());
  store.record_run(session, run);
  EXPECT_EQ(static_cast<const db::Run&>(store.runs(run.problem).at(0)), run);
}

TEST_F(Store, TakesTextsThatLookLikeSql) {
  const std::string plan = "'); DROP TABLE run; --";
  store.record_run(session, sample_run(plan));
  EXPECT_EQ(store.runs(kProblem).at(0).plan, plan);
}

TEST_F(Store, OpenedForReadingCannotBeWritten) {
  auto reader = TuningStore::open_for_reading(path);
  EXPECT_FALSE(reader.writable());
  EXPECT_EQ(status_of([&] { reader.begin_session(sample_session()); }), Status::invalid_argument);
  EXPECT_EQ(status_of([&] { reader.record_run(session, sample_run()); }), Status::invalid_argument);
}

TEST_F(Store, ShowsAReaderWhatAWriterAddsMeanwhile) {
  const auto reader = TuningStore::open_for_reading(path);
  EXPECT_TRUE(reader.runs(kProblem).empty());
  store.record_run(session, sample_run());
  EXPECT_EQ(reader.runs(kProblem).size(), 1u);
}

TEST(StoreWithoutAFile, IsEmptyToAReaderAndStaysAbsent) {
  const TempFolder folder;
  const auto reader = TuningStore::open_for_reading(folder / "no/such.db");
  EXPECT_TRUE(reader.winners().empty());
  EXPECT_TRUE(reader.problems().empty());
  EXPECT_TRUE(fs::is_empty(folder.path()));
  write_bytes(folder / "empty.db", "");
  EXPECT_TRUE(TuningStore::open_for_reading(folder / "empty.db").sessions().empty());
}

TEST(Median, IsTheMiddleOrTheMeanOfTheMiddleTwo) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({5}), 5);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({9, 1, 6, 5}), 5.5);
}

TEST(Freshness, FollowsTheStalenessRule) {
  const Environment here = sample_environment();
  const auto with = [&](std::string Environment::*piece) {
    Environment other = here;
    other.*piece = "other";
    return freshness(other, here);
  };
  EXPECT_EQ(freshness(here, here), Freshness::current);
  EXPECT_EQ(with(&Environment::driver), Freshness::serves);
  EXPECT_EQ(with(&Environment::compiler), Freshness::serves);
  EXPECT_EQ(with(&Environment::libraries), Freshness::candidate);
  EXPECT_EQ(with(&Environment::generator), Freshness::candidate);
  EXPECT_EQ(with(&Environment::traits), Freshness::candidate);
  EXPECT_EQ(with(&Environment::device), Freshness::candidate) << "the same numbers under another name";
  Environment other = here;
  other.device = "other", other.traits = "other";
  EXPECT_EQ(freshness(other, here), Freshness::kindred);
  EXPECT_EQ(with(&Environment::isa), Freshness::foreign);
  EXPECT_EQ(with(&Environment::backend), Freshness::foreign);
}

TEST(TraitsDistance, AddsTheLogarithmsOfTheRatios) {
  EXPECT_EQ(traits_distance(R"({"cores":2})", R"({"cores":2})"), 0);
  EXPECT_DOUBLE_EQ(traits_distance(R"({"cores":2,"l2":8})", R"({"cores":8,"l2":4})"), 3);
  EXPECT_DOUBLE_EQ(traits_distance(R"({"cores":8,"l2":4})", R"({"cores":2,"l2":8})"), 3);
  EXPECT_EQ(traits_distance(R"({"cores":2,"memory_gib":1})", R"({"cores":2,"memory_gib":64})"), 0);
  EXPECT_EQ(traits_distance(R"({"cores":2,"l3_bytes":0})", R"({"cores":2,"l3_bytes":64})"), 0) << "one is not known";
  for (const char* other : {"", "[]", "{}", R"({"l2":2})", R"({"cores":"2"})", R"({"cores":2,"l2":1})"})
    EXPECT_TRUE(std::isinf(traits_distance(R"({"cores":2})", other))) << other;
}

TEST(TraitsText, HasWhatPlansDependOn) {
  DeviceTraits traits;
  traits.cores = 12, traits.l1_bytes = 32768, traits.l2_bytes = 1048576, traits.l3_bytes = 33554432;
  traits.memory_bytes = (std::int64_t{31} << 30) + (std::int64_t{1} << 29);
  EXPECT_EQ(traits_text(traits),
            R"({"cores":12,"l1_bytes":32768,"l2_bytes":1048576,"l3_bytes":33554432,"memory_gib":32})");
  traits.compute_capability = 90, traits.multiprocessors = 132, traits.shared_per_block = 232448;
  traits.registers_per_multiprocessor = 65536;
  --traits.memory_bytes;
  EXPECT_EQ(
      traits_text(traits),
      R"({"multiprocessors":132,"shared_per_block":232448,"registers":65536,"l2_bytes":1048576,"memory_gib":31})");
}

TEST(CoresIn, AreThoseOfAProcessor) {
  DeviceTraits traits;
  traits.cores = 12;
  EXPECT_EQ(cores_in(traits_text(traits)), 12);
  traits.compute_capability = 90;
  EXPECT_EQ(cores_in(traits_text(traits)), 0);
  for (const char* other : {"", "[]", "3", R"({"cores":"2"})", R"({"cores":-2})", R"({"cores":2.5})"})
    EXPECT_EQ(cores_in(other), 0) << other;
}

TEST(TraitsText, RoundsMemoryAndKeepsTheRest) {
  DeviceTraits traits;
  traits.cores = 8;
  traits.l3_bytes = 1 << 25;
  traits.memory_bytes = (std::int64_t{16} << 30) - 300'000'000;
  EXPECT_EQ(traits_text(traits),
            R"({"cores":8,"l1_bytes":32768,"l2_bytes":1048576,"l3_bytes":33554432,"memory_gib":16})");
}

TEST(RunStatusNames, RoundTrip) {
  for (int i = 0; i <= static_cast<int>(RunStatus::interrupted); ++i) {
    EXPECT_EQ(run_status_from(to_string(static_cast<RunStatus>(i))), static_cast<RunStatus>(i));
  }
  EXPECT_EQ(status_of([] { run_status_from("great"); }), Status::database);
}

class DefaultPath : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"FOURTUNE_DB", "XDG_DATA_HOME"}) ::unsetenv(name);
    ::setenv("HOME", "/home/someone", 1);
  }
};

TEST_F(DefaultPath, FollowsTheVariablesInOrder) {
  EXPECT_EQ(default_database_path(), "/home/someone/.local/share/fourtune/tuning.db");
  ::setenv("XDG_DATA_HOME", "relative", 1);
  EXPECT_EQ(default_database_path(), "/home/someone/.local/share/fourtune/tuning.db");
  ::setenv("XDG_DATA_HOME", "/data", 1);
  EXPECT_EQ(default_database_path(), "/data/fourtune/tuning.db");
  ::setenv("FOURTUNE_DB", "mine.db", 1);
  EXPECT_EQ(default_database_path(), "mine.db");
  ::setenv("FOURTUNE_DB", "", 1);
  EXPECT_EQ(default_database_path(), "/data/fourtune/tuning.db");
}

TEST_F(DefaultPath, FallsBackToThePasswordFile) {
  ::unsetenv("HOME");
  const passwd* const user = ::getpwuid(::getuid());
  EXPECT_EQ(default_database_path(),
            user ? fs::path(user->pw_dir) / ".local/share/fourtune/tuning.db" : fs::path());  // none: no such user
}

}  // namespace
}  // namespace fourtune::db::testing
