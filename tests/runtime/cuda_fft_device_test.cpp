// Generated transforms on a real GPU: every family of kernels, small enough for compute-sanitizer's racecheck. Without
// a GPU all tests here are skipped with a message.
#include <gtest/gtest.h>

#include <complex>
#include <ostream>
#include <random>
#include <string>

#include "fourtune/problem.h"
#include "generator/plan/fft/geometry.h"
#include "runtime/backends/cuda/cuda_backend.h"
#include "runtime/backends/cuda/driver_api.h"
#include "runtime/backends/gpu/program_source.h"
#include "tuner/measure/validate.h"

namespace fourtune::runtime::cuda {
namespace {

struct Case {
  const char* problem;
  const char* fft;
  friend void PrintTo(const Case& one, std::ostream* out) { *out << one.problem << " by " << one.fft; }
};
// From the enumeration with all of its forms: shuffles, swizzles, cp.async and bulk copies with one and two buffers,
// for natural and tiled arrays, clusters, parts, stores, real arrays.
constexpr Case cases[] = {
    {"fft:type=c2c,n=64x64x64,prec=f32",
     "interleaved{X(4,16,4,64,tw),X(16,4,1,4,no-tw)}[threads=128,tile=1x32,exchange=shuffle,store=sorted]{Y(4,16,4,64,"
     "tw),Y(16,4,1,4,no-tw)}[threads=128,tile=32,exchange=shuffle,store=sorted]{Z(4,16,4,64,tw),Z(16,4,1,4,no-tw)}["
     "threads=128,tile=32,exchange=shuffle,store=sorted]:order=natural"},
    {"fft:type=c2c,n=64x64x64,prec=f32",
     "interleaved{X(4,16,4,64,tw),X(16,4,1,4,no-tw)}[threads=128,tile=1x32,banks=swizzle,store=sorted]{Y(4,16,4,64,tw),"
     "Y(16,4,1,4,no-tw)}[threads=128,tile=32,store=sorted]{Z(4,16,4,64,tw),Z(16,4,1,4,no-tw)}[threads=128,tile=32,"
     "store=sorted]:order=natural"},
    {"fft:type=c2c,n=64x64x64,prec=f32",
     "interleaved{Z(1,64,1,64,no-tw)}[threads=32,tile=8]{X(1,64,1,64,no-tw),Y(1,64,1,64,no-tw)}[threads=64,tile=1,"
     "parts=apart,banks=swizzle,load=bulk,pipeline=2]:order=natural"},
    {"fft:type=c2c,n=64x64x64,prec=f32",
     "interleaved{X(4,16,4,64,tw),X(16,4,1,4,no-tw)}[threads=128,tile=1x32,store=sorted,load=async,pipeline=2]{Y(4,16,"
     "4,64,tw),Y(16,4,1,4,no-tw)}[threads=128,tile=32,store=sorted]{Z(4,16,4,64,tw),Z(16,4,1,4,no-tw)}[threads=128,"
     "tile=32,store=sorted]:order=natural"},
    {"fft:type=c2c,n=64x64x64,prec=f32",
     "interleaved{X(4,16,4,64,tw),X(16,4,1,4,no-tw)}[threads=128,tile=1x32,store=sorted,load=bulk,pipeline=1]{Y(4,16,4,"
     "64,tw),Y(16,4,1,4,no-tw)}[threads=128,tile=32,store=sorted]{Z(4,16,4,64,tw),Z(16,4,1,4,no-tw)}[threads=128,tile="
     "32,store=sorted]:order=natural"},
    {"fft:type=c2c,n=64x64x64,prec=f32",
     "interleaved{X(2,32,2,64,tw),Y(1,64,1,64,no-tw)}[threads=64,tile=2,store=grouped,to=work,load=bulk,pipeline=2]{Z("
     "8,8,8,64,tw),Z(8,8,1,8,no-tw),X(32,2,1,2,no-tw)}[threads=192,tile=32,load=bulk,pipeline=2]:order=natural"},
    {"fft:type=c2c,n=64x64x64,prec=f32",
     "interleaved{Z(1,64,1,64,no-tw)}[threads=32,tile=8]{X(1,64,1,64,no-tw),Y(16,4,16,64,tw),Y(4,16,1,16,no-tw)}["
     "threads=64,tile=1,parts=apart,twiddle=computed,load=bulk,pipeline=2]:order=natural"},
    {"fft:type=c2c,n=64x64x64,prec=f64,place=in",
     "interleaved{X(4,16,4,64,tw),X(16,4,1,4,no-tw)}[threads=128,tile=1x32,exchange=shuffle,store=sorted]{Y(4,16,4,64,"
     "tw),Y(16,4,1,4,no-tw)}[threads=128,tile=32,exchange=shuffle,store=sorted]{Z(4,16,4,64,tw),Z(16,4,1,4,no-tw)}["
     "threads=128,tile=32,exchange=shuffle,store=sorted]:order=natural,prec=f64,place=in"},
    {"fft:type=c2c,n=64x64x64,prec=f64,place=in",
     "interleaved{X(32,2,32,64,tw),Y(8,8,8,64,tw),Y(8,8,1,8,no-tw),Z(32,2,32,64,tw)}[threads=256,tile=16,store=sorted,"
     "to=work,load=async,pipeline=1]{X(2,32,1,32,no-tw),Z(2,32,1,32,no-tw)}[threads=64,tile=2,load=bulk,pipeline=2]:"
     "order=natural,prec=f64,place=in"},
    {"fft:type=c2c,n=64x64x64,prec=f64,place=in",
     "interleaved{X(32,2,32,64,tw),Y(8,8,8,64,tw),Y(8,8,1,8,no-tw),Z(32,2,32,64,tw)}[threads=256,tile=16,store=grouped,"
     "to=work,load=async,pipeline=1]{Z(2,32,1,32,no-tw),X(2,32,1,32,no-tw)}[threads=64,tile=2,load=bulk,pipeline=2]:"
     "order=natural,prec=f64,place=in"},
    {"fft:type=c2c,n=256x64x64,prec=f32",
     "interleaved{X(32,8,32,256,tw),X(32,8,4,32,tw),Z(8,8,8,64,tw),Z(8,8,1,8,no-tw)}[threads=1024,tile=4,store=grouped,"
     "to=work,cluster=2]{Y(8,8,8,64,tw),Y(8,8,1,8,no-tw),X(64,4,1,4,no-tw)}[threads=512,tile=16,parts=apart,banks="
     "swizzle,load=bulk,pipeline=2]:order=natural"},
    {"fft:type=c2c,n=256x64x64,prec=f32",
     "interleaved{X(32,8,32,256,tw),X(32,8,4,32,tw),Z(8,8,8,64,tw),Z(8,8,1,8,no-tw)}[threads=1024,tile=4,store=grouped,"
     "to=work,cluster=2]{Y(8,8,8,64,tw),Y(8,8,1,8,no-tw),X(64,4,1,4,no-tw)}[threads=512,tile=16,parts=apart,twiddle="
     "computed,load=bulk,pipeline=2]:order=natural"},
    {"fft:type=c2c,n=60x48x36,prec=f64",
     "interleaved{Z(12,3,12,36,tw),Y(12,4,12,48,tw),Y(4,12,1,12,no-tw)}[threads=384,tile=12x1x2,store=sorted]{Z(3,12,1,"
     "12,no-tw),X(20,3,20,60,tw),X(15,4,5,20,tw),X(12,5,1,5,no-tw)}[threads=96,tile=1x4,load=bulk,pipeline=2]:order="
     "natural,prec=f64"},
    {"fft:type=c2c,n=60x48x36,prec=f64",
     "interleaved{Y(4,12,4,48,tw),Y(12,4,1,4,no-tw),Z(12,3,12,36,tw)}[threads=384,tile=12x1x4,store=sorted,cluster=2]{"
     "Z(3,12,1,12,no-tw),X(20,3,20,60,tw),X(15,4,5,20,tw),X(12,5,1,5,no-tw)}[threads=96,tile=1x4,load=bulk,pipeline=2]:"
     "order=natural,prec=f64"},
    {"fft:type=c2c,n=60x48x36,prec=f64",
     "interleaved{X(20,3,20,60,tw),Y(12,4,12,48,tw),Y(4,12,1,12,no-tw)}[threads=384,tile=4x1x32,store=sorted,cluster=4]"
     "{X(15,4,5,20,tw),X(12,5,1,5,no-tw),Z(1,36,1,36,no-tw)}[threads=64,tile=3,load=bulk,pipeline=2]:order=natural,"
     "prec=f64"},
    {"fft:type=r2c,n=64x64x32,prec=f32",
     "interleaved{X(4,16,4,64,tw),X(16,4,1,4,no-tw)}[threads=128,tile=1x32,exchange=shuffle,store=sorted,to=work]{Y(4,"
     "16,4,64,tw),Y(16,4,1,4,no-tw)}[threads=128,tile=32,exchange=shuffle,store=sorted,to=work]{Z(2,16,2,32,tw),Z(16,2,"
     "1,2,no-tw)}[threads=128,tile=64,exchange=shuffle,store=sorted]:order=natural"},
    {"fft:type=r2c,n=64x64x32,prec=f32",
     "interleaved{Y(1,64,1,64,no-tw)}[threads=32,tile=8,to=work]{X(1,64,1,64,no-tw),Z(1,32,1,32,no-tw)}[threads=64,"
     "tile=1x2,parts=apart,banks=swizzle,load=bulk,pipeline=2]:order=natural"},
    {"fft:type=r2c,n=64x64x32,prec=f32",
     "interleaved{X(8,8,8,64,tw),Z(8,4,8,32,tw),Z(4,8,1,8,no-tw)}[threads=1024,tile=8x8,store=sorted,to=work,cluster=2]"
     "{X(8,8,1,8,no-tw),Y(16,4,16,64,tw),Y(4,16,1,16,no-tw)}[threads=128,tile=8,load=bulk,pipeline=2]:order=natural"},
    {"fft:type=r2c,n=64x64x32,prec=f32",
     "interleaved{X(1,64,1,64,no-tw),Y(1,64,1,64,no-tw),Z(1,32,1,32,no-tw)}[threads=256,tile=1,cluster=8]:order="
     "natural"},
    {"fft:type=r2c,n=64x64x32,prec=f32",
     "interleaved{Y(16,4,16,64,tw),Y(16,4,4,16,tw),Z(16,2,16,32,tw)}[threads=512,tile=64,exchange=shuffle,store="
     "grouped,to=work]{X(1,64,1,64,no-tw),Y(16,4,1,4,no-tw),Z(2,16,1,16,no-tw)}[threads=64,tile=1,load=bulk,pipeline=2]"
     ":order=natural"},
    {"fft:type=c2r,n=64x48x32,prec=f32",
     "interleaved{Y(4,12,4,48,tw),Y(12,4,1,4,no-tw)}[threads=128,tile=32,store=sorted,to=work]{Z(2,16,2,32,tw),Z(16,2,"
     "1,2,no-tw)}[threads=128,tile=64,exchange=shuffle,store=sorted,to=work]{X(4,16,4,64,tw),X(16,4,1,4,no-tw)}["
     "threads=96,tile=1x24,store=sorted]:order=natural"},
    {"fft:type=c2r,n=64x48x32,prec=f32",
     "interleaved{Z(8,4,8,32,tw),Z(4,8,1,8,no-tw)}[threads=1024,tile=16x32,parts=apart,banks=swizzle,to=work,cluster=2]"
     "{Y(8,6,8,48,tw),Y(6,8,1,8,no-tw)}[threads=1024,tile=16x1x8,to=work]{X(1,64,1,64,no-tw)}[threads=32,tile=1x8]:"
     "order=natural"},
    {"fft:type=c2r,n=64x48x32,prec=f32",
     "interleaved{Y(4,12,4,48,tw),Y(12,4,1,4,no-tw)}[threads=128,tile=32,store=sorted,to=work,load=async,pipeline=2]{Z("
     "2,16,2,32,tw),Z(16,2,1,2,no-tw)}[threads=128,tile=64,store=sorted,to=work]{X(4,16,4,64,tw),X(16,4,1,4,no-tw)}["
     "threads=96,tile=1x24,store=sorted]:order=natural"},
    // Rounds that only move values: lines of a thread, with a tile that ends behind the batch.
    {"fft:type=c2c,n=17,prec=f32,batch=1001",
     "interleaved{X(1,17,1,17,no-tw)}[threads=64,tile=1x64,exchange=shared,coalesce=both]:order=natural"},
    {"fft:type=r2c,n=16,prec=f64,batch=999",
     "interleaved{X(1,16,1,16,no-tw)}[threads=64,tile=1x64,exchange=shared,coalesce=both]:order=natural,prec=f64"},
    // Chosen caches: plain loads, copies ahead of time, real arrays.
    {"fft:type=c2c,n=64x64x64,prec=f32",
     "interleaved{X(4,16,4,64,tw),X(16,4,1,4,no-tw)}[threads=128,tile=1x32,store=sorted,cache=l2]{Y(4,16,4,64,tw),"
     "Y(16,4,1,4,no-tw)}[threads=128,tile=32,store=sorted,cache=stream]{Z(4,16,4,64,tw),Z(16,4,1,4,no-tw)}[threads=128,"
     "tile=32,store=sorted,load=async,pipeline=2,cache=l2]:order=natural"},
    {"fft:type=r2c,n=64x64x32,prec=f64",
     "interleaved{X(4,16,4,64,tw),X(16,4,1,4,no-tw)}[threads=64,tile=1x8,to=work,cache=stream]{Y(4,16,4,64,tw),Y(16,4,1,"
     "4,no-tw)}[threads=64,tile=8,to=work,cache=l2]{Z(1,32,1,32,no-tw)}[threads=64,tile=8,cache=stream]:order=natural,"
     "prec=f64"},
    // Four dimensions: three kernels, and two that share y; the library has none.
    {"fft:type=c2c,n=32x16x12x8,prec=f32,batch=2",
     "interleaved{X(1,32,1,32,no-tw),Y(1,16,1,16,no-tw)}[threads=32,tile=1x1x1,store=sorted,to=work]{Z(1,12,1,12,no-tw),"
     "W(1,8,1,8,no-tw)}[threads=128,tile=16,blocks=yxz]:order=natural"},
    {"fft:type=r2c,n=32x16x12x8,prec=f64", "plain"},
    {"fft:type=c2r,n=30x4x6x10,prec=f32,place=in", "plain"},
    {"fft:type=c2c,n=6x5x67x4,prec=f32", "plain"},
    // Orders: one and several kernels along a line, mixed radices, mirrored, by way of copies, transposed.
    {"fft:type=c2c,n=4096,prec=f32,batch=3,order=reversed",
     "interleaved{X(256,16,256,4096,tw)}[threads=64,tile=16]{X(256,16,16,256,tw),X(256,16,1,16,no-tw)}[threads=128,tile=8"
     "]:order=primes"},
    {"fft:type=c2c,n=4096,prec=f64,place=in,order=unreversed",
     "interleaved{X(256,16,256,4096,tw),X(256,16,16,256,tw)}[threads=128,tile=8]{X(256,16,1,16,no-tw)}[threads=64,tile=16"
     "]:order=natural,from=primes,prec=f64,place=in"},
    {"fft:type=c2c,n=65536,prec=f32,order=reversed", "plain"},
    {"fft:type=c2c,n=360x24,prec=f64,place=in,order=unreversed", "plain"},
    {"fft:type=c2c,n=64x18x20,prec=f32,order=reversed,layout=1x70x1300/360x20x1", "plain"},
    {"fft:type=c2c,n=134x6,prec=f32,batch=2,order=reversed", "plain"},
    {"fft:type=c2c,n=64x40,prec=f32,place=in,order=transposed", "plain"},
    {"fft:type=r2c,n=64x40x6,prec=f64,order=transposed", "plain"},
    {"fft:type=c2r,n=64x40,prec=f32,place=in,order=transposed", "plain"},
    // Untuned plans: short and long lines, joined dimensions, convolutions in one kernel and in three.
    {"fft:type=c2c,n=100x24x5,prec=f32,batch=2", "plain"},
    {"fft:type=c2c,n=16384,prec=f64", "plain"},
    {"fft:type=c2c,n=24x2048x4,prec=f32", "plain"},
    {"fft:type=c2c,n=48x384x2,prec=f32,place=in", "plain"},
    {"fft:type=c2c,n=1009,prec=f32,batch=4", "plain"},
    {"fft:type=c2c,n=4099,prec=f32", "plain"},
    {"fft:type=c2c,n=20x1031x3,prec=f32", "plain"},
    {"fft:type=c2c,n=6x4x10007,prec=f32", "plain"},
    {"fft:type=c2c,n=30011,prec=f32,batch=2,place=in", "plain"},
    {"fft:type=c2c,n=67x6x8,prec=f32", "plain"},
    {"fft:type=c2c,n=67x71x6,prec=f64,place=in", "plain"},
    {"fft:type=c2c,n=32x24,prec=f32,batch=2,layout=2x70+1700/1x33+800", "plain"},
    {"fft:type=r2c,n=134x12,prec=f64", "plain"},
    {"fft:type=r2c,n=64x30x6,prec=f32,batch=2,place=in", "plain"},
    {"fft:type=c2r,n=45x16,prec=f32", "plain"},
    {"fft:type=c2r,n=64x48x20,prec=f64,batch=2,sign=1", "cufft"},
    {"fft:type=c2r,n=4096,prec=f32,batch=3,sign=1", "cufft"},
    {"fft:type=c2c,n=909,prec=f64,layout=2/2", "cufft"},
    {"fft:type=c2r,n=64x30x6,prec=f64,place=in", "plain"},
};

class GpuFft : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_driver(); !why.empty()) GTEST_SKIP() << "NOT TESTED: " << why;
  }
  static const CudaBackend& backend() {
    static const CudaBackend one(gpu::generated_programs());
    return one;
  }
  static std::unique_ptr<Executor> bound(const Problem& problem) {
    const generator::Plan plan = generator::parse_plan(std::string("cuda;fft=") + GetParam().fft, problem);
    if (plan.gpu().fft.family == generator::GpuFftFamily::interleaved &&
        !generator::fft::check_device(plan.gpu().fft.plan, backend().traits()).empty())
      return nullptr;
    return backend().bind(problem, plan, {});
  }
};

