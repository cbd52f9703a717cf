// Which lines family along (runtime's along.h) transforms, and in which passes. The runtime and the cost model ask the
// same question here.
//
// A line of n complex values goes through passes (Stockham's order): each takes butterflies of its radix between values
// n / radix apart. Vectors hold neighbours of the line. The first pass transposes squares of values in registers, so
// that its radix and what is left of the length must fill vectors of 256 bits; later passes move whole vectors.
#pragma once

#include <cstdint>
#include <vector>

#include "fourtune/problem.h"

namespace fourtune::generator {

struct AlongPasses {
  std::vector<int> radices;  // their product is the length; empty: the family does not take it
  double cost = 0;           // per value, about 0.01 ns of f32 on a core with AVX-512
};
AlongPasses along_passes(std::int64_t n, Precision precision);

// How many threads share a line of n values, a power of two; 1 where the first pass has too few results for an area of
// whole vectors for each of them, or the line is too short.
int along_areas(std::int64_t n, Precision precision, int threads);

// The complex length behind a problem's lines, which are half as long for real ones; 0 for what the family does not
// take: several dimensions, gaps in a line,
// reversed orders, odd real lines, and lengths with no such passes.
std::int64_t along_length(const Problem& problem);

}  // namespace fourtune::generator
