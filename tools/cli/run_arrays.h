// The arrays of `fourtune run`: made from a seed or read from .npy files, checked against direct sums afterwards.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "fourtune/problem.h"
#include "fourtune/transform.h"

namespace fourtune::tools {

// File names are empty where the array is made from the seed.
struct RunRequest {
  std::string points;   // (m, dim) or (dim, m), real
  std::string targets;  // type 3: (k, dim) or (dim, k), real
  std::string values;   // what the transform reads: batch x points, or batch x modes (..., y, x)
  bool adjoint = false;
  std::uint64_t seed = 1;
};

// Owns everything one transform reads and writes.
class RunArrays {
 public:
  virtual ~RunArrays() = default;
  virtual Points points() const = 0;  // nufft only
  virtual void* first() = 0;          // arguments of execute and execute_adjoint
  virtual void* second() = 0;
  // Puts the input back where an in-place transform has overwritten it.
  virtual void restore_input() = 0;
  // Relative l2 error of the output against direct sums at sampled outputs.
  virtual double error() const = 0;
  // The output as .npy: (batch, z, y, x) or (batch, points), axes of length 1 beyond the problem's left out.
  virtual void write_output(const std::string& path) const = 0;
};

// Fills in m and k of a nufft problem: from the files, else (types 1 and 2) density 1. Throws UsageError where a file
// is not what the problem needs, Failure when the arrays do not fit this machine.
std::unique_ptr<RunArrays> make_run_arrays(Problem& problem, const RunRequest& request);

// Parts of make_run_arrays.
std::unique_ptr<RunArrays> make_nufft_arrays(Problem& problem, const RunRequest& request);
std::unique_ptr<RunArrays> make_fft_arrays(const Problem& problem, const RunRequest& request);
// Throws Failure when `bytes` is more than this machine's memory.
void check_memory(double bytes);

}  // namespace fourtune::tools
