// Highway's run-time choice of instruction sets, for files that do not link its library: which of the sets that its
// headers compile for this processor and its operating system have. Interface: hwy/targets.h.
#include <hwy/base.h>
#include <hwy/targets.h>

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace hwy {
namespace {
std::int64_t disabled = 0, tested = 0;  // tested: by tests, in place of what the processor has

std::int64_t detected() {
  std::int64_t targets = HWY_SCALAR;  // Highway's word for the baseline
#ifdef HWY_SSE2
  targets |= HWY_SSE2;
#endif
  __builtin_cpu_init();
#if defined(__x86_64__)
  if (__builtin_cpu_supports("ssse3")) targets |= HWY_SSSE3;
  if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("aes"))
    targets |= HWY_SSE4;
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c");
  if (avx2) targets |= HWY_AVX2;
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd"))
    targets |= HWY_AVX3;
#endif
  return targets;
}

}  // namespace

std::int64_t SupportedTargets() {
  const std::int64_t targets = (tested != 0 ? tested : detected()) & ~disabled;
  return targets != 0 ? targets : HWY_STATIC_TARGET;
}

void DisableTargets(std::int64_t targets) {
  disabled = targets;
  GetChosenTarget().DeInit();
}

void SetSupportedTargetsForTest(std::int64_t targets) {
  tested = targets;
  GetChosenTarget().DeInit();
}

// What Highway's assertions call, which are on under sanitizers and without optimisation.
void Abort(const char* file, int line, const char* format, ...) {
  std::va_list list;
  va_start(list, format);
  std::fprintf(stderr, "%s:%d: ", file, line);
  std::vfprintf(stderr, format, list);
  va_end(list);
  std::abort();
}

ChosenTarget& GetChosenTarget() {
  static ChosenTarget chosen;
  return chosen;
}

}  // namespace hwy
