// The caller's structure of options, cufinufft_opts, as each release documents it.
#pragma once

#include <cstdint>

namespace fourtune::dropin {

// What the structures of all releases begin with.
struct GpuOptionsHead {
  double upsampling = 0;            // at most 1 is an error, but 0; with spread_only the kernel is made for it
  std::int32_t method = 0;          // gpu_method, 0 to 4: advice
  std::int32_t sort = 1;            // advice
  std::int32_t bin[3] = {0, 0, 0};  // gpu_binsizex, y, z: advice
  std::int32_t outer_bin[3] = {0, 0, 0};
  std::int32_t most_in_subproblem = 1024;  // advice
  std::int32_t kernel_method = 1;          // gpu_kerevalmeth, no effect
  std::int32_t spread_only = 0;            // gpu_spreadinterponly
  std::int32_t most_at_once = 0;           // gpu_maxbatchsize
  std::int32_t device = 0;                 // gpu_device_id
  void* stream = nullptr;                  // gpu_stream
};
struct GpuOptions22 {
  GpuOptionsHead head;
};
struct GpuOptions23 {
  GpuOptionsHead head;
  std::int32_t mode_order = 0;
};
struct GpuOptions24 {
  GpuOptionsHead head;
  std::int32_t mode_order = 0;
  std::int32_t debug = 0;
};
struct GpuOptions25 {  // and 2.6
  GpuOptionsHead head;
  std::int32_t mode_order = 0;
  std::int32_t least_batch = 0;  // gpu_np: advice
  std::int32_t debug = 0;
};
static_assert(sizeof(GpuOptions22) == 72 && sizeof(GpuOptions23) == 80 && sizeof(GpuOptions24) == 80 &&
              sizeof(GpuOptions25) == 88);

// Writes the defaults of this library's release, and no byte beyond that release's structure.
void write_default_options(void* options) noexcept;

}  // namespace fourtune::dropin
