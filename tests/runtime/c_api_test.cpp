// The C interface: statuses, texts, option structures of other sizes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "fourtune/fourtune.h"
#include "fourtune/status.h"

namespace {

fourtune_options plain() {
  fourtune_options options;
  EXPECT_EQ(fourtune_options_init(&options), FOURTUNE_SUCCESS);
  static const char* const none[] = {""};
  options.databases = none;
  options.database_count = 0;
  return options;
}

TEST(CInterface, CreateSetPointsExecuteDestroy) {
  const fourtune_options options = plain();
  fourtune_transform* transform = nullptr;
  ASSERT_EQ(fourtune_create("nufft:type=1,n=8,prec=f64,tol=1e-9", &options, &transform), FOURTUNE_SUCCESS)
      << fourtune_last_error();
  const double x[] = {0.5, -1.0};
  std::complex<double> c[] = {{1, 2}, {-3, 0.5}}, f[8], back[2];
  ASSERT_EQ(fourtune_set_points(transform, 2, x, nullptr, nullptr, 0, nullptr, nullptr, nullptr), FOURTUNE_SUCCESS);
  ASSERT_EQ(fourtune_execute(transform, c, f), FOURTUNE_SUCCESS);
  for (int k = -4; k < 4; ++k) {
    const auto want = c[0] * std::polar(1.0, -k * x[0]) + c[1] * std::polar(1.0, -k * x[1]);
    EXPECT_LT(std::abs(f[k + 4] - want), 1e-7);
  }
  ASSERT_EQ(fourtune_execute_adjoint(transform, back, f), FOURTUNE_SUCCESS);
  std::complex<double> want = 0;
  for (int k = -4; k < 4; ++k) want += f[k + 4] * std::polar(1.0, k * x[0]);
  EXPECT_LT(std::abs(back[0] - want), 1e-6);
  int64_t held = 0, needed = 0;
  EXPECT_EQ(fourtune_memory(transform, &held, &needed), FOURTUNE_SUCCESS);
  EXPECT_GT(held, 8 * 16) << "a fine grid at least";
  EXPECT_EQ(needed, held) << "points are set";
  EXPECT_NE(std::string(fourtune_explain(transform)).find("plan: cpu;"), std::string::npos);
  EXPECT_EQ(fourtune_set_stream(transform, nullptr), FOURTUNE_SUCCESS);
  fourtune_destroy(transform);
  fourtune_destroy(nullptr);
}

TEST(CInterface, AnFftOfFourDimensions) {
  constexpr int nx = 3, ny = 4, nz = 2, nw = 5;
  const fourtune_options options = plain();
  fourtune_transform* transform = nullptr;
  ASSERT_EQ(fourtune_create("fft:type=c2c,n=3x4x2x5,prec=f64", &options, &transform), FOURTUNE_SUCCESS)
      << fourtune_last_error();
  std::vector<std::complex<double>> wave(nx * ny * nz * nw), spectrum(wave.size());
  const double turn = 2 * std::acos(-1.0);
  std::size_t i = 0;
  for (int w = 0; w < nw; ++w)
    for (int z = 0; z < nz; ++z)
      for (int y = 0; y < ny; ++y)
        for (int x = 0; x < nx; ++x)  // frequency (2, 3, 1, 4)
          wave[i++] = std::polar(1.0, turn * (2.0 * x / nx + 3.0 * y / ny + 1.0 * z / nz + 4.0 * w / nw));
  ASSERT_EQ(fourtune_execute(transform, wave.data(), spectrum.data()), FOURTUNE_SUCCESS);
  const std::size_t peak = 2 + nx * (3 + ny * (1 + nz * 4));
  for (std::size_t k = 0; k < spectrum.size(); ++k)
    EXPECT_LT(std::abs(spectrum[k] - (k == peak ? double(spectrum.size()) : 0.0)), 1e-12) << k;
  fourtune_destroy(transform);
  EXPECT_EQ(fourtune_create("nufft:type=1,n=3x4x2x5,prec=f64,tol=1e-6", &options, &transform),
            FOURTUNE_INVALID_PROBLEM);
}

TEST(CInterface, EveryFailureHasAStatusAndWords) {
  fourtune_options options = plain();
  fourtune_transform* transform = reinterpret_cast<fourtune_transform*>(1);
  EXPECT_EQ(fourtune_create("nufft:type=9", &options, &transform), FOURTUNE_INVALID_PROBLEM);
  EXPECT_EQ(transform, nullptr);
  EXPECT_NE(std::string(fourtune_last_error()).find("type=9"), std::string::npos);
  EXPECT_EQ(fourtune_create(nullptr, &options, &transform), FOURTUNE_INVALID_ARGUMENT);
  EXPECT_EQ(fourtune_create("fft:type=c2c,n=8,prec=f32", &options, nullptr), FOURTUNE_INVALID_ARGUMENT);
  EXPECT_EQ(fourtune_execute(nullptr, nullptr, nullptr), FOURTUNE_INVALID_ARGUMENT);
  EXPECT_EQ(fourtune_memory(nullptr, nullptr, nullptr), FOURTUNE_INVALID_ARGUMENT);
  EXPECT_EQ(fourtune_options_init(nullptr), FOURTUNE_INVALID_ARGUMENT);
  EXPECT_STREQ(fourtune_explain(nullptr), "");
  options.mode_order = 5;
  EXPECT_EQ(fourtune_create("fft:type=c2c,n=8,prec=f32", &options, &transform), FOURTUNE_INVALID_OPTION);
  options = plain();
  for (const int unknown : {-1, 5}) {
    options.only = unknown;
    EXPECT_EQ(fourtune_create("nufft:type=1,n=8,prec=f32,tol=1e-3", &options, &transform), FOURTUNE_INVALID_OPTION);
  }
  options.only = FOURTUNE_INTERPOLATE_ONLY_CENTRED;  // of a type 1
  EXPECT_EQ(fourtune_create("nufft:type=1,n=8,prec=f32,tol=1e-3", &options, &transform), FOURTUNE_INVALID_OPTION);
  options.only = -1;
  EXPECT_EQ(fourtune_create("fft:type=c2c,n=8,prec=f32", &options, &transform), FOURTUNE_INVALID_OPTION);
  options = plain();
  options.backend = "abacus";
  EXPECT_EQ(fourtune_create("fft:type=c2c,n=8,prec=f32", &options, &transform), FOURTUNE_BACKEND_UNAVAILABLE);
  EXPECT_NE(std::string(fourtune_last_error()).find("cpu"), std::string::npos);
  options = plain();
  options.size = 1;
  EXPECT_EQ(fourtune_create("fft:type=c2c,n=8,prec=f32", &options, &transform), FOURTUNE_INVALID_OPTION);
  options = plain();
  ASSERT_EQ(fourtune_create("nufft:type=1,n=8,prec=f64,tol=1e-9", &options, &transform), FOURTUNE_SUCCESS);
  const double x[] = {0.5, std::numeric_limits<double>::quiet_NaN()};
  EXPECT_EQ(fourtune_set_points(transform, 2, x, nullptr, nullptr, 0, nullptr, nullptr, nullptr),
            FOURTUNE_INVALID_POINT);
  EXPECT_NE(std::string(fourtune_last_error()).find('1'), std::string::npos);
  std::complex<double> c[2], f[8];
  EXPECT_EQ(fourtune_execute(transform, c, f), FOURTUNE_POINTS_NOT_SET);
  fourtune_destroy(transform);
}

TEST(CInterface, HugeProblemsAreRefusedNotCrashed) {
  const fourtune_options options = plain();
  fourtune_transform* transform = nullptr;
  const fourtune_status status =
      fourtune_create("nufft:type=1,n=100000x100000x10000,m=10,prec=f64,tol=1e-9", &options, &transform);
  EXPECT_TRUE(status == FOURTUNE_OUT_OF_MEMORY || status == FOURTUNE_SIZE_OVERFLOW) << fourtune_last_error();
  EXPECT_EQ(transform, nullptr);
  EXPECT_EQ(fourtune_create("nufft:type=1,n=4000000000x4000000000,m=10,prec=f64,tol=1e-9", &options, &transform),
            FOURTUNE_SIZE_OVERFLOW);
}

TEST(CInterface, AnOlderSmallerOptionStructureWorks) {
  fourtune_options options = plain();
  options.size = offsetof(fourtune_options, only);  // a caller built before `only` existed
  options.only = 12345;                             // bytes beyond its structure
  fourtune_transform* transform = nullptr;
  EXPECT_EQ(fourtune_create("fft:type=c2c,n=8,prec=f32", &options, &transform), FOURTUNE_SUCCESS)
      << fourtune_last_error();
  fourtune_destroy(transform);
}

TEST(CInterface, PointsOfTheirOwnAndBounds) {
  fourtune_options options = plain();
  options.distinct_points = 1;
  fourtune_transform* transform = nullptr;
  ASSERT_EQ(fourtune_create("nufft:type=1,n=1,prec=f64,tol=1e-6,batch=2", &options, &transform), FOURTUNE_SUCCESS);
  const double x[] = {1, 2, 3, 4}, low[6] = {0, 0, 0, 0, 0, 0}, high[6] = {5, 5, 5, 5, 5, 5};
  double values[8] = {1, 0, 10, 0, 100, 0, 1000, 0}, modes[4] = {};  // mode 0 is the sum of each transform's strengths
  EXPECT_EQ(fourtune_set_points(transform, 2, x, nullptr, nullptr, 0, nullptr, nullptr, nullptr), FOURTUNE_SUCCESS);
  EXPECT_EQ(fourtune_execute(transform, values, modes), FOURTUNE_SUCCESS);
  EXPECT_NEAR(modes[0], 11, 1e-3);
  EXPECT_NEAR(modes[2], 1100, 1e-1);
  EXPECT_EQ(fourtune_set_bounds(transform, low, high), FOURTUNE_INVALID_ARGUMENT) << "not a type 3";
  fourtune_destroy(transform);
  options = plain();
  ASSERT_EQ(fourtune_create("nufft:type=3,dim=1,prec=f64,tol=1e-6", &options, &transform), FOURTUNE_SUCCESS);
  EXPECT_EQ(fourtune_set_bounds(transform, low, high), FOURTUNE_SUCCESS) << fourtune_last_error();
  EXPECT_EQ(fourtune_set_bounds(transform, high, low), FOURTUNE_INVALID_ARGUMENT);
  EXPECT_EQ(fourtune_set_bounds(transform, nullptr, high), FOURTUNE_INVALID_ARGUMENT);
  fourtune_destroy(transform);
  ASSERT_EQ(fourtune_create("nufft:type=3,dim=2,prec=f64,tol=1e-6", &options, &transform), FOURTUNE_SUCCESS);
  for (const std::size_t i : {0, 1, 3, 4}) {
    double wrong[6] = {5, 5, 5, 5, 5, 5};
    for (const double bad : {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
      wrong[i] = bad;
      EXPECT_EQ(fourtune_set_bounds(transform, low, wrong), FOURTUNE_INVALID_ARGUMENT) << i << " " << bad;
      EXPECT_NE(std::string(fourtune_last_error()).find(std::string("set_bounds: ") + "xyzstu"[i]), std::string::npos);
    }
  }
  const double unused[6] = {5, 5, -1, 5, 5, -1};
  EXPECT_EQ(fourtune_set_bounds(transform, low, unused), FOURTUNE_SUCCESS) << "the third dimension is not there";
  fourtune_destroy(transform);
}

TEST(CInterface, LastErrorBelongsToTheThread) {
  fourtune_transform* transform = nullptr;
  EXPECT_EQ(fourtune_create("nonsense", nullptr, &transform), FOURTUNE_INVALID_PROBLEM);
  std::string other = "unset";
  std::thread([&] { other = fourtune_last_error(); }).join();
  EXPECT_EQ(other, "");
  EXPECT_STRNE(fourtune_last_error(), "");
}

TEST(CInterface, StatusNumbersAreThoseOfTheCxxInterface) {
  for (int value = FOURTUNE_SUCCESS; value <= FOURTUNE_COMMUNICATION; ++value) {
    EXPECT_STREQ(fourtune_status_name(static_cast<fourtune_status>(value)),
                 fourtune::status_name(static_cast<fourtune::Status>(value)));
    EXPECT_GT(std::strlen(fourtune_status_text(static_cast<fourtune_status>(value))), 5u);
  }
  EXPECT_STREQ(fourtune_status_name(FOURTUNE_POINTS_NOT_SET), "points_not_set");
  EXPECT_EQ(static_cast<int>(fourtune::Status::communication), FOURTUNE_COMMUNICATION);
  EXPECT_STRNE(fourtune_version(), "");
}

struct Heard {
  std::vector<std::string> problems;
  std::vector<size_t> done;
  size_t all = 0, stop_after = 1000;
  static int listen(size_t done, size_t all, const char* problem, void* user) {
    auto& heard = *static_cast<Heard*>(user);
    heard.problems.emplace_back(problem);
    heard.done.push_back(done);
    heard.all = all;
    return done >= heard.stop_after ? 1 : 0;
  }
};

TEST(CInterface, PrepareGoesThroughAllProblemsAndReturnsTheFirstFailure) {
  fourtune_options options = plain();
  options.threads = 3;
  const char* problems[] = {"fft:type=c2c,n=8,prec=f32", "nufft:type=1,n=8,prec=f32,tol=1e-3", "nonsense",
                            "fft:type=c2c,n=9,prec=f32"};
  Heard heard;
  EXPECT_EQ(fourtune_prepare(problems, 4, &options, Heard::listen, &heard), FOURTUNE_INVALID_ARGUMENT);
  EXPECT_NE(std::string(fourtune_last_error()).find("add m"), std::string::npos) << fourtune_last_error();
  EXPECT_EQ(heard.done, (std::vector<size_t>{1, 2, 3, 4}));
  EXPECT_EQ(heard.all, 4u);
  std::sort(heard.problems.begin(), heard.problems.end());
  EXPECT_EQ(heard.problems.back(), "nufft:type=1,n=8,prec=f32,tol=1e-3");
  EXPECT_EQ(fourtune_prepare(problems, 1, &options, nullptr, nullptr), FOURTUNE_SUCCESS);
  EXPECT_EQ(fourtune_prepare(nullptr, 0, nullptr, nullptr, nullptr), FOURTUNE_SUCCESS);
  EXPECT_EQ(fourtune_prepare(nullptr, 1, &options, nullptr, nullptr), FOURTUNE_INVALID_ARGUMENT);
  problems[0] = nullptr;
  EXPECT_EQ(fourtune_prepare(problems, 1, &options, nullptr, nullptr), FOURTUNE_INVALID_ARGUMENT);
}

TEST(CInterface, PrepareEndsWhenItsCallerSaysSo) {
  fourtune_options options = plain();
  options.threads = 1;
  const std::vector<const char*> problems(50, "fft:type=c2c,n=8,prec=f32");
  Heard heard;
  heard.stop_after = 3;
  EXPECT_EQ(fourtune_prepare(problems.data(), problems.size(), &options, Heard::listen, &heard), FOURTUNE_INTERRUPTED);
  EXPECT_EQ(heard.problems.size(), 3u);
}

}  // namespace
