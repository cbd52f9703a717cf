// What suite mtip makes of its times: the model and the tables.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tools/ranks/mtip_suite.h"

namespace fourtune::tools {
namespace {

Network network(int gpus_per_node) {
  Network one;
  one.gpus_per_node = gpus_per_node;
  one.link = 100, one.network = 10;
  one.link_latency = 1, one.network_latency = 2;
  return one;
}

TEST(ScalingModel, AnExchangeSendsEachByteOnceWithinANodeAndItsPartBetweenNodes) {
  EXPECT_EQ(exchange_seconds(800, 1, network(8)), 0);
  EXPECT_DOUBLE_EQ(exchange_seconds(800, 2, network(8)), 400 / 100.0 + 1);
  EXPECT_DOUBLE_EQ(exchange_seconds(800, 8, network(8)), 700 / 100.0 + 3);
  // A GPU has an eighth of the node's sum, and exchanges 3/4 of that with three other nodes in two steps.
  EXPECT_DOUBLE_EQ(exchange_seconds(800, 32, network(8)), 700 / 100.0 + 3 + 75 / 10.0 + 4);
  // Nodes of one GPU have the network alone.
  EXPECT_DOUBLE_EQ(exchange_seconds(800, 4, network(1)), 600 / 10.0 + 4);
}

TEST(ScalingModel, MoreGpusNeverExchangeFasterAndMoreBandwidthNeverSlower) {
  for (int gpus = 1; gpus < 1024; gpus *= 2)
    EXPECT_LE(exchange_seconds(1e6, gpus, network(8)), exchange_seconds(1e6, 2 * gpus, network(8)));
  Network faster = network(8);
  faster.network *= 2;
  EXPECT_LT(exchange_seconds(1e6, 64, faster), exchange_seconds(1e6, 64, network(8)));
}

TEST(ScalingModel, ALinkIsWhatMadeTwoGpusTakeSoLong) {
  Network one = network(8);
  one.link = link_of(3000, exchange_seconds(3000, 2, one), one.link_latency);
  EXPECT_NEAR(one.link, network(8).link, 1e-9);
}

TEST(ScalingModel, RanksThatShareADeviceTakeTurnsWithItAlone) {
  const RankWork alone{100, 10, 3};
  EXPECT_EQ(shared_seconds(alone, 1.5, 1, 2), 113);
  EXPECT_EQ(shared_seconds(alone, 1.5, 2, 2), 118);
  EXPECT_EQ(shared_seconds(alone, 1.5, 3, 2), 121);
  EXPECT_EQ(shared_seconds(alone, 1.5, 8, 2), 127);
}

// Two versions on one to four ranks that share two devices; the peer takes twice as long.
mtip::Results results() {
  mtip::Results made;
  made.ranks = 4, made.devices = 2, made.shares_devices = true;
  made.where = "4 ranks share 2 of \"fictions\"";
  mtip::Task task{"merging", parse_problem("nufft:type=1,n=8x8x8,m=1000,prec=f64,tol=1e-12"), 8192, {}};
  for (const bool peer : {false, true}) {
    mtip::Version version;
    version.admitted.name = peer ? "sums" : "untuned";
    version.admitted.role = peer ? Role::peer : Role::untuned;
    version.admitted.right = true;
    for (int ranks = 1; ranks <= 4; ++ranks) {
      mtip::Measured one{ranks, {}};
      // In disorder, so that only a median is the middle one.
      for (const double noise : {0.5, 0.0, -0.25}) {
        RoundTimes times;
        times.execute = (peer ? 2 : 1) * (ranks > 2 ? 2 : 1) + noise;
        times.work = times.again = times.execute;
        times.exchange = ranks == 1 ? 0 : 0.5 * ranks;
        one.rounds.push_back(times);
      }
      version.by_ranks.push_back(one);
    }
    task.versions.push_back(version);
  }
  mtip::Version broken;
  broken.admitted.name = "broken";
  broken.admitted.failure = "it does not run";
  task.versions.push_back(broken);
  made.tasks.push_back(task);
  return made;
}

// The line of a table with these words, in this order.
std::string line_with(const std::string& text, const std::string& words) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    std::string single;
    for (const char c : line)
      if (c != ' ' || (!single.empty() && single.back() != ' ')) single += c;
    if (single.find(words) != std::string::npos) return single;
    begin = end + 1;
  }
  return "";
}

TEST(SuiteMtipTables, AMedianIsTheMiddleRound) { EXPECT_EQ(results().tasks[0].versions[0].on(1).median().execute, 1); }

TEST(SuiteMtipTables, TheModelHasTurnsAndTheLinkOfTwoRanks) {
  const mtip::Results made = results();
  const mtip::Task& task = made.tasks[0];
  const mtip::Version& ours = task.versions[0];
  EXPECT_DOUBLE_EQ(modelled_seconds(made, task, ours, 1), 1);
  EXPECT_NEAR(modelled_seconds(made, task, ours, 2), 1 + 1, 1e-6);    // as measured: it is fitted there
  EXPECT_NEAR(modelled_seconds(made, task, ours, 4), 2 + 1.5, 1e-6);  // 3/4 of the bytes in place of 1/2
}

TEST(SuiteMtipTables, TableTwoHasARankAndANodeBesideThePeer) {
  const std::string text = table_two(results(), {});
  const std::string one = line_with(text, "merging 8^3 1e+03 1 untuned"), node = line_with(text, "2 (node) untuned");
  EXPECT_NE(one.find("2.00x"), std::string::npos) << text;   // execute, and total
  EXPECT_NE(node.find("1.50x"), std::string::npos) << text;  // (2 + 1) / (1 + 1) in all
  EXPECT_EQ(text.find("broken"), std::string::npos) << text;
  EXPECT_EQ(line_with(text, "4 (node)"), "") << text;
}

TEST(SuiteMtipTables, WeakScalingHasEveryNumberOfRanks) {
  const std::string text = weak_scaling(results(), {});
  for (const char* ranks : {"1", "2", "3", "4"})
    EXPECT_NE(line_with(text, std::string("merging ") + ranks + " untuned"), "") << text;
  EXPECT_NE(line_with(text, "merging 4 untuned").find("0.25"), std::string::npos) << text;  // 1 / (2 + 2)
}

TEST(SuiteMtipTables, MoreGpusTakeTheNodesWorkAndTheirExchange) {
  mtip::Options options;
  options.network = network(2);
  options.most_gpus = 8;
  const std::string text = beyond(results(), options, {});
  // 8 GPUs: 4096 bytes within, 3/4 of 4096 between four nodes.
  const double seconds = 1 + 4096 / 100.0 + 1 + 3072 / 10.0 + 4;
  const std::string line = line_with(text, "merging untuned 8 4 ");
  EXPECT_NE(line.find(" " + std::to_string(static_cast<int>(seconds))), std::string::npos) << text << seconds;
  EXPECT_EQ(line_with(text, "merging untuned 16"), "");
}

TEST(SuiteMtipTables, TheCsvHasEveryRound) {
  const std::string text = csv_text(results());
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 2 * 4 * 3);
  EXPECT_NE(text.find("\"4 ranks share 2 of \"\"fictions\"\"\""), std::string::npos) << text;
}

}  // namespace
}  // namespace fourtune::tools
