// Runs randomly drawn uniform problems with untuned programs on the emulator, and compares with direct sums.
#include <gtest/gtest.h>

#include "base/known_devices.h"
#include "generator/codegen/fft/any_length/any_size.h"
#include "generator/planner/gpu_fft/planner.h"
#include "generator/planner/gpu_fft/program.h"
#include "tests/generator/fft_reference.h"
#include "tests/support/drawn_ffts.h"

namespace fourtune::test {
namespace {

DeviceTraits emulated() {
  DeviceTraits traits = *generator::known_device("h100");
  traits.backend = "emulated";
  return traits;
}

EmitOptions drawn_options_of(const Problem& problem, const DeviceTraits& traits) {
  EmitOptions options = generator::emit_options(problem);
  options.device = traits;
  return options;
}

void expect_right(const Problem& problem, bool all, const DeviceTraits& traits = emulated()) {
  SCOPED_TRACE(to_token(problem));
  const EmitOptions options = generator::emit_options(problem);
  const auto plan = generator::gpu_fft_default_plan(problem, traits);
  const double error = program_error(*generator::gpu_fft_program(problem, plan, traits), options, all);
  EXPECT_LT(error, 4 * allowed(options));
}

TEST(EmulatedDrawnFft, DefaultPlansComputeTheTransformAndLeaveGapsAlone) {
  std::mt19937 random(7);
  for (int i = 0; i < 30; ++i) expect_right(drawn_fft(random, {3000, 6000}), false);
}

TEST(EmulatedDrawnFft, FourDimensions) {
  std::mt19937 random(11);
  for (int i = 0; i < 12; ++i) expect_right(drawn_fft(random, {3000, 6000, true}), false);
  for (const char* token : {"fft:type=c2c,n=8x6x5x4,prec=f32,place=in", "fft:type=c2r,n=67x2x3x4,prec=f64,batch=2",
                            "fft:type=c2c,n=3x2x2x71,prec=f32", "fft:type=r2c,n=6x5x4x3,prec=f64,batch=2,place=in"})
    expect_right(parse_problem(token), true);
}

// Several kernels along one line, where a half spectrum cannot hold whole lines. Blocks with little memory hold lines
// of 4096 values.
TEST(EmulatedDrawnFft, LongLinesOfRealTransforms) {
  DeviceTraits small = emulated();
  for (const char* token : {"fft:type=r2c,n=4374,prec=f64,batch=2", "fft:type=r2c,n=4375,prec=f32,batch=2,place=in",
                            "fft:type=c2r,n=4500,prec=f32,place=in", "fft:type=c2r,n=4455,prec=f64",
                            "fft:type=r2c,n=4290x2,prec=f32,sign=1", "fft:type=c2r,n=4284x1x2,prec=f32",
                            "fft:type=r2c,n=4300,prec=f64,batch=2,layout=3+12901/2+4311"}) {
    const Problem problem = parse_problem(token);
    small.shared_per_block = problem.precision == Precision::f32 ? 32 << 10 : 64 << 10;
    ASSERT_GT(generator::fft::plain_plan(drawn_options_of(problem, small)).kernels.size(), 1u);
    expect_right(problem, false, small);
  }
}

// Real lines as complex ones of half the length: by codelets, in one kernel and in several, by convolutions in one, in
// three and by two plans; several lines in a block and a part of them in the last one; both signs; rows of odd lengths,
// which begin between two values that are loaded at once, values that are not neighbours, and rows in place.
TEST(EmulatedDrawnFft, RealLinesOfHalfTheLength) {
  DeviceTraits small = emulated();  // lines of 4096 values
  small.shared_per_block = 32 << 10;
  for (const char* token :
       {"fft:type=r2c,n=4096,prec=f32", "fft:type=c2r,n=8748,prec=f32,place=in,sign=-1",
        "fft:type=r2c,n=4302,prec=f32,layout=1+4303/2+4311", "fft:type=r2c,n=134,prec=f32,batch=33",
        "fft:type=r2c,n=262,prec=f64,batch=5,layout=1+263/1+140", "fft:type=r2c,n=268x3x2,prec=f32,place=in,sign=1",
        "fft:type=c2r,n=134,prec=f32,batch=33,place=in", "fft:type=c2r,n=262,prec=f64,batch=5,layout=2+280/3+790",
        "fft:type=c2r,n=134x6,prec=f32,batch=2,sign=-1"}) {
    const Problem problem = parse_problem(token);
    const DeviceTraits device = problem.n[0] > 8192 ? small : emulated();
    ASSERT_TRUE(generator::fft::takes_half_lines(drawn_options_of(problem, device))) << token;
    expect_right(problem, problem.n[0] < 1000, device);
  }
}

// Convolutions by two plans, whose DFTs are of either sign: half lines take their turns by that of the transform.
TEST(EmulatedDrawnFft, RealLinesOfHalfTheLengthByTwoPlans) {
  DeviceTraits tiny = emulated();
  tiny.shared_per_block = 500;
  for (const char* token : {"fft:type=c2r,n=262,prec=f32,batch=2,sign=1", "fft:type=c2r,n=262,prec=f32,sign=-1",
                            "fft:type=r2c,n=262,prec=f32,batch=2,sign=-1", "fft:type=r2c,n=262,prec=f32,sign=1"}) {
    const EmitOptions options = drawn_options_of(parse_problem(token), tiny);
    ASSERT_TRUE(generator::fft::takes_half_lines(options)) << token;
    const generator::GpuProgram program = generator::fft::emit_any_size(options);
    EXPECT_EQ(program.launches.size(), options.type == FftType::c2r ? 2u : 3u) << token;
    EXPECT_LT(program_error(program, options, false), 4 * allowed(options)) << token;
  }
}

// One kernel of a c2r loads each value once. The opposite one is in the thread's registers where a line's first DFTs
// are in pairs: one line and several in a block, the last of them empty, radices that are even and odd, one pair and
// two of a thread, both signs, rows in place and with gaps.
TEST(EmulatedDrawnFft, ThreadsOfAHalfSpectrumMakeOppositeDfts) {
  for (const char* token :
       {"fft:type=c2r,n=2048,prec=f32,batch=3", "fft:type=c2r,n=2048,prec=f64,batch=2,sign=1",
        "fft:type=c2r,n=8192,prec=f32,batch=2", "fft:type=c2r,n=16384,prec=f32", "fft:type=c2r,n=1000,prec=f32,batch=7",
        "fft:type=c2r,n=1176,prec=f64,batch=5,layout=1+640/1+1180", "fft:type=c2r,n=8748,prec=f32,place=in,sign=-1",
        "fft:type=c2r,n=8232,prec=f64,batch=2,layout=2+8270/3+24800",
        "fft:type=c2r,n=1260,prec=f32,batch=4,place=in"}) {
    const EmitOptions options = drawn_options_of(parse_problem(token), emulated());
    const generator::GpuProgram program = generator::fft::emit_any_size(options);
    ASSERT_EQ(program.kernels.size(), 1u) << token;
    EXPECT_NE(program.kernels[0].text.find("    ft_fold(x["), std::string::npos) << token;
    EXPECT_LT(program_error(program, options, false), 4 * allowed(options)) << token;
  }
}

// Else it is in shared memory, also across the block's lines: an odd number of DFTs has one without a pair.
TEST(EmulatedDrawnFft, HalfSpectraOfOneKernelAreFoldedInsideIt) {
  for (const char* token :
       {"fft:type=c2r,n=8262,prec=f64,layout=2+8270/3+24800", "fft:type=c2r,n=1250,prec=f32,batch=3"}) {
    const EmitOptions options = drawn_options_of(parse_problem(token), emulated());
    const generator::GpuProgram program = generator::fft::emit_any_size(options);
    ASSERT_EQ(program.kernels.size(), 1u) << token;
    EXPECT_NE(program.kernels[0].text.find("const real2* q = shared"), std::string::npos) << token;
    EXPECT_LT(program_error(program, options, false), 4 * allowed(options)) << token;
  }
  // A block that has no room for whole lines reads them twice.
  DeviceTraits small = emulated();
  small.shared_per_block = 48 << 10;
  const EmitOptions options = drawn_options_of(parse_problem("fft:type=c2r,n=16000,prec=f32"), small);
  const generator::GpuProgram program = generator::fft::emit_any_size(options);
  ASSERT_EQ(program.kernels.size(), 1u);
  EXPECT_EQ(program.kernels[0].text.find("const real2* q = shared"), std::string::npos);
  EXPECT_LT(program_error(program, options, false), 4 * allowed(options));
}

// The three kernels of a convolution, and one behind them.
TEST(EmulatedDrawnFft, HalfSpectraOfLongLinesAreMadeApart) {
  DeviceTraits small = emulated();
  small.shared_per_block = 32 << 10;
  const EmitOptions options = drawn_options_of(parse_problem("fft:type=r2c,n=4006,prec=f64,batch=2,place=in"), small);
  ASSERT_TRUE(generator::fft::takes_half_lines(options));
  const generator::GpuProgram program = generator::fft::emit_any_size(options);
  ASSERT_EQ(program.kernels.size(), 4u);
  EXPECT_NE(program.kernels.back().entry.find("unfold"), std::string::npos);
  EXPECT_LT(program_error(program, options, false), 4 * allowed(options));
}

// Factors of the half spectrum or of the real line, as adjoints have them, take whole lines, and so do odd lengths.
TEST(EmulatedDrawnFft, HooksAndOddLengthsTakeWholeLines) {
  EmitOptions options = drawn_options_of(parse_problem("fft:type=c2r,n=134,prec=f64"), emulated());
  EXPECT_TRUE(generator::fft::takes_half_lines(options));
  options.hooks[0].input_factors.assign(68, 0.5);
  EXPECT_FALSE(generator::fft::takes_half_lines(options));
  for (const char* token :
       {"fft:type=c2r,n=4097,prec=f64", "fft:type=r2c,n=201,prec=f64", "fft:type=c2c,n=134,prec=f64",
        "fft:type=r2c,n=510,prec=f64", "fft:type=c2r,n=690,prec=f32", "fft:type=c2r,n=480,prec=f64",
        "fft:type=c2r,n=600,prec=f64", "fft:type=c2r,n=2,prec=f64", "fft:type=r2c,n=1,prec=f32"})
    EXPECT_FALSE(generator::fft::takes_half_lines(drawn_options_of(parse_problem(token), emulated()))) << token;
}

// One kernel completes a half spectrum whose other dimensions it transforms itself: lengths with and without a middle,
// both signs, several transforms in a block, a part of them in the last one.
TEST(EmulatedDrawnFft, SmallRealTransformsOfSeveralDimensionsAreOneKernel) {
  for (const char* token :
       {"fft:type=c2r,n=9x8x5,prec=f32,batch=7", "fft:type=c2r,n=8x9,prec=f64,batch=3,sign=1",
        "fft:type=c2r,n=2x3x2,prec=f32", "fft:type=c2r,n=6x2x7,prec=f32,batch=5,place=in",
        "fft:type=c2r,n=5x4x3x2,prec=f64,batch=3", "fft:type=c2r,n=2x16,prec=f32,batch=150",
        "fft:type=r2c,n=9x8x5,prec=f32,batch=7", "fft:type=r2c,n=8x9,prec=f64,batch=3,sign=1",
        "fft:type=r2c,n=6x2x7,prec=f32,batch=5,place=in", "fft:type=r2c,n=2x16,prec=f32,batch=150"}) {
    const Problem problem = parse_problem(token);
    EXPECT_EQ(generator::fft::plain_plan(drawn_options_of(problem, emulated())).kernels.size(), 1u) << token;
    expect_right(problem, true);
  }
}

// What was finished before is not mirrored, what the same kernel does is.
TEST(EmulatedDrawnFft, HalfSpectraMayBeCompletedByAKernelOfTwoDimensions) {
  const char* z_then_both =
      "{Z(1,4,1,4,no-tw)}[threads=32,tile=8,to=work]{X(4,3,4,12,tw),X(3,4,1,4,no-tw),Y(2,3,2,6,tw),Y(3,2,1,2,no-tw)}["
      "threads=32,tile=1]:order=natural";
  const char* y_then_both =
      "{Y(1,6,1,6,no-tw)}[threads=32,tile=8,to=work]{X(1,12,1,12,no-tw),Z(1,4,1,4,no-tw)}[threads=32,tile=1]:order="
      "natural";
  for (const char* text : {z_then_both, y_then_both})
    for (const char* token : {"fft:type=c2r,n=12x6x4,prec=f32,batch=3", "fft:type=c2r,n=12x6x4,prec=f32,sign=1"}) {
      SCOPED_TRACE(std::string(token) + " " + text);
      const Problem problem = parse_problem(token);
      EmitOptions options = generator::notation_options(problem);
      options.device = emulated();
      const auto plan = generator::fft::parse_fft_plan(text);
      ASSERT_EQ(generator::why_not_emitted(plan, options), "");
      EXPECT_LT(program_error(generator::fft::emit_program(plan, options), options, true), 4 * allowed(options));
    }
  // A dimension that the first kernel along x does in part: its values are neither finished nor all there.
  const Problem problem = parse_problem("fft:type=c2r,n=12x6,prec=f32");
  EmitOptions options = generator::notation_options(problem);
  options.device = emulated();
  const auto split = generator::fft::parse_fft_plan(
      "{Y(2,3,2,6,tw)}[threads=32,tile=7,to=work]{X(1,12,1,12,no-tw),Y(3,2,1,2,no-tw)}[threads=32,tile=1]:order=natural");
  EXPECT_NE(generator::why_not_emitted(split, options).find("half spectrum"), std::string::npos);
}

// Rows that do not replace each other in place, and values that are their own transform.
TEST(EmulatedDrawnFft, RealTransformsInPlaceWithLayoutsOfTheirOwn) {
  for (const char* token :
       {"fft:type=r2c,n=20,prec=f32,batch=5,place=in,layout=1+20/1+11",
        "fft:type=r2c,n=12,prec=f64,batch=4,place=in,layout=4+1/4+1",
        "fft:type=c2r,n=20,prec=f32,batch=5,place=in,layout=1+11/1+20",
        "fft:type=c2r,n=67,prec=f32,batch=3,place=in,layout=1+34/1+67",
        "fft:type=r2c,n=1,prec=f32,batch=9,place=in,layout=1+1/1+1",
        "fft:type=r2c,n=16,prec=f32,batch=5,place=in,layout=1+18/1+9", "fft:type=c2r,n=1x67,prec=f64",
        "fft:type=r2c,n=1x67,prec=f32,place=in", "fft:type=c2c,n=1x1,prec=f64,batch=300"})
    expect_right(parse_problem(token), true);
}

}  // namespace
}  // namespace fourtune::test
