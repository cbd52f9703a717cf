// Transforms on the CUDA backend with a driver that only counts: what they allocate, wait for, order and load.
#include <algorithm>
#include <array>
#include <string>

#include "generator/candidates.h"
#include "runtime/backends/cuda/cuda_backend.h"
#include "runtime/backends/cuda/nvrtc_api.h"
#include "runtime/backends/cuda/program.h"
#include "tests/runtime/fake_driver.h"
#include "tests/runtime/gpu_programs.h"
#include "tests/support/program.h"
#include "tuner/measure/evaluate.h"

namespace fourtune::runtime::cuda {
namespace {

using runtime::testing::direct_program;
using runtime::testing::direct_programs;

// Set before anything uses the driver.
const int chosen = use_fake_driver();

// The tuner's worker checks this after every request, and exits.
TEST_F(FakeDriver, AnEvaluatorKnowsThatItsDeviceIsLost) {
  ASSERT_EQ(chosen, 0);
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
    const std::vector<LoadedKernel> kernels = load_kernels(device, sources, store, 4, 60, reports);
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

}  // namespace
}  // namespace fourtune::runtime::cuda
