// Uniform FFTs through FFTW: c2c, r2c, c2r, any size, batch, strides, in or out of place.
#pragma once

#include <memory>

#include "runtime/backend.h"

namespace fourtune::runtime::cpu {

// An Executor for an fft problem (families fftw and rows of the plan). execute(in, out, adjoint): adjoint runs the
// conjugate transpose (unnormalised) from out to in. Does not destroy its input when place=out.
std::unique_ptr<Executor> make_fft_executor(const Problem& problem, const generator::Plan& plan,
                                            const ExecutorOptions& options);

}  // namespace fourtune::runtime::cpu
