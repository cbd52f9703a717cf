// Search strategies on artificial and recorded spaces, replayed offline.
#include "tuner/search/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <sstream>

#include "fourtune/status.h"
#include "tests/support/turns.h"
#include "tests/tuner/made_spaces.h"
#include "tuner/search/replay.h"

namespace fourtune::tuner {
namespace {

using testing::make_space;

Recording small_space() { return make_space("small", {{4, 3, 3, 2}, 0.1, 0.3, 0.02, 0.1}, 5); }

// Spaces recorded on real machines; see replay.h.
std::vector<Recording> recorded_spaces(const std::string& kind = ".") {
  std::vector<std::string> paths;
  const std::filesystem::path folder = std::filesystem::path(FOURTUNE_SOURCE_DIR) / "tests/tuner/spaces" / kind;
  if (std::filesystem::exists(folder))
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".csv") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<Recording> spaces;
  for (const auto& path : paths) spaces.push_back(read_recording(path));
  return spaces;
}

class EveryStrategy : public ::testing::TestWithParam<Strategy> {};
INSTANTIATE_TEST_SUITE_P(Table, EveryStrategy, ::testing::ValuesIn(strategies().begin(), strategies().end()),
                         [](const auto& param) { return std::string(param.param.name); });

TEST_P(EveryStrategy, AsksEachCandidateExactlyOnce) {
  const Recording space = small_space();
  const auto search = GetParam().make(space.space, 3);
  std::set<std::size_t> asked;
  while (const auto candidate = search->ask()) {
    ASSERT_LT(*candidate, space.space.size());
    ASSERT_TRUE(asked.insert(*candidate).second) << "asked twice";
    search->tell(*candidate, space.seconds[*candidate]);
  }
  EXPECT_EQ(asked.size(), space.space.size());
  EXPECT_FALSE(search->ask());
}

TEST_P(EveryStrategy, NeverAsksWhatWasToldBefore) {
  const Recording space = small_space();
  const auto search = GetParam().make(space.space, 3);
  std::set<std::size_t> told;
  for (std::size_t i = 0; i < space.space.size(); i += 3) {
    search->tell(i, space.seconds[i]);
    told.insert(i);
  }
  while (const auto candidate = search->ask()) {
    ASSERT_TRUE(told.insert(*candidate).second);
    search->tell(*candidate, space.seconds[*candidate]);
  }
  EXPECT_EQ(told.size(), space.space.size());
}

TEST_P(EveryStrategy, IsDeterministicForASeed) {
  const Recording space = small_space();
  EXPECT_EQ(replay(space, GetParam(), 9, 40), replay(space, GetParam(), 9, 40));
}

TEST_P(EveryStrategy, CanAskAheadOfTheAnswers) {
  const Recording space = small_space();
  const auto search = GetParam().make(space.space, 1);
  std::vector<std::size_t> out;
  std::set<std::size_t> asked;
  while (const auto candidate = search->ask()) {
    ASSERT_TRUE(asked.insert(*candidate).second);
    out.push_back(*candidate);
    if (out.size() < 4) continue;
    for (const std::size_t i : out) search->tell(i, space.seconds[i]);
    out.clear();
  }
  EXPECT_EQ(asked.size(), space.space.size());
}

TEST_P(EveryStrategy, EndsWhenEverythingFails) {
  const Recording space = small_space();
  const auto search = GetParam().make(space.space, 1);
  std::size_t count = 0;
  for (; const auto candidate = search->ask(); ++count) search->tell(*candidate, failed);
  EXPECT_EQ(count, space.space.size());
}

TEST_P(EveryStrategy, TakesAnEmptySpaceAndOneCandidateAndNoModel) {
  EXPECT_FALSE(GetParam().make(SearchSpace{}, 1)->ask());
  EXPECT_EQ(GetParam().make(SearchSpace{{{0, 0}}, {0}}, 1)->ask(), 0u);
  Recording space = small_space();
  for (double& estimate : space.space.estimates) estimate = 0;
  EXPECT_EQ(replay(space, GetParam(), 2, 1000).size(), space.space.size());
}

// A choice with which nothing works, however much the cost model promises: axis 0 has it, in every place of the others.
TEST(SurrogateSearch, LearnsThatAChoiceFailsWhateverTheOthersAre) {
  SearchSpace space;
  std::vector<double> seconds;
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 8; ++b)
      for (int c = 0; c < 8; ++c) {
        space.coordinates.push_back({a, b, c});
        const double time = 1.0 + 0.2 * a + 0.1 * std::abs(b - 5) + 0.05 * std::abs(c - 2);
        space.estimates.push_back(a == 0 ? 0.5 * time : time);
        seconds.push_back(a == 0 ? failed : time);
      }
  const auto search = find_strategy("surrogate").make(space, 4);
  int failures = 0;
  double best = INFINITY;
  for (int i = 0; i < 48; ++i) {
    const std::size_t candidate = search->ask().value();
    failures += seconds[candidate] == failed;
    best = std::min(best, seconds[candidate]);
    search->tell(candidate, seconds[candidate]);
  }
  EXPECT_LE(failures, 14) << "of 48; 45 without a model of failures";
  EXPECT_EQ(best, 1.2);
}

