// The end of tuning with scripted measurements: who replaces whom, and what happens to a finalist that fails. No clock.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>

#include "db/lookup.h"
#include "runtime/environment.h"
#include "runtime/validity.h"
#include "tests/support/stored_winner.h"
#include "tests/tuner/fake_backend.h"
#include "tuner/session/session.h"

namespace fourtune::tuner {
namespace {

using testing::fake_session;
using testing::fake_text;
using testing::FakeBackend;
using Samples = std::vector<std::int64_t>;

constexpr const char* kToken = "fft:type=c2c,n=8,prec=f64";
std::string text(int block) { return fake_text(parse_problem(kToken), block); }

// Returns what the script says, and records the requests.
class ScriptedEvaluator : public Evaluator {
 public:
  std::map<std::string, std::int64_t> search_ns;  // per plan; others take a millisecond
  std::map<std::string, Samples> rounds;          // per finalist; others take their search_ns in each of 15 rounds
  std::map<std::string, db::RunStatus> final_failures;
  std::string last_one;  // every other finalist fails
  int busy_finals = 0;   // this many finals end by a timeout with an unknown cause
  int noisy_finals = 0;  // this many finals have three rounds that were not disturbed
  std::vector<std::string> wrong_adjoints;
  bool gpu = false;  // a device on which searches test no adjoints
  std::vector<std::string> evaluated;
  std::map<std::string, double> timeouts;  // of the evaluations, in seconds
  std::vector<std::vector<std::string>> finals_of;
  std::vector<double> finals_seconds;

  DeviceTraits traits() override {
    DeviceTraits traits = FakeBackend().traits();
    if (gpu) traits.backend = "emulated";
    return traits;
  }
  Spent load(const Problem&, std::uint64_t, const std::vector<std::string>&) override { return {}; }
  Evaluation evaluate(const EvaluationRequest& request) override {
    evaluated.push_back(request.plan);
    timeouts[request.plan] = request.timeout_seconds;
    Evaluation result;
    result.error = 1e-15;
    if (request.adjoint) {
      if (std::count(wrong_adjoints.begin(), wrong_adjoints.end(), request.plan)) {
        result.status = db::RunStatus::wrong_result;
        result.message = "the adjoint is off by 2";
      }
      return result;
    }
    result.samples_ns = Samples(5, ns(request.plan));
    return result;
  }
  FinalsResult finals(const FinalsRequest& request) override {
    finals_of.push_back(request.plans);
    finals_seconds.push_back(request.seconds);
    FinalsResult result;
    if (busy_finals > 0) {
      --busy_finals;
      result.status = db::RunStatus::timeout;
      result.message = "the machine is busy";
      return result;
    }
    for (std::size_t p = 0; p < request.plans.size(); ++p) {
      const auto failure = final_failures.find(request.plans[p]);
      if (failure != final_failures.end() || (!last_one.empty() && request.plans[p] != last_one)) {
        result.status = failure != final_failures.end() ? failure->second : db::RunStatus::crash;
        result.message = "relative error 0.0078 is above the allowed 3e-06";
        result.culprit = static_cast<int>(p);
        return result;
      }
      const auto scripted = rounds.find(request.plans[p]);
      result.samples_ns.push_back(scripted != rounds.end() ? scripted->second : Samples(15, ns(request.plans[p])));
      if (noisy_finals > 0) result.samples_ns.back().resize(3);
    }
    if (noisy_finals > 0) --noisy_finals, result.busy = {60, 50};
    return result;
  }

