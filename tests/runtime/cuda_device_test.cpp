// The CUDA backend on a real GPU. Without a GPU all tests here are skipped with a message.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>

#include "runtime/backends/cuda/compiler.h"
#include "runtime/backends/cuda/cuda_backend.h"
#include "runtime/backends/cuda/cufft_api.h"
#include "runtime/backends/cuda/driver_api.h"
#include "runtime/backends/cuda/dynamic_library.h"
#include "runtime/backends/cuda/nvrtc_api.h"
#include "runtime/backends/cuda/program.h"
#include "tests/runtime/gpu_programs.h"

namespace fourtune::runtime::cuda {
namespace {

namespace fs = std::filesystem;
using runtime::testing::Complex32;
using runtime::testing::direct_program;
using runtime::testing::direct_programs;
using runtime::testing::made_values;
using runtime::testing::relative_error;

generator::Plan cuda_plan() { return generator::plan_for("cuda"); }

class Gpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_driver(); !why.empty()) GTEST_SKIP() << "NOT TESTED: " << why;
    folder_ = fs::temp_directory_path() / ("fourtune-gpu-test-" + std::to_string(::getpid()));
    fs::create_directory(folder_);
    fs::permissions(folder_, fs::perms::owner_all);  // kernels are loaded only from folders that nobody else can write
    store_ = folder_ / "kernels.db";
  }
  void TearDown() override { fs::remove_all(folder_); }
  static std::shared_ptr<const Device> device() {
    static const auto opened = Device::open(0);
    return opened;
  }
  fs::path folder_, store_;
};

// Runs the problem on the device; strided outputs are initialised with 7.
std::vector<Complex32> transformed(const CudaBackend& backend, const Problem& problem, const std::vector<Complex32>& in,
                                   std::size_t out_size, const ExecutorOptions& options = {}, bool adjoint = false) {
  const auto executor = backend.bind(problem, cuda_plan(), options);
  const auto memory = backend.memory(0);
  std::vector<Complex32> out(out_size, Complex32(7, 7));
  void* const a = memory->allocate(in.size() * 8);
  void* const b = problem.place == Place::in ? a : memory->allocate(out.size() * 8);
  if (b != a) memory->upload(b, out.data(), out.size() * 8);
  memory->upload(a, in.data(), in.size() * 8);
  adjoint ? executor->execute(b, a, true) : executor->execute(a, b, false);
  memory->wait();
  memory->download(out.data(), b, out.size() * 8);
  for (const StageTime& stage : executor->stage_times()) {
    EXPECT_GT(stage.seconds, 0) << stage.stage;
    EXPECT_LT(stage.seconds, 1) << stage.stage;
  }
  memory->release(a);
  if (b != a) memory->release(b);
  return out;
}

TEST_F(Gpu, TellsItsTraits) {
  const DeviceTraits& traits = device()->traits();
  std::printf("%s sm_%d, %d SMs, %lld bytes shared per block, %lld L2, %.2f TB/s, driver CUDA %d\n",
              traits.name.c_str(), traits.compute_capability, traits.multiprocessors,
              static_cast<long long>(traits.shared_per_block), static_cast<long long>(traits.l2_bytes),
              traits.memory_bandwidth / 1e12, driver().version);
  EXPECT_EQ(traits.backend, "cuda");
  EXPECT_GE(traits.compute_capability, 70);
  EXPECT_GT(traits.multiprocessors, 0);
  EXPECT_GE(traits.threads_per_multiprocessor, 1024);
  EXPECT_GE(traits.registers_per_multiprocessor, 65536);
  EXPECT_GE(traits.shared_per_block, 48 * 1024);
  EXPECT_GT(traits.l2_bytes, 0);
  EXPECT_GT(traits.memory_bytes, std::int64_t{1} << 30);
  EXPECT_GT(traits.clock_hz, 1e8);
  EXPECT_GT(traits.memory_bandwidth, 1e10);
}

TEST_F(Gpu, RunsAGeneratedProgramAndItsAdjoint) {
  const CudaBackend backend(direct_programs(), store_);
  const Problem problem = parse_problem("fft:type=c2c,n=60,prec=f32,batch=3");
  const std::vector<Complex32> in = made_values(180);
  ExecutorOptions options;
  options.time_stages = true;
  EXPECT_LT(relative_error(problem, in, transformed(backend, problem, in, 180, options)), 1e-6);
  Problem backward = problem;
  backward.sign = 1;
  EXPECT_LT(relative_error(backward, in, transformed(backend, problem, in, 180, options, true)), 1e-6);
}