TEST_P(EveryStrategy, CopiesWhatItNeedsOfTheSpace) {
  std::unique_ptr<Search> search;
  {
    const Recording space = small_space();
    search = GetParam().make(space.space, 1);
  }
  for (int i = 0; i < 30; ++i) search->tell(search->ask().value(), 1.0 + i);
}

TEST(Search, ExhaustiveFollowsTheModelsRanking) {
  const SearchSpace space{{{0}, {1}, {2}, {3}}, {3.0, 0.0, 1.0, 2.0}};
  const auto search = find_strategy("exhaustive").make(space, 1);
  for (const std::size_t expected : {2u, 3u, 0u, 1u}) EXPECT_EQ(search->ask(), expected);
}

TEST(Search, ModelSeededStrategiesBeginWithTheModelsFavourite) {
  const Recording space = small_space();
  const auto favourite = static_cast<std::size_t>(
      std::min_element(space.space.estimates.begin(), space.space.estimates.end()) - space.space.estimates.begin());
  for (const char* name : {"exhaustive", "local", "surrogate"})
    EXPECT_EQ(find_strategy(name).make(space.space, 4)->ask(), favourite) << name;
}

TEST(Search, AnUnknownStrategyIsRefusedWithTheNames) {
  try {
    find_strategy("guess");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("surrogate"), std::string::npos);
  }
}

TEST(Search, SmallSpacesAreSearchedExhaustively) {
  EXPECT_EQ(default_strategy(40, 50).name, "exhaustive");
  EXPECT_NE(default_strategy(4000, 50).name, "exhaustive");
}

// ---- quality. In tools/check, a third of the spaces for each commit.
void expect_quality(const Recording& space, int seeds) {
  const Strategy& strategy = default_strategy(space.space.size(), 0);
  const Quality quality = tuner::quality(space, strategy, seeds);
  EXPECT_GE(quality.mean_speed, 0.97) << space.name << ": median " << quality.median_speed << ", worst "
                                      << quality.worst_speed << " after " << quality.evaluations;
  EXPECT_GE(quality.mean_speed, quality.random_speed - 1e-9) << space.name;
  EXPECT_GT(quality.score, 0.0) << space.name;
}

TEST(SearchQuality, Reaches97PercentOfTheOptimumOnMadeUpSpaces) {
  for (const Recording& space : testing::made_spaces())
    if (test::next_has_turn()) expect_quality(space, 2);
}

TEST(SearchQuality, Reaches97PercentOfTheOptimumOnRecordedSpaces) {
  const auto spaces = recorded_spaces();
  ASSERT_GE(spaces.size(), 5u);
  for (const Recording& space : spaces)
    if (test::next_has_turn()) expect_quality(space, 3);
}

// Uniform in one, two and three dimensions, real, of every nonuniform type, and batches.
TEST(SearchQuality, ReachesTheOptimumOfGpuSpacesWithinThreeHundredPlans) {
  const auto spaces = recorded_spaces("gpu");
  ASSERT_GE(spaces.size(), 8u);
  for (const Recording& space : spaces) {
    if (!test::next_has_turn()) continue;
    const Strategy& strategy = default_strategy(space.space.size(), 0);
    const auto speeds = mean_speeds(space, strategy, 2, 300);
    const auto random = random_expectation(space, 300);
    EXPECT_GE(mean_speeds(space, strategy, 32, 100).back(), 0.97) << space.name;
    EXPECT_GE(speeds[299], 0.99) << space.name;
    ASSERT_EQ(random.size(), 300u) << space.name << " is too small to tell strategies apart";
    for (const std::size_t k : {100u, 200u, 300u})
      EXPECT_GE(speeds[k - 1], space.optimum() / random[k - 1] - 0.005) << space.name << ", " << k;
  }
}

