// Ffts that devices share while one of them has the arrays: who does what depends on what copies take.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "fourtune/transform.h"
#include "runtime/backends/emulated/placed_arrays.h"
#include "runtime/batch_shares.h"
#include "tests/runtime/emulated_devices_support.h"

namespace fourtune::test {
namespace {

using runtime::DeviceCost;
using runtime::shares_from_home;
using runtime::emulated::PlacedArray;
using HomeShares = std::vector<std::int64_t>;

TEST(SharesFromHome, WhoCopiesFastGetsItsShare) {
  // Home takes 1.2 times as long while others read its memory.
  EXPECT_EQ(shares_from_home(32, 0, {{1, 0}, {1, 0}}), (HomeShares{16, 16}));  // 17.45, in eight pieces
  EXPECT_EQ(shares_from_home(10, 1, {{1, 0}, {3, 0}}), (HomeShares{7, 3}));    // 7.8
  EXPECT_EQ(shares_from_home(9, 0, {{1, 0}, {1, 0}, {1, 0}}), (HomeShares{3, 3, 3}));
}

TEST(SharesFromHome, WhoCopiesSlowlyGetsLess) {
  EXPECT_EQ(shares_from_home(80, 0, {{1, 0}, {1, 1}}), (HomeShares{48, 32}));  // (7 + 1 + 2) / 8, against 1.2: 39.2
}

TEST(SharesFromHome, WhatSavesLessThanAQuarterStaysAtHome) {
  // As on two H100: 64 c2c of 128^3 take 1.5 ms, and their copies to another GPU and back about twice as long.
  EXPECT_EQ(shares_from_home(64, 0, {{1.5, 0}, {1.5, 3.4}}), (HomeShares{64, 0}));
  EXPECT_EQ(shares_from_home(64, 1, {{1, 20}, {1, 0}}), (HomeShares{0, 64}));
  EXPECT_EQ(shares_from_home(2, 0, {{1, 0}, {1, 2}}), (HomeShares{2, 0}));  // there is no smaller share than one
  EXPECT_EQ(shares_from_home(64, 0, {{1, 0}, {1, HUGE_VAL}}), (HomeShares{64, 0}));
}

TEST(SharesFromHome, MoreCopiesNeverBringMoreWork) {
  std::int64_t before = 100;
  for (double copies = 0; copies < 30; copies += 0.25) {
    const HomeShares shares = shares_from_home(100, 0, {{1, 0}, {0.8, copies}});
    EXPECT_EQ(shares[0] + shares[1], 100);
    EXPECT_LE(shares[1], before);
    before = shares[1];
  }
  EXPECT_EQ(before, 0);
}

class EmulatedHome : public ThreeEmulatedDevices {
 protected:
  ~EmulatedHome() override { runtime::emulated::set_emulated_link(HUGE_VAL); }
};

// A batch of rows of complex numbers at a multiple of 64 bytes.
class Rows {
 public:
  Rows(std::int64_t batch, std::int64_t n) : n_(n), numbers_(static_cast<std::size_t>(batch * n + 8)) {
    void* at = numbers_.data();
    std::size_t space = numbers_.size() * sizeof(numbers_[0]);
    at_ = static_cast<std::complex<double>*>(std::align(64, 16, at, space));
    bytes_ = static_cast<std::size_t>(batch * n) * sizeof(numbers_[0]);
    for (std::int64_t i = 0; i < batch * n; ++i)
      at_[i] = {std::sin(0.7 * static_cast<double>(i)), std::cos(1.9 * static_cast<double>(i))};
  }
  std::complex<double>* data() const { return at_; }
  std::size_t bytes() const { return bytes_; }
  // How far this is from the ffts of these rows.
  double error(const Rows& input) const {
    double difference = 0, size = 0;
    for (std::size_t at = 0; at < bytes_ / sizeof(numbers_[0]); ++at) {
      const auto row = static_cast<std::int64_t>(at) / n_ * n_, k = static_cast<std::int64_t>(at) % n_;
      std::complex<double> sum = 0;
      for (std::int64_t j = 0; j < n_; ++j)
        sum += input.at_[row + j] *
               std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(j * k % n_) / static_cast<double>(n_));
      difference += std::norm(at_[at] - sum), size += std::norm(sum);
    }
    return std::sqrt(difference / size);
  }

