// The CUDA backend with a driver that only counts: promises that can be checked without a GPU, and errors that a GPU
// does not produce on demand.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>

#include "generator/candidates.h"
#include "runtime/backends/cuda/compiler.h"
#include "runtime/backends/cuda/cuda_backend.h"
#include "runtime/backends/cuda/launch_list.h"
#include "runtime/backends/cuda/nvrtc_api.h"
#include "runtime/backends/cuda/program.h"
#include "tests/runtime/gpu_programs.h"
#include "tests/support/program.h"
#include "tuner/measure/evaluate.h"

namespace fourtune::runtime::cuda {
namespace {

using runtime::testing::direct_program;
using runtime::testing::direct_programs;

// Set before anything uses the driver.
const int chosen = ::setenv("FOURTUNE_CUDA_DRIVER", FOURTUNE_FAKE_CUDA, 1) | ::setenv("FOURTUNE_CUDA_OVERLAP", "1", 1);

class FakeDriver : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(chosen, 0);
    ASSERT_EQ(why_no_driver(), "");
    for (const char* result : {"fake_load_result", "fake_alloc_result", "fake_launch_result", "fake_optin_result",
                               "fake_capture_status", "fake_graph_result", "fake_lost_result"})
      number(result) = 0;
  }
  static int& number(const char* name) {
    static void* const library = ::dlopen(FOURTUNE_FAKE_CUDA, RTLD_NOW);
    return *static_cast<int*>(::dlsym(library, name));
  }
  static std::pair<Status, std::string> failure(const std::function<void()>& action) {
    try {
      action();
    } catch (const Error& error) {
      return {error.status(), error.what()};
    }
    return {Status::success, ""};
  }
  static generator::KernelSource source() {
    generator::KernelSource kernel;
    kernel.entry = "tested";
    kernel.block = {64, 1, 1};
    return kernel;
  }
  std::vector<std::byte> image_ = std::vector<std::byte>(100);
};

TEST_F(FakeDriver, TraitsAreThoseThatItTells) {
  const auto device = Device::open(0);
  const DeviceTraits& traits = device->traits();
  EXPECT_EQ(traits.name, "Fake H200");
  EXPECT_EQ(traits.isa, "sm_90");
  EXPECT_EQ(traits.compute_capability, 90);
  EXPECT_EQ(traits.multiprocessors, 132);
  EXPECT_EQ(traits.shared_per_block, 232448);
  EXPECT_EQ(traits.cluster_blocks, 8);
  EXPECT_NEAR(traits.memory_bandwidth, 4.81e12, 1e10);
  EXPECT_EQ(failure([] { Device::open(1); }).first, Status::invalid_option);
}

TEST_F(FakeDriver, EveryHandleIsGivenBack) {
  {
    const auto device = Device::open(0);
    EXPECT_EQ(number("fake_retained"), 1);
    const DeviceMemory memory(device, 100);
    const Kernel kernel(device, source(), image_);
    EXPECT_EQ(number("fake_allocations"), 1);
    EXPECT_EQ(number("fake_modules"), 1);
    EXPECT_EQ(kernel.resources().registers, 40);
  }
  for (const char* count : {"fake_retained", "fake_allocations", "fake_modules", "fake_pushed"})
    EXPECT_EQ(number(count), 0) << count;
}

TEST_F(FakeDriver, MemoryComesBackAsItWasSent) {
  const std::array<int, 3> sent{1, 2, 3};
  std::array<int, 3> back{};
  const DeviceMemory memory(Device::open(0), sizeof sent);
  memory.upload(sent.data(), sizeof sent);
  memory.download(back.data(), sizeof back);
  EXPECT_EQ(back, sent);
}

