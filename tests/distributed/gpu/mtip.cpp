// Suite mtip on processors and on emulated GPUs, which ranks share.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "tests/distributed/support.h"
#include "tools/ranks/mtip_suite.h"

namespace fourtune::test {
namespace {

namespace mtip = tools::mtip;

mtip::Results measured(const std::string& backend, int rounds) {
  mtip::Options options;
  options.backend = backend;
  options.scale = 1e-5;
  options.rounds = rounds;
  return mtip::measure(options);
}

void expect_whole(const mtip::Results& results, int rounds) {
  const int ranks = size_of(MPI_COMM_WORLD);
  EXPECT_EQ(results.ranks, ranks);
  ASSERT_EQ(results.tasks.size(), 2u);
  EXPECT_EQ(results.tasks[0].problem.type, 2);
  EXPECT_EQ(results.tasks[1].problem.type, 1);
  for (const mtip::Task& task : results.tasks) {
    ASSERT_FALSE(task.versions.empty());
    for (const mtip::Version& version : task.versions) {
      EXPECT_TRUE(version.admitted.failure.empty()) << version.admitted.failure;
      EXPECT_TRUE(version.admitted.right) << version.admitted.name << " " << version.admitted.error;
      ASSERT_EQ(static_cast<int>(version.by_ranks.size()), ranks);
      for (int active = 1; active <= ranks; ++active) {
        ASSERT_EQ(static_cast<int>(version.on(active).rounds.size()), rounds);
        for (const tools::RoundTimes& times : version.on(active).rounds) {
          EXPECT_GT(times.execute, 0);
          // What the slowest rank takes in all is at least what any takes for a step, and at most their sum.
          const double steps = times.create + times.upload + times.set_points + times.execute + times.download;
          EXPECT_GE(times.work, std::max(times.execute, times.set_points));
          EXPECT_LE(times.work, steps * (1 + 1e-6) + 1e-3);
          EXPECT_EQ(times.exchange > 0, active > 1);
        }
      }
    }
  }
}

TEST(SuiteMtip, EveryNumberOfRanksIsMeasured) {
  const mtip::Results results = measured("", 2);
  expect_whole(results, 2);
  EXPECT_FALSE(results.shares_devices);
  EXPECT_EQ(results.whole(), results.ranks);
}

TEST(SuiteMtip, RanksShareGpusInTurn) {
  ::setenv("FOURTUNE_EMULATED_DEVICES", "2", 1);
  const mtip::Results results = measured("emulated", 1);
  ::unsetenv("FOURTUNE_EMULATED_DEVICES");
  expect_whole(results, 1);
  EXPECT_TRUE(results.shares_devices);
  EXPECT_EQ(results.devices, 2);
  EXPECT_EQ(results.whole(), std::min(2, results.ranks));
}

TEST(SuiteMtip, APeerThatIsNoLibraryIsRefusedOnEveryRank) {
  mtip::Options options;
  options.peers = {"/nowhere/libpeer.so"};
  EXPECT_THROW(mtip::measure(options), std::exception);
}

}  // namespace
}  // namespace fourtune::test
