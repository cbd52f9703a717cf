// How many plans and executes were ours and how many the real library's, and why. Any thread.
#pragma once

#include <cstdint>

namespace fourtune::dropin {

// Why the real library executes.
enum class Why {
  none,      // ours does
  type,      // half precision, or another type that we do not do
  layout,    // strides and embeds that we do not do
  devices,   // several GPUs
  callback,  // the program's code runs inside the transform
  faster,    // the real library is the faster one for this size
  measured,  // it was faster here, between executes by ours
  memory,    // our work memory would take too much of what is free
  context,   // the program made a CUDA context, which is not the device's primary one
  failed,    // no kernels could be made for this device
  pointers,  // the arrays are not aligned as our kernels need it, or not in GPU memory
  waiting,   // our kernels were still being compiled
  once,      // what is executed once in a process is not worth kernels
  unused,    // never executed
};
inline constexpr int kWhys = static_cast<int>(Why::unused) + 1;

// A plan that has ended: `ours` of its executes were by our kernels, `theirs` by the real library, for this reason.
void count_plan(std::int64_t ours, std::int64_t theirs, Why why) noexcept;

// Starts again from zero, in the child of a fork.
void forget_counts() noexcept;

// Writes one line on standard error if FOURTUNE_CUFFT_STATISTICS is 1:
//   fourtune_cufft: 12 plans: 9 ours, 3 cuFFT's (2 faster there, 1 callback); 1000 executes: 960 ours, 40 cuFFT's
// An execute of our plans by cuFFT is one before the kernels were compiled, or of arrays that they do not take.
void print_counts() noexcept;

// Writes one line on standard error: `value` in a format with one %s.
void print_line(const char* format, const char* value) noexcept;

}  // namespace fourtune::dropin
