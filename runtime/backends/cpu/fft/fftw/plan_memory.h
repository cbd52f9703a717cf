// What FFTW's plans allocate, which no function of FFTW says: it follows from the text with which they print
// themselves.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/backends/cpu/fft/fftw/fftw_api.h"

namespace fourtune::runtime::cpu {

// held: tables of a plan, from planning to its end. scratch: buffers that one execution takes and gives back.
struct FftwMemory {
  std::int64_t held = 0, scratch = 0;
};

// Upper bounds for the plan that FFTW's fftw_sprint_plan describes, in bytes. A plan of several threads may take
// `scratch` once per thread. Not counted are the nodes themselves, about a kilobyte each. A node of an unknown kind
// counts as none, and its children do.
FftwMemory memory_of_printed_plan(std::string_view printed, std::int64_t real_bytes);

template <class T>
FftwMemory memory_of(const FftwPlan<T>& plan);

}  // namespace fourtune::runtime::cpu
