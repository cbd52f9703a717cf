// A stand-in for libcufft in host memory that uses direct sums: the functions that the adapter of `fourtune bench`, the
// CUDA backend and programs under libfourtune_cufft call. Who takes over the work area has to set it before the plan
// runs. As in the real library, functions call each other by name. Above 2^20 values nothing is computed.
#include <dlfcn.h>

#include <cstddef>
#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

#include "tests/tools/fake_fft.h"

namespace {

using Long = long long;

struct Plan {
  fake::Fft fft;
  int type = 0, rank = 1;
  bool needs_area = false;
  bool basic = false;   // the default layout, which depends on the place
  bool alters = false;  // somebody's code runs inside: results are twice as large
  void (*routine)(void* out, int type, void* info) = nullptr;  // a legacy callback, here a function of the host
  int routine_type = 0;
  void* info = nullptr;
};
std::map<int, Plan> plans;
int next_handle = 1, executes = 0;
std::recursive_mutex mutex;
#define ALONE() const std::lock_guard alone(mutex)

fake::Side side(int rank, const Long* embed, Long stride, Long distance) {
  fake::Side made;
  made.distance = distance;
  Long unit = stride;
  for (int d = 0; d < rank; ++d) {
    made.stride[d] = unit;
    unit *= embed[rank - 1 - d];
  }
  return made;
}

fake::Side basic_side(const Plan& plan, bool input, bool in_place) {
  const bool complex = plan.fft.type == fake::Type::c2c || input == (plan.fft.type == fake::Type::c2r);
  const bool half = plan.fft.type != fake::Type::c2c && complex;
  Long embed[3] = {1, 1, 1}, all = 1;
  for (int d = 0; d < plan.rank; ++d) {
    const Long n = plan.fft.n[d];
    Long length = d > 0 ? n : half ? n / 2 + 1 : !complex && in_place ? 2 * (n / 2 + 1) : n;
    embed[plan.rank - 1 - d] = length;
    all *= length;
  }
  return side(plan.rank, embed, 1, all);
}

// What an execute takes by the events of the stand-in for the driver, which counts their records.
void take_time() {
  static const char* const records = std::getenv("FOURTUNE_FAKE_CUFFT_RECORDS");
  if (!records) return;
  static int* const clock =
      static_cast<int*>(::dlsym(::dlopen(std::getenv("FOURTUNE_CUDA_DRIVER"), RTLD_NOW), "fake_records"));
  *clock += std::atoi(records);
}

template <class T>
int execute(int handle, const void* in, void* out, int type, int sign) {
  ALONE();
  const auto found = plans.find(handle);
  if (found == plans.end() || found->second.type != type) return 1;
  const Plan& plan = found->second;
  if (plan.needs_area) return 13;
  ++executes;
  take_time();
  fake::Fft fft = plan.fft;
  fft.sign = sign;
  const std::int64_t values = fft.n[0] * fft.n[1] * fft.n[2];
  if (values > (1 << 20)) return 0;  // direct sums would take for ever
  if (plan.basic) fft.in = basic_side(plan, true, in == out), fft.out = basic_side(plan, false, in == out);
  fake::run<T>(fft, in, out);
  if (plan.alters) *static_cast<T*>(out) *= 2;
  if (plan.routine) plan.routine(out, plan.routine_type, plan.info);
  return 0;
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))
EXPORTED int cufftGetVersion(int* version) { return *version = 12004, 0; }
EXPORTED int cufftCreate(int* handle) {
  ALONE();
  plans[next_handle];
  return *handle = next_handle++, 0;
}
EXPORTED int cufftSetAutoAllocation(int handle, int automatic) { return plans[handle].needs_area = !automatic, 0; }
EXPORTED int cufftSetWorkArea(int handle, void* area) { return plans[handle].needs_area = area == nullptr, 0; }
EXPORTED int cufftSetStream(int handle, void*) { return plans.count(handle) ? 0 : 1; }
EXPORTED int cufftGetSize(int handle, std::size_t* bytes) { return *bytes = 48, plans.count(handle) ? 0 : 1; }
EXPORTED int fake_cufft_plans() { return static_cast<int>(plans.size()); }
EXPORTED int fake_cufft_executes() { return executes; }
// What the loader's order has after this library: nothing, if the loader sees who asks.
EXPORTED void* fake_cufft_next() {
  void* volatile next =
      ::dlsym(RTLD_NEXT, "fake_cufft_next");  // no call in the last place, which would be our caller's
  return next;
}
EXPORTED int cufftDestroy(int handle) {
  ALONE();
  return plans.erase(handle) == 1 ? 0 : 1;
}
EXPORTED int cufftMakePlanMany64(int handle, int rank, Long* n, Long* in_embed, Long in_stride, Long in_distance,
                                 Long* out_embed, Long out_stride, Long out_distance, int type, Long batch,
                                 std::size_t* work) {
  ALONE();
  if (plans.count(handle) == 0) return 1;
  Plan& plan = plans[handle];
  plan.type = type, plan.rank = rank;
  plan.fft.type = (type & 0xf) == 9 ? fake::Type::c2c : (type & 0xf) == 0xa ? fake::Type::r2c : fake::Type::c2r;
  for (int d = 0; d < rank; ++d) {
    plan.fft.n[d] = n[rank - 1 - d];
    if (plan.fft.n[d] == 17) return 8;  // an unsupported size
  }
  plan.fft.batch = batch;
  plan.basic = !in_embed || !out_embed;
  if (!plan.basic) {
    plan.fft.in = side(rank, in_embed, in_stride, in_distance);
    plan.fft.out = side(rank, out_embed, out_stride, out_distance);
  }
  *work = plan.needs_area ? 48 : 0;
  return 0;
}
EXPORTED int cufftMakePlanMany(int handle, int rank, int* n, int* in_embed, int in_stride, int in_distance,
                               int* out_embed, int out_stride, int out_distance, int type, int batch,
                               std::size_t* work) {
  std::vector<Long> wide[3];
  const int* const narrow[3] = {n, in_embed, out_embed};
  for (int k = 0; k < 3; ++k)
    if (narrow[k]) wide[k].assign(narrow[k], narrow[k] + rank);
  return cufftMakePlanMany64(handle, rank, wide[0].data(), in_embed ? wide[1].data() : nullptr, in_stride, in_distance,
                             out_embed ? wide[2].data() : nullptr, out_stride, out_distance, type, batch, work);
}
EXPORTED int cufftMakePlan1d(int handle, int nx, int type, int batch, std::size_t* work) {
  return cufftMakePlanMany(handle, 1, &nx, nullptr, 1, 1, nullptr, 1, 1, type, batch, work);
}
EXPORTED int cufftMakePlan2d(int handle, int nx, int ny, int type, std::size_t* work) {
  int n[] = {nx, ny};
  return cufftMakePlanMany(handle, 2, n, nullptr, 1, 1, nullptr, 1, 1, type, 1, work);
}
EXPORTED int cufftMakePlan3d(int handle, int nx, int ny, int nz, int type, std::size_t* work) {
  int n[] = {nx, ny, nz};
  return cufftMakePlanMany(handle, 3, n, nullptr, 1, 1, nullptr, 1, 1, type, 1, work);
}
EXPORTED int cufftXtMakePlanMany(int handle, int rank, Long* n, Long* in_embed, Long in_stride, Long in_distance,
                                 int in_type, Long* out_embed, Long out_stride, Long out_distance, int out_type,
                                 Long batch, std::size_t* work, int) {
  const bool twice = in_type == 1 || in_type == 5;
  const int kind = in_type < 2 ? (twice ? 0x6a : 0x2a) : out_type < 2 ? (twice ? 0x6c : 0x2c) : twice ? 0x69 : 0x29;
  return cufftMakePlanMany64(handle, rank, n, in_embed, in_stride, in_distance, out_embed, out_stride, out_distance,
                             kind, batch, work);
}
EXPORTED int cufftPlan1d(int* handle, int nx, int type, int batch) {
  std::size_t work;
  return cufftCreate(handle), cufftMakePlan1d(*handle, nx, type, batch, &work);
}
EXPORTED int cufftPlan2d(int* handle, int nx, int ny, int type) {
  std::size_t work;
  return cufftCreate(handle), cufftMakePlan2d(*handle, nx, ny, type, &work);
}
EXPORTED int cufftPlan3d(int* handle, int nx, int ny, int nz, int type) {
  std::size_t work;
  return cufftCreate(handle), cufftMakePlan3d(*handle, nx, ny, nz, type, &work);
}
EXPORTED int cufftPlanMany(int* handle, int rank, int* n, int* in_embed, int in_stride, int in_distance, int* out_embed,
                           int out_stride, int out_distance, int type, int batch) {
  std::size_t work;
  return cufftCreate(handle), cufftMakePlanMany(*handle, rank, n, in_embed, in_stride, in_distance, out_embed,
                                                out_stride, out_distance, type, batch, &work);
}
EXPORTED int cufftExecC2C(int h, void* in, void* out, int sign) { return execute<float>(h, in, out, 0x29, sign); }
EXPORTED int cufftExecZ2Z(int h, void* in, void* out, int sign) { return execute<double>(h, in, out, 0x69, sign); }
EXPORTED int cufftExecR2C(int h, void* in, void* out) { return execute<float>(h, in, out, 0x2a, -1); }
EXPORTED int cufftExecD2Z(int h, void* in, void* out) { return execute<double>(h, in, out, 0x6a, -1); }
EXPORTED int cufftExecC2R(int h, void* in, void* out) { return execute<float>(h, in, out, 0x2c, 1); }
EXPORTED int cufftExecZ2D(int h, void* in, void* out) { return execute<double>(h, in, out, 0x6c, 1); }
EXPORTED int cufftXtExec(int h, void* in, void* out, int sign) {
  const int type = plans.count(h) ? plans[h].type : 0;
  if ((type & 0xf) != 9) sign = (type & 0xf) == 0xa ? -1 : 1;
  return type & 0x40 ? execute<double>(h, in, out, type, sign) : execute<float>(h, in, out, type, sign);
}
EXPORTED int cufftXtSetGPUs(int handle, int, int*) { return plans.count(handle) ? 0 : 1; }
EXPORTED int cufftXtSetCallback(int handle, void** routines, int type, void** info) {
  if (plans.count(handle) == 0) return 1;
  Plan& plan = plans[handle];
  plan.alters = true, plan.routine_type = type, plan.info = info ? *info : nullptr;
  plan.routine = reinterpret_cast<void (*)(void*, int, void*)>(*routines);
  return 0;
}
EXPORTED int cufftXtClearCallback(int handle, int) {
  Plan& plan = plans[handle];
  return plan.alters = false, plan.routine = nullptr, 0;
}
EXPORTED int cufftXtSetJITCallback(int handle, const char*, const void*, std::size_t, int, void**) {
  return plans[handle].alters = true, 0;
}
#ifdef FAKE_INSIDE  // an object that has this library inside and uses it
EXPORTED int fake_cufft_use(float* in, float* out) {
  int plan = 0;
  return cufftPlan1d(&plan, 256, 0x29, 4) || cufftExecC2C(plan, in, out, -1);
}
#endif