 private:
  std::int64_t ns(const std::string& plan) const {
    const auto found = search_ns.find(plan);
    return found == search_ns.end() ? 1'000'000 : found->second;
  }
};

// Fifteen rounds: the first `fast` have the one time, the others the other time.
Samples mixed(int fast, std::int64_t fast_ns, std::int64_t slow_ns) {
  Samples samples(15, slow_ns);
  std::fill_n(samples.begin(), fast, fast_ns);
  return samples;
}

class Finals : public ::testing::Test {
 protected:
  Finals()
      : folder_(std::filesystem::temp_directory_path() /
                ("fourtune_finals_" + std::to_string(getpid()) + "_" +
                 ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(folder_);
  }
  ~Finals() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  static db::Environment here() { return runtime::environment_here(FakeBackend().traits()); }
  // Records the result of an earlier session: a plan that was right and won.
  void record_winner(const std::string& plan, std::int64_t ns, const std::string& token = kToken) {
    db::Run run = test::right_run(token, plan);
    run.samples_ns = Samples(5, ns), run.error = 1e-15;
    test::store_winner(store_, here(), run, runtime::validity_of(parse_problem(token)));
  }
  // Blocks 30 (the untuned default) to 33 in the order of their estimates.
  ProblemReport tune(int last = 33) {
    ProblemReport report = run_session(fake_session({kToken}, 30, last), store_, evaluator_).problems.at(0);
    for (const auto& plans : evaluator_.finals_of) EXPECT_GE(plans.size(), 2u) << "there is nobody to compare with";
    return report;
  }
  std::string served() const {
    const auto winner = store_.winner(kToken, here());
    return winner ? winner->plan : "none";
  }
  bool was_finalist(const std::string& plan) const {
    return std::any_of(evaluator_.finals_of.begin(), evaluator_.finals_of.end(),
                       [&](const auto& plans) { return std::find(plans.begin(), plans.end(), plan) != plans.end(); });
  }
  db::PlanHistory history_of(const std::string& plan) const {
    for (const db::PlanHistory& history : store_.history(kToken, here()))
      if (history.plan == plan) return history;
    return {};
  }

  const std::filesystem::path folder_;
  db::TuningStore store_ = db::TuningStore::open_for_writing(folder_ / "tuning.db");
  ScriptedEvaluator evaluator_;
};

TEST_F(Finals, NoiseDoesNotReplaceTheIncumbent) {
  record_winner(text(31), 1000);
  evaluator_.search_ns = {{text(31), 1000}, {text(32), 950}};
  evaluator_.rounds = {{text(31), Samples(15, 1000)}, {text(32), mixed(8, 900, 1100)}};  // the better median, by luck
  const ProblemReport report = tune();
  EXPECT_EQ(report.winner, text(31));
  EXPECT_FALSE(report.new_verdict);
  EXPECT_EQ(served(), text(31));
  ASSERT_TRUE(was_finalist(text(32)));
}

TEST_F(Finals, ALeadWithinTheMarginOfLuckDoesNotReplaceTheIncumbent) {
  record_winner(text(31), 1000);
  evaluator_.search_ns = {{text(31), 1000}, {text(32), 997}};
  EXPECT_FALSE(tune().new_verdict);
  EXPECT_EQ(served(), text(31));
}

TEST_F(Finals, TheFastestOfThoseThatAreClearlyFasterReplacesTheIncumbent) {
  record_winner(text(31), 1000);
  evaluator_.search_ns = {{text(31), 1000}, {text(32), 520}, {text(33), 500}};
  const ProblemReport report = tune();
  EXPECT_EQ(report.winner, text(33));
  EXPECT_EQ(report.replaced, text(31));
  const auto winner = store_.winner(kToken, here());
  ASSERT_TRUE(winner);
  EXPECT_EQ(winner->plan, text(33));
  EXPECT_EQ(winner->replaces, text(31));
  EXPECT_DOUBLE_EQ(winner->ratio_low, 2);
  EXPECT_DOUBLE_EQ(winner->ratio_high, 2);
  EXPECT_EQ(winner->rounds, 15);
}

TEST_F(Finals, WithoutAnUntunedPlanThatWorksThereIsNoGain) {
  evaluator_.search_ns = {{text(32), 500}};
  evaluator_.final_failures = {{text(30), db::RunStatus::crash}};
  const ProblemReport report = tune();
  EXPECT_EQ(report.winner, text(32));
  EXPECT_DOUBLE_EQ(report.seconds, 500e-9);
  EXPECT_EQ(report.gain, 1) << "not known";
  EXPECT_EQ(report.gain_low, 0);
  EXPECT_EQ(report.gain_high, std::numeric_limits<double>::infinity());
}

TEST_F(Finals, EndWhenOneFinalistIsLeft) {
  evaluator_.search_ns = {{text(31), 500}};
  evaluator_.last_one = text(31);
  EXPECT_EQ(tune(31).winner, text(31));
  EXPECT_FALSE(evaluator_.finals_of.empty());
}

TEST_F(Finals, TheRoundsDecideNotTheSearch) {
  evaluator_.search_ns = {{text(32), 500}, {text(33), 510}};
  evaluator_.rounds = {{text(32), Samples(15, 600)}, {text(33), Samples(15, 510)}};
  EXPECT_EQ(tune().winner, text(33));
}

TEST_F(Finals, APlanThatFailsInThemIsMarkedAndNeverAFinalistAgain) {
  evaluator_.search_ns = {{text(32), 500}, {text(33), 700}};
  evaluator_.final_failures = {{text(32), db::RunStatus::wrong_result}};
  const ProblemReport report = tune();
  EXPECT_EQ(report.winner, text(33)) << "the best of the others has to be in the finals then";
  EXPECT_EQ(report.failures, 1u);
  const db::PlanHistory failed = history_of(text(32));
  EXPECT_EQ(failed.last_status, db::RunStatus::wrong_result);
  EXPECT_EQ(failed.last_message.rfind("in the finals: ", 0), 0u) << failed.last_message;

  evaluator_.finals_of.clear();
  EXPECT_EQ(tune().winner, text(33));
  EXPECT_FALSE(was_finalist(text(32)));
}

TEST_F(Finals, AnIncumbentThatIsWrongIsReplacedAndNeverServedAgain) {
  record_winner(text(32), 100);  // like the result of a flipped bit: fast, and "right" by its old row
  record_winner(text(31), 120);
  record_winner(text(32), 100);
  evaluator_.search_ns = {{text(33), 900}};
  evaluator_.final_failures = {{text(32), db::RunStatus::wrong_result}, {text(31), db::RunStatus::wrong_result}};
  const ProblemReport report = tune();
  EXPECT_EQ(report.winner, text(33));
  EXPECT_EQ(served(), text(33));
  for (const db::StoredVerdict& verdict : store_.verdicts(kToken))
    EXPECT_EQ(verdict.withdrawn.empty(), verdict.plan == text(33)) << verdict.plan;
  const db::Lookup lookup = db::Lookup::load(store_.path());
  for (const db::LookupEntry& entry : lookup.entries()) EXPECT_EQ(entry.verdict.plan, text(33));

  evaluator_.finals_of.clear();
  tune();
  EXPECT_FALSE(was_finalist(text(32)));
  EXPECT_EQ(served(), text(33));
}

// However little the budget is: the machine may be slow, and without this plan the problem has no winner.
TEST_F(Finals, ThePlanThatWouldRunIsGivenMoreTimeThanCandidates) {
  SessionOptions options = fake_session({kToken}, 30, 33);
  options.seconds = 1e-9;  // spent when the session begins
  const ProblemReport report = run_session(options, store_, evaluator_).problems.at(0);
  EXPECT_EQ(evaluator_.timeouts.at(text(30)), 10 * options.candidate_timeout);
  EXPECT_EQ(report.served, text(30));
  EXPECT_FALSE(report.winner.empty()) << report.note;
  EXPECT_EQ(report.evaluations, 2u) << "that plan and FFTW's: there is no time for a search";
  evaluator_.timeouts.erase(text(30));
  for (const auto& [plan, seconds] : evaluator_.timeouts) EXPECT_LT(seconds, options.candidate_timeout) << plan;
}

TEST_F(Finals, OfABusyMachineLeaveTheIncumbent) {
  record_winner(text(31), 1000);
  evaluator_.search_ns = {{text(31), 1000}, {text(32), 500}, {text(33), 510}};
  evaluator_.busy_finals = 100;
  const ProblemReport report = tune();
  EXPECT_EQ(served(), text(31));
  EXPECT_FALSE(report.new_verdict);
  EXPECT_NE(report.note.find("the machine is busy"), std::string::npos) << report.note;
}

TEST_F(Finals, WithTooFewQuietRoundsCrownNobody) {
  evaluator_.search_ns[text(32)] = 500'000;
  evaluator_.noisy_finals = 100;
  const ProblemReport report = tune();
  EXPECT_TRUE(report.undecided);
  EXPECT_EQ(report.winner, "");
  EXPECT_NE(report.note.find("this machine was busy in "), std::string::npos) << report.note;
  EXPECT_EQ(served(), "none");
  EXPECT_GT(evaluator_.finals_of.size(), 1u) << "they are repeated";
}

TEST_F(Finals, WithTooFewQuietRoundsLeaveTheIncumbent) {
  record_winner(text(31), 1'000'000);
  evaluator_.search_ns[text(32)] = 500'000;
  evaluator_.noisy_finals = 100;
  const ProblemReport report = tune();
  EXPECT_EQ(report.winner, text(31));
  EXPECT_FALSE(report.new_verdict);
  EXPECT_EQ(served(), text(31));
}

TEST_F(Finals, ThatAreQuietWhenRepeatedDecide) {
  evaluator_.search_ns[text(32)] = 500'000;
  evaluator_.noisy_finals = 1;
  const ProblemReport report = tune();
  EXPECT_FALSE(report.undecided);
  EXPECT_EQ(report.winner, text(32));
  EXPECT_EQ(served(), text(32));
}

// What was measured until then would be for nothing.
TEST_F(Finals, ThatAreShortAreRepeatedAlsoWhenTheBudgetIsSpent) {
  evaluator_.search_ns[text(32)] = 500'000;
  evaluator_.noisy_finals = 2;
  SessionOptions options = fake_session({kToken}, 30, 33);
  options.seconds = 1e-9;
  EXPECT_FALSE(run_session(options, store_, evaluator_).problems.at(0).winner.empty());
  ASSERT_EQ(evaluator_.finals_of.size(), 3u);
  EXPECT_LT(evaluator_.finals_seconds.front(), 0.1);
  EXPECT_GT(evaluator_.finals_seconds.back(), 0.2) << "a repeat has time for quiet rounds";
}

TEST_F(Finals, OfAMachineThatWasBusyOnceAreHeldWithTheTwoThatMatter) {
  record_winner(text(31), 1000);
  evaluator_.search_ns = {{text(31), 1000}, {text(32), 500}, {text(33), 510}};
  evaluator_.busy_finals = 1;
  EXPECT_EQ(tune().winner, text(32));
  ASSERT_EQ(evaluator_.finals_of.size(), 2u);
  EXPECT_EQ(evaluator_.finals_of[1], (std::vector<std::string>{text(32), text(31)}));
}

// A plan whose text was changed so that no window model would accept it is not even measured.
TEST_F(Finals, AnIncumbentThatCannotBeRightIsWithdrawnBeforeTheSearch) {
  const std::string token = "nufft:type=1,n=64x64,m=5000,prec=f64,tol=1e-6";
  const Problem problem = parse_problem(token);
  generator::Plan right = generator::default_plan(problem, FakeBackend().traits());
  generator::Plan wrong = right;
  wrong.window.width = 3;
  const std::string wrong_text = generator::to_text(wrong, problem), right_text = generator::to_text(right, problem);
  record_winner(wrong_text, 100, token);
  SessionOptions options = fake_session({token}, 0, -1);
  options.untuned_plan = [&](const Problem&, const DeviceTraits&) { return right; };
  options.list_candidates = [&](const Problem&, const DeviceTraits&) {
    generator::Space space;
    space.axes = {"one"};
    space.candidates.push_back({right, {0}, 0});
    return space;
  };
  const Report report = run_session(options, store_, evaluator_);
  EXPECT_EQ(report.problems.at(0).winner, right_text) << report.problems.at(0).note;
  EXPECT_EQ(std::count(evaluator_.evaluated.begin(), evaluator_.evaluated.end(), wrong_text), 0);
  EXPECT_EQ(store_.winner(token, here())->plan, right_text);
  EXPECT_NE(store_.verdicts(token).front().withdrawn, "");
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_NE(report.warnings[0].find("cannot be right"), std::string::npos) << report.warnings[0];
}

TEST_F(Finals, OfAGpuTestTheAdjointOfThePlanThatIsAboutToWin) {
  evaluator_.gpu = true;
  evaluator_.search_ns = {{text(31), 700'000}, {text(32), 800'000}, {text(33), 860'000}};
  evaluator_.wrong_adjoints = {text(31), text(30)};
  const ProblemReport report = tune();
  EXPECT_EQ(report.winner, text(32));
  EXPECT_EQ(report.failures, 1u);
  EXPECT_EQ(std::count(evaluator_.evaluated.begin(), evaluator_.evaluated.end(), text(31)), 2) << "searched, tested";
  EXPECT_EQ(std::count(evaluator_.evaluated.begin(), evaluator_.evaluated.end(), text(33)), 1) << "it does not win";
  bool said = false;
  for (const db::StoredRun& run : store_.runs(kToken))
    said = said || (run.plan == text(31) && run.status == db::RunStatus::wrong_result &&
                    run.message == "in the finals: the adjoint is off by 2");
  EXPECT_TRUE(said);
}

}  // namespace
}  // namespace fourtune::tuner
