// Memory: what a problem will need, what is free, and how much a contender's process grows.
#pragma once

#include <cstdint>
#include <string>

#include "fourtune/problem.h"
#include "tools/bench_contender.h"

namespace fourtune::tools {

// Bytes that may still be used: the least of what the system has available and what is left of the control group.
double available_memory();
// Bytes for the arrays of a problem and this many contenders at once, by the cost model; a little too many.
double memory_need(const Problem& problem, std::size_t contenders);

struct PeakMemory {
  std::int64_t bytes = 0;
  std::string failure;  // why it could not be measured
};
// In this process: how far the resident set grows beyond the data while the contender is made, gets its points and
// executes once. The kernel's peak counter is reset first.
PeakMemory peak_here(const Problem& problem, const Entrant& entrant, std::uint64_t seed);

// Runs this program again with these words (a child that prints "peak_bytes=N") and reads its answer. The child is
// killed after max_seconds.
PeakMemory peak_in_child(const std::vector<std::string>& words, double max_seconds);

}  // namespace fourtune::tools
