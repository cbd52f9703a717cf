#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/program.h"

namespace fourtune::test {
namespace {

std::string peer(const std::string& name) {
  return std::string(FOURTUNE_BUILD_DIR) + "/tests/peers/fake_" + name + ".so";
}

const std::string kSmall = "nufft:type=1,n=12x10,m=60,prec=f64,tol=1e-6";

Finished bench(std::vector<std::string> words, const std::filesystem::path& folder = {},
               const std::vector<std::pair<std::string, std::string>>& environment = {}) {
  words.insert(words.begin(), {fourtune_program(), "bench", "--threads", "1", "--rounds", "3"});
  return run_program(words, folder, environment);
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(BenchCommand, ComparesWithAPeerAndWritesCsvAndPlot) {
  if (!has_program("gnuplot")) GTEST_SKIP() << "no gnuplot";
  const ScratchFolder folder;
  const Finished done =
      bench({kSmall, "--cpu-time", "--peer", peer("v26"), "--csv", "bench.csv", "--plot", "bench.svg"}, folder.path());
  ASSERT_EQ(done.code, 0) << done.out << done.err;
  EXPECT_TRUE(holds(done.out, "peer finufft-fftw: FINUFFT 2.6.0-dev")) << done.out;
  EXPECT_TRUE(holds(done.out, "untuned, nufft type 1 2D")) << done.out;
  EXPECT_TRUE(holds(read_text(folder / "bench.csv"), kSmall)) << done.out;
  EXPECT_TRUE(holds(done.out, "plot: bench.svg\n")) << done.out;
  EXPECT_TRUE(holds(read_text(folder / "bench.svg"), "<svg")) << done.out;
}

TEST(BenchCommand, SaysBeforeItMeasuresThatThereIsNoGnuplotAndLeavesTheScript) {
  const ScratchFolder folder;
  const Finished done = bench({kSmall, "--no-memory", "--plot", "bench.svg"}, folder.path(), {{"PATH", folder.path()}});
  ASSERT_EQ(done.code, 0) << done.out << done.err;
  EXPECT_EQ(done.err.rfind("fourtune: note: there is no gnuplot on the PATH", 0), 0u) << done.err;
  EXPECT_TRUE(holds(done.out, "plot: gnuplot is missing; its script is bench.svg.gp")) << done.out;
  EXPECT_TRUE(holds(read_text(folder / "bench.svg.gp"), "set output 'bench.svg'"));
  EXPECT_FALSE(std::filesystem::exists(folder / "bench.svg"));
}

TEST(BenchCommand, TimesEveryPlanOfAList) {
  const ScratchFolder folder;
  const std::string token = "fft:type=c2c,n=60,prec=f64,batch=3", other = "fft:type=r2c,n=16x9,prec=f32";
  write_text(folder / "plans.txt", "# plans\n" + token + "\tcpu;threads=1;fft=rows(block=4)\n\n  " + token +
                                       "   cpu;threads=1;fft=rows(block=1)  \n" + other +
                                       " cpu;threads=1;fft=rows(block=2)\n");
  const Finished done =
      bench({"--no-memory", "--untuned-only", "--plans", "plans.txt", "--csv", "bench.csv"}, folder.path());
  ASSERT_EQ(done.code, 0) << done.out << done.err;
  const std::string csv = read_text(folder / "bench.csv");
  EXPECT_TRUE(holds(csv, ",plan 1,reference,")) << csv;
  EXPECT_TRUE(holds(csv, ",plan 2,reference,")) << csv;
  EXPECT_TRUE(holds(csv, "block=1)")) << csv;
  EXPECT_TRUE(holds(csv, other)) << csv;

  write_text(folder / "bad.txt", token + " cpu;threads=1;fft=rows(block=4)\n" + token + "\n");
  const Finished bad = bench({"--no-memory", "--plans", "bad.txt"}, folder.path());
  EXPECT_EQ(bad.code, 2) << bad.err;
  EXPECT_TRUE(holds(bad.err, "bad.txt:2: ")) << bad.err;
  const Finished none = bench({"--plans", "none.txt"}, folder.path());
  EXPECT_EQ(none.code, 2) << none.err;
  EXPECT_TRUE(holds(none.err, "none.txt: no such file")) << none.err;
  const Finished suite = bench({"--suite", "nufft3d-cpu", "--plans", "plans.txt"}, folder.path());
  EXPECT_EQ(suite.code, 2) << suite.err;
  EXPECT_EQ(suite.out, "");
}

TEST(BenchCommand, OutputsThatCannotBeWrittenAreRefusedBeforeItMeasures) {
  const ScratchFolder folder;
  const std::vector<std::vector<std::string>> cases{
      {"--plot", "bench.pdf"}, {"--plot", "none/bench.svg"}, {"--csv", "none/bench.csv"}};
  for (const auto& words : cases) {
    const Finished done = bench({kSmall, words[0], words[1]}, folder.path());
    EXPECT_EQ(done.code, 2) << words[1] << done.err;
    EXPECT_TRUE(holds(done.err, words[1])) << done.err;
    EXPECT_EQ(done.out, "") << "something was measured";
  }
  const Finished suite = bench({"--suite", "nufft3d-cpu", "--scale", "1e-6", "--plot", "figures.pdf"}, folder.path());
  EXPECT_EQ(suite.code, 2) << suite.err;
  EXPECT_EQ(suite.out, "");
}

TEST(BenchCommand, WrongPeerLosesAndOursDoesNotFail) {
  const Finished done = bench({kSmall, "--cpu-time", "--peer", peer("wrong_results"), "--no-memory"});
  ASSERT_EQ(done.code, 0) << done.out << done.err;
  EXPECT_TRUE(holds(done.out, "peer wrong")) << done.out;
}

TEST(BenchCommand, FftIsComparedWithFftwMeasureAndShowsEstimate) {
  const Finished done = bench({"fft:type=c2c,n=32x16,prec=f32,place=in", "--no-memory"});
  ASSERT_EQ(done.code, 0) << done.out << done.err;
  EXPECT_TRUE(holds(done.out, "fftw-measure")) << done.out;
  EXPECT_TRUE(holds(done.out, "fftw-estimate")) << done.out;
}

TEST(BenchCommand, APlanOfTheCallerTakesTheTunedColumn) {
  const ScratchFolder folder;
  const std::string token = "fft:type=c2c,n=32x16,prec=f32";
  const Finished done =
      bench({token, "--no-memory", "--plan", "cpu;threads=1;fft=rows(block=4)", "--csv", "plan.csv"}, folder.path());
  ASSERT_EQ(done.code, 0) << done.out << done.err;
  const std::string csv = read_text(folder / "plan.csv");
  EXPECT_TRUE(holds(csv, ",plan,tuned,")) << csv;
  EXPECT_TRUE(holds(csv, "block=4)")) << csv;
  const Finished without = bench({token, "--no-memory", "--csv", "none.csv"}, folder.path());
  ASSERT_EQ(without.code, 0) << without.err;
  EXPECT_FALSE(holds(read_text(folder / "none.csv"), ",plan,tuned,"));
}

TEST(BenchCommand, WhatDoesNotFitIsSkippedWithItsReason) {
  const Finished done = bench({kSmall, "--max-memory", "1000"});
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_TRUE(holds(done.out, "skipped: " + kSmall + ": does not fit")) << done.out;
  const Finished late = bench({kSmall, "--max-seconds-per-problem", "0.001"});
  EXPECT_TRUE(holds(late.out, "skipped: " + kSmall + ": takes too long")) << late.out;
}

TEST(BenchCommand, UnusablePeerAndMissingProblemsAreUsageErrors) {
  const Finished foreign = bench({kSmall, "--peer", peer("future")});
  EXPECT_EQ(foreign.code, 2);
  EXPECT_TRUE(holds(foreign.err, "unknown_version")) << foreign.err;
  EXPECT_EQ(bench({}).code, 2);
  EXPECT_EQ(bench({kSmall, "--filter", "prec=f32"}).code, 2);
  EXPECT_EQ(bench({"--suite", "nothing"}).code, 2);
  const Finished processor = bench({"--suite", "fft3d-interleaved", "--backend", "cpu"});
  EXPECT_EQ(processor.code, 2);
  EXPECT_TRUE(holds(processor.err, "runs kernels of GPUs")) << processor.err;
  EXPECT_EQ(bench({"--suite", "fft3d-interleaved", "--baseline", "none.csv"}).code, 2);
  const Finished clock =
      run_program({fourtune_program(), "bench", "--suite", "nufft-type3", "--cpu-time", "--threads", "2"}, {});
  EXPECT_EQ(clock.code, 2);
  EXPECT_TRUE(holds(clock.err, "--threads 1")) << clock.err;
}

TEST(BenchCommand, OnlyTheSuiteOfRanksRunsOnRanks) {
  const Finished other = bench({kSmall, "--ranks", "2"});
  EXPECT_EQ(other.code, 2);
  EXPECT_TRUE(holds(other.err, "only suite mtip")) << other.err;
  const Finished plan = bench({"--suite", "mtip", "--ranks", "2", "--plan", "cpu;fft=plain"});
  EXPECT_EQ(plan.code, 2);
  EXPECT_TRUE(holds(plan.err, "suite mtip has no such option")) << plan.err;
}

// For the curves of FINUFFT in the figures of a GPU: bench_figures_test.cpp puts them together.
TEST(BenchCommand, SuiteCufinufftMeasuresItsPeersOnTheProcessor) {
  const Finished done = bench({"--suite", "cufinufft", "--backend", "cpu", "--scale", "1e-6", "--filter",
                               "type=1,n=8x8x8,m=64,prec=f32,tol=1e-5", "--peer", peer("v25")});
  ASSERT_EQ(done.code, 0) << done.out << done.err;
  EXPECT_TRUE(holds(done.out, "finufft")) << done.out;
  EXPECT_FALSE(holds(done.out, "GM-sort  ")) << "methods of a GPU: " << done.out;
}

TEST(BenchCommand, SuitesRunAtSmallScale) {
  const Finished cpu = bench({"--suite", "nufft3d-cpu", "--scale", "0.001"});
  ASSERT_EQ(cpu.code, 0) << cpu.out << cpu.err;
  for (const char* word : {"Random", "Radial", "Spiral", "serial", "multi-threaded, list", "adjoint (type 1)",
                           "block size and prefetch", "blocks of 16, prefetch 64"})
    EXPECT_TRUE(holds(cpu.out, word)) << word << cpu.out;
  EXPECT_FALSE(holds(cpu.out, "failed")) << cpu.out;
  EXPECT_FALSE(holds(cpu.out, "WRONG")) << cpu.out;
  EXPECT_TRUE(holds(cpu.out, "  type 1 serial: cpu;threads=1;")) << cpu.out;
  const std::string errors = cpu.out.substr(std::min(cpu.out.size(), cpu.out.find("\nerrors; up to three times")));
  for (const char* version : {"\nserial  ", "\nblock size and prefetch  ", "\nuntuned default  "})
    EXPECT_TRUE(holds(errors, version)) << version << cpu.out;
  EXPECT_FALSE(holds(errors, "\ntuned  ")) << "nothing was tuned: " << cpu.out;
  for (const char* problem : {"nufft:type=2,n=13x13x13,m=8000,prec=f32,tol=2e-3",
                              "nufft:type=1,n=13x13x13,m=8000,prec=f32,tol=2e-3,points=spiral"})
    EXPECT_TRUE(holds(cpu.out, problem)) << problem << cpu.out;
  const Finished type3 = bench({"--suite", "nufft-type3", "--scale", "0.0005"});
  ASSERT_EQ(type3.code, 0) << type3.out << type3.err;
  EXPECT_TRUE(holds(type3.out, "N = K^2")) << type3.out;
  EXPECT_TRUE(holds(type3.out, "step 1 spread")) << type3.out;
  const Finished bounded = bench({"--suite", "nufft-type3", "--scale", "0.0005", "--max-points", "300"});
  EXPECT_TRUE(holds(bounded.out, "k=512,prec=f64,tol=1e-10: has 512 points, more than --max-points")) << bounded.out;
}

}  // namespace
}  // namespace fourtune::test