TEST_F(Gpu, RunsOnTheCallersStreamAndLeavesItsContext) {
  CUcontext before = nullptr, after = nullptr;
  driver().cuCtxGetCurrent(&before);
  const CudaBackend backend(direct_programs(), store_);
  const Stream stream(device());
  ExecutorOptions options;
  options.stream = stream.get();
  const Problem problem = parse_problem("fft:type=c2c,n=40,prec=f32,batch=5");
  const std::vector<Complex32> in = made_values(200);
  const auto executor = backend.bind(problem, cuda_plan(), options);
  const DeviceMemory a(device(), 1600), b(device(), 1600);
  a.upload(in.data(), 1600);
  executor->execute(a.pointer(), b.pointer(), false);
  stream.synchronise();
  std::vector<Complex32> out(200);
  b.download(out.data(), 1600);
  EXPECT_LT(relative_error(problem, in, out), 1e-6);
  executor->set_stream(nullptr);
  executor->execute(a.pointer(), b.pointer(), false);
  driver().cuCtxGetCurrent(&after);
  EXPECT_EQ(before, after);
}

TEST_F(Gpu, TheSecondBackendFindsItsKernelsInTheStore) {
  const generator::GpuProgram program = direct_program(parse_problem("fft:type=c2c,n=48,prec=f32"));
  for (const bool first : {true, false}) {
    db::KernelStore store(store_);
    std::vector<KernelReport> uses;
    const auto start = std::chrono::steady_clock::now();
    const auto kernels = load_kernels(device(), program.kernels, store, 2, 60, uses);
    const double ms = 1e3 * std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%s use: %.1f ms\n", first ? "first" : "second", ms);
    ASSERT_EQ(uses.size(), 2u);
    for (const KernelReport& use : uses) {
      EXPECT_EQ(use.compiled, first) << use.entry;
      EXPECT_GT(use.registers, 0);
      EXPECT_EQ(use.spill_bytes, 0);
      EXPECT_GT(use.blocks, 0);
    }
    EXPECT_EQ(store.why(), "");
  }
}

TEST_F(Gpu, RunsClustersWithLargeSharedMemory) {
  const DeviceTraits& traits = device()->traits();
  generator::KernelSource source;
  source.entry = "neighbour";
  source.text = R"(
extern "C" __global__ void __launch_bounds__(256) neighbour(const float* in, float* out) {
  extern __shared__ float s[];
  const int last = 25 * 1024;  // above the 48 KB that need no asking
  unsigned rank = 0;
  s[last + threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
#if __CUDA_ARCH__ >= 900
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  unsigned remote, local = (unsigned)__cvta_generic_to_shared(s + last + 255 - threadIdx.x);
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(local), "r"(rank ^ 1));
  float v;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(remote) : "memory");
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
#else
  __syncthreads();
  float v = s[last + 255 - threadIdx.x];
#endif
  out[blockIdx.x * 256 + threadIdx.x] = v;
}
)";
  source.block = {256, 1, 1};
  const bool clusters = traits.compute_capability >= 90 && traits.cluster_blocks > 1;
  if (clusters) source.cluster = {2, 1, 1};
  source.shared_bytes = 4 * (25 * 1024 + 256);
  db::KernelStore store("");
  std::vector<KernelReport> uses;
  const auto kernels = load_kernels(device(), std::span(&source, 1), store, 1, 60, uses);
  std::vector<float> in(1024), out(1024);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
  const DeviceMemory a(device(), 4096), b(device(), 4096);
  a.upload(in.data(), 4096);
  void *pa = a.pointer(), *pb = b.pointer();
  void* arguments[] = {&pa, &pb};
  {
    const ContextGuard guard(*device());
    kernels[0].launch({4, 1, 1}, arguments, nullptr);
  }
  b.download(out.data(), 4096);
  for (std::size_t i = 0; i < out.size(); ++i)
    EXPECT_EQ(out[i], static_cast<float>(((i / 256) ^ (clusters ? 1u : 0u)) * 256 + 255 - i % 256)) << i;
}

TEST_F(Gpu, CufftIsAlwaysACandidate) {
  if (const std::string why = why_no_cufft(); !why.empty()) GTEST_SKIP() << "NOT TESTED: " << why;
  const CudaBackend backend(gpu::library_programs(), store_);
  ExecutorOptions options;
  options.time_stages = true;
  Problem problem = parse_problem("fft:type=c2c,n=75,prec=f32,batch=4,sign=1");
  std::vector<Complex32> in = made_values(300);
  EXPECT_LT(relative_error(problem, in, transformed(backend, problem, in, 300, options)), 1e-6);
  problem = parse_problem("fft:type=c2c,n=64,prec=f32,place=in");
  in = made_values(64);
  EXPECT_LT(relative_error(problem, in, transformed(backend, problem, in, 64, options)), 1e-6);
  problem = parse_problem("fft:type=c2c,n=16,prec=f32,batch=2");
  problem.input_layout = ArrayLayout{{3, 0, 0}, 50};
  problem.output_layout = ArrayLayout{{2, 0, 0}, 40};
  in = made_values(96);
  const auto out = transformed(backend, problem, in, 71, options);
  EXPECT_LT(relative_error(problem, in, out), 1e-6);
  EXPECT_EQ(out[1], Complex32(7, 7));
}

