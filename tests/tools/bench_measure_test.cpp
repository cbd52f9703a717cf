// How contenders are measured: which calls each gets, which variant is taken, and what becomes of those that fail. Time
// and disturbances are scripted, so other work on the machine changes nothing.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tools/bench/measure/compile.h"
#include "tools/bench/measure/contender.h"
#include "tools/bench/measure/measure.h"

namespace fourtune::tools {
namespace {

const Problem kProblem = parse_problem("nufft:type=1,n=16x16x16,m=1000,prec=f32,tol=1e-3");
const Problem kUniform = parse_problem("fft:type=c2c,n=64,prec=f64");

constexpr std::int64_t kSetPointsNs = 2'000'000;  // as long as a sample has to be

// Time passes while contenders set points and execute, and only then. The probe is asked before and after each sample.
struct Script {
  std::int64_t now = 0;              // nanoseconds
  std::vector<bool> disturbed = {};  // samples, in order; those behind the last one are not
  std::size_t probes = 0;
  int waited = 0;

  tuner::Usage probe() {
    // A switch that takes the whole time: nothing was computed.
    const std::size_t sample = probes++ / 2;
    if (sample < disturbed.size() && disturbed[sample] && probes % 2 == 0) ++switches;
    return {now, 0, switches, switches};
  }

 private:
  std::int64_t switches = 0;
};

// What a contender does, and the calls that it got.
struct Acted {
  double milliseconds = 0;  // of an execute
  bool right = false;       // computes the transform
  int fails_at = 0;         // number of the execute that throws; 0: none
  Script* script = nullptr;
  std::int64_t first_points_ns = kSetPointsNs, points_ns = kSetPointsNs;
  int made = 0, set = 0, executed = 0;
};

class Actor final : public Contender {
 public:
  Actor(const Problem& problem, std::shared_ptr<Acted> acted) : acted_(std::move(acted)) {
    ++acted_->made;
    Options options;
    options.default_databases = false;
    options.threads = 1;
    if (acted_->right) transform_ = std::make_unique<Transform>(to_token(problem), options);
  }
  void set_points(const Points& points) override {
    acted_->script->now += acted_->set++ == 0 ? acted_->first_points_ns : acted_->points_ns;
    if (transform_) transform_->set_points(points);
  }
  void execute(void* first, void* second) override {
    if (++acted_->executed == acted_->fails_at) throw std::runtime_error("tired");
    if (transform_) transform_->execute(first, second);
    acted_->script->now += static_cast<std::int64_t>(acted_->milliseconds * 1e6);
  }

 private:
  std::shared_ptr<Acted> acted_;
  std::unique_ptr<Transform> transform_;
};

Variant variant(const std::string& name, const std::shared_ptr<Acted>& acted) {
  return {name, [=](const Problem& problem) { return std::make_unique<Actor>(problem, acted); }};
}
Entrant entrant(const std::string& name, Role role, const std::shared_ptr<Acted>& acted) {
  return {name, role, "", {variant("", acted)}};
}

class BenchMeasure : public ::testing::Test {
 protected:
  std::shared_ptr<Acted> act(double milliseconds, bool right = false, int fails_at = 0) {
    return std::make_shared<Acted>(Acted{milliseconds, right, fails_at, &script_});
  }
  MeasureOptions scripted() {
    MeasureOptions options;
    options.set_points_rounds = 3;
    options.clock = [this] { return script_.now; };
    options.probe = [this] { return script_.probe(); };
    options.wait_idle = [this] { ++script_.waited; };
    return options;
  }
  MeasureOptions rounds(int count) {
    MeasureOptions options = scripted();
    options.rounds = count;
    return options;
  }