// Also early, and where the cost model misleads: of c2c with 65536 points it ranks the best plans last. The seeds are
// fixed, so a mean that is below random search by less than its standard error's double is no fault.
TEST(SearchQuality, IsNotBelowRandomSearchAfterTenPlansOrMoreOfAnyRecordedSpace) {
  constexpr int kSeeds = 16;
  constexpr std::size_t kPlans = 50;
  auto spaces = recorded_spaces();
  for (Recording& space : recorded_spaces("gpu")) spaces.push_back(std::move(space));
  ASSERT_GE(spaces.size(), 13u);
  for (const Recording& space : spaces) {
    if (!test::next_has_turn()) continue;
    const double optimum = space.optimum();
    std::vector<std::vector<double>> curves;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
      curves.push_back(replay(space, default_strategy(space.space.size(), 0), seed, kPlans));
    const std::vector<double> random = random_speed_expectation(space, kPlans);
    for (const std::size_t plans : {10u, 25u, 50u}) {
      double mean = 0, squares = 0;
      for (const auto& curve : curves) {
        const double speed = optimum / curve[plans - 1];
        mean += speed / kSeeds;
        squares += speed * speed / kSeeds;
      }
      const double error = std::sqrt(std::max(0.0, squares - mean * mean) / (kSeeds - 1));
      EXPECT_GE(mean + 2 * error, random[plans - 1]) << space.name << " after " << plans << " plans";
    }
  }
}

TEST(SearchQuality, LocalSearchBeatsRandomSearch) {
  for (const Recording& space : testing::made_spaces()) {
    const Quality quality = tuner::quality(space, find_strategy("local"), 5);
    EXPECT_GT(quality.mean_speed, quality.random_speed) << space.name;
    EXPECT_GT(quality.score, 0.2) << space.name;
  }
}

TEST(SearchQuality, AModelThatSaysNothingStillBeatsRandomSearch) {
  Recording space = testing::made_spaces()[1];
  for (double& estimate : space.space.estimates) estimate = 0;
  const Quality quality = tuner::quality(space, default_strategy(space.space.size(), 0), 3);
  EXPECT_GT(quality.mean_speed, quality.random_speed);
}

// ---- replay
TEST(Replay, RandomExpectationMatchesManyRandomReplays) {
  const Recording space = small_space();
  const auto expected = random_expectation(space, 20);
  std::vector<double> mean(20, 0), speed(20, 0);
  constexpr int runs = 40000;
  for (int seed = 0; seed < runs; ++seed) {
    const auto curve = replay(space, find_strategy("random"), static_cast<std::uint64_t>(seed), 20);
    for (std::size_t k = 0; k < 20; ++k) {
      mean[k] += curve[k] / runs;
      speed[k] += space.optimum() / curve[k] / runs;
    }
  }
  const auto speeds = random_speed_expectation(space, 20);
  for (std::size_t k = 0; k < 20; ++k) {
    EXPECT_NEAR(mean[k], expected[k], 0.03 * expected[k]) << k;
    EXPECT_NEAR(speed[k], speeds[k], 0.03 * speeds[k]) << k;
  }
}

TEST(Replay, ScoreOfRandomSearchIsNearZeroAndOfAnOracleIsOne) {
  Recording space = small_space();
  EXPECT_NEAR(quality(space, find_strategy("random"), 400).score, 0, 0.1);
  space.space.estimates = space.seconds;  // a perfect model
  for (double& estimate : space.space.estimates) estimate = std::isfinite(estimate) ? estimate : 1e3;
  EXPECT_NEAR(quality(space, find_strategy("exhaustive"), 1).score, 1, 1e-12);
}

TEST(Replay, RecordingsRoundTrip) {
  const Recording space = small_space();
  std::stringstream text;
  write_recording(text, space);
  const Recording back = read_recording(text, "memory");
  EXPECT_EQ(back.axes, space.axes);
  EXPECT_EQ(back.space.coordinates, space.space.coordinates);
  EXPECT_EQ(back.space.estimates, space.space.estimates);
  EXPECT_EQ(back.seconds, space.seconds);
}

TEST(Replay, DamagedRecordingsAreRefusedWithTheLine) {
  const auto refused = [](const std::string& text, const std::string& part) {
    std::stringstream in(text);
    try {
      read_recording(in, "f");
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  refused("a,b\n", "line 1");
  refused("a,estimate,seconds\n0,1,1\n0,1\n", "line 3");
  refused("a,estimate,seconds\n0,1,x\n", "line 2");
  refused("a,estimate,seconds\n-1,1,1\n", "line 2");
  refused("a,estimate,seconds\n1,1,-1\n", "line 2");
  refused("a,estimate,seconds\n1,1,failed\n", "no candidate worked");
}

}  // namespace
}  // namespace fourtune::tuner
