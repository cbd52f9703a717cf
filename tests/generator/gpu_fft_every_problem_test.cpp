// Every valid uniform problem has a program. The default plan is made, its kernels are written, and the elements that
// they touch are compared with the arrays (generator/codegen/fft/lower/reach.h), also for sizes that cannot be run in a
// test.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/known_devices.h"
#include "generator/codegen/fft/any_length/any_size.h"
#include "generator/codegen/fft/lower/reach.h"
#include "generator/planner/gpu_fft/planner.h"
#include "generator/planner/gpu_fft/program.h"
#include "tests/support/drawn_ffts.h"

namespace fourtune::generator {
namespace {

// Traits without a library to fall back on.
DeviceTraits generated_only(const char* name) {
  DeviceTraits traits = *known_device(name);
  traits.backend = "emulated";
  return traits;
}

Problem adjoint_of(const Problem& problem) {
  Problem adjoint = problem;
  adjoint.sign = -problem.sign;
  std::swap(adjoint.input_layout, adjoint.output_layout);
  if (problem.fft_type != FftType::c2c)
    adjoint.fft_type = problem.fft_type == FftType::r2c ? FftType::c2r : FftType::r2c;
  return adjoint;
}

void expect_fits(const GpuProgram& program, const DeviceTraits& traits) {
  ASSERT_FALSE(program.launches.empty());
  for (const KernelSource& kernel : program.kernels) {
    EXPECT_LE(kernel.shared_bytes, traits.shared_per_block) << kernel.entry;
    EXPECT_LE(kernel.block[0] * kernel.block[1] * kernel.block[2], 1024u) << kernel.entry;
  }
  for (const Launch& launch : program.launches) {
    EXPECT_GE(launch.grid[0], 1u);
    EXPECT_LE(launch.arguments.size(), 8u) << "parameters";
  }
}

void expect_programs(const Problem& problem, const DeviceTraits& traits) {
  SCOPED_TRACE(to_token(problem) + " on " + traits.name);
  try {
    std::string why;
    const Plan plan = gpu_fft_default_plan(problem, traits, &why);
    EXPECT_NE(why, "");
    expect_fits(*gpu_fft_program(problem, plan, traits), traits);
    const Problem adjoint = adjoint_of(problem);
    expect_fits(problem.fft_type == FftType::c2c ? *gpu_fft_program(adjoint, plan, traits)
                                                 : gpu_fft_adjoint_program(adjoint, traits),
                traits);
  } catch (const Error& error) {
    ADD_FAILURE() << error.what();
  }
}

TEST(GpuFftEveryProblem, DrawnOnesHaveProgramsThatStayInsideTheirArrays) {
  std::mt19937 random(20261121);
  const DeviceTraits h100 = generated_only("h100"), t4 = generated_only("t4");
  for (int i = 0; i < 240; ++i) {
    const Problem problem = test::drawn_fft(random, {std::int64_t{1} << 18, std::int64_t{1} << 22});
    expect_programs(problem, i % 4 ? h100 : t4);
  }
}

// Found by drawing problems: long lines whose tiles did not divide their digits, half spectra that take several
// kernels.
TEST(GpuFftEveryProblem, ThoseThatWereRefusedOrWroteOutsideHavePrograms) {
  const DeviceTraits h100 = generated_only("h100");
  for (const char* token :
       {"fft:type=c2c,n=90000,prec=f32,batch=14", "fft:type=c2r,n=588000,prec=f64", "fft:type=c2c,n=87480,prec=f64",
        "fft:type=r2c,n=45927,prec=f64,batch=4", "fft:type=r2c,n=262144,prec=f64",
        "fft:type=r2c,n=89600,prec=f32,batch=8", "fft:type=r2c,n=544320,prec=f64",
        "fft:type=r2c,n=114688,prec=f64,batch=9", "fft:type=r2c,n=285768,prec=f64,batch=4",
        "fft:type=r2c,n=224000,prec=f32,batch=21", "fft:type=r2c,n=9000x3x2,prec=f32",
        "fft:type=r2c,n=9000,prec=f64,place=in", "fft:type=c2c,n=1,prec=f32", "fft:type=r2c,n=1,prec=f64,batch=5",
        "fft:type=c2r,n=1x1,prec=f64,place=in", "fft:type=r2c,n=1x67,prec=f32", "fft:type=c2r,n=1x67x3,prec=f64",
        "fft:type=c2c,n=1,prec=f64,batch=5000"})
    expect_programs(parse_problem(token), h100);
  expect_programs(parse_problem("fft:type=r2c,n=89x729,prec=f64,batch=32"), generated_only("t4"));
}

// Every length up to a few thousand, and lines that need several kernels.
TEST(GpuFftEveryProblem, EveryLengthHasAPlanThatTheRulesTake) {
  const DeviceTraits h100 = generated_only("h100");
  int lines = 0;
  for (std::int64_t n = 8200; n < 600000; n += 1 + n / 20) {
    std::int64_t smooth = n;
    while (!fft::has_codelets(smooth)) ++smooth;
    for (const FftType type : {FftType::c2c, FftType::r2c, FftType::c2r})
      for (const Precision precision : {Precision::f32, Precision::f64}) {
        fft::EmitOptions options;
        options.n = {smooth, 1, 1}, options.type = type, options.precision = precision, options.device = h100;
        options.batch = 1 + n % 3, options.in_place = n % 2 == 0;
        SCOPED_TRACE(testing::Message() << smooth << " type " << static_cast<int>(type));
        const fft::FftPlan plan = fft::plain_plan(options);
        for (const fft::Violation& wrong : fft::check(plan))  // here kernels alternate between two workspaces
          EXPECT_EQ(wrong.rule, fft::Rule::target) << wrong.message;
        EXPECT_NO_THROW(fft::plan_passes(plan, options)) << fft::to_text(plan);
        lines += static_cast<int>(plan.kernels.size() > 1);
      }
  }
  EXPECT_GT(lines, 300);
}

// The rule prevents values between kernels that do not fit into the output.
TEST(GpuFftEveryProblem, AForcedPlanThatWouldWriteOutsideIsRefusedByName) {
  const Problem problem = parse_problem("fft:type=r2c,n=64,prec=f64,batch=2");
  const char* text =
      "{X(16,4,16,64,tw)}[threads=32,tile=16,store=sorted]{X(16,4,4,16,tw)}[threads=32,tile=4,store=sorted,to=work]{X("
      "16,4,1,"
      "4,no-tw)}[threads=32,tile=16]:order=natural,prec=f64";
  fft::EmitOptions options = notation_options(problem);
  try {
    fft::emit_program(fft::parse_fft_plan(text), options);
    FAIL() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::invalid_plan);
    EXPECT_NE(std::string(error.what()).find("rule target: kernel 1 writes 2048 bytes, there are 1056"),
              std::string::npos)
        << error.what();
  }
  fft::FftPlan plan = fft::parse_fft_plan(text);
  plan.kernels[0].with.to = fft::Target::work;
  EXPECT_NO_THROW(fft::emit_program(plan, options));
}

// What is only asked for is refused by rules, before any text is written, and as the program itself would be.
TEST(GpuFftEveryProblem, ChecksRefuseWhatProgramsRefuse) {
  DeviceTraits small = generated_only("h200");
  small.shared_per_block = 8 * 1024;
  int refused = 0, taken = 0;
  for (const DeviceTraits& traits : {generated_only("h200"), small})
    for (const char* token :
         {"fft:type=c2c,n=8192,prec=f64", "fft:type=c2c,n=10007,prec=f64", "fft:type=r2c,n=1009x12,prec=f32,place=in",
          "fft:type=c2c,n=16777259,prec=f32", "fft:type=c2r,n=4096x64,prec=f64", "fft:type=c2c,n=1,prec=f32",
          "fft:type=c2c,n=2,prec=f32,batch=549755813888", "fft:type=c2c,n=67x4,prec=f64,order=reversed"}) {
      SCOPED_TRACE(std::string(token) + ", bytes of shared memory: " + std::to_string(traits.shared_per_block));
      const Problem problem = parse_problem(token);
      Plan plan = plan_for(traits.backend);
      const auto refusal = [](auto attempt) {
        try {
          attempt();
          return std::string();
        } catch (const Error& error) {
          return std::to_string(static_cast<int>(error.status())) + ": " + error.what();
        }
      };
      const std::string check = refusal([&] { check_gpu_fft(problem, plan, traits); });
      EXPECT_EQ(check, refusal([&] { gpu_fft_program(problem, plan, traits); }));
      ++(check.empty() ? taken : refused);
    }
  EXPECT_GE(taken, 5);
  EXPECT_GE(refused, 3);
}

// Buffers for copies ahead of time count with their threads, not with the values of a tile alone.
TEST(GpuFftEveryProblem, PlansThatNeedTooMuchSharedMemoryAreRefusedByName) {
  const char* text =
      "cuda;fft=interleaved{X(7,3,7,21,tw),X(3,7,1,7,no-tw),Y(7,3,7,21,tw),Y(3,7,1,7,no-tw)}[threads=768,tile=1x1x32,"
      "twiddle=computed,load=async,pipeline=1]:order=natural";
  const DeviceTraits h200 = *known_device("h200");
  const Problem problem = parse_problem("fft:type=c2c,n=21x21,prec=f32,batch=33,layout=1x21+444/1x24+504");
  const Plan plan = parse_plan(text, problem);
  for (const bool adapted : {false, true}) {
    try {
      adapted ? static_cast<void>(gpu_fft_adapt(plan, problem, h200)) : check_gpu_fft(problem, plan, h200);
      FAIL() << "nothing was refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::invalid_plan);
      EXPECT_NE(std::string(error.what()).find("a block needs 241920 bytes of shared memory"), std::string::npos)
          << error.what();
    }
  }
}

}  // namespace
}  // namespace fourtune::generator