  Script script_;
};

// First execute and its check, an estimate; then in each round an execute that warms the caches and the timed one. The
// same for points, after their first call.
TEST_F(BenchMeasure, EveryContenderGetsTheSameCalls) {
  const auto one = act(3), two = act(4, true);
  const ProblemResult result =
      measure_problem(kProblem, {entrant("one", Role::untuned, one), entrant("two", Role::peer, two)}, rounds(4));
  EXPECT_EQ(result.skipped, "");
  EXPECT_EQ(result.token, to_token(kProblem));
  EXPECT_EQ(result.sets, 1);
  EXPECT_DOUBLE_EQ(result.seconds, 10 * (3e-3 + 4e-3) + 2 * 7 * 2e-3);
  ASSERT_EQ(result.contenders.size(), 2u);
  for (const auto& acted : {one, two}) {
    EXPECT_EQ(acted->made, 1);
    EXPECT_EQ(acted->executed, 2 + 4 * 2);
    EXPECT_EQ(acted->set, 1 + 3 * 2);
  }
  EXPECT_EQ(script_.waited, 2 * (3 + 4)) << "before every sample";
  for (const ContenderResult& found : result.contenders) {
    EXPECT_TRUE(found.ran()) << found.failure;
    EXPECT_EQ(found.execute_ns.size(), 4u);
    EXPECT_EQ(found.set_points_ns.size(), 3u);
    EXPECT_TRUE(found.total_ns.empty() && found.transfers_ns.empty() && found.passes.empty());
    EXPECT_TRUE(found.variants.empty());
  }
  EXPECT_EQ(result.contenders[0].name, "one");
  EXPECT_EQ(result.contenders[1].role, Role::peer);
  EXPECT_EQ(result.contenders[0].execute_ns, std::vector<std::int64_t>(4, 3'000'000));
  EXPECT_EQ(result.contenders[0].execute.median, 3e6);
  EXPECT_EQ(result.contenders[1].execute.low, 4e6);
  EXPECT_FALSE(result.contenders[0].right);
  EXPECT_TRUE(result.contenders[1].right) << result.contenders[1].error;
}

// The first call plans for so long that a sample of as many calls would be one.
TEST_F(BenchMeasure, APlanningFirstCallDoesNotShortenTheSamplesOfPoints) {
  const auto acted = act(3);
  acted->first_points_ns = 100 * kSetPointsNs, acted->points_ns = kSetPointsNs / 20;
  const ProblemResult result = measure_problem(kProblem, {entrant("ours", Role::untuned, acted)}, rounds(3));
  EXPECT_EQ(acted->set, 1 + 3 * (1 + 20)) << "a sample takes 2 ms";
  EXPECT_EQ(result.contenders[0].set_points_ns, std::vector<std::int64_t>(3, kSetPointsNs / 20));
}

TEST_F(BenchMeasure, ADisturbedSampleOfPointsIsTakenAgainTwice) {
  script_.disturbed = {true, false, true, true, true};  // the first sample's repeat is not, the second one's both are
  const auto acted = act(3);
  const ProblemResult result = measure_problem(kProblem, {entrant("ours", Role::untuned, acted)}, rounds(3));
  EXPECT_EQ(acted->set, 1 + (1 + 2) + (1 + 3) + (1 + 1));
  EXPECT_EQ(result.contenders[0].set_points_ns.size(), 3u);
}

// How many naps until_idle takes where threads compute during the first `busy` ones.
int naps_until_idle(int busy) {
  int naps = 0;
  std::chrono::nanoseconds computed{0};
  until_idle([&] { return computed; },
             [&] { computed += ++naps <= busy ? std::chrono::microseconds(900) : std::chrono::microseconds(50); });
  return naps;
}

TEST(BenchSettle, WaitsUntilNoThreadComputesButNotForever) {
  EXPECT_EQ(naps_until_idle(0), 1);
  EXPECT_EQ(naps_until_idle(3), 4);
  EXPECT_EQ(naps_until_idle(1000), 30);
}

TEST_F(BenchMeasure, UniformTransformsHaveNoPoints) {
  const auto acted = act(3, true);
  const ProblemResult result = measure_problem(kUniform, {entrant("ours", Role::untuned, acted)}, rounds(3));
  EXPECT_EQ(acted->set, 0);
  EXPECT_TRUE(result.contenders[0].set_points_ns.empty());
  EXPECT_TRUE(result.contenders[0].right);
}

TEST_F(BenchMeasure, ShortCallsAreRepeatedWithinASample) {
  const auto acted = act(0.05, true);
  const ProblemResult result = measure_problem(kUniform, {entrant("ours", Role::untuned, acted)}, rounds(3));
  EXPECT_EQ(acted->executed, 2 + 3 * (1 + 40)) << "a sample takes 2 ms";
  EXPECT_EQ(result.contenders[0].execute_ns, std::vector<std::int64_t>(3, 50'000));
}

TEST_F(BenchMeasure, TheProcessorsTimeIsTakenWhereItIsAskedFor) {
  MeasureOptions options = rounds(3);
  options.cpu_time = true;
  script_.disturbed.assign(100, true);
  const ProblemResult result = measure_problem(kUniform, {entrant("ours", Role::untuned, act(1000))}, options);
  // An execute that only lets the scripted time pass computes next to nothing.
  EXPECT_EQ(result.contenders[0].execute_ns.size(), 3u);
  EXPECT_LT(result.contenders[0].execute.median, 500e6);
  EXPECT_EQ(result.contenders[0].busy, (tuner::BusyCount{3, 0})) << "other work does not lengthen it";
}

TEST_F(BenchMeasure, DisturbedSamplesAreTakenAgainAndCountNowhere) {
  script_.disturbed = {true, true, false, true};
  const auto acted = act(3);
  const ProblemResult result = measure_problem(kUniform, {entrant("ours", Role::untuned, acted)}, rounds(4));
  const ContenderResult& found = result.contenders.at(0);
  EXPECT_EQ(acted->executed, 2 + (4 + 4) * 2) << "one in four is too few, and the second rounds were quiet";
  EXPECT_EQ(found.execute_ns.size(), 1u + 4u);
  EXPECT_EQ(found.busy, (tuner::BusyCount{8, 3}));
  EXPECT_FALSE(found.too_busy);
}

TEST_F(BenchMeasure, ADisturbedSampleIsNoneOfThoseThatCount) {
  script_.disturbed = {false, true, false, false};
  const ProblemResult result = measure_problem(kUniform, {entrant("ours", Role::untuned, act(3))}, rounds(4));
  EXPECT_EQ(result.contenders.at(0).execute_ns.size(), 3u) << "three are enough";
  EXPECT_EQ(result.contenders.at(0).busy, (tuner::BusyCount{4, 1}));
  EXPECT_FALSE(result.contenders.at(0).too_busy);
}

TEST_F(BenchMeasure, WhereNoSampleEscapesAllAreShownAndNoneCounts) {
  script_.disturbed.assign(100, true);
  const auto acted = act(3);
  const ProblemResult result = measure_problem(kUniform, {entrant("ours", Role::untuned, acted)}, rounds(4));
  EXPECT_TRUE(result.contenders.at(0).too_busy);
  EXPECT_EQ(acted->executed, 2 + 3 * 4 * 2) << "repeated twice";
  EXPECT_EQ(result.contenders.at(0).execute_ns.size(), 12u);
  EXPECT_EQ(result.contenders.at(0).busy, (tuner::BusyCount{12, 12}));
}

TEST_F(BenchMeasure, DisturbedSamplesAreNotRepeatedPastTheLimitOfTime) {
  script_.disturbed.assign(100, true);
  MeasureOptions options = rounds(4);
  options.max_seconds = 0.02;  // three rounds of 6 ms
  const auto acted = act(3);
  measure_problem(kUniform, {entrant("ours", Role::untuned, acted)}, options);
  EXPECT_EQ(acted->executed, 2 + 4 * 2);
}

TEST_F(BenchMeasure, TheFastestRightVariantIsTaken) {
  const auto wrong = act(1), slow = act(40, true), quick = act(5, true), broken = act(1, true, 1), late = act(80, true);
  const Entrant both{"peer",
                     Role::peer,
                     "",
                     {variant("wrong", wrong), variant("slow", slow), variant("quick", quick),
                      variant("broken", broken), variant("late", late)}};
  const ProblemResult result = measure_problem(kProblem, {both}, rounds(3));
  const ContenderResult& found = result.contenders.at(0);
  EXPECT_TRUE(found.right);
  EXPECT_EQ(found.plan, "quick");
  EXPECT_EQ(quick->made, 2);
  EXPECT_EQ(slow->made, 1);
  // The trial's first execute and an estimate; a second look only at what may still win.
  EXPECT_EQ(slow->executed, 3) << "no right one was known";
  EXPECT_EQ(quick->executed, 3 + 2 + 3 * 2);
  EXPECT_EQ(late->executed, 2) << "far slower than a right one";
  const std::string& said = found.variants;
  EXPECT_EQ(said.find("wrong: "), 0u) << said;
  EXPECT_NE(said.find(" (wrong); slow: "), std::string::npos) << said;
  EXPECT_NE(said.find("; quick: "), std::string::npos) << said;
  EXPECT_NE(said.find("; broken: tired; late: "), std::string::npos) << said;
  EXPECT_GT(found.first_use_ns, 0);
}

TEST_F(BenchMeasure, WithoutARightVariantTheFastestWrongOneIsShown) {
  const Entrant wrong{"peer", Role::peer, "", {variant("a", act(20)), variant("b", act(3)), variant("c", act(10))}};
  const ProblemResult result = measure_problem(kProblem, {wrong}, rounds(3));
  EXPECT_EQ(result.contenders.at(0).plan, "b");
  EXPECT_FALSE(result.contenders.at(0).right);
}

TEST_F(BenchMeasure, IfNoVariantRunsTheLastReasonIsGiven) {
  const Entrant broken{"peer", Role::peer, "", {variant("a", act(0, false, 1)), variant("b", act(0, false, 1))}};
  const ProblemResult result = measure_problem(kProblem, {broken, entrant("ours", Role::untuned, act(3))}, rounds(3));
  EXPECT_EQ(result.contenders.at(0).failure, "none of its 2 variants runs; the last: tired");
  EXPECT_FALSE(result.contenders.at(0).ran());
  EXPECT_TRUE(result.contenders.at(1).ran());
}

TEST_F(BenchMeasure, AContenderThatFailsInARoundLeavesTheOthersAlone) {
  const auto fails = act(3, false, 5), goes_on = act(3);
  const ProblemResult result = measure_problem(
      kProblem, {entrant("fails", Role::peer, fails), entrant("ours", Role::untuned, goes_on)}, rounds(5));
  EXPECT_EQ(result.contenders[0].failure, "tired");
  EXPECT_FALSE(result.contenders[0].ran());
  EXPECT_EQ(fails->executed, 5);
  EXPECT_EQ(result.contenders[1].execute_ns.size(), 5u);
}

TEST_F(BenchMeasure, ASlowReferenceIsTimedOnceAndTheOthersHaveTheirRounds) {
  MeasureOptions options = scripted();
  options.max_seconds = 0.5;
  const ProblemResult result = measure_problem(
      kProblem, {entrant("slow", Role::reference, act(100)), entrant("quick", Role::untuned, act(2))}, options);
  EXPECT_EQ(result.skipped, "");
  ASSERT_EQ(result.contenders.size(), 2u);
  EXPECT_EQ(result.contenders[0].execute_ns.size(), 1u);
  EXPECT_EQ(result.contenders[0].set_points_ns.size(), 1u);
  EXPECT_EQ(result.contenders[0].execute.median, 100e6);
  EXPECT_EQ(result.contenders[1].execute_ns.size(), 9u);
}

TEST_F(BenchMeasure, ASlowContenderThatCountsKeepsTheProblemFromBeingMeasured) {
  MeasureOptions options = scripted();
  options.max_seconds = 0.2;
  const auto slow = act(100);
  const ProblemResult result = measure_problem(
      kProblem, {entrant("slow", Role::peer, slow), entrant("untuned", Role::untuned, act(1))}, options);
  EXPECT_EQ(result.skipped, "takes too long: 3 rounds of all contenders need 0.6 s, the limit is 0.2 s");
  EXPECT_EQ(slow->executed, 2);
}

TEST_F(BenchMeasure, AProblemBeyondTheLimitOfMemoryIsNotMeasured) {
  MeasureOptions options = scripted();
  options.max_memory = 1000;
  const auto acted = act(1);
  const ProblemResult result = measure_problem(kProblem, {entrant("ours", Role::untuned, acted)}, options);
  EXPECT_EQ(result.skipped.find("does not fit: data and contenders need about "), 0u) << result.skipped;
  EXPECT_NE(result.skipped.find(", the limit is 1000 B"), std::string::npos) << result.skipped;
  EXPECT_EQ(acted->made, 0);
}

TEST(BenchCompile, EveryContenderThatCompilesDoesSoOnceForEachProblem) {
  std::atomic<int> ours{0}, broken{0};
  const auto nobody = std::make_shared<Acted>();  // nothing is executed
  Entrant compiles = entrant("ours", Role::untuned, nobody), throws = entrant("broken", Role::tuned, nobody);
  compiles.compile = [&](const Problem& problem) { ours += problem.kind == Kind::fft ? 1 : 100; };
  throws.compile = [&](const Problem&) {
    ++broken;
    throw std::runtime_error("no compiler");
  };
  const std::vector<ToMeasure> list{{kProblem, {compiles, entrant("peer", Role::peer, nobody), throws}},
                                    {kUniform, {compiles}}};
  testing::internal::CaptureStdout();
  compile_first(list, 3);
  EXPECT_EQ(testing::internal::GetCapturedStdout().find("compiled the kernels of 3 transforms in "), 0u);
  EXPECT_EQ(ours, 101);
  EXPECT_EQ(broken, 1);
}

}  // namespace
}  // namespace fourtune::tools
