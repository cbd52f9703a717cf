// Transforms on the emulated backend through the public interface.
#pragma once

#include <functional>
#include <string>

#include "fourtune/transform.h"
#include "runtime/emulated/emulated_backend.h"
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

// An empty text: the default plan.
inline Options emulated(const std::string& plan) {
  add_emulated();
  Options options;
  options.default_databases = false;
  options.backend = "emulated";
  options.plan = plan;
  return options;
}

// success: it did not throw.
inline Status status_of(const std::function<void()>& action, std::string* message = nullptr) {
  try {
    action();
  } catch (const Error& error) {
    if (message) *message = error.what();
    return error.status();
  }
  return Status::success;
}

}  // namespace fourtune::test
