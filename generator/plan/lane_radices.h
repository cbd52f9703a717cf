// Radices of transforms with one line in each lane of a vector (runtime's fft/simd.h), and what their levels cost. The
// runtime and the cost model ask here.
#pragma once

#include <cstdint>
#include <vector>

namespace fourtune::generator {

// Primes from 17 on are a level as sums of that many terms up to the first bound, or as a convolution (Rader) up to the
// second one.
constexpr int kLargestSummed = 97, kLargestConvolved = 2048;

// Operations per value of a level of this prime, from 17 to kLargestConvolved. length: of its convolution; 0 for sums.
struct PrimeLevel {
  double cost = 0;
  std::int64_t length = 0;
};
PrimeLevel prime_level(int prime);

// Whether n >= 1 has no prime factor above `most`.
bool has_factors_up_to(std::int64_t n, int most);
// The cheapest radices for n, ascending, and the operations per value that they cost together. most: the largest prime,
// kLargestConvolved, or kLargestSummed for transforms without convolutions. Precondition: has_factors_up_to(n, most).
std::vector<int> lane_radices(std::int64_t n, int most = kLargestConvolved);
double lane_cost(std::int64_t n);

// Whether lines of one dimension are transformed one at a time, as matrices: long ones, and shorter ones that would
// leave more than a quarter of the lanes idle. With primes above 13, for which no other family of ours is there, those
// are shorter. n: of the complex line.
constexpr std::int64_t kLongLine = 8192, kShortLine = 4096, kShortPrimeLine = 256;
bool go_one_by_one(std::int64_t n, std::int64_t batch, int lanes);

// One long line as a matrix of short ones: the divisor nearest to the square root of n, from above, whose cofactor is
// at least `lanes`; 0 where there is none.
std::int64_t matrix_columns(std::int64_t n, int lanes);

}  // namespace fourtune::generator
