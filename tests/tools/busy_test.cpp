// Measuring beside two busy loops on every processor that it may use: nothing is decided by samples that the others
// disturbed.
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/usable_threads.h"
#include "tests/tools/command_line.h"

namespace fourtune::test {
namespace {

class BusyMachine : public CommandLine {
 protected:
  BusyMachine() {
    // One processor is enough for all of it, and leaves the others to other tests.
    sched_getaffinity(0, sizeof(allowed_), &allowed_);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
      if (CPU_ISSET(cpu, &allowed_)) CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof(one), &one);
    for (int i = 0; i < 2 * usable_threads(); ++i) {
      const pid_t child = fork();
      if (child == 0)
        for (;;) {
          if (getppid() == 1) _exit(0);
        }
      if (child > 0) children_.push_back(child);
    }
  }
  ~BusyMachine() override {
    for (const pid_t child : children_) kill(child, SIGKILL);
    for (const pid_t child : children_) waitpid(child, nullptr, 0);
    sched_setaffinity(0, sizeof(allowed_), &allowed_);
  }
  // Long enough that no sample of it escapes the others.
  const std::string token = "fft:type=c2c,n=256x128x64,prec=f64";

 private:
  cpu_set_t allowed_{};
  std::vector<pid_t> children_;
};

TEST_F(BusyMachine, RunSaysThatItCouldNotJudge) {
  const Finished result = run({"run", token, "--repeat", "4", "--no-check"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.err.find("fourtune: note: this machine was busy in "), std::string::npos) << result.err;
  EXPECT_NE(result.err.find(" % of samples"), std::string::npos) << result.err;
}

TEST_F(BusyMachine, TuneCrownsNoWinner) {
  const Finished result = run({"tune", token, "--seconds", "10", "--max-evaluations", "2", "--quiet", "--json"});
  EXPECT_EQ(result.code, 75) << result.out << result.err;
  EXPECT_NE(result.err.find("too busy to judge"), std::string::npos) << result.err;
  const auto report = nlohmann::json::parse(result.out).at(0);
  EXPECT_EQ(report["winner"], "");
  EXPECT_GT(report["busy_samples"].get<int>(), 0);
  EXPECT_LE(report["busy_samples"].get<int>(), report["samples"].get<int>());
  EXPECT_EQ(run_json({"show", "--json"}).size(), 0u) << "no verdict is stored";
}

TEST_F(BusyMachine, BenchHasNoRatioOfSuchSamples) {
  const std::string csv = (folder / "out.csv").string();
  const Finished result =
      run({"bench", token, "--rounds", "2", "--max-seconds-per-problem", "60", "--no-memory", "--csv", csv});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("too busy to judge"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("this machine was busy in "), std::string::npos) << result.out;
  EXPECT_NE(read_text(csv).find("too_busy"), std::string::npos);
  const Finished again = run({"bench", "--from-csv", csv});
  EXPECT_NE(again.out.find("too busy to judge"), std::string::npos) << "an earlier run says so too: " << again.out;
}

TEST_F(BusyMachine, ASuiteHasNoSpeedUpOfSuchSamples) {
  const Finished result = run({"bench", "--suite", "nufft3d-cpu", "--scale", "0.004", "--rounds", "1",
                               "--max-seconds-per-problem", "60", "--untuned-only", "--no-memory"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("too busy to judge this time"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("  ~"), std::string::npos) << result.out;
}

// The peer adds up directly, so that one execute takes longer than the others leave this process alone.
TEST_F(BusyMachine, SoakHasNoRatioOfSuchSamples) {
  const std::vector<std::string> words{
      "soak", "--nufft",     "--untuned", "--count",
      "1",    "--megabytes", "0.6",       "--seed",
      "15",   "--quiet",     "--peer",    std::string(FOURTUNE_BUILD_DIR) + "/tests/peers/fake_v26.so"};
  const Finished result = run(words);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("without a ratio, 1 times: this machine was too busy to judge\n"), std::string::npos)
      << result.out;
  EXPECT_EQ(result.out.find("geometric mean"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("soak: 1 problems, 1 runs, 0 failures, seed 15, cpu\n"), std::string::npos) << result.out;
}

}  // namespace
}  // namespace fourtune::test