 private:
  std::int64_t n_;
  std::vector<std::complex<double>> numbers_;
  std::complex<double>* at_ = nullptr;
  std::size_t bytes_ = 0;
};

constexpr std::int64_t kBatch = 12, kLength = 30;
const char* const kToken = "fft:type=c2c,n=30,prec=f64,batch=12";

// Executes with both arrays in the memory of that device; returns the devices that worked.
std::string workers(Transform& transform, int home) {
  const Rows input(kBatch, kLength);
  Rows output(kBatch, kLength);
  const PlacedArray in(input.data(), input.bytes(), home), out(output.data(), output.bytes(), home);
  transform.execute(input.data(), output.data());
  EXPECT_LE(output.error(input), 1e-14);
  std::string names;
  for (const StageTime& stage : transform.stage_times()) names += stage.stage + ";";
  return names;
}

TEST_F(EmulatedHome, WorkStaysWithArraysThatTakeLongToCopy) {
  Transform transform(kToken, on_emulated("all"));
  runtime::emulated::set_emulated_link(1e3);
  EXPECT_EQ(workers(transform, 1), "device 1;");
  EXPECT_EQ(workers(transform, 2), "device 2;");
  EXPECT_EQ(workers(transform, 1), "device 1;");
  EXPECT_NE(
      transform.explain().find("with arrays in the memory of device 1:\ndevice 1: 12 transforms from number 0 on, "
                               "in 1 piece\n"),
      std::string::npos)
      << transform.explain();
  // Arrays that all reach are shared as ever.
  const Rows input(kBatch, kLength), output(kBatch, kLength);
  transform.execute(input.data(), output.data());
  EXPECT_LE(output.error(input), 1e-14);
  EXPECT_EQ(transform.stage_times().size(), 3u);
}

TEST_F(EmulatedHome, WorkIsSharedWhereCopiesAreFast) {
  Transform transform(kToken, on_emulated("2,0"));
  EXPECT_EQ(workers(transform, 0), "device 2;device 0;");
  EXPECT_EQ(workers(transform, 1), "device 2;device 0;");  // its arrays are copied by both
  EXPECT_EQ(transform.explain().find("memory of device 1"), std::string::npos);
}

TEST_F(EmulatedHome, InPlaceAndAdjointStayToo) {
  runtime::emulated::set_emulated_link(1e3);
  Transform transform(std::string(kToken) + ",place=in", on_emulated("0,1"));
  const Rows input(kBatch, kLength);
  Rows array(kBatch, kLength);
  const PlacedArray placed(array.data(), array.bytes(), 1);
  transform.execute(array.data(), array.data());
  EXPECT_LE(array.error(input), 1e-14);
  EXPECT_EQ(transform.stage_times().size(), 1u);
  transform.execute_adjoint(array.data(), array.data());
  for (std::int64_t i = 0; i < kBatch * kLength; ++i)
    EXPECT_NEAR(std::abs(array.data()[i] - 30.0 * input.data()[i]), 0, 1e-12);
}

TEST_F(EmulatedHome, NonuniformTransformsAreSharedAnywhere) {
  runtime::emulated::set_emulated_link(1e3);
  Transform transform("nufft:type=1,n=8,m=3,prec=f64,tol=1e-6,batch=4", on_emulated("0,1"));
  const double x[] = {0.1, 0.2, 0.3};
  Points points;
  points.m = 3, points.x = x;
  transform.set_points(points);
  const Rows values(4, 3), modes(4, 8);
  const PlacedArray in(values.data(), values.bytes(), 0), out(modes.data(), modes.bytes(), 0);
  transform.execute(values.data(), modes.data());
  EXPECT_EQ(transform.stage_times().size(), 2u);
}

}  // namespace
}  // namespace fourtune::test
