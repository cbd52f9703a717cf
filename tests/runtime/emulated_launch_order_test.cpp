// Kernels that start before the one ahead of them has ended (templates/launch_order.cuh): what they may not do before
// they wait is reported, and what the rules allow is not.
#include <fmt/format.h>

#include <optional>

#include "tests/runtime/emulated_support.h"

namespace fourtune::runtime::emulated::testing {
namespace {

// The emulator's meaning of the functions in launch_order.cuh.
constexpr const char* kOrder =
    "inline void dev_wait_earlier() { fourtune_emulated_host.wait_earlier(); }\n"
    "inline void dev_follow() { dev_wait_earlier(); }\n";

KernelSource kernel_of(const char* entry, const std::string& body) {
  KernelSource kernel;
  kernel.entry = entry;
  kernel.text = kOrder + fmt::format(
                             "extern \"C\" __global__ void {}(const float* in, float* out, float* work) {{\n"
                             "  const int t = blockIdx.x * 32 + threadIdx.x;\n{}\n}}\n",
                             entry, body);  // the body starts at line 5
  kernel.block = {32, 1, 1};
  return kernel;
}

// Launches, two blocks each, with the first array, the second and a workspace.
GpuProgram call_of(const std::vector<KernelSource>& kernels) {
  GpuProgram program;
  program.kernels = kernels;
  program.workspace_bytes = {64 * sizeof(float)};
  for (int i = 0; i < static_cast<int>(kernels.size()); ++i)
    program.launches.push_back(
        {i, {2, 1, 1}, {kFirst, kSecond, BufferRef{BufferRef::Where::workspace, 0, 0}}, "test", 0, 0});
  return program;
}

std::optional<KernelFault> run(const std::vector<std::string>& bodies, bool instrumented) {
  std::vector<KernelSource> kernels;
  for (std::size_t i = 0; i < bodies.size(); ++i)
    kernels.push_back(kernel_of(fmt::format("step{}", i).c_str(), bodies[i]));
  RunOptions options;
  options.instrumented = instrumented;
  return fault_of(call_of(kernels), ramp(64), std::vector<float>(64), options);
}

void expect_overtakes(const std::optional<KernelFault>& fault, const char* kernel, int line, const char* words) {
  ASSERT_TRUE(fault) << "nothing was found";
  EXPECT_EQ(fault->kind(), FaultKind::overtakes) << fault->what();
  EXPECT_EQ(fault->place().kernel, kernel);
  EXPECT_EQ(fault->place().line, line) << fault->what();
  EXPECT_NE(std::string(fault->what()).find(words), std::string::npos) << fault->what();
}

constexpr const char* kFill = "  dev_follow();\n  work[t] = in[t];";

TEST(EmulatedLaunchOrder, AReadBeforeTheWaitOfWhatTheKernelAheadWroteIsFound) {
  const std::vector<std::string> early{kFill, "  const float v = work[t];\n  dev_follow();\n  out[t] = v;"};
  expect_overtakes(run(early, true), "step1", 5, "reads 4 bytes at byte 0 of workspace 0");
  EXPECT_FALSE(run({kFill, "  dev_follow();\n  const float v = work[t];\n  out[t] = v;"}, true));
}

TEST(EmulatedLaunchOrder, AWriteBeforeTheWaitIsFound) {
  expect_overtakes(run({kFill, "  out[t] = 1.0f;\n  dev_wait_earlier();"}, true), "step1", 5,
                   "writes 4 bytes at byte 0 of the second array");
}

// Also without instruments: a kernel behind both could start while the first one still runs.
TEST(EmulatedLaunchOrder, AThreadThatLeavesWithoutWaitingIsFound) {
  for (const bool instrumented : {false, true})
    expect_overtakes(run({kFill, "  if (t == 37) return;\n  dev_follow();\n  out[t] = work[t];"}, instrumented),
                     "step1", 0, "without having waited");
}

TEST(EmulatedLaunchOrder, WhatWasWrittenTwoLaunchesBackAndInputsMayBeReadAtOnce) {
  EXPECT_FALSE(run({kFill, "  dev_follow();\n  out[t] = in[t];",
                    "  const float v = work[t] + in[t];\n  dev_follow();\n  out[t] += v;"},
                   true));
}

TEST(EmulatedLaunchOrder, TheFirstKernelOfACallAndKernelsThatNeverWaitStartWhenEverythingIsDone) {
  EXPECT_FALSE(run({"  work[t] = in[t];\n  dev_follow();", "  out[t] = work[t];"}, true));
}

}  // namespace
}  // namespace fourtune::runtime::emulated::testing
