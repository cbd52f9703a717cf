// Direct sums by the kernel of a device, which the emulator runs: they are the host's, and a device that computes
// wrongly is found.
#include <gtest/gtest.h>

#include <cmath>

#include "generator/candidates.h"
#include "runtime/backends/cuda/compiler.h"
#include "runtime/backends/cuda/nvrtc_api.h"
#include "runtime/backends/emulated/emulated_backend.h"
#include "runtime/backends/gpu/program_backend.h"
#include "tests/tuner/sums_cases.h"
#include "tuner/measure/evaluate.h"
#include "tuner/measure/validate.h"
#include "tuner/reference/device_sums_kernel.h"

namespace fourtune::tuner {
namespace {

using runtime::gpu::Queue;

// What a device may do wrong, and what it was asked.
struct Fate {
  double factor = 1;  // of everything that is read from it
  bool no_compiler = false;
  int launches = 0;
};

class FatedQueue final : public Queue {
 public:
  FatedQueue(std::unique_ptr<Queue> inner, Fate& fate) : inner_(std::move(inner)), fate_(fate) {}
  const DeviceTraits& traits() const override { return inner_->traits(); }
  std::unique_ptr<runtime::gpu::QueueMemory> allocate(std::int64_t bytes, const char* name) override {
    return inner_->allocate(bytes, name);
  }
  void upload(runtime::gpu::QueueMemory& memory, std::span<const std::byte> bytes) override {
    inner_->upload(memory, bytes);
  }
  std::vector<int> load(std::span<const generator::KernelSource> sources) override {
    if (fate_.no_compiler) throw runtime::NoCompiler("there is no compiler today");
    return inner_->load(sources);
  }
  std::unique_ptr<runtime::gpu::LibraryFft> library_fft(const Problem& problem) override {
    return inner_->library_fft(problem);
  }
  void begin(void* stream) override { inner_->begin(stream); }
  std::byte* open(void* array, std::int64_t bytes, runtime::gpu::Access access, const char* name) override {
    return inner_->open(array, bytes, access, name);
  }
  void launch(int kernel, const generator::Extent3& grid, runtime::gpu::LaunchArguments& arguments) override {
    ++fate_.launches;
    inner_->launch(kernel, grid, arguments);
  }
  void read(void* host, const std::byte* device, std::size_t bytes) override {
    inner_->read(host, device, bytes);
    auto* const values = static_cast<double*>(host);
    for (std::size_t i = 0; i < bytes / sizeof(double); ++i) values[i] *= fate_.factor;
  }
  void end(bool completed) noexcept override { inner_->end(completed); }
  void mark(int index) override { inner_->mark(index); }
  double seconds(int from, int to) override { return inner_->seconds(from, to); }

 private:
  std::unique_ptr<Queue> inner_;
  Fate& fate_;
};

// The emulated GPU, whose programs that are no transforms have this fate.
class FatedBackend final : public runtime::gpu::ProgramBackend {
 public:
  explicit FatedBackend(Fate& fate, runtime::MemoryKind arrays = runtime::MemoryKind::aligned)
      : fate_(fate), arrays_(arrays) {}
  std::string_view name() const override { return "emulated"; }
  runtime::Capabilities capabilities() const override {
    runtime::Capabilities can = inner_.capabilities();
    can.arrays = arrays_;
    return can;
  }
  std::unique_ptr<Backend> with_programs(runtime::gpu::ProgramSource programs) const override {
    return inner_.with_programs(std::move(programs));
  }
  std::unique_ptr<Queue> queue(int device) const override {
    return std::make_unique<FatedQueue>(inner_.queue(device), fate_);
  }
  std::unique_ptr<runtime::Executor> bind(const Problem& problem, const generator::Plan& plan,
                                          const runtime::ExecutorOptions& options) const override {
    return inner_.bind(problem, plan, options);
  }

 protected:
  DeviceTraits traits_of(int device) const override { return inner_.traits(device); }

