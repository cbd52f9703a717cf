// The table of backends.
#include "runtime/backend.h"

#include <fmt/format.h>

#ifdef FOURTUNE_FFTW
#include "runtime/cpu/cpu_backend.h"
#endif

namespace fourtune::runtime {

std::span<const Backend* const> backends() {
#ifdef FOURTUNE_FFTW
  static const cpu::CpuBackend cpu;
  static const Backend* const all[] = {&cpu};
  return all;
#else
  return {};
#endif
}

const Backend& find_backend(std::string_view name) {
  std::string names;
  for (const Backend* backend : backends()) {
    if (name.empty() || backend->name() == name) return *backend;
    names += (names.empty() ? "" : ", ") + std::string(backend->name());
  }
  throw Error(Status::backend_unavailable,
              names.empty() ? "this build has no backend (it was configured without FFTW: FOURTUNE_FFTW=OFF)"
                            : fmt::format("backend '{}' is not available here; available: {}", name, names));
}

}  // namespace fourtune::runtime
