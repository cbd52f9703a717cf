// A stand-in for libfinufft: the guru interface by direct sums, in variants that the adapter must accept or refuse.
//   FAKE_VERSION   the text behind "FINUFFT version "; undefined: no text
//   FAKE_SIZE      bytes of the option structure that default_opts writes (64, 88 or 96; more: a foreign layout)
//   FAKE_ALLOW     offset of allow_eps_too_small; undefined: there is none. With it, f32 requests below 1e-5 need it.
//   FAKE_DEBUG     default of the option debug, to be 0
//   FAKE_WRONG     results are off by 1 %
//   FAKE_EMPTY     none of the functions
#include <complex>
#include <cstdint>
#include <cstring>
#include <vector>

#ifdef FAKE_VERSION
extern "C" const char fake_banner[] = "[%s] new plan: FINUFFT version " FAKE_VERSION " .................\n";
#endif
#ifndef FAKE_DEBUG
#define FAKE_DEBUG 0
#endif

#ifndef FAKE_EMPTY

namespace {

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
struct Plan {
  int type, dim, sign, batch;
  std::int64_t n[3] = {1, 1, 1};
  std::int64_t m = 0, k = 0;
  const T *x[3] = {}, *s[3] = {};
  bool refuse = false;
};

template <class T>
int make(int type, int dim, const std::int64_t* n, int sign, int batch, T tol, void** out, const void* options) {
  auto* plan = new Plan<T>{type, dim, sign < 0 ? -1 : 1, batch};
  for (int d = 0; d < dim && type != 3; ++d) plan->n[d] = n[d];
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

template <class T>
int place(void* handle, std::int64_t m, const T* x, const T* y, const T* z, std::int64_t k, const T* s, const T* t,
          const T* u) {
  auto& plan = *static_cast<Plan<T>*>(handle);
  if (plan.refuse) return 26;
  plan.m = m;
  plan.k = plan.type == 3 ? k : plan.n[0] * plan.n[1] * plan.n[2];
  const T* points[3] = {x, y, z};
  const T* targets[3] = {s, t, u};
  for (int d = 0; d < 3; ++d) plan.x[d] = points[d], plan.s[d] = targets[d];
  return 0;
}

// Frequency of output (types 1, 3) or input (type 2) number i along dimension d.
template <class T>
double frequency(const Plan<T>& plan, std::int64_t i, int d) {
  if (plan.type == 3) return static_cast<double>(plan.s[d][i]);
  for (int below = 0; below < d; ++below) i /= plan.n[below];
  return static_cast<double>(i % plan.n[d] - plan.n[d] / 2);
}

template <class T>
int run(void* handle, void* points, void* modes) {
  const auto& plan = *static_cast<Plan<T>*>(handle);
  auto* c = static_cast<std::complex<T>*>(points);
  auto* f = static_cast<std::complex<T>*>(modes);
  const bool to_points = plan.type == 2;
  const std::int64_t outs = to_points ? plan.m : plan.k, ins = to_points ? plan.k : plan.m;
  for (int b = 0; b < plan.batch; ++b)
    for (std::int64_t o = 0; o < outs; ++o) {
      std::complex<double> sum = 0;
      for (std::int64_t i = 0; i < ins; ++i) {
        const std::int64_t j = to_points ? o : i, k = to_points ? i : o;
        double phase = 0;
        for (int d = 0; d < plan.dim; ++d) phase += frequency(plan, k, d) * static_cast<double>(plan.x[d][j]);
        const std::complex<T> value = to_points ? f[b * ins + i] : c[b * ins + i];
        sum += std::complex<double>(value) * std::polar(1.0, plan.sign * phase);
      }
#ifdef FAKE_WRONG
      sum *= 1.01;
#endif
      (to_points ? c : f)[b * outs + o] = std::complex<T>(sum);
    }
  return 0;
}

template <class T>
int destroy(void* handle) {
  delete static_cast<Plan<T>*>(handle);
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
    return place<T>(plan, m, x, y, z, k, s, t, u);                                                                  \
  }                                                                                                                 \
  EXPORTED int PREFIX##_execute(void* plan, void* points, void* modes) { return run<T>(plan, points, modes); }      \
  EXPORTED int PREFIX##_destroy(void* plan) { return destroy<T>(plan); }

FUNCTIONS(finufft, double)
FUNCTIONS(finufftf, float)
#endif
