// Uniform FFTs: c2c, r2c, c2r, any size, batch, strides, in or out of place.
#pragma once

#include <memory>

#include "runtime/backends/backend.h"

namespace fourtune::runtime::cpu {

// An Executor for an fft problem, families fftw and rows of the plan.
//
// - sign is that of i in the exponential, for every type: c2r with sign -1 is the conjugate convention of FFTW's c2r.
//   Nothing is normalised.
// - Real types store positions 0 .. n_x/2 along x. c2r takes the real part of the sum in which entries that have a
// mirror
//   image (0 < k_x < n_x/2) count twice, so it is defined for any input, Hermitian or not.
// - execute(in, out, adjoint = true) runs the conjugate transpose from out to in, for the real inner product
//   Re sum conj(u) v over the stored entries: c2c with the other sign; r2c gives c2r with the other sign after halving
//   entries that have a mirror image; c2r gives r2c with the other sign, those entries doubled. Planned on first use.
// - place=out preserves what is read (c2r in more than one dimension keeps a work array for that). Equal pointers then,
//   or different ones with place=in, throw Error{invalid_argument}.
// - fftw: rigor patient may plan for minutes, no time limit is set; wisdom (ExecutorOptions) makes it immediate. rows:
//   plans in well under a millisecond, except single lines with rigor patient, and its results are the same bits on
//   every run and for any number of threads where FFTW has no part in it (fft/lines.h).
// - FFTW's planner is used behind one mutex of the process and leaves the application's own wisdom alone
//   (fftw/wisdom.h). A build without FFTW has rows alone, and they do without.
std::unique_ptr<Executor> make_fft_executor(const Problem& problem, const generator::Plan& plan,
                                            const ExecutorOptions& options);

}  // namespace fourtune::runtime::cpu