TEST_F(FakeDriver, ClustersAndSharedMemoryReachTheLaunch) {
  const auto device = Device::open(0);
  generator::KernelSource kernel = source();
  kernel.cluster = {2, 1, 1};
  kernel.shared_bytes = 100000;
  const Kernel loaded(device, kernel, image_);
  const int before = number("fake_cluster_launches");
  loaded.launch({4, 1, 1}, nullptr, nullptr);
  EXPECT_EQ(number("fake_cluster_launches"), before + 1);
  EXPECT_EQ(number("fake_last_shared"), 100000);
  kernel.shared_bytes = 232449;
  const auto [status, words] = failure([&] { Kernel(device, kernel, image_); });
  EXPECT_EQ(status, Status::unsupported);
  EXPECT_NE(words.find("232448"), std::string::npos) << words;
  EXPECT_EQ(number("fake_modules"), 1) << "a kernel that failed was not unloaded";
}

TEST_F(FakeDriver, BlocksOfThreeSizesReachTheLaunchWithAndWithoutAttributes) {
  const auto device = Device::open(0);
  for (const std::uint32_t blocks : {1u, 2u}) {
    generator::KernelSource kernel = source();
    kernel.block = {32, 4, 2};
    kernel.cluster = {blocks, 1, 1};
    Kernel(device, kernel, image_).launch({4, 1, 1}, nullptr, nullptr);
    EXPECT_EQ(number("fake_last_block_x"), 32) << blocks;
    EXPECT_EQ(number("fake_last_block_y"), 4) << blocks;
    EXPECT_EQ(number("fake_last_block_z"), 2) << blocks;
  }
}

TEST_F(FakeDriver, AKernelThatMayOverlapIsLaunchedSo) {
  const auto device = Device::open(0);
  generator::KernelSource kernel = source();
  kernel.text = "extern \"C\" __global__ void tested() { dev_follow(); }";
  kernel.cluster = {2, 1, 1};
  const Kernel alone(device, source(), image_), overlapping(device, kernel, image_);
  const int before = number("fake_overlapping"), clusters = number("fake_cluster_launches");
  alone.launch({4, 1, 1}, nullptr, nullptr);
  EXPECT_EQ(number("fake_overlapping"), before);
  overlapping.launch({4, 1, 1}, nullptr, nullptr);
  alone.launch({4, 1, 1}, nullptr, nullptr, true);
  EXPECT_EQ(number("fake_overlapping"), before);
  overlapping.launch({4, 1, 1}, nullptr, nullptr, true);
  EXPECT_EQ(number("fake_overlapping"), before + 1);
  EXPECT_EQ(number("fake_cluster_launches"), clusters + 2);
}

// Three launches of two kernels, with one argument each.
class FakeGraphs : public FakeDriver {
 protected:
  void add(const Kernel& kernel, std::int64_t argument, std::uint32_t blocks = 1) {
    generator::Launch launch;
    launch.arguments = {argument};
    list_.add(kernel, {blocks, 1, 1}, gpu::LaunchArguments(launch, {}));
  }
  void run(std::int64_t third, bool alone = false, std::uint32_t blocks = 4) {
    const std::int64_t values[] = {1, 2, third};
    const Kernel* kernels[] = {&first_, &second_, &first_};
    for (int i = 0; i < 3; ++i) add(*kernels[i], values[i], blocks);
    list_.start(nullptr, alone);
  }
  static generator::KernelSource overlapping(unsigned cluster) {
    generator::KernelSource kernel = source();
    kernel.text = "extern \"C\" __global__ void tested() { dev_follow(); }";
    kernel.cluster = {cluster, 1, 1};
    return kernel;
  }
  std::shared_ptr<const Device> device_ = Device::open(0);
  Kernel first_{device_, overlapping(1), image_}, second_{device_, overlapping(2), image_};
  LaunchList list_;
};

