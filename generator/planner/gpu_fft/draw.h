// Presents plans to people: a text report and a drawing.
#pragma once

#include <string>

#include "fourtune/device_traits.h"
#include "generator/plan/fft/notation.h"

namespace fourtune::generator::fft {

// Returns SVG 1.1 text of a plan without violations. Each row shows a kernel, with one bar of digits per dimension, the
// most significant digit on the left: digits that the kernel transforms are in colour, those transformed before are
// grey, and later ones are empty. Between the rows, the drawing shows the array that carries the data and the bytes
// moved. With a device it adds contiguous run lengths and the floor in microseconds.
std::string to_svg(const FftPlan& plan, const DeviceTraits* device = nullptr);

// The same as lines of text: for each kernel its tile, threads, values per thread, shared memory, runs, bytes and
// flops, then the order of the output. With a device it adds the device's limits, floors and the estimate. Parameters
// that are not bound are left out.
std::string report(const FftPlan& plan, const DeviceTraits* device = nullptr);

}  // namespace fourtune::generator::fft
