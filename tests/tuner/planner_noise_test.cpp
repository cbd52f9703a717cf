// FFTW's planner is noisy: a session must not keep an unlucky planning of FFTW's plan.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "runtime/environment.h"
#include "tests/tuner/fake_backend.h"
#include "tuner/measure/evaluator.h"
#include "tuner/session/session.h"

namespace fourtune::tuner {
namespace {

constexpr const char* kToken = "fft:type=c2c,n=8,prec=f64";
constexpr const char* library = "cpu;threads=1;fft=fftw(rigor=measure)";

// Every plan takes 100 us except FFTW's: its n-th planning takes script[n] us, wherever its wisdom is used.
class ScriptedEvaluator : public Evaluator {
 public:
  explicit ScriptedEvaluator(std::vector<int> script) : script_(std::move(script)) {}

  DeviceTraits traits() override { return testing::FakeBackend().traits(); }
  Spent load(const Problem&, std::uint64_t, const std::vector<std::string>&) override { return {}; }
  Evaluation evaluate(const EvaluationRequest& request) override {
    Evaluation result;
    int us = 100;
    if (request.plan == library) {
      const std::size_t planning = std::min(plannings++, script_.size() - 1);
      us = script_[planning];
      if (us == 0) {
        result.status = db::RunStatus::timeout;
        return result;
      }
      result.wisdom = wisdom_of(us);
    }
    result.error = 1e-15;
    result.cost_seconds = planning_seconds;
    result.samples_ns.assign(8, us * 1000);
    return result;
  }
  FinalsResult finals(const FinalsRequest& request) override {
    FinalsResult result;
    for (std::size_t p = 0; p < request.plans.size(); ++p) {
      const bool own = request.plans[p] == library;
      if (own) finalists.push_back(request.wisdom[p]);
      const int us = own ? std::stoi(request.wisdom[p].substr(1)) : 100;
      result.samples_ns.emplace_back(20, us * 1000);
    }
    result.stages.resize(request.plans.size());
    return result;
  }
  static std::string wisdom_of(int us) { return "W" + std::to_string(us); }

  std::size_t plannings = 0;
  double planning_seconds = 0.1;
  std::vector<std::string> finalists;  // wisdom of FFTW's plan, for each time it was in a final

 private:
  std::vector<int> script_;
};

class PlannerNoise : public ::testing::Test {
 protected:
  PlannerNoise()
      : folder_(std::filesystem::temp_directory_path() /
                ("fourtune_noise_" + std::to_string(getpid()) + "_" +
                 ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(folder_);
  }
  ~PlannerNoise() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  ProblemReport tune(ScriptedEvaluator& evaluator, double seconds = 0) {
    auto store = db::TuningStore::open_for_writing(folder_ / "tuning.db");
    SessionOptions options = testing::fake_session({kToken}, 29, 31);
    options.seconds = seconds;
    return run_session(options, store, evaluator).problems.at(0);
  }
  std::string stored_wisdom(ScriptedEvaluator& evaluator) {
    return db::TuningStore::open_for_writing(folder_ / "tuning.db")
        .wisdom(kToken, library, runtime::environment_here(evaluator.traits()));
  }

 private:
  const std::filesystem::path folder_;
};

TEST_F(PlannerNoise, APlanningThatWasBadLuckIsMadeUpForAndItsWisdomStored) {
  ScriptedEvaluator evaluator({130, 80, 120});
  const ProblemReport report = tune(evaluator);
  EXPECT_EQ(evaluator.plannings, 3u);
  EXPECT_EQ(report.winner, library);
  EXPECT_NEAR(report.seconds, 80e-6, 1e-9);
  EXPECT_EQ(stored_wisdom(evaluator), "W80");
}

TEST_F(PlannerNoise, LaterPlanningsThatAreWorseDoNotReplaceTheFirst) {
  ScriptedEvaluator evaluator({80, 130, 120});
  const ProblemReport report = tune(evaluator);
  EXPECT_EQ(report.winner, library);
  EXPECT_NEAR(report.seconds, 80e-6, 1e-9);
  EXPECT_EQ(stored_wisdom(evaluator), "W80");
}

TEST_F(PlannerNoise, FftwsOwnPlanIsAFinalistHoweverSlowItLooked) {
  ScriptedEvaluator evaluator({300, 300, 300});
  const ProblemReport report = tune(evaluator);
  EXPECT_NE(report.winner, library);
  EXPECT_EQ(evaluator.finalists, std::vector<std::string>{"W300"});  // three equal plannings are one finalist
}

TEST_F(PlannerNoise, ALaterSessionMakesUpForASessionThatHadNoTimeToPlanAgain) {
  ScriptedEvaluator slow({130});
  slow.planning_seconds = 20;  // longer than the remaining time
  EXPECT_NE(tune(slow, 10).winner, library);
  EXPECT_EQ(slow.plannings, 1u);
  ScriptedEvaluator second({80});
  const ProblemReport report = tune(second);
  EXPECT_EQ(second.plannings, 2u);
  EXPECT_EQ(report.winner, library);
  EXPECT_EQ(stored_wisdom(second), "W80");
  ScriptedEvaluator third({80});
  tune(third);
  EXPECT_EQ(third.plannings, 0u);
}

TEST_F(PlannerNoise, APlanningThatFailsLeavesTheFirst) {
  ScriptedEvaluator evaluator({80, 0});
  EXPECT_EQ(tune(evaluator).winner, library);
  EXPECT_EQ(evaluator.plannings, 2u);
  EXPECT_EQ(stored_wisdom(evaluator), "W80");
}

}  // namespace
}  // namespace fourtune::tuner
