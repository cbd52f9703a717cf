// Plans for people: a text report, and a drawing.
#pragma once

#include <string>

#include "fourtune/device_traits.h"
#include "generator/plan/fft/notation.h"

namespace fourtune::generator::fft {

// SVG 1.1 text of a plan without violations. One row a kernel: for every dimension a bar of its digits, most
// significant on the left, with those that the kernel transforms in colour, those made before in grey and those to come
// empty; between rows the array that carries the data, and the bytes moved. With a device, runs and the floor in
// microseconds.
std::string to_svg(const FftPlan& plan, const DeviceTraits* device = nullptr);

// The same as lines of text: kernels with tile, threads, values a thread, shared memory, runs, bytes and flops; the
// output's order; with a device what it allows, floors and the estimate. Parameters that are not bound are left out.
std::string report(const FftPlan& plan, const DeviceTraits* device = nullptr);

}  // namespace fourtune::generator::fft
