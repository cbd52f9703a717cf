// Spans of strided arrays, and arrays that overlap themselves.
#include "base/layout.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>
#include <string>

#include "tests/base/token_status.h"

namespace fourtune {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// Decides by trying every index.
bool overlaps(const ArrayLayout& layout, const Sizes& n, std::int64_t batch) {
  std::set<std::int64_t> seen;
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t w = 0; w < n[3]; ++w)
      for (std::int64_t z = 0; z < n[2]; ++z)
        for (std::int64_t y = 0; y < n[1]; ++y)
          for (std::int64_t x = 0; x < n[0]; ++x)
            if (!seen.insert(x * layout.stride[0] + y * layout.stride[1] + z * layout.stride[2] + w * layout.stride[3] +
                             b * layout.distance)
                     .second)
              return true;
  return false;
}

TEST(Layout, SpanReachesFromTheFirstElementBehindTheLast) {
  EXPECT_EQ(layout_span({{1, 4, 12}, 24}, {4, 3, 2}, 5, "array"), 5 * 24);
  EXPECT_EQ(layout_span({{2, 40, 0}, 700}, {16, 8, 1}, 3, "array"), 2 * 15 + 40 * 7 + 700 * 2 + 1);
  EXPECT_EQ(layout_span({{kMost, kMost, kMost}, kMost}, {1, 1, 1}, 1, "array"), 1) << "nothing is multiplied by these";
  EXPECT_EQ(layout_span({{kMost - 1, 0, 0}, 0}, {2, 1, 1}, 1, "array"), kMost);
}

TEST(Layout, SpansBeyond64BitsAreNamed) {
  for (const auto& [layout, sizes, batch] : {std::tuple{ArrayLayout{{kMost, 0, 0}, 0}, Sizes{2, 1, 1}, 1},
                                             std::tuple{ArrayLayout{{kMost / 2, 0, 0}, 0}, Sizes{4, 1, 1}, 1},
                                             std::tuple{ArrayLayout{{kMost / 2, kMost / 2, 0}, 0}, Sizes{2, 3, 1}, 1},
                                             std::tuple{ArrayLayout{{1, 0, 0}, kMost}, Sizes{3, 1, 1}, 2}}) {
    try {
      layout_span(layout, sizes, batch, "the array of this test");
      ADD_FAILURE() << layout.stride[0];
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::size_overflow);
      EXPECT_NE(std::string(error.what()).find("the array of this test"), std::string::npos) << error.what();
    }
  }
}

TEST(Layout, SelfOverlapIsExact) {
  std::mt19937 random(31);
  int found = 0, solved = 0;
  for (int i = 0; i < 20000; ++i) {
    ArrayLayout layout;
    Sizes n{1, 1, 1};
    const std::int64_t most = i % 2 ? 12 : 60;
    for (int d = 0; d < 3; ++d) n[d] = 1 + random() % 6, layout.stride[d] = 1 + random() % most;
    if (i % 4 > 1) n[3] = 1 + random() % 3, layout.stride[3] = 1 + random() % most;
    const std::int64_t batch = 1 + random() % 5;
    layout.distance = 1 + random() % most;
    const bool right = overlaps(layout, n, batch);
    ASSERT_EQ(self_overlap(layout, n, batch), right ? Overlap::found : Overlap::none)
        << n[0] << "x" << n[1] << "x" << n[2] << "x" << n[3] << " times " << batch << " at " << layout.stride[0] << "x"
        << layout.stride[1] << "x" << layout.stride[2] << "x" << layout.stride[3] << "+" << layout.distance;
    found += right, solved += !right;
  }
  EXPECT_GT(found, 2000);
  EXPECT_GT(solved, 2000);
}

TEST(Layout, ElementsAreCountedXFirst) {
  const Sizes n{2, 3, 4, 5};
  EXPECT_EQ(element_count(n), 120);
  EXPECT_EQ(place_of({{1, 10, 100, 1000}, 0}, n, 1 + 2 * (2 + 3 * (3 + 4 * 4))), 4321);
  EXPECT_EQ(place_of({{7, 0, 0, 0}, 0}, {6}, 5), 35);
}

