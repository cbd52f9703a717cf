// Whole sessions on a backend with known behaviour: in this process, in a worker process that misbehaves, and resumed.
#include "tuner/session/session.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "runtime/environment.h"
#include "tests/support/stored_winner.h"
#include "tests/tuner/fake_backend.h"
#include "tuner/measure/benchmark.h"
#include "tuner/measure/evaluate.h"
#include "tuner/report/report.h"
#include "tuner/search/replay.h"
#include "tuner/session/pace.h"
#include "tuner/session/problem_tuning.h"
#include "tuner/worker/worker.h"

namespace fourtune::tuner {
namespace {

using testing::fake_session;
using testing::fake_text;
using testing::FakeBackend;

constexpr const char* token = "fft:type=c2c,n=8,prec=f64";
const FakeBackend backend;

class Session : public ::testing::Test {
 protected:
  Session()
      : folder_(std::filesystem::temp_directory_path() /
                ("fourtune_session_" + std::to_string(getpid()) + "_" +
                 ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(folder_);
  }
  ~Session() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  db::TuningStore open() const { return db::TuningStore::open_for_writing(folder_ / "tuning.db"); }
  static db::Environment here() { return runtime::environment_here(backend.traits()); }
  static std::string text(int block) { return fake_text(parse_problem(token), block); }

  // Checks the rule with the rows of the latest session's finals: the plan with the lowest median there wins if its
  // lead over the plan to beat exceeds the noise; otherwise the plan to beat wins.
  static void expect_decided_by_its_rounds(const db::TuningStore& store, const ProblemReport& report,
                                           const std::string& to_beat) {
    std::map<std::string, std::vector<std::int64_t>> rounds;
    for (const db::StoredRun& run : store.runs(token, store.sessions().back().id))
      if (run.round == 1 && run.status == db::RunStatus::ok && run.samples_ns.size() >= 7)
        rounds[run.plan] = run.samples_ns;
    ASSERT_TRUE(rounds.contains(to_beat));
    ASSERT_TRUE(rounds.contains(report.winner));
    const auto fastest = std::min_element(rounds.begin(), rounds.end(), [](const auto& a, const auto& b) {
      return db::median(a.second) < db::median(b.second);
    });
    const bool clear = paired_ratio(fastest->second, rounds[to_beat]).low > 1.005;
    if (clear && db::median(fastest->second) < db::median(rounds[to_beat]))
      EXPECT_EQ(db::median(rounds[report.winner]), db::median(fastest->second)) << report.winner;
    else
      EXPECT_EQ(report.winner, to_beat);
  }

  const std::filesystem::path folder_;
};

TEST_F(Session, FindsTheBestPlanAndRecordsEveryEvaluation) {
  auto store = open();
  LocalEvaluator evaluator(backend);
  auto options = fake_session({token}, 25, 45);
  std::vector<Progress> seen;
  options.progress = [&](const Progress& progress) { seen.push_back(progress); };
  const Report report = run_session(options, store, evaluator);

  ASSERT_EQ(report.problems.size(), 1u);
  const ProblemReport& p = report.problems[0];
  EXPECT_TRUE(p.new_verdict);
  EXPECT_EQ(p.untuned, text(30));
  EXPECT_EQ(p.candidates, 21u);
  EXPECT_GE(p.evaluations, 21u);  // includes FFTW's plan
  EXPECT_EQ(p.failures, 0u);
  EXPECT_TRUE(report.warnings.empty()) << report.warnings[0];
  const auto winner = store.winner(token, here());
  ASSERT_TRUE(winner);
  EXPECT_EQ(winner->plan, p.winner);
  expect_decided_by_its_rounds(store, p, text(30));
  const auto history = store.history(token, here());
  EXPECT_EQ(history.size(), p.evaluations);
  for (const auto& plan : history) {
    EXPECT_GE(plan.ok_runs, 1);
    ASSERT_TRUE(plan.worst_error);
    EXPECT_LT(*plan.worst_error, 1e-12);
  }
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.back().step, Step::done);
  EXPECT_EQ(seen.back().evaluations, p.evaluations);
}

TEST_F(Session, FailuresAreRowsAndNeverWin) {
  auto store = open();
  LocalEvaluator evaluator(backend);
  const Report report = run_session(fake_session({token}, 6, 14), store, evaluator);
  ASSERT_EQ(report.problems.size(), 1u);
  EXPECT_EQ(report.problems[0].failures, 3u);
  std::map<std::string, db::PlanHistory> history;
  for (const auto& plan : store.history(token, here())) history[plan.plan] = plan;
  EXPECT_EQ(history.at(text(7)).last_status, db::RunStatus::wrong_result);
  EXPECT_NE(history.at(text(7)).last_message.find("error"), std::string::npos);
  EXPECT_EQ(history.at(text(11)).last_status, db::RunStatus::too_many_resources);
  EXPECT_EQ(history.at(text(13)).last_status, db::RunStatus::wrong_result);
  EXPECT_NE(history.at(text(13)).last_message.find("adjoint"), std::string::npos);
  for (const int bad : {7, 11, 13}) EXPECT_NE(report.problems[0].winner, text(bad));
}

TEST_F(Session, ARerunMeasuresNothingTwice) {
  auto store = open();
  LocalEvaluator evaluator(backend);
  auto options = fake_session({token}, 25, 45);
  options.max_evaluations = 6;
  EXPECT_EQ(run_session(options, store, evaluator).problems[0].evaluations, 6u);
  options.max_evaluations = 0;
  const Report second = run_session(options, store, evaluator);
  EXPECT_EQ(second.problems[0].reused, 6u);
  const Report third = run_session(options, store, evaluator);
  EXPECT_EQ(third.problems[0].evaluations, 0u);
  EXPECT_EQ(third.problems[0].reused, second.problems[0].evaluations + 6);
  std::map<std::string, int> searched;
  for (const auto& run : store.runs(token))
    if (run.round == 0) ++searched[run.plan];
  for (const auto& [plan, count] : searched) EXPECT_EQ(count, 1) << plan;
}

TEST_F(Session, TheStopFlagKeepsEverythingAndTheRerunFinishes) {
  auto store = open();
  LocalEvaluator evaluator(backend);
  auto options = fake_session({token, "fft:type=c2c,n=6,prec=f64"}, 25, 45);
  std::atomic<bool> stop{false};
  options.stop = &stop;
  options.progress = [&](const Progress& progress) { stop = progress.evaluations >= 5; };
  const Report report = run_session(options, store, evaluator);
  EXPECT_TRUE(report.interrupted);
  EXPECT_EQ(store.history(token, here()).size(), 5u);
  EXPECT_FALSE(store.winner(token, here()));
  EXPECT_EQ(store.sessions().back().end, db::SessionEnd::interrupted);
  options.stop = nullptr;
  options.progress = nullptr;
  const Report rest = run_session(options, store, evaluator);
  EXPECT_FALSE(rest.interrupted);
  EXPECT_EQ(rest.problems[0].reused, 5u);
  EXPECT_EQ(store.winners(here()).size(), 2u);
}

TEST_F(Session, TheIncumbentStaysUnlessItIsBeatenByMoreThanNoise) {
  auto store = open();
  LocalEvaluator evaluator(backend);
  run_session(fake_session({token}, 38, 42), store, evaluator);  // five plans within 4 % of each other
  const auto first = store.winner(token, here());
  ASSERT_TRUE(first);
  std::string incumbent = first->plan;
  for (int again = 0; again < 2; ++again) {
    const Report report = run_session(fake_session({token}, 38, 42), store, evaluator);
    const auto now = store.winner(token, here());
    ASSERT_TRUE(now);
    expect_decided_by_its_rounds(store, report.problems[0], incumbent);
    EXPECT_EQ(report.problems[0].new_verdict, now->plan != incumbent);
    incumbent = now->plan;
  }
}

// The row says that the plan was right; only its result shows that it is not.
TEST_F(Session, AnIncumbentWhoseResultIsWrongIsReplacedAndNotServedAgain) {
  auto store = open();
  db::Run run = test::right_run(token, text(7));
  run.samples_ns = {1000, 1000, 1000}, run.error = 1e-16;
  const db::VerdictId wrong = test::store_winner(store, here(), run);
  ASSERT_EQ(store.winner(token, here())->plan, text(7));
  LocalEvaluator evaluator(backend);
  for (int again = 0; again < 2; ++again) {
    const Report report = run_session(fake_session({token}, 28, 32), store, evaluator);
    EXPECT_NE(report.problems[0].winner, text(7));
    EXPECT_FALSE(report.problems[0].winner.empty()) << report.problems[0].note;
    ASSERT_TRUE(store.winner(token, here()));
    EXPECT_EQ(store.winner(token, here())->plan, report.problems[0].winner);
  }
  for (const db::StoredVerdict& stored : store.verdicts(token))
    if (stored.id == wrong) {
      EXPECT_NE(stored.withdrawn.find("wrong_result"), std::string::npos) << stored.withdrawn;
    }
  for (const auto& plan : store.history(token, here()))
    if (plan.plan == text(7)) {
      EXPECT_EQ(plan.last_status, db::RunStatus::wrong_result);
    }
}

TEST_F(Session, ABudgetIsKept) {
  auto store = open();
  LocalEvaluator evaluator(backend);
  auto options = fake_session({token, "fft:type=c2c,n=6,prec=f64"}, 1, 1000);
  options.seconds = 1;
  const Report report = run_session(options, store, evaluator);
  EXPECT_EQ(report.problems.size(), 2u);
  EXPECT_LT(report.problems[0].evaluations, 1000u);
  for (const auto& p : report.problems) EXPECT_FALSE(p.winner.empty()) << p.note;
}

TEST_F(Session, RecordModeWritesTheSpaceThatWasMeasured) {
  auto store = open();
  LocalEvaluator evaluator(backend);
  auto options = fake_session({token}, 5, 16);
  options.record_folder = folder_ / "spaces";
  run_session(options, store, evaluator);
  const Recording recording = read_recording((folder_ / "spaces/fft_type_c2c_n_8_prec_f64.csv").string());
  ASSERT_EQ(recording.seconds.size(), 12u);
  EXPECT_EQ(recording.axes, std::vector<std::string>{"block"});
  for (std::size_t i = 0; i < 12; ++i) {
    const int block = 5 + recording.space.coordinates[i][0];
    EXPECT_EQ(std::isfinite(recording.seconds[i]), block != 7 && block != 11 && block != 13) << block;
  }
}

TEST_F(Session, UnusableOptionsAreRefused) {
  auto store = open();
  LocalEvaluator evaluator(backend);
  EXPECT_THROW(run_session({}, store, evaluator), Error);
  auto options = fake_session({token}, 1, 2);
  options.strategy = "guess";
  EXPECT_THROW(run_session(options, store, evaluator), Error);
  options.strategy.clear();
  options.seconds = -1;
  EXPECT_THROW(run_session(options, store, evaluator), Error);
}

TEST_F(Session, ShowsWinnersAndRunnerUpsInEveryFormat) {
  auto store = open();
  LocalEvaluator evaluator(backend);
  const Report report = run_session(fake_session({token}, 25, 45), store, evaluator);
  ShowOptions options;
  options.here = here();
  const auto rows = show_rows(store, options);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].rank, 0);
  EXPECT_EQ(rows[0].plan, report.problems[0].winner);
  EXPECT_DOUBLE_EQ(rows[0].gain, report.problems[0].gain);
  for (const ShowRow& row : rows) {
    ASSERT_TRUE(row.error) << row.plan;
    EXPECT_GE(*row.error, 0);
    if (row.in_turns) {
      EXPECT_LE(row.gain, rows[0].gain * 1.001) << row.plan << ": no runner-up gains more than the winner";
      EXPECT_GT(row.gain_low, 0) << row.plan;
    }
  }
  EXPECT_EQ(rows[0].error, report.problems[0].error);
  EXPECT_EQ(rows[2].rank, 2);
  for (const Format format : {Format::table, Format::csv, Format::json}) {
    const std::string shown = format_rows(rows, format), reported = format_report(report, format);
    EXPECT_NE(shown.find(rows[0].plan), std::string::npos) << shown;
    EXPECT_NE(reported.find(rows[0].plan), std::string::npos) << reported;
    EXPECT_EQ(shown.back(), '\n');
  }
  options.here->device = "another processor";
  EXPECT_EQ(show_rows(store, options).size(), 3u) << "with the same numbers";
  options.here->traits = R"({"cores":77})";
  EXPECT_TRUE(show_rows(store, options).empty());
}

