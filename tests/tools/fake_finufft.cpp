// A stand-in for libfinufft that implements the guru interface with direct sums, in variants that the adapter must
// accept or refuse.
//   FAKE_VERSION   the text after "FINUFFT version "; undefined: no text
//   FAKE_SIZE      bytes of the option structure that default_opts writes (64, 88 or 96; more: a foreign layout)
//   FAKE_ALLOW     offset of allow_eps_too_small; undefined: none. If defined, f32 requests below 1e-5 need it.
//   FAKE_DEBUG     default of the option debug, which should be 0
//   FAKE_WRONG     results are off by 1 %
//   FAKE_EMPTY     without any of the functions
#include <cstdint>
#include <cstring>

#include "tests/tools/fake_nufft.h"

#ifdef FAKE_VERSION
extern "C" const char fake_banner[] = "[%s] new plan: FINUFFT version " FAKE_VERSION " .................\n";
#endif
#ifndef FAKE_DEBUG
#define FAKE_DEBUG 0
#endif

#ifndef FAKE_EMPTY

namespace {

using fake::destroy;
using fake::place;
using fake::Plan;
using fake::run;

void put(void* options, std::size_t offset, std::int32_t value) {
  std::memcpy(static_cast<char*>(options) + offset, &value, sizeof(value));
}

void defaults(void* options) {
  std::memset(options, 0, FAKE_SIZE);
  put(options, 8, FAKE_DEBUG);
  put(options, 16, 1);   // showwarn
  put(options, 24, 64);  // FFTW_ESTIMATE
  put(options, 28, 2);   // spread_sort
  put(options, 32, 1);
  put(options, 36, 1);
  put(options, 56, -1);  // spread_nthr_atomic
}

template <class T>
int make(int type, int dim, const std::int64_t* n, int sign, int batch, T tol, void** out, const void* options) {
  auto* plan = new Plan<T>{type, dim, sign < 0 ? -1 : 1, batch};
  for (int d = 0; d < dim && type != 3; ++d) plan->n[d] = n[d];
#ifdef FAKE_WRONG
  plan->factor = 1.01;
#endif
#ifdef FAKE_ALLOW
  std::int32_t allow = 0;
  std::memcpy(&allow, static_cast<const char*>(options) + FAKE_ALLOW, sizeof(allow));
  plan->refuse = sizeof(T) == 4 && tol < T(1e-5) && !allow;
#else
  (void)options, (void)tol;
#endif
  *out = plan;
  return 0;
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))
#define FUNCTIONS(PREFIX, T)                                                                                        \
  EXPORTED void PREFIX##_default_opts(void* options) { defaults(options); }                                         \
  EXPORTED int PREFIX##_makeplan(int type, int dim, const std::int64_t* n, int sign, int batch, T tol, void** plan, \
                                 const void* options) {                                                             \
    return make<T>(type, dim, n, sign, batch, tol, plan, options);                                                  \
  }                                                                                                                 \
  EXPORTED int PREFIX##_setpts(void* plan, std::int64_t m, const T* x, const T* y, const T* z, std::int64_t k,      \
                               const T* s, const T* t, const T* u) {                                                \
    return place<T>(plan, m, {x, y, z}, k, {s, t, u});                                                              \
  }                                                                                                                 \
  EXPORTED int PREFIX##_execute(void* plan, void* points, void* modes) { return run<T>(plan, points, modes); }      \
  EXPORTED int PREFIX##_execute_adjoint(void* plan, void* points, void* modes) {                                    \
    return run<T>(plan, points, modes, true);                                                                       \
  }                                                                                                                 \
  EXPORTED int PREFIX##_destroy(void* plan) { return destroy<T>(plan); }

FUNCTIONS(finufft, double)
FUNCTIONS(finufftf, float)
#endif
