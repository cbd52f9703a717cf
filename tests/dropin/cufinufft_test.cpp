// libcufinufft without a GPU: statuses and options, with a driver that only counts.
#include <malloc.h>

#include <cstdlib>

#include "tests/dropin/library.h"

namespace fourtune::test {
namespace {

// Set before anything uses the driver.
const int chosen =
    ::setenv("FOURTUNE_CUDA_DRIVER", FOURTUNE_FAKE_CUDA, 1) + ::setenv("FOURTUNE_FAKE_GPUS", "h200,small", 1);

const Library& cufinufft() {
  static const Library library("cufinufft", "");
  return library;
}

// cufinufft_opts of release 2.6.
struct Opts {
  double upsampfac = -1;
  std::int32_t gpu_method = -1, gpu_sort = -1, binsize[3] = {-1, -1, -1}, obinsize[3] = {-1, -1, -1};
  std::int32_t gpu_maxsubprobsize = -1, gpu_kerevalmeth = -1, gpu_spreadinterponly = -1, gpu_maxbatchsize = -1;
  std::int32_t gpu_device_id = -1;
  void* gpu_stream = nullptr;
  std::int32_t modeord = -1, gpu_np = -1, debug = -1;

  Opts() { cufinufft().call<void>("cufinufft_default_opts", static_cast<void*>(this)); }
};

struct Call {
  int type = 1, dim = 3, count = 1;
  std::int64_t n[3] = {16, 16, 16};
  float tol = 1e-4f;
};

int status_of(const Call& call, const Opts& opts, void** plan) {
  return cufinufft().call("cufinufftf_makeplan", call.type, call.dim, &call.n[0], 1, call.count, call.tol, plan,
                          static_cast<const void*>(&opts));
}

template <class Change>
int status_after(Change change) {
  Call call;
  Opts opts;
  change(call, opts);
  void* plan = nullptr;
  const int status = status_of(call, opts, &plan);
  EXPECT_EQ(plan != nullptr, status <= 1);
  if (plan) cufinufft().call("cufinufftf_destroy", plan);
  return status;
}

TEST(Cufinufft, StatusesHaveTheDocumentedNumbers) {
  ASSERT_EQ(chosen, 0);
  EXPECT_EQ(status_after([](auto&, auto&) {}), 0);
  EXPECT_EQ(status_after([](auto& c, auto&) { c.dim = 0; }), 12);
  EXPECT_EQ(status_after([](auto& c, auto&) { c.type = 4; }), 10);
  EXPECT_EQ(status_after([](auto& c, auto&) { c.count = 0; }), 9);
  EXPECT_EQ(status_after([](auto& c, auto&) { c.n[1] = 0; }), 14);
  EXPECT_EQ(status_after([](auto& c, auto&) { c.tol = 0; }), 0);
  EXPECT_EQ(status_after([](auto&, auto& o) { o.upsampfac = 0.9, o.gpu_kerevalmeth = 0; }), 7);
  EXPECT_EQ(status_after([](auto&, auto& o) { o.upsampfac = 0.9; }), 8);
  EXPECT_EQ(status_after([](auto&, auto& o) { o.upsampfac = 1.25; }), 0);
  EXPECT_EQ(status_after([](auto&, auto& o) { o.gpu_method = 5; }), 17);
  EXPECT_EQ(status_after([](auto& c, auto& o) { o.gpu_method = 4, c.dim = 1; }), 17);
  EXPECT_EQ(status_after([](auto&, auto& o) {
              o.gpu_method = 2;
              for (int& size : o.binsize) size = 1024;
            }),
            19);
  EXPECT_EQ(status_after([](auto&, auto& o) { o.binsize[0] = -3; }), 18);
  EXPECT_EQ(status_after([](auto&, auto& o) { o.gpu_spreadinterponly = 1; }), 0);
  EXPECT_EQ(status_after([](auto& c, auto& o) { c.type = 3, o.gpu_spreadinterponly = 1; }), 21);
  EXPECT_EQ(cufinufft().call("cufinufft_destroy", static_cast<void*>(nullptr)), 16);
}

TEST(Cufinufft, PointsAreChecked) {
  Call call;
  call.type = 3;
  call.dim = 1;
  void* plan = nullptr;
  ASSERT_EQ(status_of(call, Opts(), &plan), 0);
  const float* none = nullptr;
  const auto set = [&](std::int64_t m, int k) {
    return cufinufft().call("cufinufftf_setpts", plan, m, none, none, none, k, none, none, none);
  };
  EXPECT_EQ(set(1, 1), 21);
  EXPECT_EQ(set(1, -1), 20);
  EXPECT_EQ(set(-1, 1), 20);
  EXPECT_EQ(cufinufft().call("cufinufft_execute", plan, static_cast<void*>(nullptr), static_cast<void*>(nullptr)), 16);
  EXPECT_EQ(cufinufft().call("cufinufftf_destroy", plan), 0);
}

// A plan that is made again has its kernels and its memory at once, on whichever stream.
TEST(Cufinufft, WhatIsLikeAPlanThatHasEndedTakesItsTransform) {
  void* const driver = ::dlopen(FOURTUNE_FAKE_CUDA, RTLD_NOW);
  ASSERT_TRUE(driver) << ::dlerror();
  const auto& modules = *static_cast<const int*>(::dlsym(driver, "fake_modules"));
  alignas(256) float x[64] = {}, values[128] = {}, modes[128] = {};
  const float* const none = nullptr;
  int stream = 0;
  const auto run = [&](void* on) {
    Call call;
    call.dim = 1, call.n[0] = 60;
    Opts opts;
    opts.gpu_stream = on, opts.gpu_spreadinterponly = 1;
    void* plan = nullptr;
    ASSERT_EQ(status_of(call, opts, &plan), 0);
    ASSERT_EQ(cufinufft().call("cufinufftf_setpts", plan, std::int64_t{64}, static_cast<const float*>(x), none, none, 0,
                               none, none, none),
              0);
    EXPECT_EQ(cufinufft().call("cufinufftf_execute", plan, static_cast<void*>(values), static_cast<void*>(modes)), 0);
    EXPECT_EQ(cufinufft().call("cufinufftf_destroy", plan), 0);
  };
  const int none_yet = modules;
  run(nullptr);
  const int before = modules;
  EXPECT_GT(before, none_yet);
  run(nullptr);
  run(&stream);
  EXPECT_EQ(modules, before);
}

// What destroyed plans leave is at most 1/32 of the device's memory, or 1 GiB: of 140 GiB 1 GiB, of 2 GiB 64 MiB.
TEST(Cufinufft, WhatIsKeptIsAShareOfTheDevicesMemory) {
  void* const driver = ::dlopen(FOURTUNE_FAKE_CUDA, RTLD_NOW);
  ASSERT_TRUE(driver) << ::dlerror();
  const auto* const allocations = static_cast<const int*>(::dlsym(driver, "fake_allocations_of"));
  alignas(256) float x[64] = {};
  const float* const none = nullptr;
  const auto arrays_kept = [&](int device, std::int64_t modes) {
    Call call;
    call.dim = 1, call.n[0] = modes;
    Opts opts;
    opts.gpu_device_id = device;
    const int before = allocations[device];
    void* plan = nullptr;
    EXPECT_EQ(status_of(call, opts, &plan), 0);
    EXPECT_EQ(cufinufft().call("cufinufftf_setpts", plan, std::int64_t{64}, static_cast<const float*>(x), none, none, 0,
                               none, none, none),
              0);
    EXPECT_GT(allocations[device], before);
    EXPECT_EQ(cufinufft().call("cufinufftf_destroy", plan), 0);
    return allocations[device] - before;
  };
  constexpr std::int64_t kFits = 2'000'000, kTooMuch = 7'000'000;  // grids of 20 and 70 MB, and work
  for (const int device : {0, 1}) EXPECT_GT(arrays_kept(device, kFits), 0) << "device " << device;
  EXPECT_GT(arrays_kept(0, kTooMuch), 0);
  EXPECT_LE(arrays_kept(1, kTooMuch), 0);
}

// What this process and its libraries have allocated and not freed.
long allocated_bytes() {
  const struct mallinfo2 all = ::mallinfo2();
  return static_cast<long>(all.uordblks + all.hblkhd);
}

TEST(Cufinufft, MemoryDoesNotGrowWithPlansMadeAndDestroyed) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer holds freed memory back";
#endif
  const Opts opts;
  const auto make = [&](int times) {
    for (int i = 0; i < times; ++i) {
      Call call;
      call.type = 1 + i % 3, call.dim = 1 + i % 2, call.n[0] = 9 + i % 24;
      void* plan = nullptr;
      ASSERT_EQ(status_of(call, opts, &plan), 0);
      ASSERT_EQ(cufinufft().call("cufinufftf_destroy", plan), 0);
    }
  };
  // FOURTUNE_PLAN_CYCLES=100000 takes a minute and more.
  const char* const cycles = std::getenv("FOURTUNE_PLAN_CYCLES");
  const int plans = cycles ? std::atoi(cycles) : 4000;
  make(1000);
  const long before = resident_pages(), allocated = allocated_bytes();
  make(plans);
  EXPECT_LT(resident_pages() - before, 100) << "pages";
  // The smallest block takes 32 bytes; what is made once, such as a table of a thread, takes some thousand.
  EXPECT_LT(allocated_bytes() - allocated, 16L * plans) << "a block for each second plan";
}

TEST(Cufinufft, ADeviceThatDoesNotExistIsAFailureOfTheGpu) {
  Opts opts;
  opts.gpu_device_id = 7;
  void* plan = nullptr;
  ASSERT_EQ(status_of(Call(), opts, &plan), 15);
}

TEST(Cufinufft, TheLibraryHasEveryFunctionOfBothPrecisions) {
  for (const std::string prefix : {"cufinufft", "cufinufftf"}) {
    for (const char* name : {"_makeplan", "_setpts", "_execute", "_destroy"})
      EXPECT_TRUE(cufinufft().find(prefix + name)) << prefix << name;
    for (const char* dim : {"1d", "2d", "3d"})
      for (const char* type : {"1", "2", "3"})
        for (const char* many : {"", "many"})
          EXPECT_TRUE(cufinufft().find(prefix + dim + type + many)) << prefix << dim << type << many;
  }
}

struct Layout {
  const char* release;
  std::size_t size;
  int too_accurate;
};

class CufinufftReleases : public ::testing::TestWithParam<Layout> {};

TEST_P(CufinufftReleases, ReadAndWriteTheStructureOfThatRelease) {
  const Layout& layout = GetParam();
  const Library library("cufinufft", layout.release);
  const AtTheEnd opts(layout.size);
  library.call<void>("cufinufft_default_opts", opts.get());
  EXPECT_EQ(opts.at<double>(0), 0);
  EXPECT_EQ(opts.at<int>(12), 1);     // gpu_sort
  EXPECT_EQ(opts.at<int>(40), 1024);  // gpu_maxsubprobsize
  EXPECT_EQ(opts.at<int>(48), 0);     // gpu_spreadinterponly
  for (std::size_t offset = 64; offset < layout.size; offset += 4) EXPECT_EQ(opts.at<int>(offset), 0) << offset;
  const std::int64_t n = 20;
  void* plan = nullptr;
  EXPECT_EQ(library.call("cufinufft_makeplan", 1, 1, &n, 1, 1, 0.0, &plan, opts.get()), layout.too_accurate);
  ASSERT_TRUE(plan);
  EXPECT_EQ(library.call("cufinufft_destroy", plan), 0);
}

INSTANTIATE_TEST_SUITE_P(, CufinufftReleases,
                         ::testing::Values(Layout{"2.2", 72, 1}, Layout{"2.3", 76, 1}, Layout{"2.4", 80, 1},
                                           Layout{"2.5", 88, 1}, Layout{"", 88, 0}));

}  // namespace
}  // namespace fourtune::test
