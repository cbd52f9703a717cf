// Direct sums on a real GPU, with the time that they take there and on the host. Without a GPU these are skipped.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "base/usable_threads.h"
#include "runtime/backends/cuda/cuda_backend.h"
#include "runtime/backends/cuda/driver_api.h"
#include "tests/support/program.h"
#include "tests/tuner/sums_cases.h"
#include "tuner/measure/validate.h"

namespace fourtune::tuner {
namespace {

template <class F>
double seconds_of(const F& body) {
  const auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// All outputs of the sample at once; the host is asked for a fifth as many, as it may need seconds.
template <typename T>
void compare(const runtime::cuda::CudaBackend& backend, const char* token) {
  const Problem problem = bound_problem(parse_problem(token));
  const auto memory = backend.memory(0);
  const auto sums = DeviceSums::make(backend, 0);
  ASSERT_TRUE(sums);
  const SumsCase<T> one(problem, *memory, 256);
  std::vector<std::complex<double>> device, host;
  const double first = seconds_of([&] { device = one.by_device(*sums); });
  const double warm = seconds_of([&] { device = one.by_device(*sums); });
  const double on_host = seconds_of([&] { host = one.by_host(); });
  const ErrorEstimate off = relative_error(host, device);
  const double terms = static_cast<double>(one.job.terms()) * static_cast<double>(one.job.outputs());
  std::printf("%s: %.3g terms, device %.4f s (first %.4f), host %.4f s on %d threads, off by %.1e\n", token, terms,
              warm, first, on_host, usable_threads(), off.relative);
  EXPECT_LT(off.relative, 1e-15) << token;
}

TEST(GpuSums, AreTheHostsAndTakeThisLong) {
  if (const std::string why = runtime::cuda::why_no_driver(); !why.empty()) GTEST_SKIP() << "NOT TESTED: " << why;
  const Setting setting("FOURTUNE_REFERENCES", "device");
  const test::ScratchFolder folder;
  const runtime::cuda::CudaBackend backend(runtime::gpu::generated_programs(), folder / "kernels.db");
  compare<float>(backend, "nufft:type=1,n=1000,m=100000,prec=f32,tol=1e-3");
  compare<double>(backend, "nufft:type=1,n=256x256,m=1000000,prec=f64,tol=1e-9");
  compare<float>(backend, "nufft:type=1,n=128x128x128,m=4000000,prec=f32,tol=1e-3");
  compare<float>(backend, "nufft:type=2,n=1000000,m=100000,prec=f32,tol=1e-3");
  compare<double>(backend, "nufft:type=2,n=1000x1000,m=100000,prec=f64,tol=1e-9");
  compare<float>(backend, "nufft:type=2,n=128x128x128,m=100000,prec=f32,tol=1e-3");
  compare<double>(backend, "nufft:type=3,dim=1,m=1000000,k=1000,prec=f64,tol=1e-9");
  compare<float>(backend, "nufft:type=3,dim=2,m=1000000,k=1000,prec=f32,tol=1e-3");
  compare<double>(backend, "nufft:type=3,dim=3,m=1000000,k=1000,prec=f64,tol=1e-9,extent=100x100x100");
}

}  // namespace
}  // namespace fourtune::tuner
