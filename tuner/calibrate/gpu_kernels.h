// The kernels that show a GPU's rates, as CUDA texts.
#pragma once

#include "fourtune/problem.h"
#include "generator/codegen/kernel_source.h"

namespace fourtune::tuner {

// All have blocks of kernel_threads threads; `threads` is their number in the grid.
inline constexpr int kernel_threads = 256;

// (real* sums, real one, long long steps): every thread has 8 chains, chain c beginning with c; each is `steps` times
// multiplied by `one` and increased by it. sums[thread]: the sum of its chains.
generator::KernelSource multiply_add_kernel(Precision precision);
inline constexpr int kernel_chains = 8;

// (unsigned* sums, long long steps, long long kernel_threads), with 16 bytes per step. The tile has 4 kernel_threads
// values of four words; word j of value i is i + j. Step s of thread t of a block loads value (t + kernel_threads s)
// mod 4 kernel_threads, or stores s into every word of it. sums[thread]: of all words that it has loaded; the first
// words of the values that it has stored to. steps: a multiple of 4.
generator::KernelSource shared_load_kernel();
generator::KernelSource shared_store_kernel();

// (uint4* from, uint4* to, long long count, long long repeats): to[i] = from[i] for all i < count, so many times, past
// the first-level cache.
generator::KernelSource copy_kernel();

// (real* words, long long mask, long long steps): step s of thread t adds 1 to word (t + s threads) & mask.
generator::KernelSource atomic_kernel(Precision precision);

// (unsigned* counter): the first thread adds 1 to the counter, which the kernel ahead has written.
generator::KernelSource counting_kernel();

}  // namespace fourtune::tuner
