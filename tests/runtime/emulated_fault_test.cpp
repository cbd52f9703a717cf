// Faults that would make a GPU hang or give silent errors are reported with kernel, line, block and thread.
#include <cmath>
#include <cstdlib>
#include <optional>

#include "tests/runtime/emulated_support.h"

namespace fourtune::runtime::emulated::testing {
namespace {

KernelSource kernel_of(const std::string& body, std::uint32_t threads = 64, std::uint32_t shared_bytes = 1024) {
  KernelSource kernel;
  kernel.entry = "tested";
  kernel.text =
      "extern \"C\" __global__ void tested(const float* in, float* out) {\n  FOURTUNE_SHARED(float, s);\n"
      "  const int t = threadIdx.x;\n" +
      body + "\n}\n";  // the body starts at line 4
  kernel.block = {threads, 1, 1};
  kernel.shared_bytes = shared_bytes;
  return kernel;
}

std::optional<KernelFault> run(const KernelSource& kernel, const RunOptions& options = {}, std::uint32_t blocks = 2,
                               std::size_t numbers = 512) {
  return fault_of(program_of(kernel, blocks), ramp(numbers), std::vector<float>(numbers), options);
}

RunOptions instrumented() {
  RunOptions options;
  options.instrumented = true;
  return options;
}

// Expects this kind of fault, with a text that contains the line and all of the words.
void expect_fault(const std::optional<KernelFault>& fault, FaultKind kind, int line,
                  const std::vector<std::string>& words = {}) {
  ASSERT_TRUE(fault) << "nothing was found";
  EXPECT_EQ(fault->kind(), kind) << fault->what();
  EXPECT_EQ(fault->place().line, line) << fault->what();
  EXPECT_EQ(fault->place().kernel, "tested");
  EXPECT_EQ(fault->status(), Status::internal);
  for (const std::string& word : words)
    EXPECT_NE(std::string(fault->what()).find(word), std::string::npos) << word << " in: " << fault->what();
}

// Runs a correct kernel in all ways and expects the output given by `expected`.
void expect_clean(const KernelSource& kernel, const std::function<float(std::size_t)>& expected,
                  std::uint32_t blocks = 2, std::size_t numbers = 128) {
  const std::vector<float> first = ramp(512), second(numbers);
  run_all_ways(program_of(kernel, blocks), std::as_bytes(std::span(first)), std::as_bytes(std::span(second)),
               [&](auto, std::span<const std::byte> got) {
                 const auto* values = reinterpret_cast<const float*>(got.data());
                 for (std::size_t i = 0; i < numbers; ++i)
                   if (!(std::abs(values[i] - expected(i)) <= 1e-4f * (1 + std::abs(expected(i)))))
                     return "element " + std::to_string(i) + " is " + std::to_string(values[i]);
                 return std::string();
               });
}

// ---- barriers --------------------------------------------------------------------------------------------------
TEST(EmulatedBarrier, ThatSomeThreadsLeaveOutIsDivergent) {
  expect_fault(
      run(kernel_of("  if (t < 40) return;\n  __syncthreads();")), FaultKind::divergent_barrier, 5,
      {"threads 0-39 left the kernel", "threads 40-63 at the barrier of line 5", "block (0,0,0)", "thread (40,0,0)"});
}

TEST(EmulatedBarrier, TwoOfOneBlockAtOnceAreDivergent) {
  expect_fault(run(kernel_of("  if (t < 32)\n    __syncthreads();\n  else\n    __syncthreads();")),
               FaultKind::divergent_barrier, 7, {"threads 0-31 at the barrier of line 5"});
}

TEST(EmulatedBarrier, AgainstAWarpOperationIsADeadlock) {
  expect_fault(run(kernel_of("  if (t == 0)\n    __syncthreads();\n  else\n    __syncwarp();")), FaultKind::deadlock, 5,
               {"thread", "at the barrier of line 5", "at the warp operation of line 7", "mask 0xffffffff"});
}

TEST(EmulatedBarrier, IsNotNeededForWhatOneThreadWroteItself) {
  expect_clean(kernel_of("  s[t] = in[t];\n  out[blockIdx.x * 64 + t] = s[t];"),
               [](std::size_t i) { return static_cast<float>(i % 64 + 1); });
}

// ---- warps -----------------------------------------------------------------------------------------------------
TEST(EmulatedWarp, ShufflesAndVotes) {
  expect_clean(kernel_of(R"(  float v = (float)(t % 32);
  v += __shfl_xor_sync(0xffffffffu, v, 1);          // 4 (lane / 2) + 1
  v += __shfl_sync(0xffffffffu, (float)t, 3, 8);    // the fourth lane of each eight
  v += __shfl_up_sync(0xffffffffu, (float)t, 2);
  v += (float)__shfl_down_sync(0xffffffffu, (double)t, 2, 16);
  v += (float)__popc(__ballot_sync(0xffffffffu, t % 3 == 0));
  v += __any_sync(0xffffffffu, t % 32 == 7) ? 100.0f : 0.0f;
  v += __all_sync(0xffffffffu, t % 32 == 7) ? 1000.0f : 0.0f;
  out[blockIdx.x * 64 + t] = v;)"),
               [](std::size_t i) {
                 const int t = static_cast<int>(i % 64), lane = t % 32;
                 int v = 4 * (lane / 2) + 1 + (t / 8 * 8 + 3) + (lane < 2 ? t : t - 2) + (lane % 16 < 14 ? t + 2 : t);
                 for (int other = t / 32 * 32; other < t / 32 * 32 + 32; ++other) v += other % 3 == 0;
                 return static_cast<float>(v + 100);
               });
}

TEST(EmulatedWarp, LanesOfOneValueFindEachOther) {
  expect_clean(kernel_of(R"(  const unsigned alike = __match_any_sync(0xffffffffu, (unsigned long long)(t % 5) << 40);
  out[blockIdx.x * 64 + t] = (float)(__popc(alike) * 100 + __ffs((int)alike));)"),
               [](std::size_t i) {
                 const int t = static_cast<int>(i % 64), first = t / 32 * 32;
                 int count = 0, least = 0;
                 for (int other = first + 31; other >= first; --other)
                   if (other % 5 == t % 5) ++count, least = other - first + 1;
                 return static_cast<float>(100 * count + least);
               });
}

TEST(EmulatedWarp, SubsetsMeetByTheirMasks) {
  expect_clean(kernel_of(R"(  float v;
  if (t % 32 < 16) v = __shfl_sync(0x0000ffffu, (float)t, 5);
  else v = __shfl_sync(0xffff0000u, (float)t, 20);
  out[blockIdx.x * 64 + t] = v;)"),
               [](std::size_t i) { return static_cast<float>(i % 64 / 32 * 32 + (i % 32 < 16 ? 5 : 20)); });
}

TEST(EmulatedWarp, APartOfTheLastWarpIsEnough) {
  expect_clean(
      kernel_of("  out[blockIdx.x * 40 + t] = __shfl_sync(0xffffffffu, (float)t, 1);", 40),
      [](std::size_t i) { return static_cast<float>(i % 40 < 32 ? 1 : 33); }, 2, 80);
}

TEST(EmulatedWarp, SyncwarpOrdersTheWarpAndNothingElse) {
  const std::string good = "  s[t] = in[t];\n  __syncwarp();\n  out[blockIdx.x * 64 + t] = s[t ^ 1];";
  expect_clean(kernel_of(good), [](std::size_t i) { return static_cast<float>((i % 64 ^ 1) + 1); });
  std::string across = good;
  across.replace(across.find("t ^ 1"), 5, "t ^ 32");
  expect_fault(run(kernel_of(across), instrumented()), FaultKind::race, 6, {"thread 32 wrote at line 4"});
  RunOptions reversed = instrumented();
  reversed.threads = ExecutionOrder::random;
  const auto fault = run(kernel_of(across), reversed);
  ASSERT_TRUE(fault);
}

TEST(EmulatedWarp, AShuffleDoesNotOrderMemory) {
  expect_fault(run(kernel_of("  s[t] = in[t];\n  float v = __shfl_sync(0xffffffffu, 1.0f, 0);\n"
                             "  out[blockIdx.x * 64 + t] = v + s[t ^ 1];"),
                   instrumented()),
               FaultKind::race, 6, {"line 4", "nothing orders the two"});
}

TEST(EmulatedWarp, AMaskWithoutTheCallerOrTheSourceIsNamed) {
  expect_fault(run(kernel_of("  __syncwarp(0x0000ffffu);")), FaultKind::bad_warp_mask, 4, {"lane 16"});
  expect_fault(run(kernel_of("  if (t % 32 < 8)\n    out[t] = __shfl_sync(0xffu, (float)t, 9);")),
               FaultKind::bad_warp_mask, 5, {"reads lane 9"});
}

TEST(EmulatedFault, NamesBlockAndThreadInAllThreeDimensions) {
  FaultPlace place;
  place.kernel = "tested", place.line = 7, place.block = {1, 2, 3}, place.thread = {4, 5, 6};
  EXPECT_STREQ(KernelFault(FaultKind::race, place, "it").what(),
               "kernel tested line 7, block (1,2,3), thread (4,5,6): race: it");
}

// ---- memory ----------------------------------------------------------------------------------------------------
TEST(EmulatedMemory, UninitialisedSharedMemoryIsNanAndFound) {
  const KernelSource kernel =
      kernel_of("  if (t != 5) s[t] = in[t];\n  __syncthreads();\n  out[blockIdx.x * 64 + t] = s[t];");
  std::vector<float> first = ramp(512), second(512);
  run_program(program_of(kernel, 1), bytes_of(first), bytes_of(second));
  EXPECT_TRUE(std::isnan(second[5]));
  EXPECT_EQ(second[6], 7);
  expect_fault(run(kernel, instrumented()), FaultKind::uninitialised, 6,
               {"4 bytes at byte 20 of shared memory", "(5,0,0)"});
}

TEST(EmulatedMemory, SharedMemoryOfTheBlockBeforeIsForgotten) {
  const KernelSource kernel =
      kernel_of("  if (blockIdx.x == 0) s[t] = in[t];\n  __syncthreads();\n  if (blockIdx.x == 1) out[t] = s[t];");
  expect_fault(run(kernel, instrumented()), FaultKind::uninitialised, 6, {"block (1,0,0)"});
}

TEST(EmulatedMemory, ARaceTellsBothSides) {
  expect_fault(run(kernel_of("  s[0] = in[t];"), instrumented()), FaultKind::race, 4,
               {"writes 4 bytes at byte 0 of shared memory", "thread 0 wrote at line 4", "thread (1,0,0)"});
  expect_fault(run(kernel_of("  s[t] = in[t];\n  __syncthreads();\n  float v = s[63 - t];\n  s[t] = v;\n  out[t] = v;"),
                   instrumented()),
               FaultKind::race, 6, {});
}

TEST(EmulatedMemory, BlocksOfOneLaunchMayNotShareGlobalMemory) {
  expect_fault(run(kernel_of("  out[t + 32 * blockIdx.x] = in[t];"), instrumented()), FaultKind::race, 4,
               {"of another block", "the second array", "block (1,0,0)"});
  expect_clean(
      kernel_of("  out[t] = 0.0f;\n  out[64 + t] = 0.0f;"), [](std::size_t) { return 0.0f; }, 1);
}

TEST(EmulatedMemory, LaterLaunchesAreOrderedBehindEarlierOnes) {
  GpuProgram program = program_of(kernel_of("  out[blockIdx.x * 64 + t] = in[127 - blockIdx.x * 64 - t] + 1.0f;"), 2);
  program.workspace_bytes = {512};
  const BufferRef workspace{BufferRef::Where::workspace, 0, 0};
  program.launches = {{0, {2, 1, 1}, {kFirst, workspace}, "a", 0, 0}, {0, {2, 1, 1}, {workspace, kSecond}, "b", 0, 0}};
  std::vector<float> first = ramp(128), second(128);
  run_program(program, bytes_of(first), bytes_of(second), instrumented());
  for (std::size_t i = 0; i < 128; ++i) EXPECT_EQ(second[i], static_cast<float>(i + 3));
  program.launches.erase(program.launches.begin());
  expect_fault(fault_of(program, first, second, instrumented()), FaultKind::uninitialised, 4, {"workspace 0"});
}

TEST(EmulatedMemory, AtomicsDoNotRaceWithEachOther) {
  const std::string add =
      "  if (t == 0) s[0] = 0.0f;\n  __syncthreads();\n  atomicAdd(s, 1.0f);\n  __syncthreads();\n"
      "  out[blockIdx.x * 64 + t] = s[0];";
  expect_clean(kernel_of(add), [](std::size_t) { return 64.0f; });
  std::string mixed = add;
  mixed.replace(mixed.find("atomicAdd(s, 1.0f);"), 19, "if (t < 32) atomicAdd(s, 1.0f); else s[0] += 1.0f;");
  expect_fault(run(kernel_of(mixed), instrumented()), FaultKind::race, 6, {"changed atomically"});
}

TEST(EmulatedMemory, NegativeIndicesAreOutOfBounds) {
  const KernelSource kernel = kernel_of("  if (t == 3) out[-1 - t] = 1.0f;");
  expect_fault(run(kernel), FaultKind::out_of_bounds, 0, {"somebody in this block wrote"});
  expect_fault(run(kernel, instrumented()), FaultKind::out_of_bounds, 4,
               {"16 bytes before the start of the second array"});
}

// Without an instrumented run: memory beside an array reads as NaN, so that a result shows it.
TEST(EmulatedMemory, WhatLiesBesideAnArrayReadsAsNan) {
  for (const char* index : {"-1 - t", "509 + t % 3"}) {
    const KernelSource kernel = kernel_of(std::string("  out[t] = in[") + index + "];");
    std::vector<float> first = ramp(509), second(64);
    run_program(program_of(kernel, 1), bytes_of(first), bytes_of(second));
    for (const float value : second) EXPECT_TRUE(std::isnan(value)) << index << ": " << value;
  }
  const KernelSource wide = kernel_of("  ((double*)out)[t] = ((const double*)in)[-1 - t];");
  std::vector<float> first = ramp(512), second(128);
  run_program(program_of(wide, 1), bytes_of(first), bytes_of(second));
  for (std::size_t i = 0; i < 64; ++i) {
    double value = 0;
    std::memcpy(&value, &second[2 * i], 8);
    EXPECT_TRUE(std::isnan(value)) << value;
  }
}

TEST(EmulatedMemory, FarIndicesAreOutOfBounds) {
  expect_fault(run(kernel_of("  out[t == 7 ? 100000 : t] = in[t];")), FaultKind::out_of_bounds, 4,
               {"past the end of the second array", "thread (7,0,0)"});
  expect_fault(run(kernel_of("  if (t == 7) *(float*)64 = 1.0f;")), FaultKind::out_of_bounds, 4, {"near no buffer"});
}

TEST(EmulatedMemory, AMisalignedVectorIsFound) {
  expect_fault(run(kernel_of("  if (t == 1) *(volatile double*)(out + 1) = 1.0;"), instrumented()),
               FaultKind::misaligned, 4);
}

// ---- copies ----------------------------------------------------------------------------------------------------
TEST(EmulatedCopy, IsNanUntilItsWait) {
  const std::string body =
      "  fourtune_async_copy(s + t, in + t, 4);\n  fourtune_async_commit();\n  float v = s[t];\n"
      "  fourtune_async_wait(0);\n  out[blockIdx.x * 64 + t] = v;";
  std::vector<float> first = ramp(512), second(512);
  run_program(program_of(kernel_of(body), 1), bytes_of(first), bytes_of(second));
  for (int t = 0; t < 64; ++t) EXPECT_TRUE(std::isnan(second[t])) << t;
  expect_fault(run(kernel_of(body), instrumented()), FaultKind::early_read, 6);
}

TEST(EmulatedCopy, NeverWaitedForIsFound) {
  expect_fault(run(kernel_of("  fourtune_async_copy(s + t, in + t, 4);\n  fourtune_async_commit();")),
               FaultKind::never_waited, 4);
}

TEST(EmulatedCopy, PastTheEndIsFoundWhereItIsIssued) {
  expect_fault(run(kernel_of("  fourtune_async_copy(s + 4 * t, in + 4 * t + 3 * 128, 16);\n  "
                             "fourtune_async_commit();\n  fourtune_async_wait(0);")),
               FaultKind::out_of_bounds, 4, {"past the end of the first array"});
}

TEST(EmulatedCopy, AnMbarrierThatNobodyCompletesIsADeadlock) {
  const std::string body =
      "  unsigned long long* b = (unsigned long long*)(s + 128);\n"
      "  if (t == 0) fourtune_mbarrier_init(b, 2);\n  __syncthreads();\n"
      "  if (t == 0) fourtune_mbarrier_arrive(b);\n  fourtune_mbarrier_wait(b, 0);\n"
      "  out[blockIdx.x * 64 + t] = 1.0f;";
  expect_fault(run(kernel_of(body)), FaultKind::deadlock, 8, {"at the mbarrier wait of line 8, parity 0"});
  expect_fault(run(kernel_of("  fourtune_mbarrier_wait((unsigned long long*)s, 0);")), FaultKind::bad_mbarrier, 4);
}

TEST(EmulatedCopy, ABulkStoreReadsItsSourceLate) {
  const std::string body =
      "  s[t] = in[t];\n  __syncthreads();\n"
      "  if (t == 0) {\n    fourtune_bulk_store(out + blockIdx.x * 64, s, 256);\n"
      "    fourtune_bulk_commit();\n    fourtune_bulk_wait(0);\n  }\n  __syncthreads();\n  s[t] = 0.0f;";
  expect_clean(kernel_of(body), [](std::size_t i) { return static_cast<float>(i % 64 + 1); });
  std::string early = body;
  early.replace(early.find("    fourtune_bulk_wait(0);\n"), 27, "");
  EXPECT_TRUE(run(kernel_of(early)));
}

// ---- clusters --------------------------------------------------------------------------------------------------
TEST(EmulatedCluster, BlocksExchangeThroughEachOthersSharedMemory) {
  const std::string body =
      "  s[t] = in[blockIdx.x * 64 + t];\n  fourtune_cluster_sync();\n"
      "  const float* other = fourtune_cluster_map(s, fourtune_cluster_rank() ^ 1);\n"
      "  const float v = other[63 - t];\n  fourtune_cluster_sync();\n"
      "  out[blockIdx.x * 64 + t] = v;";
  KernelSource kernel = kernel_of(body);
  kernel.cluster = {2, 1, 1};
  const auto expected = [](std::size_t i) { return static_cast<float>((i / 64 ^ 1) * 64 + 63 - i % 64 + 1); };
  expect_clean(kernel, expected, 4, 256);
  std::string missing = body;
  missing.replace(missing.find("fourtune_cluster_sync();"), 24, "__syncthreads();");
  KernelSource broken = kernel_of(missing);
  broken.cluster = {2, 1, 1};
  const auto fault = run(broken, instrumented(), 4);
  ASSERT_TRUE(fault);  // the other block may not have started yet
  EXPECT_EQ(fault->kind(), FaultKind::out_of_bounds) << fault->what();
}

TEST(EmulatedCluster, ArrivingAndWaitingAlternate) {
  const auto kind = [](const std::string& body) {
    KernelSource kernel = kernel_of(body);
    kernel.cluster = {2, 1, 1};
    const auto fault = run(kernel, instrumented(), 4);
    return fault ? std::optional(fault->kind()) : std::nullopt;
  };
  const std::string store = "  out[blockIdx.x * 64 + t] = in[blockIdx.x * 64 + t];\n";
  EXPECT_EQ(kind("  fourtune_cluster_arrive();\n" + store + "  fourtune_cluster_wait();\n"), std::nullopt);
  EXPECT_EQ(kind("  fourtune_cluster_arrive();\n  fourtune_cluster_arrive();\n" + store), FaultKind::divergent_barrier);
  EXPECT_EQ(kind(store + "  fourtune_cluster_wait();\n"), FaultKind::divergent_barrier);
  // Half of the threads never arrive.
  EXPECT_EQ(kind("  if (t < 32) fourtune_cluster_sync();\n" + store), FaultKind::divergent_barrier);
}

// ---- time, stacks, undefined behaviour, compiling ---------------------------------------------------------------
TEST(EmulatedRun, EndlessLoopsAreStopped) {
  RunOptions options;
  options.seconds = 0.2;
  expect_fault(run(kernel_of("  volatile float* flag = out;\n  while (flag[0] == 0.0f) flag[1] = 1.0f;"), options),
               FaultKind::endless, 5, {"0.2 s"});
}

TEST(EmulatedRun, AWaitThatPausesLetsOthersRun) {
  expect_clean(kernel_of("  if (t == 0) s[0] = 0.0f;\n  __syncthreads();\n"
                         "  if (t == 63) atomicExch(s, 1.0f);\n"
                         "  if (t == 0)\n    while (atomicAdd(s, 0.0f) == 0.0f) __nanosleep(100);\n"
                         "  out[blockIdx.x * 64 + t] = 1.0f;"),
               [](std::size_t) { return 1.0f; });
}

TEST(EmulatedRun, TooLargeLocalVariablesAreAStackOverflow) {
  const auto fault =
      run(kernel_of("  volatile float large[65536];\n  for (int i = 65535; i >= 0; --i) large[i] = in[t];\n"
                    "  out[t] = large[t];"));
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind(), FaultKind::stack_overflow) << fault->what();
}

TEST(EmulatedRun, UndefinedBehaviourIsTrapped) {
  RunOptions options;
  options.undefined = true;
  expect_fault(run(kernel_of("  out[t] = (float)(1 << ((int)in[t] + 20));"), options), FaultKind::undefined, 4);
  EXPECT_FALSE(run(kernel_of("  if (blockIdx.x == 0) out[t] = (float)(1 << ((int)in[t] % 20));"), options));
}

TEST(EmulatedRun, GoesOnAfterAFault) {
  std::vector<float> first = ramp(512), second(512);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(run(kernel_of("  if (t < 40) return;\n  __syncthreads();")));
  run_program(program_of(reduction(), 2), bytes_of(first), bytes_of(second));
  EXPECT_EQ(second[255], 256.0f * 257 / 2 + 1000);
}

TEST(EmulatedRun, TrigonometryAndFmaAreThoseOfCuda) {
  expect_clean(kernel_of(R"(  float s1, c1; double s2, c2;
  sincospif(0.125f * (float)t - 3.0f, &s1, &c1);
  sincospi(0.125 * (double)t - 3.0, &s2, &c2);
  const float2 v = make_float2(s1, c1);
  out[blockIdx.x * 64 + t] = fmaf(v.x, 10.0f, v.y) + (float)(s2 - (double)s1) + (float)(c2 - (double)c1);)"),
               [](std::size_t i) {
                 const double x = 0.125 * static_cast<double>(i % 64) - 3.0, pi = 3.14159265358979323846;
                 return static_cast<float>(10 * std::sin(pi * x) + std::cos(pi * x));
               });
}

TEST(EmulatedCompile, AnErrorTellsLineAndReason) {
  try {
    run(kernel_of("  out[t] = undeclared;"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::internal);
    EXPECT_NE(std::string(error.what()).find("undeclared"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find(":4:"), std::string::npos) << error.what();
  }
}

TEST(EmulatedCompile, HappensOncePerText) {
  run(kernel_of("  out[t + 64 * blockIdx.x] = 17.0f;"));
  const int before = compilations();
  run(kernel_of("  out[t + 64 * blockIdx.x] = 17.0f;"));
  EXPECT_EQ(compilations(), before);
}

// A program's kernels are compiled together.
TEST(EmulatedCompile, KernelsOfOneProgramDoNotSeeEachOther) {
  const auto adding = [](const std::string& entry, const std::string& definition, const std::string& body) {
    KernelSource kernel = kernel_of("");
    kernel.entry = entry;
    kernel.text = definition + "typedef float number;\nstatic __device__ number step() { return STEP; }\n" +
                  "#ifdef SEEN\nthere is no such text\n#endif\n#define SEEN\nextern \"C\" __global__ void " + entry +
                  "(const float* in, float* out) {\n  const int t = threadIdx.x;\n" + body + "\n}\n";
    return kernel;
  };
  const std::string add = "  out[t] = (out == in ? out[t] : in[t]) + step();";
  GpuProgram program;
  program.kernels = {adding("one", "#define STEP 1.0f\n", add), adding("two", "#define STEP 20.0f\n", add),
                     adding("two", "#define STEP 300.0f\n", add),  // of the same name
                     adding("far", "#define STEP 4000.0f\n", "  out[t + 4096] = step();")};
  for (const int kernel : {0, 1, 2}) program.launches.push_back({kernel, {1, 1, 1}, {kFirst, kFirst}, "add", 0, 0});
  std::vector<float> values(64);
  run_program(program, bytes_of(values), bytes_of(values));
  EXPECT_EQ(values, std::vector<float>(64, 321.0f));
  // The line of a fault is that of its kernel's text.
  program.launches = {{3, {1, 1, 1}, {kFirst, kSecond}, "far", 0, 0}};
  for (const bool exact : {false, true}) {
    const auto fault = fault_of(program, ramp(64), std::vector<float>(64), exact ? instrumented() : RunOptions{});
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->place().line, 10) << fault->what();
    EXPECT_EQ(fault->place().kernel, "far");
  }
}

TEST(EmulatedCompile, WithoutACompilerSaysWhatIsMissing) {
  ASSERT_EQ(::setenv("FOURTUNE_EMULATED_CXX", "/nonexistent/compiler", 1), 0);
  try {
    run(kernel_of("  out[t + 64 * blockIdx.x] = 18.0f;"));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::backend_unavailable);
    EXPECT_NE(std::string(error.what()).find("FOURTUNE_EMULATED_CXX"), std::string::npos) << error.what();
  }
  ::unsetenv("FOURTUNE_EMULATED_CXX");
}

TEST(EmulatedProgram, LaunchesMustFitTheirKernel) {
  GpuProgram program = program_of(reduction(), 1, {7});
  std::vector<float> first = ramp(512), second(512);
  EXPECT_THROW(run_program(program, bytes_of(first), bytes_of(second)), Error);
  program = program_of(reduction(), 1);
  program.launches[0].kernel = 3;
  EXPECT_THROW(run_program(program, bytes_of(first), bytes_of(second)), Error);
}

}  // namespace
}  // namespace fourtune::runtime::emulated::testing
