// The loops that show a processor's rates, on its widest vectors.
#pragma once

#include <cstdint>

namespace fourtune::tuner {

// For one instruction set. Arrays are aligned to 64 bytes and have a multiple of loop_words words.
struct ProcessorLoops {
  int lanes32, lanes64;  // of a vector
  // multiply_add_chains vectors, number c with all lanes c, each `steps` times multiplied by `one` and increased by it.
  // Returns the sum of all their lanes, which is lanes * multiply_add_sum(steps) for one = 1.
  float (*multiply_add32)(std::int64_t steps, float one);
  double (*multiply_add64)(std::int64_t steps, double one);
  // The sum of all words, `repeats` times.
  std::uint64_t (*load)(const std::uint64_t* from, std::int64_t words, std::int64_t repeats);
  // Writes 0, then 1, ..., then repeats - 1 into every word.
  void (*store)(std::uint64_t* to, std::int64_t words, std::int64_t repeats);
  // to[i] = from[i] ^ key: with a key the compiler cannot call a library's copy, whose stores may pass by the caches.
  void (*copy)(const std::uint64_t* from, std::uint64_t* to, std::int64_t words, std::uint64_t key);
};
inline constexpr int multiply_add_chains = 12;  // cover the latency of two units and fit 16 registers
constexpr double multiply_add_sum(std::int64_t steps) {
  return multiply_add_chains * (static_cast<double>(steps) + (multiply_add_chains - 1) / 2.0);
}
inline constexpr std::int64_t loop_words = 64;

// Those of the instruction set that the library's kernels use now.
ProcessorLoops processor_loops();

// Adds one to a number, `steps` times, each addition waiting for the one before.
std::uint64_t waiting_additions(std::int64_t steps);

}  // namespace fourtune::tuner
