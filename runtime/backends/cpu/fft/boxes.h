// Family rows, several dimensions at a time (generator/plan/fft_boxes.h says when, and what the steps are).
#pragma once

#include <memory>

#include "runtime/backends/cpu/fft/operation.h"

namespace fourtune::runtime::cpu {

// Null where dimension by dimension is better, for lengths that the kernels do not support and for arrays whose lines
// do not follow each other at one distance. Complex transforms, and real ones of even length, have the bits that they
// have dimension by dimension, so that strides of an array do not change a result.
template <class T>
std::unique_ptr<FftRunner> make_box_fft(const FftOperation& op);

}  // namespace fourtune::runtime::cpu