TEST_P(GpuFft, ComputesTheTransformAndForComplexArraysItsAdjoint) {
  const Problem problem = parse_problem(GetParam().problem);
  const auto executor = bound(problem);
  if (!executor) GTEST_SKIP() << "NOT TESTED: the plan is for newer devices";
  tuner::ProblemData data(problem, 5);
  data.use(backend().memory(0), 1);
  for (int again = 0; again < 2; ++again) {
    const tuner::Validation validation = data.validate(*executor);
    EXPECT_TRUE(validation.right) << validation.message;
  }
}

// <A x, A x> = <x, A* A x>, with Re sum conj(u) v over the arrays as they are stored.
template <class T>
double adjoint_mismatch(Executor& executor, ArrayMemory& memory, std::size_t ins, std::size_t outs) {
  std::mt19937 random(7);
  std::uniform_real_distribution<T> uniform(-1, 1);
  std::vector<T> x(ins), y(outs), back(ins);
  for (T& value : x) value = uniform(random);
  void* const first = memory.allocate(ins * sizeof(T));
  void* const second = memory.allocate(outs * sizeof(T));
  memory.upload(first, x.data(), ins * sizeof(T));
  executor.execute(first, second, false);
  memory.wait();
  memory.download(y.data(), second, outs * sizeof(T));
  memory.download(back.data(), first, ins * sizeof(T));
  EXPECT_TRUE(back == x) << "the array that is read was changed";
  executor.execute(first, second, true);
  memory.wait();
  memory.download(back.data(), first, ins * sizeof(T));
  memory.release(first);
  memory.release(second);
  double forward = 0, backward = 0;
  for (const T value : y) forward += static_cast<double>(value) * static_cast<double>(value);
  for (std::size_t i = 0; i < ins; ++i) backward += static_cast<double>(x[i]) * static_cast<double>(back[i]);
  return std::abs(forward - backward) / forward;
}