// A unit impulse at (1, 2, 3) of 16 x 12 x 10, so that every mode is a known phase, for c2c and r2c.
TEST_F(Gpu, CufftTakesTheDimensionsInOurOrder) {
  if (const std::string why = why_no_cufft(); !why.empty()) GTEST_SKIP() << "NOT TESTED: " << why;
  const CudaBackend backend(gpu::library_programs(), store_);
  const auto memory = backend.memory(0);
  for (const char* token : {"fft:type=c2c,n=16x12x10,prec=f64", "fft:type=r2c,n=16x12x10,prec=f64"}) {
    const Problem problem = parse_problem(token);
    const bool real = problem.fft_type == FftType::r2c;
    const std::size_t cells = 16 * 12 * 10, modes = (real ? 9 : 16) * 12 * 10;
    std::vector<double> in(cells * (real ? 1 : 2));
    in[(1 + 16 * (2 + 12 * 3)) * (real ? 1 : 2)] = 1;
    std::vector<std::complex<double>> out(modes);
    void* const a = memory->allocate(in.size() * 8);
    void* const b = memory->allocate(modes * 16);
    memory->upload(a, in.data(), in.size() * 8);
    backend.bind(problem, cuda_plan(), {})->execute(a, b, false);
    memory->wait();
    memory->download(out.data(), b, modes * 16);
    const std::size_t nx = real ? 9 : 16;
    for (std::size_t i = 0; i < modes; ++i) {
      const double phase = static_cast<double>(i % nx) / 16 + 2.0 * static_cast<double>(i / nx % 12) / 12 +
                           3.0 * static_cast<double>(i / nx / 12) / 10;
      EXPECT_LT(std::abs(out[i] - std::polar(1.0, -2 * std::numbers::pi * phase)), 1e-12) << token << " " << i;
    }
    memory->release(a);
    memory->release(b);
  }
}

TEST_F(Gpu, MisuseHasNamedErrors) {
  const auto status_of = [](const std::function<void()>& action) {
    try {
      action();
    } catch (const Error& error) {
      std::printf("%s: %s\n", status_name(error.status()), error.what());
      return error.status();
    }
    return Status::success;
  };
  EXPECT_EQ(status_of([] { Device::open(99); }), Status::invalid_option);
  EXPECT_EQ(status_of([] { DeviceMemory(device(), std::size_t{1} << 45); }), Status::out_of_memory);
  const CudaBackend backend(direct_programs(), store_);
  const Problem problem = parse_problem("fft:type=c2c,n=60,prec=f32,batch=3");
  const auto executor = backend.bind(problem, cuda_plan(), {});
  std::vector<Complex32> host(180), other(180);
  const DeviceMemory array(device(), 1440);
  // If the GPU can read pageable memory, nothing has to be refused.
  const Status status = status_of([&] { executor->execute(host.data(), array.pointer(), false); });
  EXPECT_TRUE(status == Status::invalid_argument || status == Status::success);
  EXPECT_EQ(status_of([&] { backend.bind(problem, generator::Plan(), {}); }), Status::invalid_plan);
  generator::KernelSource greedy = direct_program(problem).kernels[0];
  greedy.shared_bytes = 4 << 20;
  db::KernelStore store("");
  std::vector<KernelReport> uses;
  EXPECT_EQ(status_of([&] { load_kernels(device(), std::span(&greedy, 1), store, 1, 60, uses); }), Status::unsupported);
  greedy.shared_bytes = 0;
  greedy.text = "not a kernel";
  EXPECT_EQ(status_of([&] { load_kernels(device(), std::span(&greedy, 1), store, 1, 60, uses); }), Status::internal);
  // Uses machine code of another architecture.
  const int here = device()->traits().compute_capability;
  const auto& known = nvrtc().architectures;
  const auto other_target = std::find_if(known.begin(), known.end(), [&](int each) { return each / 10 != here / 10; });
  ASSERT_NE(other_target, known.end());
  const CompiledKernel foreign = compile(direct_program(problem).kernels[0], *other_target);
  EXPECT_EQ(status_of([&] { LoadedKernel(device(), direct_program(problem).kernels[0], foreign.image); }),
            Status::unsupported);
  // After all these failures the context still works.
  const std::vector<Complex32> in = made_values(180);
  EXPECT_LT(relative_error(problem, in, transformed(backend, problem, in, 180)), 1e-6);
}

