// cuFFT, declared here and loaded from libcufft on first use. The interface follows NVIDIA's documentation, "cuFFT".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "fourtune/problem.h"
#include "runtime/backends/cuda/captured_call.h"
#include "runtime/backends/cuda/device.h"

namespace fourtune::runtime::cuda {

using cufftHandle = int;
enum cufftType : int {
  CUFFT_R2C = 0x2a,
  CUFFT_C2R = 0x2c,
  CUFFT_C2C = 0x29,
  CUFFT_D2Z = 0x6a,
  CUFFT_Z2D = 0x6c,
  CUFFT_Z2Z = 0x69
};

struct CufftApi {
  int (*cufftGetVersion)(int*);
  int (*cufftCreate)(cufftHandle*);
  int (*cufftDestroy)(cufftHandle);
  int (*cufftSetAutoAllocation)(cufftHandle, int);
  int (*cufftMakePlanMany64)(cufftHandle, int rank, long long* n, long long* inembed, long long istride,
                             long long idist, long long* onembed, long long ostride, long long odist, cufftType,
                             long long batch, std::size_t* work_bytes);
  int (*cufftSetWorkArea)(cufftHandle, void*);
  int (*cufftSetStream)(cufftHandle, CUstream);
  int (*cufftExecC2C)(cufftHandle, void*, void*, int direction);
  int (*cufftExecZ2Z)(cufftHandle, void*, void*, int direction);
  int (*cufftExecR2C)(cufftHandle, void*, void*);
  int (*cufftExecD2Z)(cufftHandle, void*, void*);
  int (*cufftExecC2R)(cufftHandle, void*, void*);
  int (*cufftExecZ2D)(cufftHandle, void*, void*);
  int version = 0;
  std::string path;
};

// Throws Error{backend_unavailable} that says what is missing. May be called from any thread.
const CufftApi& cufft();
std::string why_no_cufft();  // empty when cufft() works

// A layout in cuFFT's form (slowest dimension first).
struct CufftLayout {
  long long embed[3]{};
  long long stride = 1, distance = 0;
};
// Throws Error{unsupported} for strides that are not multiples of each other, which cuFFT cannot express.
CufftLayout cufft_layout(const ArrayLayout& layout, const Sizes& sizes, int dim);

// One bound cuFFT transform; this class owns its work area. Use from one thread at a time.
class CufftPlan {
 public:
  // Throws Error{unsupported} for what cuFFT does not support: r2c with sign +1, c2r with sign -1, some strides.
  CufftPlan(std::shared_ptr<const Device> device, const Problem& problem);
  CufftPlan(const CufftPlan&) = delete;
  CufftPlan& operator=(const CufftPlan&) = delete;
  ~CufftPlan();
  // Takes device pointers. For c2c, sign is that of the exponent; otherwise it is the problem's. alone: the kernels are
  // launched one by one, as they have to be into a stream that is being captured. Does not wait.
  void execute(void* in, void* out, int sign, CUstream stream, bool alone);
  std::size_t work_bytes() const { return work_.size() + input_.size(); }

 private:
  void call(void* in, void* out, int sign, CUstream stream) const;

  std::shared_ptr<const Device> device_;
  Problem problem_;
  std::array<CapturedCall, 2> captured_;  // of both signs
  cufftHandle handle_ = 0;
  DeviceMemory work_;
  DeviceMemory input_;  // c2r out of place: cuFFT writes into the array that it reads, so it gets a copy
};

}  // namespace fourtune::runtime::cuda
