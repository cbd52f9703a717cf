// The rates of a GPU.
#pragma once

#include <vector>

#include "runtime/backends/gpu/program_backend.h"
#include "tuner/calibrate/rate_test.h"

namespace fourtune::tuner {

// Of the whole device. The emulator gets little work: its rates say nothing but that the kernels are right.
std::vector<RateTestMaker> gpu_tests(const runtime::gpu::ProgramBackend& backend, int device);

}  // namespace fourtune::tuner
