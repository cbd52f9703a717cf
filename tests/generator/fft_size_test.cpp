#include "generator/window/fft_size.h"

#include <gtest/gtest.h>

namespace fourtune::generator {
namespace {

bool is_smooth(std::int64_t size) {
  if (size > 16 && size % 2 != 0) return false;
  int sevens = 0;
  for (const int p : {2, 3, 5, 7})
    while (size % p == 0) {
      size /= p;
      sevens += p == 7;
    }
  return size == 1 && sevens <= 1;
}

TEST(FftSize, IsTheSmallestSmoothSizeNotBelowTheRequest) {
  for (std::int64_t least = 1; least <= 3000; ++least) {
    std::int64_t expected = least;
    while (!is_smooth(expected)) ++expected;
    EXPECT_EQ(smooth_size(least), expected) << least;
  }
}

TEST(FftSize, LargeRequestsAreAnsweredWithoutOverflow) {
  for (const std::int64_t least : {std::int64_t{1} << 40, (std::int64_t{1} << 50) + 1, std::int64_t{999999999999989}}) {
    const std::int64_t size = smooth_size(least);
    EXPECT_GE(size, least);
    EXPECT_LT(size, least + least / 20);
    EXPECT_TRUE(is_smooth(size));
  }
}

}  // namespace
}  // namespace fourtune::generator
