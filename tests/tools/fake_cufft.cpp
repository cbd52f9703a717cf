// A stand-in for libcufft in host memory that uses direct sums: the functions that the adapter of `fourtune bench`
// and the CUDA backend call. Who takes over the work area has to set it before the plan runs.
#include <cstddef>
#include <map>

#include "tests/tools/fake_fft.h"

namespace {

struct Plan {
  fake::Fft fft;
  int type = 0;
  bool needs_area = false;
};
std::map<int, Plan> plans;
int next_handle = 1;

fake::Side side(int rank, const long long* embed, long long stride, long long distance) {
  fake::Side made;
  made.distance = distance;
  long long unit = stride;
  for (int d = 0; d < rank; ++d) {
    made.stride[d] = unit;
    unit *= embed[rank - 1 - d];
  }
  return made;
}

template <class T>
int execute(int handle, const void* in, void* out, int type, int sign) {
  const auto found = plans.find(handle);
  if (found == plans.end() || found->second.type != type) return 1;
  if (found->second.needs_area) return 13;
  fake::Fft fft = found->second.fft;
  fft.sign = sign;
  fake::run<T>(fft, in, out);
  return 0;
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))
EXPORTED int cufftGetVersion(int* version) { return *version = 12004, 0; }
EXPORTED int cufftCreate(int* handle) { return *handle = next_handle++, 0; }
EXPORTED int cufftSetAutoAllocation(int handle, int automatic) { return plans[handle].needs_area = !automatic, 0; }
EXPORTED int cufftSetWorkArea(int handle, void* area) { return plans[handle].needs_area = area == nullptr, 0; }
EXPORTED int cufftSetStream(int, void*) { return 0; }
EXPORTED int fake_cufft_plans() { return static_cast<int>(plans.size()); }
EXPORTED int cufftDestroy(int handle) { return plans.erase(handle) == 1 ? 0 : 1; }
EXPORTED int cufftMakePlanMany64(int handle, int rank, long long* n, long long* in_embed, long long in_stride,
                                 long long in_distance, long long* out_embed, long long out_stride,
                                 long long out_distance, int type, long long batch, std::size_t* work) {
  Plan& plan = plans[handle];
  plan.type = type;
  plan.fft.type = (type & 0xf) == 9 ? fake::Type::c2c : (type & 0xf) == 0xa ? fake::Type::r2c : fake::Type::c2r;
  for (int d = 0; d < rank; ++d) {
    plan.fft.n[d] = n[rank - 1 - d];
    if (plan.fft.n[d] == 17) return 8;  // an unsupported size
  }
  plan.fft.batch = batch;
  plan.fft.in = side(rank, in_embed, in_stride, in_distance);
  plan.fft.out = side(rank, out_embed, out_stride, out_distance);
  *work = plan.needs_area ? 48 : 0;
  return 0;
}
EXPORTED int cufftExecC2C(int h, void* in, void* out, int sign) { return execute<float>(h, in, out, 0x29, sign); }
EXPORTED int cufftExecZ2Z(int h, void* in, void* out, int sign) { return execute<double>(h, in, out, 0x69, sign); }
EXPORTED int cufftExecR2C(int h, void* in, void* out) { return execute<float>(h, in, out, 0x2a, -1); }
EXPORTED int cufftExecD2Z(int h, void* in, void* out) { return execute<double>(h, in, out, 0x6a, -1); }
EXPORTED int cufftExecC2R(int h, void* in, void* out) { return execute<float>(h, in, out, 0x2c, 1); }
EXPORTED int cufftExecZ2D(int h, void* in, void* out) { return execute<double>(h, in, out, 0x6c, 1); }
