// Uniform FFTs: c2c, r2c, c2r, any size, batch, strides, in or out of place.
#pragma once

#include <memory>

#include "runtime/backends/backend.h"

namespace fourtune::runtime::cpu {

// Makes an Executor for an fft problem with a plan of family fftw, rows or along.
//
// - sign is the sign of i in the exponential, for every type: c2r with sign -1 is the conjugate convention of FFTW's
//   c2r. Nothing is normalised.
// - Real types store positions 0 .. n_x/2 along x. c2r takes the real part of the sum in which entries that have a
//   mirror image (0 < k_x < n_x/2) count twice, so it is defined for any input, Hermitian or not.
// - execute(in, out, adjoint = true) runs the conjugate transpose from out to in, for the real inner product Re sum
//   conj(u) v over the stored entries: c2c becomes c2c with the other sign; r2c becomes c2r with the other sign after
//   entries that have a mirror image are halved; c2r becomes r2c with the other sign, after which those entries are
//   doubled. The adjoint is planned on first use.
// - place=out preserves the input (for this, c2r in more than one dimension keeps a work array). Equal pointers with
//   place=out, or different ones with place=in, throw Error{invalid_argument}.
// - Family fftw: rigors measure and patient plan for at most about planning_seconds() (fftw/wisdom.h), once per
//   direction and once more for arrays of another alignment; wisdom (ExecutorOptions) makes planning immediate. Family
//   rows: plans in well under a millisecond, except for single lines with rigor patient.
// - memory() includes FFTW's tables and what it takes while it executes (fftw/plan_memory.h). Arrays on which FFTW
//   measures exist while it plans and are not included: they are as large as the caller's.
//   Where FFTW has no part in it (fft/lines.h), its results are bit-identical on every run and for any number of
//   threads.
// - FFTW's planner is used behind one mutex per process and leaves the application's wisdom alone (fftw/wisdom.h). A
//   build without FFTW has the family rows only, which then does not use FFTW.
std::unique_ptr<Executor> make_fft_executor(const Problem& problem, const generator::Plan& plan,
                                            const ExecutorOptions& options);

}  // namespace fourtune::runtime::cpu
