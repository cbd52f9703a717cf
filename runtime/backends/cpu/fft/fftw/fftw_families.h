// What FFTW does for the CPU backend, in builds that link it; fft/library.h hands it to the rest.
#pragma once

#include <memory>

#include "runtime/backends/cpu/fft/lines.h"
#include "runtime/backends/cpu/fft/operation.h"

namespace fourtune::runtime::cpu {

// Family fftw: one FFTW plan for everything it can do in one, with copies only where FFTW cannot (documented in the
// body).
template <class T>
std::unique_ptr<FftRunner> make_library_fft(const FftOperation& op);

// Lines of any length, one FFTW plan for one line.
template <class T>
std::unique_ptr<LineFft<T>> make_fftw_lines(const LineFftChoice& choice, bool real);

}  // namespace fourtune::runtime::cpu
