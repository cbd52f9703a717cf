// Every option of the C interface, checked where it arrives, and option structures of every size.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "fourtune/fourtune.h"
#include "tests/support/probe_backend.h"

namespace fourtune::test {
namespace {

constexpr const char* kNufft = "nufft:type=1,n=8,m=4,prec=f64,tol=1e-9,batch=2";

class COptions : public ::testing::Test {
 protected:
  COptions() {
    add_probe_backend();
    fourtune_options_init(&options_);
    options_.databases = none_;
    options_.backend = "probe";
  }
  ~COptions() override { fourtune_destroy(transform_); }

  fourtune_status create(const char* token = kNufft) { return create(&options_, token); }
  fourtune_status create(const fourtune_options* options, const char* token = kNufft) {
    fourtune_destroy(transform_);
    return fourtune_create(token, options, &transform_);
  }
  // The options that arrived.
  const Probe& made(const char* token = kNufft) {
    EXPECT_EQ(create(token), FOURTUNE_SUCCESS) << fourtune_last_error();
    return probe();
  }
  std::string explained() { return fourtune_explain(transform_); }

  const char* none_[1] = {""};
  fourtune_options options_;
  fourtune_transform* transform_ = nullptr;
};

TEST_F(COptions, DefaultsArriveAsDefaults) {
  const runtime::ExecutorOptions& seen = made().options;
  EXPECT_FALSE(seen.deterministic);
  EXPECT_FALSE(seen.trust_points);
  EXPECT_FALSE(seen.exact_points);
  EXPECT_FALSE(seen.distinct_points);
  EXPECT_EQ(seen.mode_order, ModeOrder::centred);
  EXPECT_EQ(seen.only, Only::whole);
  EXPECT_EQ(seen.device, 0);
  EXPECT_EQ(seen.stream, nullptr);
}

TEST_F(COptions, DevicesArrive) {
  options_.devices = "0,9";
  EXPECT_EQ(create(), FOURTUNE_INVALID_OPTION);
  EXPECT_NE(std::string(fourtune_last_error()).find("device=9"), std::string::npos) << fourtune_last_error();
  options_.devices = "5";
  EXPECT_EQ(made().options.device, 5);
}

TEST_F(COptions, DeterministicArrives) {
  options_.deterministic = 1;
  const runtime::ExecutorOptions& seen = made().options;
  EXPECT_TRUE(seen.deterministic);
  EXPECT_FALSE(seen.trust_points || seen.distinct_points);
}

TEST_F(COptions, TrustPointsArrives) {
  options_.trust_points = 1;
  const runtime::ExecutorOptions& seen = made().options;
  EXPECT_TRUE(seen.trust_points);
  EXPECT_FALSE(seen.deterministic || seen.distinct_points);
}

TEST_F(COptions, ExactPointsArrives) {
  options_.exact_points = 1;
  const runtime::ExecutorOptions& seen = made().options;
  EXPECT_TRUE(seen.exact_points);
  EXPECT_FALSE(seen.trust_points || seen.distinct_points);
}

TEST_F(COptions, DistinctPointsArrivesAndThePlanIsForOneTransform) {
  options_.distinct_points = 1;
  const Probe& seen = made();
  EXPECT_TRUE(seen.options.distinct_points);
  EXPECT_FALSE(seen.options.deterministic || seen.options.trust_points);
  EXPECT_EQ(seen.problem.batch, 2);
  EXPECT_EQ(explained().find("batch=2"), std::string::npos) << explained();
}

TEST_F(COptions, ModeOrderArrives) {
  options_.mode_order = FOURTUNE_MODES_FFT;
  EXPECT_EQ(made().options.mode_order, ModeOrder::fft);
}

TEST_F(COptions, OnlyArrives) {
  options_.only = FOURTUNE_SPREAD_ONLY;
  EXPECT_EQ(made().options.only, Only::spread);
  options_.only = FOURTUNE_INTERPOLATE_ONLY;
  EXPECT_EQ(made("nufft:type=2,n=8,m=4,prec=f64,tol=1e-9").options.only, Only::interpolate);
  options_.only = FOURTUNE_SPREAD_ONLY_CENTRED;
  EXPECT_EQ(made().options.only, Only::spread_centred);
  options_.only = FOURTUNE_INTERPOLATE_ONLY_CENTRED;
  EXPECT_EQ(made("nufft:type=2,n=8,m=4,prec=f64,tol=1e-9").options.only, Only::interpolate_centred);
}

TEST_F(COptions, DeviceAndStreamArrive) {
  int stream = 0;
  options_.device = 3;
  options_.stream = &stream;
  const runtime::ExecutorOptions& seen = made().options;
  EXPECT_EQ(seen.device, 3);
  EXPECT_EQ(seen.stream, &stream);
  int other = 0;
  EXPECT_EQ(fourtune_set_stream(transform_, &other), FOURTUNE_SUCCESS);
  EXPECT_EQ(probe().stream, &other);
}

TEST_F(COptions, ThreadsBoundThePlan) {
  EXPECT_EQ(made("fft:type=c2c,n=64x64x64,prec=f64").plan.cpu().threads, 3) << "all of them";
  options_.threads = 2;
  EXPECT_EQ(made("fft:type=c2c,n=64x64x64,prec=f64").plan.cpu().threads, 2);
  options_.threads = -1;
  EXPECT_EQ(create(), FOURTUNE_INVALID_OPTION);
}

TEST_F(COptions, TheForcedPlanArrives) {
  options_.plan = "cpu;threads=7;fft=rows(rigor=patient,block=33)";
  const Probe& seen = made("fft:type=c2c,n=8x8,prec=f64");
  EXPECT_EQ(seen.plan.cpu().threads, 7);
  EXPECT_EQ(seen.plan.cpu().fft.block, 33);
  EXPECT_NE(explained().find("forced"), std::string::npos);
}

TEST_F(COptions, TheClampRaisesTheTolerance) {
  const char* token = "nufft:type=1,n=8,m=4,prec=f32,tol=1e-9";
  EXPECT_EQ(create(token), FOURTUNE_TOLERANCE_UNREACHABLE);
  options_.clamp_tolerance = 1;
  EXPECT_GT(made(token).problem.tol, 1e-9);
}

TEST_F(COptions, DatabasesAndTheirCountSayWhereIsLooked) {
  made();
  EXPECT_EQ(explained().find(".db"), std::string::npos) << "no database at all: " << explained();
  const char* two[] = {"/nowhere/first.db", "/nowhere/second.db"};
  options_.databases = two;
  options_.database_count = 1;
  made();
  EXPECT_NE(explained().find("first.db"), std::string::npos) << explained();
  EXPECT_EQ(explained().find("second.db"), std::string::npos) << explained();
  options_.database_count = 2;
  made();
  EXPECT_NE(explained().find("first.db"), std::string::npos) << explained();
  EXPECT_NE(explained().find("second.db"), std::string::npos) << explained();
  two[1] = nullptr;
  EXPECT_EQ(create(), FOURTUNE_INVALID_OPTION);
}

TEST_F(COptions, MemorySaysWhatIsHeldAndWhatIsNeeded) {
  made();
  int64_t held = 0, needed = 0;
  ASSERT_EQ(fourtune_memory(transform_, &held, &needed), FOURTUNE_SUCCESS);
  EXPECT_EQ(held, 1111);
  EXPECT_EQ(needed, 2222);
  held = needed = 0;
  ASSERT_EQ(fourtune_memory(transform_, &held, nullptr), FOURTUNE_SUCCESS);
  ASSERT_EQ(fourtune_memory(transform_, nullptr, &needed), FOURTUNE_SUCCESS);
  EXPECT_EQ(held, 1111);
  EXPECT_EQ(needed, 2222);
}

TEST_F(COptions, PointsBoundsAndExecutesArriveInOrder) {
  made("nufft:type=3,dim=3,m=1,k=2,prec=f64,tol=1e-6");
  const double x[1] = {}, y[1] = {}, z[1] = {}, s[2] = {}, t[2] = {}, u[2] = {};
  const double low[6] = {-1, -2, -3, -4, -5, -6}, high[6] = {1, 2, 3, 4, 5, 6};
  ASSERT_EQ(fourtune_set_bounds(transform_, low, high), FOURTUNE_SUCCESS);
  ASSERT_EQ(fourtune_set_points(transform_, 1, x, y, z, 2, s, t, u), FOURTUNE_SUCCESS) << fourtune_last_error();
  ASSERT_EQ(probe().points.size(), 1u);
  const runtime::PointSet& points = probe().points[0];
  EXPECT_EQ(points.m, 1);
  EXPECT_EQ(points.k, 2);
  const void* given[] = {x, y, z, s, t, u};
  const void* seen[] = {points.x, points.y, points.z, points.s, points.t, points.u};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(seen[i], given[i]) << i;
  ASSERT_TRUE(probe().bounds);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(probe().bounds->low[i], low[i]);
    EXPECT_EQ(probe().bounds->high[i], high[i]);
  }
  double values[8], modes[8];
  ASSERT_EQ(fourtune_execute(transform_, values, modes), FOURTUNE_SUCCESS);
  EXPECT_EQ(probe().executes, 1);
  EXPECT_EQ(probe().adjoints, 0);
  ASSERT_EQ(fourtune_execute_adjoint(transform_, values, modes), FOURTUNE_SUCCESS);
  EXPECT_EQ(probe().executes, 1);
  EXPECT_EQ(probe().adjoints, 1);
}

// A structure of `size` bytes with every option set, followed by other bytes.
struct Sized {
  explicit Sized(std::size_t size, void* stream, unsigned char behind) : bytes(400, behind) {
    fourtune_options options;
    fourtune_options_init(&options);
    static const char* const none[] = {""};
    options.databases = none;
    options.backend = "probe";
    options.device = 3;
    options.threads = 2;
    options.deterministic = 1;
    options.stream = stream;
    options.mode_order = FOURTUNE_MODES_FFT;
    options.trust_points = options.distinct_points = options.exact_points = 1;
    options.only = FOURTUNE_SPREAD_ONLY;
    options.size = size;
    std::memcpy(bytes.data(), &options, std::min(size, sizeof options));
    if (size >= sizeof(std::size_t)) return;
    std::memcpy(bytes.data(), &options.size, sizeof options.size);  // the library always reads this field
  }
  const fourtune_options* get() const { return reinterpret_cast<const fourtune_options*>(bytes.data()); }
  std::vector<unsigned char> bytes;
};

TEST_F(COptions, StructuresOfEverySizeKeepDefaultsBeyondTheirEnd) {
#define ENDS(field) (offsetof(fourtune_options, field) + sizeof(fourtune_options::field))
  ASSERT_LE(sizeof(fourtune_options), 200u) << "the sizes below cover it";
  int stream = 0;
  for (std::size_t size = 0; size <= 200; ++size) {
    SCOPED_TRACE(size);
    const bool larger = size > sizeof(fourtune_options);
    const Sized given(size, &stream, larger ? 0 : 0xff);
    const fourtune_status status = create(given.get());
    if (size < sizeof(std::size_t)) {
      EXPECT_EQ(status, FOURTUNE_INVALID_OPTION);
      continue;
    }
    if (size < ENDS(backend)) {
      EXPECT_EQ(status, FOURTUNE_SUCCESS) << fourtune_last_error();  // the default backend: nothing else to see
      continue;
    }
    ASSERT_EQ(status, FOURTUNE_SUCCESS) << fourtune_last_error();
    const runtime::ExecutorOptions& seen = probe().options;
    EXPECT_EQ(seen.device, size >= ENDS(device) ? 3 : 0);
    EXPECT_LE(probe().plan.cpu().threads, size >= ENDS(threads) ? 2 : 3);
    EXPECT_EQ(seen.deterministic, size >= ENDS(deterministic));
    EXPECT_EQ(seen.stream, size >= ENDS(stream) ? &stream : nullptr);
    EXPECT_EQ(seen.mode_order, size >= ENDS(mode_order) ? ModeOrder::fft : ModeOrder::centred);
    EXPECT_EQ(seen.trust_points, size >= ENDS(trust_points));
    EXPECT_EQ(seen.exact_points, size >= ENDS(exact_points));
    EXPECT_EQ(seen.only, size >= ENDS(only) ? Only::spread : Only::whole);
    EXPECT_EQ(seen.distinct_points, size >= ENDS(distinct_points));
  }
#undef ENDS
}

TEST_F(COptions, AnOptionThatThisLibraryDoesNotHaveIsRefused) {
  for (const std::size_t size : {sizeof(fourtune_options) + 1, sizeof(fourtune_options) + 8, std::size_t{200}}) {
    Sized given(size, nullptr, 0);
    EXPECT_EQ(create(given.get()), FOURTUNE_SUCCESS) << fourtune_last_error();
    given.bytes[size] = 1;  // the first byte after it
    EXPECT_EQ(create(given.get()), FOURTUNE_SUCCESS) << fourtune_last_error();
    given.bytes[size - 1] = 1;
    EXPECT_EQ(create(given.get()), FOURTUNE_INVALID_OPTION);
    EXPECT_NE(std::string(fourtune_last_error()).find("does not have"), std::string::npos) << fourtune_last_error();
  }
  Sized given(200, nullptr, 0);
  const std::size_t huge = std::size_t{1} << 40;
  std::memcpy(given.bytes.data(), &huge, sizeof huge);
  EXPECT_EQ(create(given.get()), FOURTUNE_INVALID_OPTION);
}

}  // namespace
}  // namespace fourtune::test
