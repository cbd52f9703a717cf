// All fuzz targets as one program, which is a fifth of the size of all of them: FUZZ_TARGET=plan says which one it is.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/fuzz/fuzz.h"

// FUZZ_TARGETS: X(token) X(plan) ..., by CMake; the functions are called fuzz_token, fuzz_plan, ...
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