TEST_F(FakeGraphs, LaunchesThatComeAgainBecomeOneGraph) {
  const int launches = number("fake_launches"), graphs = number("fake_graph_launches");
  const int updates = number("fake_node_updates"), edges = number("fake_overlapping_edges");
  const int overlapping = number("fake_overlapping");
  run(3);
  EXPECT_EQ(number("fake_launches"), launches + 3);
  EXPECT_EQ(number("fake_graph_launches"), graphs) << "a single call needs no graph";
  EXPECT_EQ(number("fake_overlapping"), overlapping + 2) << "the first launch follows what was there before";
  const int clusters = number("fake_cluster_launches");
  run(3);
  EXPECT_EQ(number("fake_launches"), launches + 6);
  EXPECT_EQ(number("fake_graph_launches"), graphs + 1);
  EXPECT_EQ(number("fake_overlapping_edges"), edges + 2);
  EXPECT_EQ(number("fake_cluster_launches"), clusters + 1);
  run(3);
  EXPECT_EQ(number("fake_node_updates"), updates) << "nothing has changed";
  run(4);
  EXPECT_EQ(number("fake_node_updates"), updates + 1) << "one argument has changed";
  run(4, false, 5);
  EXPECT_EQ(number("fake_node_updates"), updates + 4) << "all grids have changed";
  EXPECT_EQ(number("fake_graph_launches"), graphs + 4);
  run(4, true);
  EXPECT_EQ(number("fake_graph_launches"), graphs + 4) << "alone is alone";
  EXPECT_EQ(number("fake_launches"), launches + 18);
}

TEST_F(FakeGraphs, SequencesKeepGraphsOfTheirOwnAndTheOldestGoes) {
  const auto one = [&](int times) {
    for (int i = 0; i < times; ++i) add(first_, 1);
    list_.start(nullptr);
  };
  const int graphs = number("fake_graphs"), started = number("fake_graph_launches");
  for (int times = 1; times <= 6; ++times) one(times), one(times);
  EXPECT_EQ(number("fake_graphs"), graphs + 6);
  for (int times = 1; times <= 6; ++times) one(times);
  EXPECT_EQ(number("fake_graph_launches"), started + 12);
  one(7), one(7);  // replaces the graph of one launch
  EXPECT_EQ(number("fake_graphs"), graphs + 6);
  one(2);
  EXPECT_EQ(number("fake_graph_launches"), started + 14);
  one(1);
  EXPECT_EQ(number("fake_graph_launches"), started + 14);
}

TEST_F(FakeGraphs, WhatIsPreparedStartsAsAGraphAtOnce) {
  const int launches = number("fake_launches"), started = number("fake_graph_launches"), graphs = number("fake_graphs");
  std::int64_t value = 1;
  const auto add_both = [&] { add(first_, value), add(second_, value); };
  for (int i = 0; i < 2; ++i) add_both(), list_.prepare();
  EXPECT_EQ(number("fake_launches"), launches) << "nothing runs";
  EXPECT_EQ(number("fake_graphs"), graphs + 1);
  value = 2;
  add_both();
  list_.start(nullptr);
  EXPECT_EQ(number("fake_graph_launches"), started + 1);
  EXPECT_EQ(number("fake_graphs"), graphs + 1);
  number("fake_graph_result") = 801;
  add(first_, value);
  list_.prepare();
  add(first_, value);
  list_.start(nullptr);
  EXPECT_EQ(number("fake_graph_launches"), started + 1) << "where none can be made, launches start one by one";
}

TEST_F(FakeGraphs, WhereTheDriverMakesNoneLaunchesStartOneByOne) {
  const int launches = number("fake_launches"), graphs = number("fake_graph_launches");
  number("fake_graph_result") = 801;
  for (int i = 0; i < 3; ++i) run(3);
  EXPECT_EQ(number("fake_launches"), launches + 9);
  EXPECT_EQ(number("fake_graph_launches"), graphs);
}

TEST_F(FakeGraphs, ACallThatFailsLeavesNothingBehind) {
  run(3);
  number("fake_launch_result") = 999;
  EXPECT_EQ(failure([&] { run(3); }).first, Status::internal);
  number("fake_launch_result") = 0;
  const int launches = number("fake_launches");
  run(3);
  EXPECT_EQ(number("fake_launches"), launches + 3);
}