 private:
  Fate& fate_;
  runtime::MemoryKind arrays_;
  runtime::emulated::EmulatedBackend inner_{runtime::gpu::generated_programs()};
};

template <typename T>
void agree(const char* token, std::int64_t outputs, ModeOrder order = ModeOrder::centred, double scale = 1) {
  const Setting setting("FOURTUNE_REFERENCES", "device");
  Fate fate;
  const FatedBackend backend(fate);
  const auto memory = backend.memory(0);
  const auto sums = DeviceSums::make(backend, 0);
  ASSERT_TRUE(sums);
  SumsCase<T> one(bound_problem(parse_problem(token)), *memory, outputs, scale);
  one.job.order = order;
  const ErrorEstimate off = relative_error(one.by_host(), one.by_device(*sums));
  EXPECT_LT(off.relative, 6e-16) << token;
  EXPECT_EQ(fate.launches, 1);
}

TEST(EmulatedDeviceSums, AreTheHostsForEveryTypeDimensionAndPrecision) {
  // Numbers of terms and outputs that fill no block and no group, and more than one of each.
  agree<float>("nufft:type=1,n=37,m=1300,prec=f32,tol=1e-3", 37);
  agree<double>("nufft:type=1,n=12x11,m=300,prec=f64,tol=1e-9,sign=1", 9);
  agree<float>("nufft:type=1,n=8x7x6,m=700,prec=f32,tol=1e-3,points=cluster", 27);
  agree<double>("nufft:type=2,n=701,m=90,prec=f64,tol=1e-9,sign=1", 90);
  agree<float>("nufft:type=2,n=30x17,m=100,prec=f32,tol=1e-3", 21);
  agree<double>("nufft:type=2,n=9x8x7,m=100,prec=f64,tol=1e-9", 5);
  agree<float>("nufft:type=3,dim=1,m=515,k=40,prec=f32,tol=1e-3,extent=1000", 40);
  agree<double>("nufft:type=3,dim=2,m=300,k=50,prec=f64,tol=1e-9,sign=1", 13);
  agree<double>("nufft:type=3,dim=3,m=257,k=50,prec=f64,tol=1e-9,extent=20x20x20", 1);
}

TEST(EmulatedDeviceSums, KnowTheOrderOfModes) {
  agree<double>("nufft:type=2,n=7x6x5,m=40,prec=f64,tol=1e-9", 40, ModeOrder::fft);
  agree<float>("nufft:type=2,n=64,m=40,prec=f32,tol=1e-3", 40, ModeOrder::fft);
}

TEST(EmulatedDeviceSums, KeepTheirDigitsFarFromTheOrigin) {
  agree<double>("nufft:type=1,n=4096,m=300,prec=f64,tol=1e-9", 50, ModeOrder::centred, 1e6);
  agree<double>("nufft:type=2,n=300,m=50,prec=f64,tol=1e-9", 50, ModeOrder::centred, 1e15);
}

TEST(EmulatedDeviceSums, LeaveCoordinatesThatCostDigitsToTheHost) {
  const Setting setting("FOURTUNE_REFERENCES", "device");
  Fate fate;
  const FatedBackend backend(fate);
  const auto memory = backend.memory(0);
  const auto sums = DeviceSums::make(backend, 0);
  const SumsCase<double> one(parse_problem("nufft:type=1,n=4096,m=300,prec=f64,tol=1e-9"), *memory, 20, 1e12);
  std::vector<std::complex<double>> out(one.job.outputs());
  EXPECT_FALSE(sums->sums(one.job, one.at, out));
  EXPECT_FALSE(direct_sums(one.job, sums.get(), one.at, out));
  EXPECT_EQ(out, one.by_host());
  EXPECT_TRUE(sums->takes(1, 1)) << "others may be nearer";
}

TEST(EmulatedDeviceSums, ADeviceThatComputesWronglyIsNamed) {
  const Setting setting("FOURTUNE_REFERENCES", "device");
  for (const double factor : {1 + 1e-9, 0.0, 1e30, -1.0}) {
    Fate fate;
    fate.factor = factor;
    const FatedBackend backend(fate);
    const auto memory = backend.memory(0);
    const auto sums = DeviceSums::make(backend, 0);
    for (const char* token :
         {"nufft:type=1,n=12x11,m=300,prec=f32,tol=1e-3", "nufft:type=2,n=12,m=30,prec=f32,tol=1e-3",
          "nufft:type=3,dim=1,m=30,k=30,prec=f32,tol=1e-3"}) {
      const SumsCase<float> one(parse_problem(token), *memory, 9);
      std::vector<std::complex<double>> out(one.job.outputs());
      try {
        direct_sums(one.job, sums.get(), one.at, out);
        FAIL() << token << " times " << factor;
      } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::internal);
        EXPECT_NE(std::string(error.what()).find("the device's direct sums are wrong"), std::string::npos);
      }
    }
  }
}

