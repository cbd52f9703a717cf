// Compiled once for each library, with its release as FOURTUNE_FINUFFT_RELEASE (24: 2.4).
#include "dropin/finufft/release.h"

#include "dropin/finufft/options.h"

namespace fourtune::dropin {
namespace {

constexpr Release release(int number) {
  const Release all[] = {
      {"2.2", sizeof(Options22), kAbsent, kAbsent, kAbsent, 0, 0, true, false, false, false},
      {"2.3", sizeof(Options22), kAbsent, kAbsent, kAbsent, 0, 0, false, false, false, false},
      {"2.4", sizeof(Options24), kAbsent, kAbsent, offsetof(Options24, locks), 0, 0, false, true, false, false},
      {"2.5", sizeof(Options25), offsetof(Options25, kernel_formula), kAbsent, offsetof(Options25, locks), 1, 8, false,
       true, false, false},
      {"2.6", sizeof(Options26), offsetof(Options26, kernel_formula), offsetof(Options26, allow_too_accurate),
       offsetof(Options26, locks), 7, 9, false, true, true, true},
  };
  return all[number - 22];
}

}  // namespace

const Release kRelease = release(FOURTUNE_FINUFFT_RELEASE);
const std::size_t kFortranBytes = kRelease.locks == kAbsent ? kRelease.size : kRelease.locks + 8;

}  // namespace fourtune::dropin