TEST(Layout, LargeArraysAreDecidedToo) {
  // 1001 e = 1000 f has its first solution at f = 1001.
  EXPECT_EQ(self_overlap({{1000, 1001, 0}, 0}, {1000, 1000, 1}, 1), Overlap::none);
  EXPECT_EQ(self_overlap({{1000, 1001, 0}, 0}, {1002, 1001, 1}, 1), Overlap::found);
  EXPECT_EQ(self_overlap({{999983, 1000003, 0}, 0}, {1000003, 999983, 1}, 1), Overlap::none) << "first at 1000003";
  EXPECT_EQ(self_overlap({{999983, 1000003, 0}, 0}, {1000004, 999984, 1}, 1), Overlap::found);
  // Three dimensions that are nested except for a few elements.
  EXPECT_EQ(self_overlap({{15, 10, 6}, 0}, {2, 3, 5}, 1), Overlap::none) << "residues of 30";
  EXPECT_EQ(self_overlap({{15, 10, 6}, 31}, {2, 3, 5}, 100000), Overlap::found);
  EXPECT_EQ(self_overlap({{105, 70, 42, 30}, 0}, {2, 3, 5, 7}, 1), Overlap::none) << "residues of 210";
  EXPECT_EQ(self_overlap({{105, 70, 42, 30}, 210}, {2, 3, 5, 7}, 1), Overlap::none);
  EXPECT_EQ(self_overlap({{105, 70, 42, 30}, 211}, {2, 3, 5, 7}, 300), Overlap::found);
  // An interleaved batch, and channels between the values of an image: the dimensions are nested in another order.
  EXPECT_EQ(self_overlap({{64, 64 * 1000, 0}, 1}, {1000, 1000, 1}, 64), Overlap::none);
  EXPECT_EQ(self_overlap({{1 << 20, 1, 1 << 10}, kMost / 4}, {1 << 20, 1 << 10, 1 << 10}, 3), Overlap::none);
  EXPECT_EQ(self_overlap({{1, 1, 1}, 1}, {kMost / 16, 1, 1}, 3), Overlap::found);
}

TEST(Layout, OutputsThatOverlapThemselvesAreRefusedByName) {
  std::string message;
  EXPECT_EQ(status_of("fft:type=c2c,n=8x8,prec=f64,layout=1x8/1x1", &message), Status::invalid_problem);
  EXPECT_NE(message.find("output"), std::string::npos) << message;
  EXPECT_NE(message.find("8x8 values at strides 1x1"), std::string::npos) << message;
  for (const std::string token :
       {"type=c2c,n=8x8,prec=f64,layout=1x8/1x7", "type=c2c,n=8,prec=f32,batch=3,layout=1+8/1+7",
        "type=r2c,n=8,prec=f32,batch=3,layout=1+8/1+4", "type=c2r,n=8,prec=f32,batch=3,layout=1+5/1+7",
        "type=c2c,n=8x8,prec=f64,place=in,layout=1x7", "type=c2c,n=8,prec=f64,batch=2,place=in,layout=2+14",
        "type=r2c,n=8x8,prec=f64,place=in,layout=1x7/1x5", "type=c2r,n=8x8,prec=f64,place=in,layout=1x4/1x10"})
    EXPECT_EQ(status_of("fft:" + token), Status::invalid_problem) << token;
}

TEST(Layout, WhatDoesNotOverlapIsTaken) {
  for (const std::string token :
       {"type=c2c,n=8x8,prec=f64,layout=1x1/1x8", "type=c2c,n=8,prec=f32,batch=3,layout=1+1/1+8",
        "type=r2c,n=8,prec=f32,batch=3,layout=1+8/1+5", "type=r2c,n=8,prec=f32,batch=3,layout=1+1/1+5",
        "type=c2c,n=8x4,prec=f64,batch=3,place=in,layout=3x24+1",
        "type=c2c,n=2x3,prec=f64,batch=5,layout=1x2+6/15x10+6", "type=c2c,n=4x4,prec=f64,layout=1x4/2x7",
        "type=c2c,n=3x2,prec=f64,layout=1x3/2x3"})
    EXPECT_EQ(status_of("fft:" + token), Status::success) << token;
}

TEST(Layout, ArraysWhoseBytesDoNotFitIn64BitsAreRefusedByName) {
  for (const std::string token :
       {"type=c2c,n=3,prec=f64,layout=576460752303423488", "type=c2c,n=3,prec=f64,layout=9223372036854775807",
        "type=c2c,n=3,prec=f64,layout=1/576460752303423488",
        "type=c2c,n=3,prec=f64,batch=2,layout=1+9223372036854775807",
        "type=r2c,n=3,prec=f32,layout=1152921504606846976/1", "type=r2c,n=3,prec=f32,layout=1/1152921504606846976",
        "type=c2c,n=3x3,prec=f64,layout=200000000000000000x200000000000000000",
        "type=c2c,n=2,prec=f64,place=in,layout=576460752303423487"}) {
    std::string message;
    EXPECT_EQ(status_of("fft:" + token, &message), Status::size_overflow) << token;
    EXPECT_NE(message.find("layout of the"), std::string::npos) << message;
  }
  EXPECT_EQ(status_of("fft:type=r2c,n=3,prec=f32,layout=1152921504606846975/1"), Status::success) << "2^63 - 4 bytes";
  EXPECT_EQ(status_of("fft:type=c2c,n=1,prec=f32,layout=9223372036854775807"), Status::success) << "one element";
}

}  // namespace
}  // namespace fourtune
