// Memory and first use: what a problem will need, what is free, and what a contender costs in a process of its own.
#pragma once

#include <cstdint>
#include <string>

#include "fourtune/device_traits.h"
#include "fourtune/problem.h"
#include "tools/bench/measure/contender.h"

namespace fourtune::tools {

// Bytes that may still be used: the least of what the system has available and what is left of the control group.
double available_memory();
// Bytes for the arrays of a problem and this many contenders at once, by the cost model; a little too many.
double memory_need(const Problem& problem, std::size_t contenders, const DeviceTraits& traits = cpu_traits());

// The first time a process makes a contender, gives it its points and executes it.
struct FirstUse {
  std::int64_t peak_bytes = 0;  // growth of the resident set beyond the data, code included
  std::int64_t code_bytes = 0;  // of that, pages of mapped files: programs and libraries, shared by all processes
  std::int64_t ns = 0;          // wall clock
  std::string failure;          // why it could not be measured
};
// In this process. The kernel's peak counter is reset first.
FirstUse first_use_here(const Problem& problem, const Entrant& entrant, std::uint64_t seed);
// What a child prints and its parent reads.
std::string to_line(const FirstUse& use);
FirstUse parse_first_use(const std::string& text);

// Runs this program again with these words (a child that prints to_line) and reads its answer. The child is killed
// after max_seconds.
FirstUse first_use_in_child(const std::vector<std::string>& words, double max_seconds);

}  // namespace fourtune::tools
