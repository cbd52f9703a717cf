// Runs `fourtune emit` as a user does. The results of the kernels are tested elsewhere
// (tests/generator/emulated_fft_test.cpp).
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/command.h"

namespace fourtune::test {
namespace {

constexpr const char* kPlan = "{X(16,16,16,256,tw),X(16,16,1,16,no-tw)}:order=natural";

class EmitCommand : public CommandTest {
 protected:
  EmitCommand() : CommandTest("emit") {}
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
  // One tile, convolutions, an order that is neither natural nor reversed; warnings count as errors.
  for (const char* plan :
       {kPlan, "fft:type=c2c,n=131,prec=f64",
        "{X(8,4,8,32,tw),X(8,4,2,8,tw)}[store=grouped]{X(16,2,1,2,no-tw),Y(1,5,1,5,no-tw)}:order=grouped"}) {
    ASSERT_EQ(run({plan, "-o", "fft.cu"}).code, 0);
    const std::string command =
        "cd '" + folder.path().string() + "' && nvcc -Werror all-warnings -std=c++17 -arch=sm_90 -c fft.cu -o fft.o";
    EXPECT_EQ(std::system(command.c_str()), 0) << plan;
  }
}

// A type 3 has every kind of kernel, and two of each name for its two sorts.
TEST_F(EmitCommand, NvccTakesNonuniformTransforms) {
  if (std::system("nvcc --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "NOT TESTED: there is no nvcc on the PATH";
  ASSERT_EQ(run({"nufft:type=3,dim=2,m=500,k=400,prec=f32,tol=1e-4", "-o", "nufft.cu"}).code, 0);
  const std::string command =
      "cd '" + folder.path().string() +
      "' && nvcc -Xcicc -O0 -Xptxas -O0 -Werror all-warnings -std=c++17 -arch=sm_90 -c nufft.cu "
      "-o nufft.o";
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
  const std::string operations = run({"--codelet", "3", "--stage", "dag"}).out;
  for (const char* words : {"12 additions, 4 multiplications\n", " = x1r + x2r\n", "\nX[2] = t"})
    EXPECT_NE(operations.find(words), std::string::npos) << operations;
  expect_refused({kPlan, "--stage", "dag"}, "--codelet 16 --stage dag");
}

// Plan texts in the form that `fourtune plan --list` and `fourtune show` print.
TEST_F(EmitCommand, TakesWholePlanTexts) {
  const std::string bound = "{X(16,16,16,256,tw),X(16,16,1,16,no-tw)}[threads=64,tile=1x4]:order=natural";
  EXPECT_EQ(run({"cuda;fft=interleaved" + bound}).out, run({bound}).out);
  EXPECT_EQ(run({"cuda;window=pswf(width=4);fft=interleaved" + bound + ";chunk=4", "--stage", "plan"}).out,
            bound + "\n");
  expect_refused({"cuda;fft=cufft"}, "fft=cufft says no kernels");
  expect_refused({"cuda;fft=interleaved{X(16,16,16,156,tw)}{X(16,16,1,16,no-tw)}"}, "rule first-n");
}

// Problems without a plan in the notation: other lengths, real transforms.
TEST_F(EmitCommand, TakesProblems) {
  const std::string prime = run({"fft:type=c2c,n=1009,prec=f32,batch=2"}).out;
  for (const char* words : {"bluestein", "int main(", "fft:type=c2c,n=1009,prec=f32,batch=2 cuda;fft=plain"})
    EXPECT_NE(prime.find(words), std::string::npos) << words;
  const std::string real = "fft:type=r2c,n=134x12,prec=f64";
  EXPECT_NE(run({real, "--stage", "kernels"}).out.find("__global__"), std::string::npos);
  expect_refused({real}, "complex transforms");
  EXPECT_EQ(run({real, "--stage", "plan"}).out, "cuda;fft=plain\n");
  const std::string forced = "cuda;fft=interleaved{X(4,4,4,16,tw),X(4,4,1,4,no-tw)}[threads=32,tile=1x8]:order=natural";
  EXPECT_EQ(run({"fft:type=c2c,n=16,prec=f32,batch=8", "--plan", forced, "--stage", "plan"}).out, forced + "\n");
  EXPECT_NE(run({"fft:type=c2c,n=16,prec=f32", "--plan", forced, "--stage", "passes"}).out.find("round: registers"),
            std::string::npos);
  expect_refused({"fft:type=c2c,n=17,prec=f32", "--plan", forced, "--stage", "passes"}, "rule length");
  expect_refused({"fft:type=c2c,n=16,prec=f32", "--plan", "cuda;fft=cufft"}, "nothing to emit");
  expect_refused({"fft:type=c2c,n=16,prec=f32", "--plan", "cpu;threads=1;fft=rows(rigor=measure,block=64)"},
                 "no kernels of GPUs");
  expect_refused({"fft:type=c2c,n=16,prec=f32", "--batch", "2"}, "batch=8");
  expect_refused({kPlan, "--plan", forced}, "--plan is the plan of a problem");
}

// What they compute is in emulated_emit_test.cpp.
TEST_F(EmitCommand, TakesNonuniformProblems) {
  const std::string type1 = "nufft:type=1,n=32x32,m=1000,prec=f32,tol=1e-3,batch=5";
  const std::string text = run({type1}).out;
  for (const char* words : {"int main(", "class Transform", "kLastChunk", "FOURTUNE_NO_MAIN", "slot(kRecords)"})
    EXPECT_NE(text.find(words), std::string::npos) << words;
  EXPECT_EQ(text.find("#include \""), std::string::npos);
  const std::string launches = run({type1, "--stage", "launches"}).out;
  for (const char* words : {"nufft_spread", "nufft_count", "kGrid: "})
    EXPECT_NE(launches.find(words), std::string::npos) << launches;
  EXPECT_NE(run({type1, "--stage", "kernels"}).out.find("__global__"), std::string::npos);
  const std::string plan = run({type1, "--stage", "plan"}).out;
  EXPECT_NE(plan.find("fft=plain"), std::string::npos) << plan;
  EXPECT_EQ(run({type1, "--plan", plan.substr(0, plan.size() - 1)}).out, text) << "the untuned plan, said";
  expect_refused({type1, "--stage", "passes"}, "--stage launches");
  expect_refused({"nufft:type=1,n=8,prec=f32,tol=1e-3"}, "has no m");
  expect_refused({"nufft:type=3,dim=1,m=9,prec=f32,tol=1e-3"}, "has no k");
  expect_refused({type1, "--plan",
                  "cuda;window=pswf(sigma=2,width=4,fine=64x64);sort=bins(bin=8x8);spread=tile_atomic("
                  "warps=2);interp=points(lanes=1);fft=cufft"},
                 "nothing to emit");
  const Finished large = run({"nufft:type=1,n=8388608,m=1000,prec=f64,tol=1e-3"});
  EXPECT_EQ(large.code, 1);
  EXPECT_NE(large.err.find("tables of this transform have more than 16 MB"), std::string::npos) << large.err;
}

TEST_F(EmitCommand, RefusesWhatTheDeviceCannotHold) {
  const std::string bulk = "{X(8,8,8,64,tw),X(8,8,1,8,no-tw)}[threads=64,tile=1x8,load=bulk,pipeline=1]:order=natural";
  EXPECT_EQ(run({bulk, "--batch", "8", "--stage", "launches"}).code, 0);
  expect_refused({bulk, "--batch", "8", "--device", "t4"}, "rule capability");
  const std::string wide = "{X(16,16,16,256,tw),X(16,16,1,16,no-tw)}[threads=1024,tile=1x64]:order=natural";
  EXPECT_EQ(run({wide, "--batch", "64", "--stage", "launches"}).code, 0);
  expect_refused({wide, "--batch", "64", "--device", "t4"}, "rule shared-memory");
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