TEST_F(Gpu, TwoThreadsRunTransformsOfTheirOwn) {
  const CudaBackend backend(direct_programs(), store_);
  std::vector<double> errors(2, 1);
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      Problem problem = parse_problem("fft:type=c2c,n=60,prec=f32,batch=3");
      problem.sign = t ? 1 : -1;
      const Stream stream(device());
      ExecutorOptions options;
      options.stream = stream.get();
      const auto executor = backend.bind(problem, cuda_plan(), options);
      const std::vector<Complex32> in = made_values(180);
      std::vector<Complex32> out(180);
      const DeviceMemory a(device(), 1440), b(device(), 1440);
      a.upload(in.data(), 1440);
      for (int i = 0; i < 50; ++i) executor->execute(a.pointer(), b.pointer(), false);
      stream.synchronise();
      b.download(out.data(), 1440);
      errors[static_cast<std::size_t>(t)] = relative_error(problem, in, out);
    });
  for (std::thread& thread : threads) thread.join();
  for (const double error : errors) EXPECT_LT(error, 1e-6);
}

// The application's side: functions of the CUDA runtime.
struct CudaRuntime {
  DynamicLibrary library = DynamicLibrary::open({"libcudart.so.13", "libcudart.so.12"});
  template <class... Arguments>
  void call(const char* name, Arguments... arguments) const {
    const auto function = reinterpret_cast<int (*)(Arguments...)>(library.find(name));
    ASSERT_NE(function, nullptr) << name;
    ASSERT_EQ(function(arguments...), 0) << name;
  }
};

TEST_F(Gpu, WorksInsideAProgramThatUsesTheCudaRuntimeOnItsStream) {
  const CudaRuntime runtime;
  if (runtime.library.empty()) GTEST_SKIP() << "NOT TESTED: no libcudart";
  constexpr int kToDevice = 1, kToHost = 2;
  constexpr unsigned kNonBlocking = 1;
  const Problem problem = parse_problem("fft:type=c2c,n=60,prec=f32,batch=3");
  const std::vector<Complex32> in = made_values(180);
  std::vector<Complex32> out(180);
  void *a = nullptr, *b = nullptr, *stream = nullptr;
  runtime.call("cudaSetDevice", 0);
  runtime.call("cudaMalloc", &a, std::size_t{1440});
  runtime.call("cudaMalloc", &b, std::size_t{1440});
  runtime.call("cudaStreamCreateWithFlags", &stream, kNonBlocking);
  runtime.call("cudaMemcpyAsync", a, static_cast<const void*>(in.data()), std::size_t{1440}, kToDevice, stream);
  {
    const CudaBackend backend(direct_programs(), store_);
    ExecutorOptions options;
    options.stream = stream;
    const auto executor = backend.bind(problem, cuda_plan(), options);
    executor->execute(a, b, false);
    runtime.call("cudaMemcpyAsync", static_cast<void*>(out.data()), static_cast<const void*>(b), std::size_t{1440},
                 kToHost, stream);
    runtime.call("cudaStreamSynchronize", stream);
  }
  EXPECT_LT(relative_error(problem, in, out), 1e-6);
  // Releasing our context must not affect the application's.
  runtime.call("cudaMemcpyAsync", b, static_cast<const void*>(in.data()), std::size_t{1440}, kToDevice, stream);
  runtime.call("cudaStreamSynchronize", stream);
  runtime.call("cudaFree", a);
  runtime.call("cudaFree", b);
  runtime.call("cudaStreamDestroy", stream);
}

TEST(CufftLayouts, FollowStridesThatNest) {
  // n = 4 x 5 x 6, with padded rows and every second element.
  const CufftLayout layout = cufft_layout({{2, 2 * 7, 2 * 7 * 9}, 5000}, {4, 5, 6}, 3);
  EXPECT_EQ(layout.stride, 2);
  EXPECT_EQ(layout.distance, 5000);
  EXPECT_EQ(layout.embed[0], 6);
  EXPECT_EQ(layout.embed[1], 9);
  EXPECT_EQ(layout.embed[2], 7);
  EXPECT_THROW(cufft_layout({{5, 1, 20}, 120}, {4, 5, 6}, 3), Error);   // y fastest
  EXPECT_THROW(cufft_layout({{2, 13, 91}, 999}, {4, 5, 6}, 3), Error);  // not a multiple
}

}  // namespace
}  // namespace fourtune::runtime::cuda
