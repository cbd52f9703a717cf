// NVRTC without a GPU: kernels compile for every architecture that the installed compiler supports, and failures are
// named.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "runtime/backends/cuda/compiler.h"
#include "runtime/backends/cuda/driver_api.h"
#include "runtime/backends/cuda/nvrtc_api.h"

namespace fourtune::runtime::cuda {
namespace {

constexpr char kLog[] =
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'other' for 'sm_90'\n"
    "ptxas info    : Function properties for other\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 11 registers, used 0 barriers, 356 bytes cmem[0]\n"
    "ptxas info    : Compiling entry function 'radix' for 'sm_90'\n"
    "ptxas info    : Function properties for radix\n"
    "    24 bytes stack frame, 20 bytes spill stores, 36 bytes spill loads\n"
    "ptxas info    : Used 128 registers, used 1 barriers, 24 bytes cumulative stack size, 512 bytes smem\n";

TEST(CompileReport, ReadsRegistersSpillsAndSharedMemoryOfItsEntry) {
  EXPECT_EQ(parse_ptxas_log(kLog, "radix"), (CompileReport{128, 20, 36, 24, 512}));
  EXPECT_EQ(parse_ptxas_log(kLog, "other"), (CompileReport{11, 0, 0, 0, 0}));
  EXPECT_EQ(parse_ptxas_log(kLog, "absent"), CompileReport{});
  EXPECT_EQ(parse_ptxas_log("", "radix"), CompileReport{});
}

TEST(CompilePool, RunsEverythingOnceAndTheLongestFirst) {
  const std::vector<std::size_t> weights{3, 50, 7, 50, 1};
  std::vector<std::size_t> order;
  std::mutex mutex;
  run_longest_first(weights, 1, [&](std::size_t i) { order.push_back(i); });
  EXPECT_EQ(order, (std::vector<std::size_t>{1, 3, 2, 0, 4}));
  std::vector<int> seen(200);
  run_longest_first(std::vector<std::size_t>(200, 1), 4, [&](std::size_t i) {
    const std::lock_guard lock(mutex);
    ++seen[i];
  });
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), 200);
}

TEST(CompilePool, OneFailureDoesNotKeepTheOthersFromRunning) {
  std::atomic<int> ran = 0;
  EXPECT_THROW(run_longest_first(std::vector<std::size_t>(20, 1), 3,
                                 [&](std::size_t i) {
                                   ++ran;
                                   if (i == 4) throw Error(Status::unsupported, "this one");
                                 }),
               Error);
  EXPECT_EQ(ran, 20);
}

generator::KernelSource scale(int unroll) {
  generator::KernelSource kernel;
  kernel.entry = "scale";
  kernel.text = R"(
#ifndef FOURTUNE_EMULATED
#define FOURTUNE_SHARED(type, name)                                          \
  extern __shared__ __align__(128) unsigned char fourtune_shared_bytes[];    \
  type* name = reinterpret_cast<type*>(fourtune_shared_bytes)
#endif
extern "C" __global__ void __launch_bounds__(128) scale(const float2* in, float2* out, float factor) {
  FOURTUNE_SHARED(float2, tile);
  const int i = blockIdx.x * 128 + threadIdx.x;
  tile[threadIdx.x] = __ldg(in + i);
  __syncthreads();
  float2 v = tile[threadIdx.x ^ 1];
#pragma unroll
  for (int k = 0; k < )" +
                std::to_string(unroll) + R"(; ++k) v = make_float2(fmaf(v.x, factor, v.y), fmaf(v.y, factor, v.x));
  out[i] = v;
}
)";
  kernel.block = {128, 1, 1};
  kernel.shared_bytes = 1024;
  return kernel;
}

class Nvrtc : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_nvrtc(); !why.empty()) GTEST_SKIP() << "NOT TESTED: " << why;
  }
};

TEST_F(Nvrtc, CompilesForEveryArchitectureThatWeNameAndItKnows) {
  int compiled = 0;
  for (const int target : {75, 80, 86, 89, 90, 100, 120}) {
    const auto& known = nvrtc().architectures;
    if (std::find(known.begin(), known.end(), target) == known.end()) {
      std::printf("sm_%d is not known to %s\n", target, nvrtc_version_text().c_str());
      continue;
    }
    const CompiledKernel kernel = compile(scale(8), target);
    ASSERT_EQ(kernel.outcome, CompileOutcome::ok) << kernel.log;
    EXPECT_GT(kernel.image.size(), 500u);
    EXPECT_GT(kernel.report.registers, 7) << kernel.log;
    EXPECT_LE(kernel.report.registers, 40) << kernel.log;
    EXPECT_EQ(kernel.report.spill_store_bytes, 0);
    ++compiled;
  }
  EXPECT_GE(compiled, 4);
}

TEST_F(Nvrtc, CompilesManyOnSeveralThreadsInTheOrderGiven) {
  std::vector<generator::KernelSource> sources;
  for (const int unroll : {1, 64, 2, 16}) sources.push_back(scale(unroll));
  const auto results = compile_all(sources, nvrtc().architectures.back(), 2);
  ASSERT_EQ(results.size(), 4u);
  for (const CompiledKernel& each : results) EXPECT_EQ(each.outcome, CompileOutcome::ok) << each.log;
  EXPECT_GT(results[1].image.size(), results[0].image.size());
}

TEST_F(Nvrtc, ARegisterPromiseReachesTheCompiler) {
  generator::KernelSource source = scale(8);
  source.max_registers = 16;
  const auto options = compile_options(source, 90);
  EXPECT_NE(std::find(options.begin(), options.end(), "--maxrregcount=16"), options.end());
  EXPECT_LE(compile(source, nvrtc().architectures.front()).report.registers, 16);
}

TEST_F(Nvrtc, ABrokenTextIsAnOutcomeWithTheCompilersWords) {
  generator::KernelSource source = scale(1);
  source.text += "\nint broken = undeclared;\n";
  const CompiledKernel kernel = compile(source, nvrtc().architectures.front());
  EXPECT_EQ(kernel.outcome, CompileOutcome::failed);
  EXPECT_NE(kernel.log.find("undeclared"), std::string::npos) << kernel.log;
}

TEST_F(Nvrtc, AnUnknownArchitectureIsNamedWithTheKnownOnes) {
  try {
    compile(scale(1), 42);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::unsupported);
    EXPECT_NE(std::string(error.what()).find("sm_42"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find(std::to_string(nvrtc().architectures.front())), std::string::npos);
  }
}

TEST_F(Nvrtc, ACompilationThatTakesTooLongIsStopped) {
  if (!nvrtc().nvrtcSetFlowCallback) GTEST_SKIP() << "NOT TESTED: this NVRTC has no flow callback";
  const CompiledKernel kernel = compile(scale(64), nvrtc().architectures.front(), 1e-6);
  EXPECT_EQ(kernel.outcome, CompileOutcome::timeout) << kernel.seconds << " s " << kernel.log.substr(0, 300);
}

TEST(Driver, ItsAbsenceIsExplained) {
  const std::string why = why_no_driver();
  if (why.empty()) GTEST_SKIP() << "NOT TESTED: this machine has a driver and a GPU";
  EXPECT_NE(why.find("driver"), std::string::npos) << why;
  try {
    driver();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::backend_unavailable);
    EXPECT_EQ(error.what(), why);
  }
}

}  // namespace
}  // namespace fourtune::runtime::cuda
