// How long our lines and FFTW's estimate take for a uniform transform on a processor: what an untuned transform has to
// choose between.
#pragma once

#include "fourtune/device_traits.h"
#include "fourtune/problem.h"

namespace fourtune::generator {

// Seconds of one execute. The two are the same where our family gives the transform to FFTW (runtime's rows.cpp).
struct FftTimes {
  double rows = 0;     // fft=rows
  double library = 0;  // fft=fftw(rigor=estimate)
};
// Of a dense problem; strides are not looked at. threads >= 1.
FftTimes fft_times(const Problem& problem, int threads, const DeviceTraits& traits);

}  // namespace fourtune::generator