// Two backends, or two machines of a merged database, tune the same problem; each has a separate untuned plan.
TEST_F(Session, ShowsTheGainOfEachEnvironmentOverItsOwnUntunedPlan) {
  auto store = open();
  LocalEvaluator evaluator(backend);
  const Report report = run_session(fake_session({token}, 25, 45), store, evaluator);
  ASSERT_GT(report.problems.at(0).gain, 1);
  db::SessionStart other;
  other.environment = here();
  other.environment.device = "another processor";
  const db::SessionId session = store.begin_session(other);
  db::Run run;
  run.problem = token;
  run.plan = "the only plan of another processor";
  run.message = untuned_mark;
  run.status = db::RunStatus::ok;
  run.samples_ns = {1000, 1000, 1000};
  run.stages = {{set_points_stage, 7}};
  store.record_run(session, run);
  run.plan = report.problems[0].winner;
  store.record_run(session, run);
  ShowOptions options;
  options.here = here();
  const auto rows = show_rows(store, options);
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows[0].plan, report.problems[0].winner);
  EXPECT_DOUBLE_EQ(rows[0].gain, report.problems[0].gain);
  EXPECT_DOUBLE_EQ(rows[0].gain_low, report.problems[0].gain_low);
  EXPECT_GT(std::abs(rows[0].set_points_seconds - 7e-9), 1e-12);
}

