// What an evaluation and the finals say of plans of the processor: figures, stages, and what is wrong with a plan.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "generator/candidates.h"
#include "runtime/backend_table.h"
#include "tests/tuner/fake_backend.h"
#include "tuner/measure/evaluate.h"

namespace fourtune::tuner {
namespace {

constexpr const char* kSpread = "nufft:type=1,n=24x20,m=3000,prec=f64,tol=1e-6";
constexpr const char* kUniform = "fft:type=c2c,n=60x12,prec=f64";

class Evaluations : public ::testing::Test {
 protected:
  Evaluations() {
    request_.benchmark.min_samples = 3, request_.benchmark.max_samples = 4;
    request_.benchmark.relative_interval = 0;
    request_.benchmark.cpu_time = true;  // no sample is disturbed by programs beside the test
  }
  // Loads the problem and returns its default plan on one thread.
  std::string load(const char* token) {
    const Problem problem = parse_problem(token);
    evaluator_.load(problem, 5);
    DeviceTraits traits = evaluator_.traits();
    traits.cores = 1;
    return generator::to_text(generator::default_plan(problem, traits), problem);
  }
  Evaluation evaluate(const std::string& plan) {
    request_.plan = plan;
    return evaluator_.evaluate(request_);
  }
  static std::set<std::string> names(const std::vector<db::StageNs>& stages) {
    std::set<std::string> out;
    for (const db::StageNs& one : stages) {
      EXPECT_GT(one.ns, 0) << one.stage;
      out.insert(one.stage);
    }
    return out;
  }

  LocalEvaluator evaluator_{runtime::find_backend("cpu")};
  EvaluationRequest request_;
};

TEST_F(Evaluations, ARightPlanHasEveryFigure) {
  const Evaluation one = evaluate(load(kSpread));
  ASSERT_EQ(one.status, db::RunStatus::ok) << one.message;
  ASSERT_TRUE(one.error);
  EXPECT_GT(*one.error, 0);
  EXPECT_LT(*one.error, 1e-6);
  EXPECT_GE(one.samples_ns.size(), 3u);
  EXPECT_LE(one.samples_ns.size(), 4u);
  for (const std::int64_t sample : one.samples_ns) EXPECT_GT(sample, 0);
  EXPECT_FALSE(one.raced_out);
  EXPECT_GT(one.set_points_seconds, 0);
  EXPECT_GT(one.plan_seconds, 0);
  EXPECT_GT(one.cost_seconds, one.plan_seconds + one.set_points_seconds);
  EXPECT_GT(one.memory_bytes, std::int64_t{3000} * 2 * 8);  // sorted coordinates at least
  EXPECT_EQ(names(one.stages), (std::set<std::string>{"sort", "spread", "fft"}));
  EXPECT_TRUE(one.message.empty());
}

TEST_F(Evaluations, UniformTransformsHaveNoPoints) {
  const Evaluation one = evaluate(load(kUniform));
  ASSERT_EQ(one.status, db::RunStatus::ok) << one.message;
  EXPECT_EQ(one.set_points_seconds, 0);
  EXPECT_LT(*one.error, 1e-14);
}

TEST_F(Evaluations, APlanThatIsClearlySlowerIsRacedOut) {
  const std::string plan = load(kSpread);
  request_.benchmark.max_samples = 100;
  request_.benchmark.min_samples = 100;
  request_.incumbent_seconds = 1e-9;
  const Evaluation one = evaluate(plan);
  EXPECT_EQ(one.status, db::RunStatus::ok);
  EXPECT_TRUE(one.raced_out);
  EXPECT_LT(one.samples_ns.size(), 100u);
}

TEST_F(Evaluations, WrongOnesAreNamedWithTheirError) {
  std::string plan = load(kSpread);
  const auto width = plan.find("width=");
  ASSERT_NE(width, std::string::npos) << plan;
  plan.replace(width, plan.find_first_of(",)", width) - width, "width=2");
  const Evaluation narrow = evaluate(plan);
  EXPECT_TRUE(narrow.status == db::RunStatus::wrong_result || narrow.status == db::RunStatus::rejected);
  EXPECT_FALSE(narrow.message.empty());
  EXPECT_TRUE(narrow.samples_ns.empty());
  const Evaluation unreadable = evaluate("cpu;threads=1;spread=comb");
  EXPECT_EQ(unreadable.status, db::RunStatus::rejected);
  EXPECT_NE(unreadable.message.find("comb"), std::string::npos) << unreadable.message;
}

// Its plans never compile.
class WithoutKernels final : public testing::FakeBackend {
 public:
  explicit WithoutKernels(bool timed_out) : timed_out_(timed_out) {}
  std::unique_ptr<runtime::Executor> bind(const Problem&, const generator::Plan&,
                                          const runtime::ExecutorOptions&) const override {
    throw runtime::CompileError("error: expected a ';'", timed_out_);
  }

 private:
  bool timed_out_;
};

TEST_F(Evaluations, WhatTheCompilerSaysIsKept) {
  for (const bool timed_out : {false, true}) {
    const WithoutKernels backend(timed_out);
    LocalEvaluator evaluator(backend);
    evaluator.load(parse_problem("fft:type=c2c,n=8,prec=f64"), 5);
    request_.plan = testing::fake_text(parse_problem("fft:type=c2c,n=8,prec=f64"), 30);
    const Evaluation one = evaluator.evaluate(request_);
    EXPECT_EQ(one.status, timed_out ? db::RunStatus::timeout : db::RunStatus::compile_error);
    EXPECT_EQ(one.message, "error: expected a ';'");
  }
}

TEST_F(Evaluations, NothingIsLoaded) {
  const Evaluation one = evaluate("cpu;threads=1;fft=rows");
  EXPECT_NE(one.status, db::RunStatus::ok);
  EXPECT_EQ(one.message, "no problem is loaded");
}

TEST_F(Evaluations, FinalsTimeEveryPlanInEveryRound) {
  const std::string plan = load(kSpread);
  FinalsRequest request;
  request.plans = {plan, plan};
  request.benchmark.cpu_time = true;
  request.seconds = 0;
  request.min_rounds = 3, request.max_rounds = 9;
  FinalsResult result = evaluator_.finals(request);
  ASSERT_EQ(result.status, db::RunStatus::ok) << result.message;
  EXPECT_EQ(result.culprit, -1);
  ASSERT_EQ(result.samples_ns.size(), 2u);
  EXPECT_EQ(result.busy, (BusyCount{2 * 3, 0}));
  for (const auto& samples : result.samples_ns) EXPECT_EQ(samples.size(), 3u);
  ASSERT_EQ(result.stages.size(), 2u);
  for (const auto& stages : result.stages) EXPECT_EQ(names(stages), (std::set<std::string>{"sort", "spread", "fft"}));
  EXPECT_GT(result.cost_seconds, 0);
  request.seconds = 1e6;
  request.max_rounds = 4;
  result = evaluator_.finals(request);
  for (const auto& samples : result.samples_ns) EXPECT_EQ(samples.size(), 4u) << "however much time is left";
}

TEST_F(Evaluations, FinalsNameThePlanThatFails) {
  const std::string plan = load(kSpread);
  FinalsRequest request;
  request.plans = {plan, "cpu;threads=1;spread=comb"};
  const FinalsResult result = evaluator_.finals(request);
  EXPECT_NE(result.status, db::RunStatus::ok);
  EXPECT_EQ(result.culprit, 1);
  EXPECT_FALSE(result.message.empty());
}

}  // namespace
}  // namespace fourtune::tuner
