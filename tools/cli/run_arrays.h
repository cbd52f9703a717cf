// The arrays of `fourtune run`: generated from a seed or read from .npy files, and checked against direct sums
// afterwards: run_fft.cpp, run_nufft.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fourtune/problem.h"
#include "fourtune/transform.h"
#include "tuner/reference/device_sums.h"

namespace fourtune::tools {

// A file name is empty if the array is generated from the seed.
struct RunRequest {
  std::string points;   // (m, dim) or (dim, m), real
  std::string targets;  // type 3: (k, dim) or (dim, k), real
  std::string values;   // the transform's input: batch x points, or batch x modes (..., y, x)
  bool adjoint = false;
  std::uint64_t seed = 1;
};

// Owns all arrays that one transform reads and writes.
class RunArrays {
 public:
  virtual ~RunArrays() = default;
  virtual Points points() const = 0;  // nufft only
  virtual void* first() = 0;          // arguments of execute and execute_adjoint
  virtual void* second() = 0;
  // Restores the input after an in-place transform has overwritten it.
  virtual void restore_input() = 0;
  // Relative l2 error of the output against direct sums at sampled outputs.
  struct Checked {
    double error = 0;
    bool by_device = false;
  };
  // sums: null, or of the device that has these points and this input (of a nufft).
  virtual Checked checked(tuner::DeviceSums* sums, const tuner::DeviceInput& there) const = 0;
  // Writes the output as .npy: (batch, z, y, x) or (batch, points), without axes of length 1 beyond the problem's.
  virtual void write_output(const std::string& path) const = 0;
};

// Fills in m and k of a nufft problem: from the files, else (types 1 and 2) with density 1. Throws UsageError if a file
// does not fit the problem, and Failure if the arrays do not fit into this machine's memory.
std::unique_ptr<RunArrays> make_run_arrays(Problem& problem, const RunRequest& request);

// Parts of make_run_arrays.
std::unique_ptr<RunArrays> make_nufft_arrays(Problem& problem, const RunRequest& request);
std::unique_ptr<RunArrays> make_fft_arrays(const Problem& problem, const RunRequest& request);
// Whether a file's array of shape `given` holds values of the shape `right`: with the same axes, those of length 1
// aside, or all on one axis. Another order of axes would mean other values.
bool has_axes(std::vector<std::int64_t> given, std::vector<std::int64_t> right);
// Throws Failure when `bytes` exceeds this machine's memory.
void check_memory(double bytes);

}  // namespace fourtune::tools