// ---- the same session in a worker process
class WorkerSession : public Session {
 protected:
  Report run(const std::string& fault, double timeout) {
    fault.empty() ? unsetenv("FOURTUNE_TEST_FAULT") : setenv("FOURTUNE_TEST_FAULT", fault.c_str(), 1);
    WorkerOptions worker;
    worker.command = {"/proc/self/exe", "worker"};
    WorkerProcess evaluator(worker);
    auto store = open();
    auto options = fake_session({token}, 36, 44);
    options.candidate_timeout = timeout;
    Report report = run_session(options, store, evaluator);
    unsetenv("FOURTUNE_TEST_FAULT");
    return report;
  }
  db::PlanHistory of(int block) const {
    for (const auto& plan : open().history(token, here()))
      if (plan.plan == text(block)) return plan;
    return {};
  }
};

TEST_F(WorkerSession, GivesTheSameKindOfResultAsInProcess) {
  const Report report = run("", 20);
  EXPECT_EQ(report.worker_restarts, 0u);
  EXPECT_EQ(report.failures, 0u);
  EXPECT_FALSE(report.problems[0].winner.empty());
  ASSERT_TRUE(of(40).worst_error);
  EXPECT_EQ(open().wisdom(token, text(40), here()), "wisdom of block 40");
}

