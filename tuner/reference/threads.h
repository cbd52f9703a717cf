// Loops on all threads that this process may use, by the library's team: OpenMP's runtime would end a process that may
// make no threads.
#pragma once

#include <cstdint>

#include "base/usable_threads.h"
#include "runtime/backends/cpu/base/team.h"

namespace fourtune::tuner {

// Calls body(index) for every index < count; a thread takes `grain` of them or more at a time.
template <class F>
void on_all_threads(std::int64_t count, std::int64_t grain, const F& body) {
  runtime::cpu::parallel_for(
      usable_threads(), count, [&](std::int64_t i) { body(i); }, grain);
}

}  // namespace fourtune::tuner
