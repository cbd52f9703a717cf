// A stand-in for libcufinufft in host memory that uses direct sums.
//   FAKE_END     bytes of the option structure that default_opts writes
//   FAKE_METHOD  the one method that runs; the others return an error
//   FAKE_NO_F32  without the functions of single precision
//   environment FAKE_OPTION="OFFSET VALUE": default_opts writes this int there
// Upsampling 1.25 gives results that are off by 1 %, so that trials have a difference to detect.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/tools/fake_nufft.h"

namespace {

template <class T>
int make(int type, int dim, const std::int64_t* n, int sign, int batch, T, void** out, const void* options) {
  double upsampling = 0;
  std::int32_t method = 0;
  std::memcpy(&upsampling, options, sizeof(upsampling));
  std::memcpy(&method, static_cast<const char*>(options) + 8, sizeof(method));
  if (method != FAKE_METHOD) return 22;
  auto* plan = new fake::Plan<T>{type, dim, sign < 0 ? -1 : 1, batch};
  for (int d = 0; d < dim && type != 3; ++d) plan->n[d] = n[d];
  if (upsampling != 2.0) plan->factor = 1.01;
  *out = plan;
  return 1;  // a warning; the plan is made
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))
#define FUNCTIONS(PREFIX, T)                                                                                         \
  EXPORTED int PREFIX##_makeplan(int type, int dim, const std::int64_t* n, int sign, int batch, T tol, void** plan,  \
                                 const void* options) {                                                              \
    return make<T>(type, dim, n, sign, batch, tol, plan, options);                                                   \
  }                                                                                                                  \
  EXPORTED int PREFIX##_setpts(void* plan, std::int64_t m, const T* x, const T* y, const T* z, int k, const T* s,    \
                               const T* t, const T* u) {                                                             \
    return fake::place<T>(plan, m, {x, y, z}, k, {s, t, u});                                                         \
  }                                                                                                                  \
  EXPORTED int PREFIX##_execute(void* plan, void* points, void* modes) { return fake::run<T>(plan, points, modes); } \
  EXPORTED int PREFIX##_destroy(void* plan) { return fake::destroy<T>(plan); }

EXPORTED void cufinufft_default_opts(void* options) {
  std::memset(options, 0, 60);  // upsampfac and 13 ints; then a gap
  std::memset(static_cast<char*>(options) + 64, 0, FAKE_END - 64);
  int offset = 0;
  std::int32_t value = 0;
  if (const char* option = std::getenv("FAKE_OPTION"); option && std::sscanf(option, "%d %d", &offset, &value) == 2)
    std::memcpy(static_cast<char*>(options) + offset, &value, sizeof(value));
}
FUNCTIONS(cufinufft, double)
#ifndef FAKE_NO_F32
FUNCTIONS(cufinufftf, float)
#endif
