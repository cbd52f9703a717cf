// `fourtune emit`, run as a user runs it. What the kernels compute is tested where they are made
// (tests/generator/emulated_fft_test.cpp).
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/program.h"

namespace fourtune::test {
namespace {

constexpr const char* kPlan = "{X(16,16,16,256,tw),X(16,16,1,16,no-tw)}:order=natural";

class EmitCommand : public testing::Test {
 protected:
  Finished run(std::vector<std::string> words) {
    words.insert(words.begin(), {FOURTUNE_PROGRAM, "emit"});
    return run_program(words, folder.path(), {});
  }
  void expect_refused(const std::vector<std::string>& words, const std::string& reason) {
    const Finished result = run(words);
    EXPECT_EQ(result.code, 2) << result.out << result.err;
    EXPECT_NE(result.err.find(reason), std::string::npos) << result.err;
    EXPECT_EQ(result.out, "");
  }

  ScratchFolder folder;
};

TEST_F(EmitCommand, WritesOneFileWithoutOtherIncludesThanTheStandardOnes) {
  const Finished written = run({kPlan, "-o", "fft.cu"});
  ASSERT_EQ(written.code, 0) << written.err;
  EXPECT_EQ(written.out, "");
  const std::string text = read_text(folder / "fft.cu");
  for (const char* words : {"__global__", "int main(", "kLaunches", "kPlan"})
    EXPECT_NE(text.find(words), std::string::npos) << words;
  EXPECT_EQ(text.find("#include \""), std::string::npos);
  EXPECT_EQ(run({kPlan}).out, text) << "the same on standard output";
  EXPECT_EQ(run({kPlan, "-o", "none/fft.cu"}).code, 1);
}

TEST_F(EmitCommand, NvccTakesTheFile) {
  if (std::system("nvcc --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "NOT TESTED: there is no nvcc on the PATH";
  ASSERT_EQ(run({kPlan, "-o", "fft.cu"}).code, 0);
  const std::string command = "cd '" + folder.path().string() + "' && nvcc -std=c++17 -arch=sm_90 -c fft.cu -o fft.o";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST_F(EmitCommand, ShowsEveryStage) {
  const std::string plan = run({kPlan, "--stage", "plan"}).out;
  EXPECT_NE(plan.find("threads="), std::string::npos) << plan;
  EXPECT_NE(run({kPlan, "--stage", "passes"}).out.find("round: registers"), std::string::npos);
  const std::string launches = run({kPlan, "--stage", "launches", "--batch", "8"}).out;
  EXPECT_NE(launches.find("32768"), std::string::npos) << "8 * 256 complex floats in and out: " << launches;
  EXPECT_NE(run({kPlan, "--stage", "kernels"}).out.find("__global__"), std::string::npos);
  EXPECT_NE(run({"--codelet", "13"}).out.find("dft13"), std::string::npos);
}

TEST_F(EmitCommand, RefusesWithTheRule) {
  expect_refused({}, "either a plan or --codelet");
  expect_refused({kPlan, "--codelet", "4"}, "either a plan or --codelet");
  expect_refused({"{X(16,16,16,156,tw)}{X(16,16,1,16,no-tw)}"}, "rule first-n");
  expect_refused({"{X(1,16"}, "syntax: at character 8");
  expect_refused({kPlan, "--sign", "2"}, "--sign");
  expect_refused({kPlan, "--batch", "0"}, "--batch");
  expect_refused({"--codelet", "65"}, "--codelet");
}

}  // namespace
}  // namespace fourtune::test
