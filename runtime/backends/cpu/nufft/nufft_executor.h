// Nonuniform transforms on the CPU: combines the stages of types 1, 2 and 3 as docs/design/README.md lists them.
#pragma once

#include <memory>

#include "runtime/backends/backend.h"

namespace fourtune::runtime::cpu {

// Types 1 and 2 (type12_executor.cpp).
//   type 1: spread -> fft (truncates and deconvolves on the way out)
//   type 2: fft (deconvolves and pads on the way in) -> interpolate
std::unique_ptr<Executor> make_type12_executor(const Problem& problem, const generator::Plan& plan,
                                               const ExecutorOptions& options);
// Type 3 (type3_executor.cpp): spread the sources -> type 2 on that grid, read at the rescaled targets -> deconvolve at
// the targets.
std::unique_ptr<Executor> make_type3_executor(const Problem& problem, const generator::Plan& plan,
                                              const ExecutorOptions& options);

}  // namespace fourtune::runtime::cpu
