// The parts of the CPU backend that FFTW provides, in builds that link it; fft/library.h gives access to them. Whole
// transforms are in library_fft.cpp, lines in fftw_lines.cpp.
#pragma once

#include <memory>

#include "runtime/backends/cpu/fft/lines.h"
#include "runtime/backends/cpu/fft/operation.h"

namespace fourtune::runtime::cpu {

// Family fftw: one FFTW plan for all that FFTW can do in one plan; the .cpp file lists the copies made otherwise.
template <class T>
std::unique_ptr<FftRunner> make_library_fft(const FftOperation& op);

// Lines of any length; each line runs through the same FFTW plan for one line.
template <class T>
std::unique_ptr<LineFft<T>> make_fftw_lines(const LineFftChoice& choice, bool real);

}  // namespace fourtune::runtime::cpu