TEST_P(GpuFft, AdjointsOfRealTransformsAreAdjoints) {
  const Problem problem = parse_problem(GetParam().problem);
  if (problem.fft_type == FftType::c2c || problem.place == Place::in) return;
  const auto executor = bound(problem);
  if (!executor) GTEST_SKIP() << "NOT TESTED: the plan is for newer devices";
  const auto memory = backend().memory(0);
  const auto numbers = [&](const Sizes& n, bool real) {
    return static_cast<std::size_t>(n[0] * n[1] * n[2] * n[3] * problem.batch * (real ? 1 : 2));
  };
  const std::size_t ins = numbers(input_sizes(problem), problem.fft_type == FftType::r2c),
                    outs = numbers(output_sizes(problem), problem.fft_type == FftType::c2r);
  if (problem.precision == Precision::f32)
    EXPECT_LT(adjoint_mismatch<float>(*executor, *memory, ins, outs), 1e-5);
  else
    EXPECT_LT(adjoint_mismatch<double>(*executor, *memory, ins, outs), 1e-13);
}

INSTANTIATE_TEST_SUITE_P(Families, GpuFft, ::testing::ValuesIn(cases),
                         [](const auto& i) { return "n" + std::to_string(i.index); });

}  // namespace
}  // namespace fourtune::runtime::cuda
