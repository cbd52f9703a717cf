// A batch that several emulated devices share, against one processor. Their copies land late (late_streams.h).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fourtune/transform.h"
#include "runtime/batch_shares.h"
#include "runtime/device_part.h"
#include "tests/runtime/emulated_devices_support.h"
#include "tests/support/turns.h"

namespace fourtune::test {
namespace {

using runtime::batch_pieces;
using runtime::batch_shares;
using runtime::DevicePart;
using runtime::DeviceShare;

using EmulatedDevices = ThreeEmulatedDevices;

// An array of real numbers of either precision, at 64 bytes or 16 behind: the emulated devices reach the first only.
class Numbers {
 public:
  Numbers(Precision precision, std::int64_t count, bool reached, unsigned seed)
      : real_(real_bytes(precision)), count_(count), bytes_(static_cast<std::size_t>(count * real_ + 128)) {
    void* at = bytes_.data();
    std::size_t space = bytes_.size();
    at_ = static_cast<char*>(std::align(64, 1, at, space)) + (reached ? 0 : 16);
    for (std::int64_t i = 0; i < count; ++i) {
      seed = seed * 1664525u + 1013904223u;
      set(i, static_cast<double>(seed >> 8) / 8388608.0 - 1);
    }
  }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  void* data() const { return at_; }
  double get(std::int64_t i) const {
    if (real_ == 8) return reinterpret_cast<const double*>(at_)[i];
    return static_cast<double>(reinterpret_cast<const float*>(at_)[i]);
  }
  void set(std::int64_t i, double value) {
    if (real_ == 8) {
      reinterpret_cast<double*>(at_)[i] = value;
    } else {
      reinterpret_cast<float*>(at_)[i] = static_cast<float>(value);
    }
  }
  std::int64_t count() const { return count_; }

