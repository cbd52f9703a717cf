// All fuzz targets as one program, which has a fifth of the size of separate ones. FUZZ_TARGET=plan selects the target.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/fuzz/fuzz.h"

// CMake defines FUZZ_TARGETS as X(token) X(plan) ...; the functions are called fuzz_token, fuzz_plan, ...
#define X(name) extern "C" int fuzz_##name(const std::uint8_t* data, std::size_t size);
FUZZ_TARGETS
#undef X

namespace {

using Target = int (*)(const std::uint8_t*, std::size_t);

Target target() {
  const char* asked = std::getenv("FUZZ_TARGET");
#define X(name) \
  if (asked && std::strcmp(asked, #name) == 0) return fuzz_##name;
  FUZZ_TARGETS
#undef X
  std::fprintf(stderr, "FUZZ_TARGET names no target\n");
  std::exit(2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Target chosen = target();
  return chosen(data, size);
}