TEST_F(WorkerSession, SurvivesACrash) {
  const Report report = run("crash:block=38", 20);
  EXPECT_EQ(of(38).last_status, db::RunStatus::crash);
  EXPECT_NE(of(38).last_message.find("signal"), std::string::npos) << of(38).last_message;
  EXPECT_EQ(report.worker_restarts, 1u);
  EXPECT_EQ(report.failures, 1u);
  EXPECT_EQ(of(44).last_status, db::RunStatus::ok);
  EXPECT_GE(of(44).ok_runs, 1);
}

TEST_F(WorkerSession, SurvivesASilentExit) {
  run("exit:block=38", 20);
  EXPECT_EQ(of(38).last_status, db::RunStatus::crash);
  EXPECT_GE(of(44).ok_runs, 1);
}

TEST_F(WorkerSession, SurvivesAHang) {
  const Report report = run("hang:block=38", 8);  // the others need milliseconds
  EXPECT_EQ(of(38).last_status, db::RunStatus::timeout);
  EXPECT_EQ(report.worker_restarts, 1u);
  EXPECT_GE(of(44).ok_runs, 1);
}

TEST_F(WorkerSession, SurvivesGarbage) {
  run("garbage:block=38", 20);
  EXPECT_EQ(of(38).last_status, db::RunStatus::crash);
  EXPECT_GE(of(44).ok_runs, 1);
}

TEST_F(WorkerSession, AQuarantinedPlanIsNotTriedAgain) {
  run("crash:block=38", 20);
  const Report second = run("crash:block=38", 20);
  EXPECT_EQ(second.worker_restarts, 0u);
  EXPECT_EQ(of(38).failed_runs, 1);
}

TEST(Worker, AProgramThatIsNotAWorkerIsAnError) {
  WorkerOptions worker;
  worker.command = {"/bin/true"};
  EXPECT_THROW(WorkerProcess{worker}, Error);
  worker.command = {"/no/such/program"};
  EXPECT_THROW(WorkerProcess{worker}, Error);
}

