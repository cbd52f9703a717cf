// Memory and first use: how much a problem will need, how much is free, and how much a contender takes in a separate
// process.
#pragma once

#include <cstdint>
#include <string>

#include "fourtune/device_traits.h"
#include "fourtune/problem.h"
#include "tools/bench/measure/contender.h"

namespace fourtune::tools {

// Bytes that may still be used: the smaller of the system's available memory and the remainder of the control group.
double available_memory();
// Bytes for the arrays of a problem and this many simultaneous contenders, by the cost model; slightly overestimated.
double memory_need(const Problem& problem, std::size_t contenders, const DeviceTraits& traits = cpu_traits());

// The cost of the first time that a process makes a contender, sets its points and executes it.
struct FirstUse {
  std::int64_t peak_bytes = 0;  // growth of the resident set beyond the data, including code
  std::int64_t code_bytes = 0;  // its pages of mapped files: programs and libraries, shared by all processes
  std::int64_t ns = 0;          // wall clock
  std::string failure;          // why it could not be measured
};
// Measures in this process, after resetting the kernel's peak counter.
FirstUse first_use_here(const Problem& problem, const Entrant& entrant, std::uint64_t seed);
// The line that a child prints and its parent reads.
std::string to_line(const FirstUse& use);
FirstUse parse_first_use(const std::string& text);

// Runs this program again with these arguments (as a child that prints to_line) and reads its answer. The child is
// killed after max_seconds.
FirstUse first_use_in_child(const std::vector<std::string>& words, double max_seconds);

}  // namespace fourtune::tools
