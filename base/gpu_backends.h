// The backends whose plans are those of GPUs.
#pragma once

#include <string_view>

namespace fourtune::generator {

// What planners have to know of a GPU backend; runtime/backends/backend.h has the rest. One line each. Plans of every
// other backend are those of the processor.
struct GpuBackend {
  std::string_view name;
  bool fft_library;  // whether it has one (cuFFT), so that plans may say fft=cufft
};
inline constexpr GpuBackend kGpuBackends[]{{"cuda", true}, {"emulated", false}};

constexpr const GpuBackend* gpu_backend(std::string_view name) {
  for (const GpuBackend& backend : kGpuBackends)
    if (backend.name == name) return &backend;
  return nullptr;
}
// Whether plans of this backend consist of the stages of GPUs.
constexpr bool is_gpu(std::string_view backend) { return gpu_backend(backend) != nullptr; }
constexpr bool has_gpu_fft_library(std::string_view backend) {
  return is_gpu(backend) && gpu_backend(backend)->fft_library;
}

}  // namespace fourtune::generator
