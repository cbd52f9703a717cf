// The place of the arrays of `fourtune run` while the transform runs: the host's arrays, or copies on a device.
#pragma once

#include <memory>

#include "runtime/backends/backend.h"
#include "tools/cli/run_arrays.h"

namespace fourtune::tools {

// Functions as in RunArrays.
class RunMemory {
 public:
  virtual ~RunMemory() = default;
  virtual Points points() const = 0;
  virtual void* first() = 0;
  virtual void* second() = 0;
  virtual void restore_input() = 0;  // in place this overwrites the output, even after it was fetched
  virtual void wait() = 0;
  // Copies the output to the host's arrays, for their checked() and write_output().
  virtual void fetch_output() = 0;
  virtual runtime::StreamTimer& timer() = 0;
};

// Uses options.device; with options.devices, the arrays stay in host memory. `host` must outlive the result. Throws
// Error{out_of_memory}.
std::unique_ptr<RunMemory> make_run_memory(const Problem& problem, bool adjoint, RunArrays& host,
                                           const runtime::Backend& backend, const Options& options);

}  // namespace fourtune::tools