TEST_F(Session, ATraceSaysWhatEachStepSpentAndMissesNothing) {
  LocalEvaluator evaluator(backend);
  auto store = open();
  SessionOptions options = fake_session({token, "fft:type=c2c,n=9,prec=f64"}, 7, 36);
  std::vector<Trace> steps;
  options.trace = [&](const Trace& step) { steps.push_back(step); };
  const Report report = run_session(options, store, evaluator);
  double sum = 0, before = 0;
  std::size_t measured = 0, wrong = 0;
  for (const Trace& step : steps) {
    sum += step.spent.total();
    EXPECT_GE(step.at, before);
    EXPECT_NEAR(step.at - sum, steps[0].at - steps[0].spent.total(), 1e-6) << "what is in no task";
    before = step.at;
    const bool plan = step.step == Step::untuned || step.step == Step::search;
    EXPECT_EQ(plan, !step.plan.empty());
    measured += plan;
    if (step.status == db::RunStatus::wrong_result) {
      ++wrong;
      EXPECT_EQ(step.seconds, 0);
      EXPECT_NE(step.message.find("allowed"), std::string::npos) << step.message;
    } else if (plan && step.status == db::RunStatus::ok) {
      EXPECT_GT(step.seconds, 0);
      EXPECT_GT(step.spent[Task::measure], 0);
    }
  }
  EXPECT_EQ(measured, report.evaluations);
  EXPECT_EQ(wrong, 4u) << "blocks 7 and 13 of both";
  EXPECT_LE(sum, report.elapsed);
  double problems = 0;
  for (const ProblemReport& problem : report.problems) problems += problem.spent.total();
  EXPECT_NEAR(problems, sum, 1e-6);

  const std::string header = trace_header(), line = format_trace(steps.back());
  EXPECT_EQ(std::count(header.begin(), header.end(), ','), 6 + static_cast<int>(task_count));
  EXPECT_NE(header.find(",search,wait,bind,"), std::string::npos);
  EXPECT_EQ(line.substr(line.size() - 2), ",\n") << "no message";
}

TEST_F(Session, TimeThatAnExhaustedProblemLeavesGoesToTheOthers) {
  LocalEvaluator evaluator(backend);
  auto store = open();
  SessionOptions options = fake_session({token, "fft:type=c2c,n=9,prec=f64"}, 30, 33);
  const auto few = options.list_candidates;
  options.list_candidates = [few](const Problem& problem, const DeviceTraits& traits) {
    if (problem.n[0] == 8) return few(problem, traits);
    return fake_session({token}, 30, 20000).list_candidates(problem, traits);
  };
  options.seconds = 6;
  std::vector<double> turns;  // when those of the second problem ended
  options.trace = [&](const Trace& step) {
    if (step.step == Step::finals && step.problem != token) turns.push_back(step.at);
  };
  const Report report = run_session(options, store, evaluator);
  ASSERT_EQ(report.problems.size(), 2u);
  EXPECT_LE(report.problems[0].evaluations, 8u);
  ASSERT_FALSE(turns.empty());
  EXPECT_TRUE(turns.size() >= 2 || report.elapsed > options.seconds - 2) << "there was time for another turn";
  EXPECT_FALSE(report.problems[1].winner.empty());
  // Two turns of a problem are one report.
  std::size_t rows = 0;
  for (const db::StoredRun& run : store.runs("fft:type=c2c,n=9,prec=f64")) rows += run.round == 0;
  EXPECT_EQ(report.problems[1].evaluations, rows);
  EXPECT_EQ(report.problems[1].reused, 0u);
  // Its course has every right plan of both turns, by the seconds that passed in them.
  const std::vector<Measured>& course = report.problems[1].course;
  EXPECT_EQ(course.size(), report.problems[1].evaluations - report.problems[1].failures);
  for (std::size_t i = 1; i < course.size(); ++i) EXPECT_GT(course[i].at, course[i - 1].at) << i;
  EXPECT_LE(course.back().at, report.problems[1].elapsed);
  EXPECT_LT(seconds_to_winner(report.problems[1]).value_or(1e9), report.problems[1].elapsed);
}

TEST(Speed, IsInFlopsOfTheUsualCountOrInPoints) {
  const auto speed = [](const char* problem, double seconds) { return speed_of(parse_problem(problem), seconds); };
  EXPECT_DOUBLE_EQ(speed("fft:type=c2c,n=8x4,prec=f32,batch=3", 1e-6), 3 * 5 * 32 * 5 * 1e-3);
  EXPECT_DOUBLE_EQ(speed("fft:type=r2c,n=8x4,prec=f32,batch=3", 1e-6), 3 * 5 * 32 * 5 * 0.5e-3);
  EXPECT_DOUBLE_EQ(speed("fft:type=c2r,n=1,prec=f64", 1e-9), 2.5) << "a logarithm of at least 1";
  EXPECT_DOUBLE_EQ(speed("nufft:type=2,n=8,m=50,prec=f64,tol=1e-3,batch=2", 1e-6), 100);
  EXPECT_DOUBLE_EQ(speed("nufft:type=3,dim=1,m=50,k=30,prec=f64,tol=1e-3", 1e-6), 80);
  EXPECT_EQ(speed("fft:type=c2c,n=8,prec=f64", 0), 0);
}

}  // namespace
}  // namespace fourtune::tuner

// The test program is also its worker program.
int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "worker") return fourtune::tuner::worker_main(fourtune::tuner::backend);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