TEST_F(FakeDriver, ADriverOlderThanTheCompilerIsNamed) {
  number("fake_load_result") = 222;
  const auto [status, words] = failure([&] { Kernel(Device::open(0), source(), image_); });
  EXPECT_EQ(status, Status::unsupported);
  for (const char* part : {"tested", "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "CUDA 13.0", "older than the compiler"})
    EXPECT_NE(words.find(part), std::string::npos) << part << " in: " << words;
}

TEST_F(FakeDriver, MemoryThatIsNotThereIsNamedWithSizes) {
  number("fake_alloc_result") = 2;
  const auto [status, words] = failure([&] { DeviceMemory(Device::open(0), 999); });
  EXPECT_EQ(status, Status::out_of_memory);
  for (const char* part : {"999", "12345", "54321"}) EXPECT_NE(words.find(part), std::string::npos) << words;
}

TEST_F(FakeDriver, OtherErrorsCarryTheDriversWords) {
  const auto device = Device::open(0);
  const Kernel kernel(device, source(), image_);
  number("fake_launch_result") = 701;
  EXPECT_EQ(failure([&] { kernel.launch({1, 1, 1}, nullptr, nullptr); }).first, Status::unsupported);
  number("fake_launch_result") = 999;
  const auto [status, words] = failure([&] { kernel.launch({1, 1, 1}, nullptr, nullptr); });
  EXPECT_EQ(status, Status::internal);
  EXPECT_NE(words.find("launching kernel tested: CUDA_ERROR_FAKE (words of the driver)"), std::string::npos) << words;
}

// An illegal address is reported by the next call that waits, and by every later call.
TEST_F(FakeDriver, ALostContextIsNamedByEveryCallAndEverythingCanStillBeDestroyed) {
  const int kernels = number("fake_modules"), arrays = number("fake_allocations");
  {
    const auto device = Device::open(0);
    const Kernel kernel(device, source(), image_);
    DeviceMemory memory(device, 100);
    const CudaBackend backend(direct_programs());
    const auto arrays_of_backend = backend.memory(0);
    void* const array = arrays_of_backend->allocate(64);
    for (const int code : {700, 716, 719}) {
      number("fake_lost_result") = code;
      char host[64] = {};
      const std::function<void()> calls[] = {[&] {
                                               kernel.launch({1, 1, 1}, nullptr, nullptr);
                                             },
                                             [&] { arrays_of_backend->wait(); },
                                             [&] { arrays_of_backend->upload(array, host, 64); },
                                             [&] { arrays_of_backend->download(host, array, 64); },
                                             [&] { DeviceMemory(device, 8); },
                                             [&] { Kernel(device, source(), image_); }};
      for (const auto& call : calls) {
        const auto [status, words] = failure(call);
        EXPECT_EQ(status, Status::backend_unavailable) << words;
        EXPECT_NE(words.find("context is lost"), std::string::npos) << words;
      }
      EXPECT_EQ(number("fake_pushed"), 0);
    }
    arrays_of_backend->release(array);
  }
  EXPECT_EQ(number("fake_modules"), kernels);
  EXPECT_EQ(number("fake_allocations"), arrays);
}

TEST_F(FakeDriver, PartsOfAnArrayCanBeLookedAt) {
  const CudaBackend backend(direct_programs());
  const auto memory = backend.memory(0);
  auto* const array = static_cast<char*>(memory->allocate(64));
  char host[64] = {}, part[8] = {};
  for (int i = 0; i < 64; ++i) host[i] = static_cast<char>(i);
  memory->upload(array, host, 64);
  memory->download(part, array + 24, 8);
  EXPECT_EQ(part[0], 24);
  EXPECT_EQ(part[7], 31);
  memory->release(array);
}

// The tuner's worker checks this after every request, and exits.
TEST_F(FakeDriver, AnEvaluatorKnowsThatItsDeviceIsLost) {
  const CudaBackend backend(direct_programs());
  tuner::LocalEvaluator evaluator(backend);
  EXPECT_FALSE(evaluator.device_lost());
  evaluator.load(parse_problem("fft:type=c2c,n=60,prec=f32,batch=3"), 1);
  EXPECT_FALSE(evaluator.device_lost());
  number("fake_lost_result") = 700;
  tuner::EvaluationRequest request;
  request.plan = "cuda;fft=plain";
  const tuner::Evaluation evaluation = evaluator.evaluate(request);
  EXPECT_NE(evaluation.status, db::RunStatus::ok);
  EXPECT_TRUE(evaluator.device_lost());
}

TEST_F(FakeDriver, ExecuteAllocatesNothingAndDoesNotWait) {
  if (const std::string why = why_no_nvrtc(); !why.empty()) GTEST_SKIP() << "NOT TESTED: " << why;
  const auto& known = nvrtc().architectures;
  if (std::find(known.begin(), known.end(), 90) == known.end()) GTEST_SKIP() << "NOT TESTED: no sm_90";
  const auto device = Device::open(0);
  db::KernelStore store("");
  const Problem problem = parse_problem("fft:type=c2c,n=60,prec=f32,batch=3");
  const int allocated = number("fake_allocations");
  CudaProgram program(device, direct_program(problem), store, false);
  EXPECT_EQ(number("fake_allocations"), allocated + 2);
  EXPECT_EQ(program.bytes(), 8 * 180 + 8 * 60);
  const CudaBackend backend(direct_programs(), "/nowhere/no.db");
  const auto executor = backend.bind(problem, generator::default_plan(problem, backend.traits()), {});
  EXPECT_EQ(executor->memory().held, program.bytes());
  ASSERT_EQ(program.kernels().size(), 2u);
  EXPECT_TRUE(program.kernels()[0].compiled);
  EXPECT_EQ(program.kernels()[1].shared_bytes, 480);
  const int waits = number("fake_waits"), launches = number("fake_launches"), held = number("fake_allocations");
  std::vector<float> in(360), out(360);
  int stream = 0;
  for (int i = 0; i < 10; ++i) program.run(in.data(), out.data(), &stream);
  EXPECT_EQ(number("fake_launches"), launches + 20);
  const int graphs = number("fake_graph_launches");
  EXPECT_GT(graphs, 0);
  number("fake_capture_status") = 1;
  program.run(in.data(), out.data(), &stream);
  EXPECT_EQ(number("fake_graph_launches"), graphs) << "a captured stream takes launches, not our graph";
  EXPECT_EQ(number("fake_launches"), launches + 22);
  number("fake_capture_status") = 0;
  EXPECT_EQ(number("fake_waits"), waits);
  EXPECT_EQ(number("fake_allocations"), held);
  EXPECT_EQ(number("fake_pushed"), 0);
  EXPECT_EQ(failure([&] { program.run(reinterpret_cast<char*>(in.data()) + 1, out.data(), nullptr); }).first,
            Status::invalid_argument);
  EXPECT_EQ(number("fake_pushed"), 0) << "a failed call left its context behind";
}

// Two calls on different streams use the same work memory, so the second one's stream waits for the first one's work.
TEST_F(FakeDriver, ProgramsWithWorkMemoryOrderTheirStreams) {
  if (const std::string why = why_no_nvrtc(); !why.empty()) GTEST_SKIP() << "NOT TESTED: " << why;
  const auto& known = nvrtc().architectures;
  if (std::find(known.begin(), known.end(), 90) == known.end()) GTEST_SKIP() << "NOT TESTED: no sm_90";
  db::KernelStore store("");
  CudaProgram program(Device::open(0), direct_program(parse_problem("fft:type=c2c,n=60,prec=f32,batch=3")), store,
                      false);
  std::vector<float> in(360), out(360);
  int a = 0, b = 0;
  int waits = number("fake_stream_waits");
  const auto waits_of_run_on = [&](int& stream) {
    program.run(in.data(), out.data(), &stream);
    return number("fake_stream_waits") - std::exchange(waits, number("fake_stream_waits"));
  };
  EXPECT_EQ(waits_of_run_on(a), 0) << "nothing came before";
  EXPECT_EQ(waits_of_run_on(a), 0) << "a stream keeps its order";
  EXPECT_EQ(waits_of_run_on(b), 1);
  EXPECT_EQ(waits_of_run_on(b), 0);
  number("fake_capture_status") = 1;
  EXPECT_EQ(waits_of_run_on(a), 0) << "no event crosses the border of a captured stream";
  number("fake_capture_status") = 0;
  EXPECT_EQ(waits_of_run_on(a), 1) << "the work on b counts, and that in the graph does not";
  number("fake_launch_result") = 1;
  EXPECT_THROW(program.run(in.data(), out.data(), &b), Error);
  number("fake_launch_result") = 0;
  waits = number("fake_stream_waits");
  EXPECT_EQ(waits_of_run_on(a), 1) << "what the failed call had started on b counts";
}

// A nonuniform transform waits for its points at most once, and never for trusted points. From the first execute on it
// allocates nothing, on any stream.
TEST_F(FakeDriver, NonuniformTransformsWaitOnceInSetPointsAndAllocateNothingInAnyExecute) {
  if (const std::string why = why_no_nvrtc(); !why.empty()) GTEST_SKIP() << "NOT TESTED: " << why;
  const auto& known = nvrtc().architectures;
  if (std::find(known.begin(), known.end(), 90) == known.end()) GTEST_SKIP() << "NOT TESTED: no sm_90";
  const CudaBackend backend(direct_programs(), "/nowhere/no.db");
  std::vector<float> x(100, 0.5F), values(600), modes(6000);
  int streams[2] = {};
  for (const char* token :
       {"nufft:type=1,n=12x10,m=100,prec=f32,tol=1e-2,batch=3", "nufft:type=3,dim=1,m=100,k=100,prec=f32,tol=1e-2"}) {
    const Problem problem = parse_problem(token);
    ExecutorOptions options;
    options.trust_points = true;
    const auto executor = backend.bind(problem, generator::default_plan(problem, backend.traits()), options);
    Bounds bounds;
    bounds.high.fill(2);
    executor->set_bounds(bounds);
    const PointSet points{100,
                          x.data(),
                          problem.dim > 1 ? x.data() : nullptr,
                          nullptr,
                          problem.k.value_or(0),
                          problem.type == 3 ? x.data() : nullptr};
    executor->set_points(points);  // this makes the grids and kernels of a type 3
    const int waits = number("fake_waits");
    executor->set_points(points);
    EXPECT_EQ(number("fake_waits"), waits) << token;
    const int launches = number("fake_launches"), started = number("fake_graph_launches");
    const int allocated = number("fake_allocations"), graphs = number("fake_graphs");
    for (int i = 0; i < 4; ++i) {
      executor->set_stream(&streams[i % 2]);
      executor->execute(values.data(), modes.data(), false);
      EXPECT_EQ(number("fake_graph_launches"), started + i + 1) << token << ", execute " << i;
    }
    EXPECT_GT(number("fake_launches"), launches) << "nodes of a graph are counted";
    EXPECT_EQ(number("fake_allocations"), allocated) << token;
    EXPECT_EQ(number("fake_graphs"), graphs) << token;
    EXPECT_EQ(number("fake_waits"), waits) << token;
  }
  const Problem problem = parse_problem("nufft:type=1,n=12x10,m=100,prec=f32,tol=1e-2,batch=3");
  const auto checked = backend.bind(problem, generator::default_plan(problem, backend.traits()), {});
  const int waits = number("fake_waits");
  checked->set_points({100, x.data(), x.data()});
  EXPECT_EQ(number("fake_waits"), waits + 1);
  EXPECT_EQ(number("fake_pushed"), 0);
}

TEST_F(FakeDriver, PreparedNonuniformTransformsFindTheirKernelsInTheStore) {
  if (const std::string why = why_no_nvrtc(); !why.empty()) GTEST_SKIP() << "NOT TESTED: " << why;
  const auto& known = nvrtc().architectures;
  if (std::find(known.begin(), known.end(), 90) == known.end()) GTEST_SKIP() << "NOT TESTED: no sm_90";
  const test::ScratchFolder folder;
  const CudaBackend backend(direct_programs(), folder / "kernels.db");
  const Problem problem = parse_problem("nufft:type=2,n=12x10,m=100,prec=f32,tol=1e-2");
  const auto plan = generator::default_plan(problem, backend.traits());
  const int modules = number("fake_modules"), allocated = number("fake_allocations");
  backend.prepare(problem, plan, {});
  EXPECT_EQ(number("fake_modules"), modules) << "nothing is loaded";
  EXPECT_EQ(number("fake_allocations"), allocated);
  const auto executor = backend.bind(problem, plan, {});
  EXPECT_GE(executor->kernels().size(), 4u);
  for (const KernelReport& kernel : executor->kernels()) EXPECT_FALSE(kernel.compiled) << kernel.entry;
}

TEST_F(FakeDriver, KernelsAreLoadedByTheThreadsThatCompileThemAndComeInTheOrderOfTheirTexts) {
  if (const std::string why = why_no_nvrtc(); !why.empty()) GTEST_SKIP() << "NOT TESTED: " << why;
  const auto& known = nvrtc().architectures;
  if (std::find(known.begin(), known.end(), 90) == known.end()) GTEST_SKIP() << "NOT TESTED: no sm_90";
  std::vector<generator::KernelSource> sources;
  for (int i = 0; i < 9; ++i) {
    sources.push_back(source());
    sources.back().entry = "kernel_" + std::to_string(i);
    sources.back().block = {32 * (1u + static_cast<unsigned>(i)), 1, 1};
    sources.back().text = "extern \"C\" __global__ void " + sources.back().entry +
                          "(int* at) { *at = " + std::string(static_cast<std::size_t>(9 * (i % 4)), ' ') +
                          std::to_string(i) + "; }\n";
  }
  const auto device = Device::open(0);
  db::KernelStore store("");
  const int modules = number("fake_modules");
  for (const bool stored : {false, true}) {
    std::vector<KernelReport> reports;
    const std::vector<Kernel> kernels = load_kernels(device, sources, store, 4, 60, reports);
    EXPECT_EQ(number("fake_modules"), modules + 9);
    EXPECT_EQ(number("fake_pushed"), 0);
    ASSERT_EQ(kernels.size(), 9u);
    for (std::size_t i = 0; i < 9; ++i) {
      EXPECT_EQ(kernels[i].block(), sources[i].block);
      EXPECT_EQ(reports[i].entry, sources[i].entry);
      EXPECT_EQ(reports[i].compiled, !stored);
    }
  }
  EXPECT_EQ(number("fake_modules"), modules);
  db::KernelStore empty("");
  number("fake_load_result") = 209;
  std::vector<KernelReport> reports;
  EXPECT_EQ(failure([&] { load_kernels(device, sources, empty, 4, 60, reports); }).first, Status::unsupported);
  EXPECT_EQ(number("fake_modules"), modules);
}

TEST_F(FakeDriver, ANonuniformTransformThatDoesNotFitSaysWhatItNeedsAndWhatWouldNeedLess) {
  const CudaBackend backend(direct_programs(), "/nowhere/no.db");
  number("fake_alloc_result") = 2;
  const Problem problem = parse_problem("nufft:type=1,n=200x200,m=100000,prec=f32,tol=1e-2,batch=4");
  const auto plan = generator::parse_plan(
      "cuda;window=pswf(sigma=2,width=4,fine=400x400);sort=bins(bin=32x32);spread=points;interp=points;fft=plain;chunk="
      "4",
      problem);
  const auto failed = failure([&] { backend.bind(problem, plan, {}); });
  EXPECT_EQ(failed.first, Status::out_of_memory);
  const std::string& words = failed.second;
  for (const char* part : {"the fine grids", "12345", "the transform needs", "of points", "chunk=1 needs",
                           "an oversampling of 1.25 in place of 2 needs about"})
    EXPECT_NE(words.find(part), std::string::npos) << part << " in: " << words;
  const auto megabytes = [&](const std::string& behind) {
    return std::stod(words.substr(words.find(behind) + behind.size()));
  };
  EXPECT_LT(megabytes("chunk=1 needs "), megabytes("the transform needs ")) << words;
  EXPECT_LT(megabytes("in place of 2 needs about "), megabytes("the transform needs ")) << words;
  number("fake_alloc_result") = 0;
}

TEST(MissingNvrtc, IsNamed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ::setenv("FOURTUNE_NVRTC", "/nowhere/libnvrtc.so", 1);
        try {
          compile(generator::KernelSource{}, 90);
        } catch (const Error& error) {
          const std::string words = error.what();
          std::exit(error.status() == Status::backend_unavailable && words.find("/nowhere") != words.npos ? 0 : 1);
        }
        std::exit(2);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace fourtune::runtime::cuda
