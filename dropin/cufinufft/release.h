// What differs between cuFINUFFT's releases: see dropin/finufft/release.h, for which the same holds.
#pragma once

#include <cstddef>

namespace fourtune::dropin {

constexpr std::ptrdiff_t kAbsent = -1;

struct Release {
  const char* name;           // "2.4"
  std::size_t size;           // of the structure of options
  std::ptrdiff_t mode_order;  // offset of modeord; kAbsent: this release has no such field
  std::ptrdiff_t debug;       // of debug
  bool warns_of_accuracy;     // a tolerance below epsilon gives status 1; later, 0
};

// Of this library.
extern const Release kRelease;
// Where its transforms run: "cuda"; a library of the tests has GPU kernels run by the processor.
extern const char* const kBackend;

}  // namespace fourtune::dropin
