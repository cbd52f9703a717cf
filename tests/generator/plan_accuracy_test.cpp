// The plans that a database may serve by the window model: all candidates, and none that cannot meet the tolerance.
#include <gtest/gtest.h>

#include <random>

#include "base/known_devices.h"
#include "generator/candidates.h"
#include "generator/plan/accuracy.h"

namespace fourtune::generator {
namespace {

DeviceTraits laptop() {
  DeviceTraits traits;
  traits.cores = 4;
  return traits;
}

class EveryProblem : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Tokens, EveryProblem,
                         testing::Values("nufft:type=1,n=100x100,m=10000,prec=f64,tol=1e-1",
                                         "nufft:type=2,n=100x100,m=10000,prec=f64,tol=1e-14",
                                         "nufft:type=1,n=1,m=10,prec=f32,tol=1e-7",
                                         "nufft:type=2,n=3x200x17,m=5000,prec=f64,tol=1e-9",
                                         "nufft:type=1,n=64x64x64,m=100000,prec=f32,tol=1e-5,batch=4",
                                         "nufft:type=2,n=1000000,m=1000000,prec=f64,tol=1e-6",
                                         "nufft:type=3,dim=2,m=50,k=40,prec=f64,tol=1e-8",
                                         "nufft:type=3,dim=1,m=100000,k=5000,prec=f32,tol=1e-4",
                                         "nufft:type=3,dim=3,m=20000,k=30000,prec=f64,tol=1e-11"),
                         [](const auto& token) { return std::to_string(token.index); });

TEST_P(EveryProblem, LetsDefaultAndCandidatesPass) {
  const Problem problem = parse_problem(GetParam());
  for (const DeviceTraits& traits : {laptop(), *known_device("h200")}) {
    const Plan untuned = default_plan(problem, traits);
    EXPECT_EQ(accuracy_fault(untuned, problem), "") << to_text(untuned, problem);
    if (problem.dim == 3 && traits.backend == "cuda") continue;  // its windows are the same, but its list takes minutes
    auto list = candidates(problem, traits).candidates;
    std::mt19937 random(3);
    std::shuffle(list.begin(), list.end(), random);
    list.resize(std::min<std::size_t>(list.size(), 60));
    for (const Candidate& candidate : list)
      ASSERT_EQ(accuracy_fault(candidate.plan, problem), "") << to_text(candidate.plan, problem);
  }
}

TEST_P(EveryProblem, RefusesTheDefaultWithAMuchNarrowerWindow) {
  const Problem problem = parse_problem(GetParam());
  Plan plan = default_plan(problem, laptop());
  if (plan.window.width < 5) GTEST_SKIP() << "as narrow as windows are";
  plan.window.width -= 3;
  EXPECT_NE(accuracy_fault(plan, problem), "") << to_text(plan, problem);
}

TEST(PlanAccuracy, ATableIsAsGoodAsItsLinesAre) {
  const Problem problem = parse_problem("nufft:type=1,n=128x128,m=200000,prec=f32,tol=1e-4");
  Plan plan = default_plan(problem, laptop());
  for (const auto& [entries, right] : {std::pair(1, false), {8, false}, {1024, true}, {1 << 16, true}}) {
    plan.window.table = entries;
    EXPECT_EQ(accuracy_fault(plan, problem).empty(), right) << entries;
  }
}

TEST(PlanAccuracy, AUniformTransformHasNoWindowToBeWrong) {
  const Problem problem = parse_problem("fft:type=c2c,n=64,prec=f32");
  EXPECT_EQ(accuracy_fault(default_plan(problem, laptop()), problem), "");
}

}  // namespace
}  // namespace fourtune::generator
