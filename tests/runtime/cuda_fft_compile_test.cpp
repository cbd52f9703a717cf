// Compiles emitted FFT kernels with NVRTC, without a GPU: the winners of docs/design/gpu-fft.md and one kernel of every
// kind compile for each architecture, within the registers available to their blocks and without spills.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>

#include "base/known_devices.h"
#include "generator/codegen/fft/any_length/any_size.h"
#include "generator/planner/gpu_fft/planner.h"
#include "generator/planner/gpu_fft/program.h"
#include "runtime/backends/cuda/compiler.h"
#include "runtime/backends/cuda/nvrtc_api.h"
#include "tests/support/paper_plans.h"

namespace fourtune::runtime::cuda {
namespace {

using namespace generator::fft;

struct Case {
  const char* plan;
  int least_capability;
};
const Case kPlans[] = {
    // 128^3, 256^3 and 512^3 f32
    {"{Y(8,16,8,128,tw),X(8,16,8,128,tw),X(16,8,1,8,no-tw),Y(64,2,4,8,tw)}[threads=256,tile=1x1x1,to=work,registers=64]"
     "{Y(32,4,1,4,no-tw),Z(32,4,32,128,tw),Z(32,4,8,32,tw),Z(16,8,1,8,no-tw)}[threads=256,tile=8x1x1,registers=64]:"
     "order=natural",
     75},
    {"{Y(16,16,16,256,tw),X(128,2,128,256,tw),X(16,16,8,128,tw),X(32,8,1,8,no-tw),Y(64,4,4,16,tw)}[threads=512,"
     "tile=1x1x1,parts=apart,twiddle=computed,load=bulk,pipeline=1,to=work]{Y(64,4,1,4,no-tw),Z(32,8,32,256,tw),"
     "Z(32,8,4,32,tw),Z(64,4,1,4,no-tw)}[threads=512,tile=16x1x1,parts=apart,load=bulk,pipeline=1]:order=natural",
     90},
    {"{Y(32,16,32,512,tw),X(256,2,256,512,tw),X(32,16,16,256,tw),X(32,16,1,16,no-tw),Y(256,2,16,32,tw)}[threads=512,"
     "tile=1x1x1,parts=apart,to=work]{Y(32,16,1,16,no-tw),Z(32,16,32,512,tw),Z(256,2,16,32,tw),Z(32,16,1,16,no-tw)}["
     "threads=512,tile=16x1x1,cluster=8]:order=natural",
     90},
    // 256^3 f64, and the wide strided pass
    {"{Y(16,16,16,256,tw),X(16,16,16,256,tw),X(16,16,1,16,no-tw),Y(128,2,8,16,tw)}[threads=512,tile=1x1x1,parts=apart,"
     "to=work]{Y(32,8,1,8,no-tw),Z(128,2,128,256,tw),Z(16,16,8,128,tw),Z(32,8,1,8,no-tw)}[threads=512,tile=4x1x1,"
     "parts=apart]:order=natural,prec=f64",
     75},
    {"{X(32,32,32,1024,tw),X(32,32,1,32,no-tw)}[threads=64,tile=1x2x1,registers=128]{Y(32,32,32,1024,tw),"
     "Y(32,32,1,32,no-tw)}[threads=512,tile=16x1x1,parts=apart]:order=natural",
     75},
};

TEST(CudaFftCompile, WinnersFitTheirBlocksWithoutSpills) {
  if (const std::string why = why_no_nvrtc(); !why.empty()) GTEST_SKIP() << "NOT TESTED: " << why;
  const auto& known = nvrtc().architectures;
  int compiled = 0;
  for (const int capability : {75, 80, 90, 100, 120})
    for (const Case& c : kPlans) {
      if (capability < c.least_capability || std::find(known.begin(), known.end(), capability) == known.end()) continue;
      const FftPlan plan = parse_fft_plan(c.plan);
      EmitOptions o;
      o.n = lengths(plan);
      o.precision = plan.precision;
      for (const auto& kernel : emit_program(plan, o).kernels) {
        const CompiledKernel result = compile(kernel, capability);
        ++compiled;
        ASSERT_EQ(result.outcome, CompileOutcome::ok) << result.log;
        EXPECT_EQ(result.report.spill_store_bytes, 0) << "sm_" << capability << " " << c.plan;
        EXPECT_LE(result.report.registers * static_cast<int>(kernel.block[0]), 65536);
      }
    }
  EXPECT_GT(compiled, 0);
}

TEST(CudaFftCompile, EveryKindOfKernelCompiles) {
  if (const std::string why = why_no_nvrtc(); !why.empty()) GTEST_SKIP() << "NOT TESTED: " << why;
  const auto compiles = [](const EmitOptions& o, int capability = 90) {
    for (const auto& kernel : emit_any_size(o).kernels) {
      const CompiledKernel result = compile(kernel, capability);
      EXPECT_EQ(result.outcome, CompileOutcome::ok) << result.log;
      EXPECT_LE(result.report.spill_store_bytes, 16) << kernel.entry;
    }
  };
  EmitOptions o;
  for (const auto& n : {Lengths{67, 1, 1}, {60, 2503, 16}, {4099, 64, 8}, {48, 5, 10007}, {1, 1, 30011}}) {
    o.n = n;  // by convolution, in one kernel and in three
    for (const Precision precision : {Precision::f32, Precision::f64}) {
      o.precision = precision;
      compiles(o);
    }
  }
  o.precision = Precision::f32;
  for (const FftType type : {FftType::r2c, FftType::c2r}) {
    o.type = type;
    o.n = {24, 10, 1};
    compiles(o);
    for (const std::int64_t n : {4096, 131072, 2018, 60022}) {  // half lines, in one kernel and in several
      o.n = {n, 1, 1};
      for (const Precision precision : {Precision::f64, Precision::f32}) o.precision = precision, compiles(o);
    }
    o.n = {134, 1, 1};
    for (const int capability : {75, 80, 120}) compiles(o, capability);
  }
  o.type = FftType::c2c;
  o.precision = Precision::f32, o.device = *generator::known_device("h200"), o.batch = 1000;
  for (const std::int64_t n : {8748, 9000, 10206}) o.n = {n, 1, 1}, compiles(o);  // two blocks on a multiprocessor
  o.batch = 1, o.device = {};
  o.n = {24, 20, 1};
  for (std::size_t d = 0; d < 2; ++d) {
    Pruning w;
    w.kind = d == 0 ? Pruning::Kind::wrapped : Pruning::Kind::centred;
    w.kept = 10;
    o.hooks[d].input = w;
    o.hooks[d].input_factors.assign(10, 0.5);
  }
  compiles(o);
  o.hooks = {};
  o.n = {2048, 2048, 1024};  // 64-bit offsets
  compiles(o);
}

// The compiler must not take a pair apart because it may also be stored one by one: half of each sector would be empty.
TEST(CudaFftCompile, PairsOfRealValuesAreStoredAtOnce) {
  if (const std::string why = why_no_nvrtc(); !why.empty()) GTEST_SKIP() << "NOT TESTED: " << why;
  for (const Precision precision : {Precision::f32, Precision::f64}) {
    EmitOptions o;
    o.n = {2048, 1, 1}, o.type = FftType::c2r, o.precision = precision, o.batch = 4;
    o.device = *generator::known_device("h200");
    const generator::GpuProgram program = emit_any_size(o);
    ASSERT_EQ(program.kernels.size(), 1u);
    const CompiledKernel result = compile(program.kernels[0], KernelTarget{90, true});
    ASSERT_EQ(result.outcome, CompileOutcome::ok) << result.log;
    const std::string text(reinterpret_cast<const char*>(result.image.data()), result.image.size());
    const std::string store = precision == Precision::f32 ? "st.global.v2.f32" : "st.global.v2.f64";
    int stores = 0;
    for (std::size_t at = text.find(store); at != std::string::npos; at = text.find(store, at + 1)) ++stores;
    EXPECT_EQ(stores, 16) << "one for each pair of a thread";
  }
}

// Every whole plan that the paper prints, in its order and in natural order.
TEST(CudaFftCompile, ThePapersPlansCompileWithoutSpills) {
  if (const std::string why = why_no_nvrtc(); !why.empty()) GTEST_SKIP() << "NOT TESTED: " << why;
  const DeviceTraits device = *generator::known_device("h200");
  for (const PaperPlan& paper : published_plans())
    for (const DigitOrder order : {DigitOrder::reversed, DigitOrder::natural}) {
      const FftPlan plan = test::made_ready(parse_fft_plan(corrected(paper)), order, device);
      SCOPED_TRACE(std::string(paper.title) + " " + to_text(plan));
      EmitOptions o;
      o.n = lengths(plan);
      for (const CompiledKernel& result : compile_all(emit_program(plan, o).kernels, 90, 2)) {
        EXPECT_EQ(result.outcome, CompileOutcome::ok) << result.log;
        EXPECT_EQ(result.report.spill_store_bytes, 0);
      }
    }
}

// Randomly drawn candidates of the tuner, compiled for their device.
TEST(CudaFftCompile, CandidatesCompile) {
  if (const std::string why = why_no_nvrtc(); !why.empty()) GTEST_SKIP() << "NOT TESTED: " << why;
  generator::fft::EnumerationLimits few;
  few.plans = 60;
  few.groupings = 6;
  std::mt19937 random(3);
  for (const auto& [name, capability] : {std::pair{"h200", 90}, {"a100", 80}})
    for (const char* token :
         {"fft:type=c2c,n=64x64x64,prec=f32", "fft:type=r2c,n=48x40,prec=f64,place=in", "fft:type=c2r,n=60x20,prec=f32",
          "fft:type=c2c,n=2048,prec=f32,batch=9", "fft:type=c2c,n=4096x30,prec=f32,order=reversed",
          "fft:type=c2c,n=65536,prec=f64,place=in,order=unreversed"}) {
      const Problem problem = parse_problem(token);
      const DeviceTraits device = *generator::known_device(name);
      const auto list = generator::gpu_fft_candidates(problem, device, few).space.candidates;
      for (int drawn = 0; drawn < 2; ++drawn) {
        const generator::Plan& plan = list[random() % list.size()].plan;
        const auto program = generator::gpu_fft_program(problem, plan, device);
        if (!program) continue;  // the plan uses the library
        for (const auto& kernel : program->kernels) {
          const CompiledKernel result = compile(kernel, capability);
          EXPECT_EQ(result.outcome, CompileOutcome::ok) << generator::to_text(plan, problem) << "\n" << result.log;
        }
      }
    }
}

}  // namespace
}  // namespace fourtune::runtime::cuda
