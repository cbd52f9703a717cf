// What plans that nobody tuned have in common: radices of a line, threads for a tile, and rounds that coalesce.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fourtune/problem.h"
#include "generator/plan/fft/notation.h"

namespace fourtune::generator::fft {

// Values of a line that one thread holds at most.
std::int64_t most_held(Precision precision);
// Radices for a line in one kernel, the largest first: one for a line that a thread holds, a balanced pair up to 16
// where there is one, few large ones for odd lines and those that fill a block, else products up to 16. n passes
// has_codelets.
std::vector<int> radices_of_line(std::int64_t n, Precision precision);
// Of a real line of 10 to longest_short_real values that is no power of two: one up to 30 values, above two in the
// order of their rounds; nothing if there are none.
inline constexpr std::int64_t longest_short_real = 499;
std::vector<int> radices_of_short_real_line(std::int64_t n, FftType type, Precision precision);
// Three radices of a line that fills a block, for which blocks of `threads_of_two` threads that hold as many values as
// `registers_of_two` have room for are two on a multiprocessor: one computes while the other one loads. Nothing if no
// three are so.
inline constexpr int threads_of_two = 384, registers_of_two = 80;
std::vector<int> radices_for_two_blocks(std::int64_t n, Precision precision);
// Products of prime factors up to 16, the largest first.
std::vector<int> radices_up_to_16(std::int64_t n);
// Radices for orders by prime factors, whose factors ascend: as many as fit a radix of 16.
std::vector<int> ascending_radices_of(std::int64_t n);
// Groups of radices with products of at most `most`, each of which is a kernel: neighbouring ones, or as equal as can
// be. two_kernels_of: two groups for a line of n, the most equal ones; nothing if there are none.
std::vector<std::vector<int>> ascending_kernels_of(const std::vector<int>& radices, std::int64_t most);
std::vector<std::vector<int>> kernels_of(const std::vector<int>& radices, std::int64_t most);
std::vector<std::vector<int>> two_kernels_of(std::int64_t n, std::int64_t most);
// Threads that hold a tile of so many values, about one DFT of the largest radix each.
int threads_for(std::int64_t values, const std::vector<int>& radices);
// For a line that fills a block, such that no thread holds more than most_held; nothing where these radices leave a
// round of which that many threads do not hold two DFTs and more would not have the registers.
inline constexpr int threads_of_longest = 768;
std::optional<int> threads_of_long_line(std::int64_t n, const std::vector<int>& radices, Precision precision);
// A tile of lines of two radices in which every thread has one DFT of the larger one, so that all have as many values
// to gather; nothing if that takes too many lines.
struct EvenTile {
  int lines = 1, threads = 32;
  bool small_first = true;
};
std::optional<EvenTile> even_tile(int large, int small);
// For lines that a thread holds: how many, and threads of a block.
std::int64_t lines_of_thread(std::int64_t n);
std::int64_t threads_of_short(std::int64_t n, Precision precision);
// Where the runs of neighbouring threads along a contiguous line of n would be shorter than `least_run` bytes, in the
// first round of these radices or the last, values change threads before or behind it.
Coalesce coalesce_of(const std::vector<int>& radices, std::int64_t n, Precision precision, std::int64_t least_run = 64);

}  // namespace fourtune::generator::fft
