// Where a GPU backend gets the kernels of a plan.
#pragma once

#include <functional>
#include <optional>

#include "fourtune/device_traits.h"
#include "fourtune/problem.h"
#include "generator/codegen/kernel_source.h"
#include "generator/plan/plan.h"
#include "generator/planner/gpu_fft/program.h"

namespace fourtune::runtime::gpu {

// Returns the program of a plan, in -> out (array first -> array second) for the problem's type and sign; nullopt means
// that the device's FFT library runs the transform. Throws Error{invalid_plan | unsupported}.
using ProgramSource =
    std::function<std::optional<generator::GpuProgram>(const Problem&, const generator::Plan&, const DeviceTraits&)>;

// The program that the generator makes from the plan.
inline ProgramSource generated_programs() { return generator::gpu_fft_program; }

// Runs every plan with the library.
inline ProgramSource library_programs() {
  return [](const Problem&, const generator::Plan&, const DeviceTraits&) { return std::nullopt; };
}

}  // namespace fourtune::runtime::gpu
