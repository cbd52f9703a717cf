// Runs `fourtune plan` as a user does.
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "tests/support/command.h"

namespace fourtune::test {
namespace {

class PlanCommand : public CommandTest {
 protected:
  PlanCommand() : CommandTest("plan") {}
};

TEST_F(PlanCommand, PrintsAPlanWithItsFloors) {
  const Finished plain = run({"{Y (8, 8, 1, 8, no-tw), X(4, 4, 1, 4, no-tw)}"});
  EXPECT_EQ(plain.code, 2) << "Y's count is not that of its length 8";
  const Finished right = run({"{X(4,4,1,4,no-tw)}{X(1,1,1,1,no-tw)}"});
  EXPECT_EQ(right.code, 2);
  const Finished printed = run({" {X(1, 16, 1, 16, no-tw)}", "--n", "16"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_EQ(printed.out.rfind("{X(1,16,1,16,no-tw)}\n16 f32, reversed order", 0), 0U) << printed.out;
  const Finished bound = run({"{X(1,16,1,16,no-tw)}", "--device", "h200"});
  EXPECT_NE(bound.out.find("[threads="), std::string::npos) << bound.out;
  EXPECT_NE(bound.out.find("floor on NVIDIA H200"), std::string::npos) << bound.out;
}

TEST_F(PlanCommand, DrawsAPlan) {
  const Finished result = run({"{X(1,16,1,16,no-tw)}", "--svg", "plan.svg"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(read_text(folder / "plan.svg").rfind("<svg ", 0), 0U);
  const Finished nowhere = run({"{X(1,16,1,16,no-tw)}", "--svg", "none/plan.svg"});
  EXPECT_EQ(nowhere.code, 1);
  EXPECT_NE(nowhere.err.find("none/plan.svg"), std::string::npos);
}

TEST_F(PlanCommand, RefusesWithTheRule) {
  expect_refused({"{X(16,16,16,156,tw)}{X(16,16,1,16,no-tw)}"}, "rule first-n: kernel 1, X(16,16,16,156,tw)");
  expect_refused({"{X(1,16,1,16,no-tw)}", "--n", "32"}, "rule length");
  expect_refused({"{X(1,16,1,16,no-tw)}", "--n", "16x2"}, "rule length");
  expect_refused({"{X(1,16,1,16,no-tw)}", "--n", "16x"}, "--n 16x: one to four lengths");
  expect_refused({"{X(1,16"}, "syntax: at character 8");
  expect_refused({"{X(1,16,1,16,no-tw)}", "--device", "abacus"}, "abacus");
  expect_refused({"cuda;fft=plain"}, "fft=plain says no kernels");
  expect_refused({}, "a plan is needed, or --list");
  expect_refused({"--list", "fft:type=c2c,n=64,prec=f32", "--count", "-3"}, "-3 is outside 0 to 1000000");
  expect_refused({"--list", "nufft:type=1,n=64,prec=f32,tol=1e-3"}, "uniform transforms");
  expect_refused({"--list", "fft:type=r2c,n=64,prec=f32", "--order", "reversed"}, "only complex transforms");
  expect_refused({"--list", "fft:type=c2c,n=64,prec=f32", "--order", "sideways"}, "sideways");
}

TEST_F(PlanCommand, ListsCandidatesThatItReadsBack) {
  const Finished result =
      run({"--list", "fft:type=c2c,n=32x32x32,prec=f32,batch=4", "--device", "v100", "--count", "3"});
  ASSERT_EQ(result.code, 0) << result.err;
  for (const char* words : {"NVIDIA V100", "groupings", "register-file", "estimate", "order=natural"})
    EXPECT_NE(result.out.find(words), std::string::npos) << words << "\n" << result.out;
  const auto at = result.out.find('{', result.out.find("estimate  "));
  ASSERT_NE(at, std::string::npos);
  const std::string plan = result.out.substr(at, result.out.find_first_of(" \n", at) - at);
  EXPECT_EQ(run({plan, "--n", "32x32x32", "--device", "v100"}).code, 0) << plan;
  const std::string whole = "cuda;fft=interleaved" + plan;
  EXPECT_NE(result.out.find(whole), std::string::npos);
  EXPECT_EQ(run({whole, "--n", "32x32x32"}).out, run({plan}).out);
  const Finished real = run({"--list", "fft:type=r2c,n=24x10,prec=f64,place=in", "--count", "2"});
  EXPECT_EQ(real.code, 0) << real.err;
  EXPECT_NE(real.out.find("untuned:\n  cuda;fft="), std::string::npos) << real.out;
  // Numbers of plans: all digits of small ones, three of large ones.
  const Finished large = run({"--list", "fft:type=c2c,n=512x512x512,prec=f32", "--device", "h200", "--count", "1"});
  EXPECT_TRUE(std::regex_search(large.out, std::regex("plans +[1-9](\\.[0-9]{1,2})?e[0-9]+ +[0-9]+ +"
                                                      "the cheapest combinations of each grouping\n")))
      << large.out;
  EXPECT_TRUE(std::regex_search(large.out, std::regex(" [0-9]{6} "))) << large.out;
  const Finished none = run({"--list", "fft:type=c2c,n=67,prec=f32"});
  EXPECT_EQ(none.code, 0);
  EXPECT_NE(none.out.find("product of radices up to 64"), std::string::npos);
}

}  // namespace
}  // namespace fourtune::test