TEST(EmulatedDeviceSums, WithoutACompilerTheHostSums) {
  const Setting setting("FOURTUNE_REFERENCES", "device");
  Fate fate;
  fate.no_compiler = true;
  const FatedBackend backend(fate);
  const auto memory = backend.memory(0);
  const auto sums = DeviceSums::make(backend, 0);
  const SumsCase<double> one(parse_problem("nufft:type=2,n=30,m=20,prec=f64,tol=1e-9"), *memory, 20);
  std::vector<std::complex<double>> out(20);
  EXPECT_FALSE(direct_sums(one.job, sums.get(), one.at, out));
  EXPECT_EQ(out, one.by_host());
  EXPECT_EQ(sums->why(), "there is no compiler today");
  EXPECT_FALSE(sums->takes(2, 1e30)) << "it is not asked again";
}

TEST(EmulatedDeviceSums, TheSettingAndTheAmountOfWorkDecide) {
  Fate fate;
  const FatedBackend emulated(fate), gpu(fate, runtime::MemoryKind::device);
  EXPECT_FALSE(DeviceSums::make(emulated, 0)) << "an emulator is slower than its host";
  const auto sums = DeviceSums::make(gpu, 0);
  ASSERT_TRUE(sums);
  EXPECT_FALSE(sums->takes(1, 1e5));
  EXPECT_TRUE(sums->takes(3, 1e12));
  const Setting setting("FOURTUNE_REFERENCES", "host");
  EXPECT_FALSE(DeviceSums::make(gpu, 0));
  const Setting other("FOURTUNE_REFERENCES", "pigeons");
  EXPECT_THROW(DeviceSums::make(gpu, 0), Error);
}

TEST(EmulatedDeviceSums, AreMadeOnceForAProblemHoweverManyTurnsItHas) {
  const Setting setting("FOURTUNE_REFERENCES", "device");
  Fate fate;
  const FatedBackend backend(fate);
  LocalEvaluator evaluator(backend);
  const Problem problem = parse_problem("nufft:type=1,n=12,m=40,prec=f64,tol=1e-2"),
                other = parse_problem("nufft:type=2,n=12,m=40,prec=f64,tol=1e-2");
  evaluator.load(problem, 1);
  EXPECT_EQ(fate.launches, 1);
  evaluator.load(other, 1);
  EXPECT_EQ(fate.launches, 2);
  evaluator.load(problem, 1);
  EXPECT_EQ(fate.launches, 2) << "the same problem again";
  evaluator.load(problem, 2);
  EXPECT_EQ(fate.launches, 3) << "other points";
  EXPECT_EQ(evaluator.note(), "");
}

// As a session has it: the plan that is measured is checked against what the device summed.
TEST(EmulatedDeviceSums, CheckPlans) {
  const Setting setting("FOURTUNE_REFERENCES", "device");
  Fate fate;
  const FatedBackend backend(fate);
  for (const char* token :
       {"nufft:type=1,n=12,m=40,prec=f64,tol=1e-2,batch=5", "nufft:type=2,n=6x5,m=40,prec=f32,tol=1e-2",
        "nufft:type=3,dim=1,m=40,k=30,prec=f32,tol=1e-2"}) {
    const Problem problem = parse_problem(token);
    LocalEvaluator evaluator(backend);
    evaluator.load(problem, 1);
    EvaluationRequest request;
    request.plan = generator::to_text(generator::default_plan(problem, backend.traits()), problem);
    request.benchmark.min_samples = 1;
    const Evaluation found = evaluator.evaluate(request);
    EXPECT_EQ(found.status, db::RunStatus::ok) << token << ": " << found.message;
    EXPECT_GT(found.error.value_or(0), 0);
    EXPECT_EQ(fate.launches, problem.batch == 1 ? 1 : 3) << token;
    fate.launches = 0;
  }
}

// The emulator's compiler takes more than NVRTC does. With 128 registers, half of a multiprocessor's threads are there.
TEST(DeviceSumsKernel, CompilesForGpusAndFitsTheirRegisters) {
  if (const std::string why = runtime::cuda::why_no_nvrtc(); !why.empty()) GTEST_SKIP() << why;
  const auto& known = runtime::cuda::nvrtc().architectures;
  for (const int target : {known.front(), 90, known.back()}) {
    const auto compiled = runtime::cuda::compile(sums_kernel(), target);
    ASSERT_EQ(compiled.outcome, runtime::cuda::CompileOutcome::ok) << target << "\n" << compiled.log;
    EXPECT_EQ(compiled.report.spill_store_bytes, 0) << target;
    EXPECT_LE(compiled.report.registers, 128) << target;
  }
}

}  // namespace
}  // namespace fourtune::tuner
