#include "runtime/environment.h"

#include <fmt/format.h>

#include "runtime/backends/cpu/fft/library.h"
#include "runtime/backends/cuda/compiler.h"
#include "runtime/backends/cuda/cufft_api.h"
#include "runtime/backends/cuda/driver_api.h"
#include "runtime/backends/cuda/nvrtc_api.h"

namespace fourtune::runtime {

db::Environment environment_here(const DeviceTraits& traits) {
  db::Environment here = db::environment_of(traits);
  here.libraries = cpu::fft_library_version();
  if (traits.backend == "cuda") {
    here.driver = cuda::why_no_driver().empty()
                      ? fmt::format("CUDA {}.{}", cuda::driver().version / 1000, cuda::driver().version % 1000 / 10)
                      : std::string();
    here.compiler = cuda::why_no_nvrtc().empty() ? cuda::nvrtc_version_text() : std::string("no nvrtc");
    here.libraries = cuda::why_no_cufft().empty() ? fmt::format("cufft {}", cuda::cufft().version) : std::string();
  }
  here.generator = std::string("plan texts 1");  // raise this when a plan text starts to mean different code
  return here;
}

}  // namespace fourtune::runtime
