// Transforms on the emulated backend through the public interface.
#pragma once

#include <functional>
#include <string>

#include "fourtune/transform.h"
#include "runtime/backend_table.h"
#include "runtime/backends/emulated/emulated_backend.h"
#include "tests/support/nufft_gpu_cases.h"

namespace fourtune::test {

inline void add_emulated() {
  static const bool added = [] {
    static const runtime::emulated::EmulatedBackend backend(runtime::gpu::library_programs());
    runtime::add_backend(backend);
    return true;
  }();
  (void)added;
}

// An empty text selects the default plan.
inline Options emulated(const std::string& plan) {
  add_emulated();
  Options options;
  options.default_databases = false;
  options.backend = "emulated";
  options.plan = plan;
  return options;
}

// Returns success if nothing was thrown.
inline Status status_of(const std::function<void()>& action, std::string* message = nullptr) {
  try {
    action();
  } catch (const Error& error) {
    if (message) *message = error.what();
    return error.status();
  }
  return Status::success;
}

// A plan of each kind, for tests of other features.
inline std::string some_plan(int dim, bool windows) {
  const char* fine[] = {"90", "30x24", "16x18x15"};
  const char* slide[] = {"16", "8x1", "3x3x1"};
  const char* bins[] = {"16", "8x8", "4x4x4"};
  const std::string sort = windows ? std::string("bins(bin=") + slide[dim - 1] + ",order=slide,cap=40)"
                                   : std::string("bins(bin=") + bins[dim - 1] + ",cap=40)";
  return std::string("emulated;window=pswf(sigma=2,width=7,fine=") + fine[dim - 1] + ");sort=" + sort +
         (windows ? ";spread=window(lanes=8);interp=window(lanes=8)" : ";spread=tile_owned;interp=tiled(lanes=8)") +
         ";fft=plain";
}
const char* const kSizes[] = {"41", "14x11", "7x8x6"};

inline std::string token(int type, int dim, const std::string& rest) {
  return "nufft:type=" + std::to_string(type) + ",n=" + kSizes[dim - 1] + rest;
}

}  // namespace fourtune::test
