// Compiled once for each library, with its release as FOURTUNE_CUFINUFFT_RELEASE (24: 2.4).
#include "dropin/cufinufft/release.h"

#include "dropin/cufinufft/options.h"

namespace fourtune::dropin {
namespace {

constexpr Release release(int number) {
  const Release all[] = {
      {"2.2", sizeof(GpuOptions22), kAbsent, kAbsent, true},
      {"2.3", offsetof(GpuOptions23, mode_order) + 4, offsetof(GpuOptions23, mode_order), kAbsent, true},
      {"2.4", sizeof(GpuOptions24), offsetof(GpuOptions24, mode_order), offsetof(GpuOptions24, debug), true},
      {"2.5", sizeof(GpuOptions25), offsetof(GpuOptions25, mode_order), offsetof(GpuOptions25, debug), true},
      {"2.6", sizeof(GpuOptions25), offsetof(GpuOptions25, mode_order), offsetof(GpuOptions25, debug), false},
  };
  return all[number - 22];
}

}  // namespace

const Release kRelease = release(FOURTUNE_CUFINUFFT_RELEASE);
#ifdef FOURTUNE_CUFINUFFT_BACKEND
const char* const kBackend = FOURTUNE_CUFINUFFT_BACKEND;
#else
const char* const kBackend = "cuda";
#endif

}  // namespace fourtune::dropin