 private:
  std::int64_t real_, count_;
  std::vector<char> bytes_;
  char* at_ = nullptr;
};

// The number of real numbers in the first or the second array.
std::int64_t reals(const Problem& p, bool first) {
  if (p.kind == Kind::nufft) return 2 * p.batch * (first ? *p.m : p.type == 3 ? *p.k : mode_count(p));
  const ArrayLayout layout = first ? resolved_input_layout(p) : resolved_output_layout(p);
  const std::int64_t own = p.batch * layout.distance * (p.fft_type == (first ? FftType::r2c : FftType::c2r) ? 1 : 2);
  return p.place == Place::in && first ? std::max(own, reals(p, false)) : own;
}

// What both arrays hold after an execute. Both are drawn, and points too.
struct Result {
  std::unique_ptr<Numbers> first, second;
};

template <class Any>
void give_points(const Problem& p, bool distinct, bool reached, Any& transform) {
  if (p.kind != Kind::nufft) return;
  const std::int64_t sets = distinct ? p.batch : 1;
  std::vector<std::unique_ptr<Numbers>> arrays;
  Points points;
  points.m = *p.m, points.k = p.k.value_or(0);
  const void** at[] = {&points.x, &points.y, &points.z, &points.s, &points.t, &points.u};
  for (int side = 0; side < (p.type == 3 ? 2 : 1); ++side)
    for (int d = 0; d < p.dim; ++d) {
      arrays.push_back(std::make_unique<Numbers>(p.precision, sets * (side == 0 ? points.m : points.k), reached,
                                                 static_cast<unsigned>(5 + 3 * side + d)));
      *at[3 * side + d] = arrays.back()->data();
    }
  transform.set_points(points);
}

Result arrays_of(const Problem& p, bool reached) {
  Result result{std::make_unique<Numbers>(p.precision, reals(p, true), reached, 1), nullptr};
  if (p.place == Place::out || p.kind == Kind::nufft)
    result.second = std::make_unique<Numbers>(p.precision, reals(p, false), reached, 2);
  return result;
}

Result run(const Problem& p, const Options& options, bool reached, bool adjoint) {
  Transform transform(to_token(p), options);
  give_points(p, options.distinct_points, reached, transform);
  Result result = arrays_of(p, reached);
  void* const second = result.second ? result.second->data() : result.first->data();
  adjoint ? transform.execute_adjoint(result.first->data(), second) : transform.execute(result.first->data(), second);
  return result;
}

double error_of(const Numbers& result, const Numbers& right) {
  double difference = 0, size = 0;
  for (std::int64_t i = 0; i < right.count(); ++i) {
    difference += std::pow(result.get(i) - right.get(i), 2);
    size += std::pow(right.get(i), 2);
  }
  return size > 0 ? std::sqrt(difference / size) : difference;
}

// Rows of real numbers in place are padded, with what nobody has promised.
void clear_padding(const Problem& p, const Result& result, bool adjoint) {
  if (result.second || p.fft_type != (adjoint ? FftType::r2c : FftType::c2r)) return;
  const std::int64_t row = 2 * (p.n[0] / 2 + 1);
  for (std::int64_t i = 0; i < result.first->count(); ++i)
    if (i % row >= p.n[0]) result.first->set(i, 0);
}

void expect_same(const Problem& p, const Result& result, const Result& right, bool adjoint) {
  clear_padding(p, result, adjoint), clear_padding(p, right, adjoint);
  const double allowed = p.kind == Kind::fft ? 30 * epsilon(p.precision) : 2 * allowed_error(p);
  const bool writes_first = (p.kind == Kind::fft || p.type != 2) == adjoint;
  EXPECT_LE(error_of(*result.first, *right.first), writes_first || !right.second ? allowed : 0);
  if (right.second) {
    EXPECT_LE(error_of(*result.second, *right.second), writes_first ? 0 : allowed);
  }
}

const char* const kProblems[] = {
    "nufft:type=1,n=14x11,m=150,prec=f64,tol=1e-6,batch=5",
    "nufft:type=2,n=7x8x6,m=120,prec=f32,tol=1e-3,batch=4",
    "nufft:type=3,dim=1,m=90,k=70,prec=f64,tol=1e-5,batch=3",
    "nufft:type=1,n=41,m=0,prec=f32,tol=1e-3,batch=3",
    "fft:type=c2c,n=12x10,prec=f32,batch=7",
    "fft:type=c2c,n=30,prec=f64,batch=4,place=in",
    "fft:type=r2c,n=12x9,prec=f32,batch=5",
    "fft:type=c2r,n=10,prec=f64,batch=2,sign=1",
    "fft:type=c2c,n=6x4x5,prec=f64,batch=3,order=transposed",
};

TEST_F(EmulatedDevices, AnyNumberComputesWhatOneProcessorDoes) {
  Options alone;
  alone.default_databases = false;
  std::uint64_t number = 0;
  for (const char* token : kProblems)
    for (const bool adjoint : {false, true}) {
      if (!test::has_turn(number++, 4)) continue;  // most of the time is compiling their kernels
      const Problem p = parse_problem(token);
      const Result right = run(p, alone, true, adjoint);
      for (const char* devices : {"0", "2,0", "all"})
        for (const bool reached : {true, false}) {
          SCOPED_TRACE(std::string(token) + " devices=" + devices + (reached ? "" : " copied") +
                       (adjoint ? " adjoint" : ""));
          expect_same(p, run(p, on_emulated(devices), reached, adjoint), right, adjoint);
        }
    }
}

// Ffts that go through a device in blocks: of several planes and lines, with fewer in the last one.
TEST_F(EmulatedDevices, ArraysLargerThanWhatIsAllowedGoThroughInBlocks) {
  Options alone;
  alone.default_databases = false;
  struct {
    const char *token, *devices, *blocks;
  } const cases[] = {
      {"fft:type=c2c,n=6x5x7,prec=f64,batch=2", "0:9000", "4 blocks of planes, 3 of lines"},
      {"fft:type=c2c,n=6x5x7,prec=f64,place=in,sign=1", "1:9000", "4 blocks of planes, 3 of lines"},
      {"fft:type=c2c,n=12x10,prec=f32,batch=5", "0:1000,2:1500", "blocks of planes"},
      {"fft:type=r2c,n=6x4x7,prec=f64", "0:4000", "blocks of planes"},
      {"fft:type=r2c,n=7x4x5,prec=f32,batch=3,place=in", "all:1200", "blocks of planes"},
      {"fft:type=c2r,n=6x4x7,prec=f64,sign=1", "0:4000", "blocks of planes"},
      {"fft:type=c2r,n=6x4x7,prec=f64,place=in", "0:4000", "blocks of planes"},
      {"fft:type=c2c,n=4x3x5x6,prec=f64", "0:9000", "blocks of planes"},
  };
  for (const auto& [token, devices, blocks] : cases)
    for (const bool adjoint : {false, true})
      for (const bool reached : {true, false}) {
        SCOPED_TRACE(std::string(token) + " devices=" + devices + (adjoint ? " adjoint" : ""));
        const Problem p = parse_problem(token);
        const Transform transform(token, on_emulated(devices));
        EXPECT_NE(transform.explain().find(blocks), std::string::npos) << transform.explain();
        expect_same(p, run(p, on_emulated(devices), reached, adjoint), run(p, alone, true, adjoint), adjoint);
      }
}

TEST_F(EmulatedDevices, MemoryStaysBelowWhatIsAllowed) {
  const char* const token = "fft:type=c2c,n=16x12x20,prec=f64";
  for (const std::int64_t bytes : {30'000, 60'000, 120'000}) {
    Transform transform(token, on_emulated("0:" + std::to_string(bytes)));
    const Problem p = parse_problem(token);
    const Result arrays = arrays_of(p, true);
    transform.execute(arrays.first->data(), arrays.second->data());
    EXPECT_LE(transform.memory().held, bytes);
    EXPECT_GT(transform.memory().held, bytes / 4);
    EXPECT_EQ(transform.memory().held, transform.memory().needed);
    transform.execute_adjoint(arrays.first->data(), arrays.second->data());
    EXPECT_LE(transform.memory().held, bytes);
  }
  // What fits is not cut, and what is a batch goes by its transforms.
  EXPECT_EQ(Transform(token, on_emulated("0:1e6")).explain().find("blocks"), std::string::npos);
  const Transform batch(std::string(token) + ",batch=6", on_emulated("0:1e6"));
  EXPECT_NE(batch.explain().find("in 3 pieces"), std::string::npos) << batch.explain();
  EXPECT_EQ(batch.explain().find("blocks"), std::string::npos) << batch.explain();
}

TEST_F(EmulatedDevices, DistinctPointsGoWithTheirTransforms) {
  const Problem p = parse_problem("nufft:type=2,n=9x10,m=60,prec=f64,tol=1e-5,batch=4");
  Options alone;
  alone.default_databases = false;
  alone.distinct_points = true;
  Options options = on_emulated("all");
  options.distinct_points = true;
  for (const bool reached : {true, false})
    expect_same(p, run(p, options, reached, false), run(p, alone, true, false), false);
}

// Pieces come and leave beside each other's computation, with room for two; where the device reaches them they are also
// queued one by one.
TEST_F(EmulatedDevices, APartInPiecesIsTheSame) {
  int queued = 0;
  Options alone;
  alone.default_databases = false;
  for (const char* token : {"fft:type=c2c,n=12x10,prec=f32,batch=8", "fft:type=c2c,n=30,prec=f64,batch=8,place=in",
                            "nufft:type=1,n=14x11,m=150,prec=f64,tol=1e-6,batch=8"})
    for (const DeviceShare share : {DeviceShare{1, 0, 8, 1}, DeviceShare{1, 2, 3, 2}, DeviceShare{0, 1, 5, 1}})
      for (const bool reached : {true, false})
        for (const bool adjoint : {false, true}) {
          SCOPED_TRACE(std::string(token) + " pieces " + std::to_string(share.pieces) + (adjoint ? " adjoint" : ""));
          const Problem p = parse_problem(token);
          Result right = run(p, alone, true, adjoint), result = arrays_of(p, reached);
          const Result before = arrays_of(p, true);
          DevicePart part(p, on_emulated(""), share);
          give_points(p, false, reached, part);
          const auto array = [&](const Numbers& numbers) {
            return runtime::BatchArray{static_cast<char*>(numbers.data()),
                                       numbers.count() / p.batch * real_bytes(p.precision)};
          };
          const runtime::BatchArray first = array(*result.first),
                                    second = result.second ? array(*result.second) : first;
          const bool in_place = part.works_in_place(first, second);
          EXPECT_TRUE(reached || !in_place);
          if (in_place) {
            ++queued;
            for (std::int64_t i = 0; i < share.pieces; ++i) part.queue_piece(i, first, second, !adjoint, adjoint);
            part.finish();
          } else {
            part.execute(first, second, !adjoint, adjoint);
          }
          // The other transforms of the batch stay as they were.
          Numbers& written = adjoint || !right.second ? *right.first : *right.second;
          const Numbers& drawn = adjoint || !right.second ? *before.first : *before.second;
          const std::int64_t one = written.count() / p.batch;
          for (std::int64_t i = 0; i < written.count(); ++i)
            if (i / one < share.first || i / one >= share.first + share.pieces * share.per_piece)
              written.set(i, drawn.get(i));
          expect_same(p, result, right, adjoint);
        }
  EXPECT_GT(queued, 0);
}

TEST_F(EmulatedDevices, ArraysAndPointsMayChangeBetweenCalls) {
  const Problem p = parse_problem("nufft:type=1,n=14x11,m=150,prec=f64,tol=1e-6,batch=3");
  Options alone;
  alone.default_databases = false;
  const Result right = run(p, alone, true, false), back = run(p, alone, true, true);
  Transform transform("nufft:type=1,n=14x11,prec=f64,tol=1e-6,batch=3", on_emulated("all"));
  for (const bool reached : {false, true, false}) {
    give_points(p, false, reached, transform);
    Result result = arrays_of(p, reached);
    transform.execute(result.first->data(), result.second->data());
    expect_same(p, result, right, false);
    result = arrays_of(p, !reached);
    transform.execute_adjoint(result.first->data(), result.second->data());
    expect_same(p, result, back, true);
  }
  EXPECT_EQ(transform.problem().m, 150);
  EXPECT_GT(transform.memory().held, 0);
  EXPECT_EQ(transform.stage_times().size(), 3u);
}

TEST_F(EmulatedDevices, ExplainSaysWhoHasWhat) {
  const Transform transform("fft:type=c2c,n=30,prec=f64,batch=7", on_emulated("2,0"));
  EXPECT_NE(transform.explain().find("2 of emulated share 7 transforms"), std::string::npos) << transform.explain();
  EXPECT_NE(transform.explain().find("device 2: 4 transforms from number 0 on"), std::string::npos);
  EXPECT_NE(transform.explain().find("device 0: 3 transforms from number 4 on"), std::string::npos);
  EXPECT_NE(transform.plan().find("emulated;"), std::string::npos) << transform.plan();
  const Transform one("fft:type=c2c,n=30,prec=f64", on_emulated("all"));
  EXPECT_NE(one.explain().find("1 of emulated share 1 transforms"), std::string::npos) << one.explain();
}

TEST_F(EmulatedDevices, WhatCannotBeSharedIsNamed) {
  const auto refused = [](const std::string& token, const Options& options, const char* words) {
    const auto [status, message] = thrown([&] { const Transform one(token, options); });
    EXPECT_NE(message.find(words), std::string::npos) << message;
    return status;
  };
  const std::string fft = "fft:type=c2c,n=30,prec=f64,batch=4";
  EXPECT_EQ(refused(fft, on_emulated("0,0"), "names device 0 twice"), Status::invalid_option);
  EXPECT_EQ(refused(fft, on_emulated("0,3"), "numbers 0 to 2"), Status::invalid_option);
  EXPECT_EQ(refused(fft, on_emulated("both"), "'both' is no device's number; all or 0,1"), Status::invalid_option);
  EXPECT_EQ(refused(fft, on_emulated("0,"), "'' is no device's number"), Status::invalid_option);
  Options options = on_emulated("all");
  options.device = 1;
  EXPECT_EQ(refused(fft, options, "device=1 and devices=all"), Status::invalid_option);
  options = on_emulated("all");
  options.only = Only::spread;
  EXPECT_EQ(refused("nufft:type=1,n=41,m=9,prec=f64,tol=1e-3,batch=2", options, "one grid"), Status::invalid_option);
  EXPECT_EQ(refused("fft:type=c2c,n=6,prec=f64,batch=4,layout=4+1/4+1", on_emulated("all"), "layout"),
            Status::unsupported);
  EXPECT_EQ(refused(fft, on_emulated("0:"), "'' is not a number of bytes; 0:20e9"), Status::invalid_option);
  EXPECT_EQ(refused(fft, on_emulated("all:-5"), "'-5' is not a number of bytes"), Status::invalid_option);
  EXPECT_EQ(refused("fft:type=c2c,n=6x5x7,prec=f64", on_emulated("0:700"), "700 bytes are allowed"),
            Status::out_of_memory);
  EXPECT_EQ(refused("fft:type=c2c,n=300,prec=f64", on_emulated("0:700"), "two dimensions or more"),
            Status::unsupported);
  EXPECT_EQ(refused("fft:type=c2c,n=6x4x5,prec=f64,order=transposed", on_emulated("0:4000"), "without a layout"),
            Status::unsupported);
  EXPECT_EQ(refused("nufft:type=1,n=99,m=9,prec=f64,tol=1e-3,batch=2", on_emulated("0:700"), "not one dimension"),
            Status::unsupported);
  options = on_emulated("1");
  options.backend = "cpu";
  EXPECT_EQ(refused(fft, options, "one device here"), Status::invalid_option);
  options = on_emulated("0,1");
  options.plan = "emulated;fft=cufft";
  EXPECT_EQ(refused(fft, options, "device 0: "), Status::unsupported);
}

TEST_F(EmulatedDevices, AProcessorWorksAsEver) {
  Options options = on_emulated("all");
  options.backend = "cpu";
  const Transform transform("fft:type=c2c,n=30,prec=f64,batch=4", options);
  EXPECT_EQ(transform.plan().rfind("cpu;", 0), 0u) << transform.plan();
}

TEST_F(EmulatedDevices, ABadPointLeavesNoneSet) {
  Transform transform("nufft:type=1,n=14,m=3,prec=f64,tol=1e-6,batch=3", on_emulated("all"));
  const double good[] = {0.1, 0.2, 0.3}, bad[] = {0.1, std::nan(""), 0.3};
  std::complex<double> values[9] = {}, modes[42];
  Points points;
  points.m = 3, points.x = good;
  transform.set_points(points);
  transform.execute(values, modes);
  points.x = bad;
  const auto [status, message] = thrown([&] { transform.set_points(points); });
  EXPECT_EQ(status, Status::invalid_point);
  EXPECT_EQ(message.find("device"), std::string::npos) << message;
  EXPECT_EQ(thrown([&] { transform.execute(values, modes); }).first, Status::points_not_set);
}

TEST_F(EmulatedDevices, AnotherTextThanACountIsRefusedByName) {
  const runtime::emulated::EmulatedBackend backend(runtime::gpu::generated_programs());
  EXPECT_EQ(backend.device_count(), 3);
  for (const char* unclear : {"two", "0", "-1", "65", "2 ", "1e1", "99999999999"}) {
    ::setenv("FOURTUNE_EMULATED_DEVICES", unclear, 1);
    const auto [status, message] = thrown([&] { backend.device_count(); });
    EXPECT_EQ(status, Status::invalid_argument) << unclear;
    EXPECT_EQ(message.find("FOURTUNE_EMULATED_DEVICES is '" + std::string(unclear) + "'"), 0u) << message;
  }
  ::setenv("FOURTUNE_EMULATED_DEVICES", "64", 1);
  EXPECT_EQ(backend.device_count(), 64);
  ::setenv("FOURTUNE_EMULATED_DEVICES", "", 1);
  EXPECT_EQ(backend.device_count(), 1);
}

TEST(BatchShares, FollowTheSpeedsAndLoseNothing) {
  using Shares = std::vector<std::int64_t>;
  EXPECT_EQ(batch_shares(32, {1, 1}), (Shares{16, 16}));
  EXPECT_EQ(batch_shares(7, {2, 2, 2}), (Shares{3, 2, 2}));
  EXPECT_EQ(batch_shares(1, {1, 1}), (Shares{1, 0}));
  EXPECT_EQ(batch_shares(10, {3, 1}), (Shares{8, 2}));
  EXPECT_EQ(batch_shares(10, {1, 1e-9}), (Shares{10, 0}));
  for (std::int64_t batch = 1; batch < 40; ++batch) {
    std::int64_t all = 0;
    for (const std::int64_t share : batch_shares(batch, {0.3, 1.7, 0.9})) all += share;
    EXPECT_EQ(all, batch);
  }
}

TEST(BatchShares, PiecesAreEqualAndWorthACopy) {
  EXPECT_EQ(batch_pieces(16, 256 << 20), 16);
  EXPECT_EQ(batch_pieces(32, 256 << 20), 16);
  EXPECT_EQ(batch_pieces(32, 36 << 20), 8);
  EXPECT_EQ(batch_pieces(15, 256 << 20), 15);
  EXPECT_EQ(batch_pieces(17, 256 << 20), 1);
  EXPECT_EQ(batch_pieces(3, 256 << 20), 3);
  EXPECT_EQ(batch_pieces(1000, 1024), 1);
  EXPECT_EQ(batch_pieces(4, 8 << 20), 2);
}

}  // namespace
}  // namespace fourtune::test
