#include "runtime/backend_table.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/text.h"
#include "runtime/backends/cpu/cpu_backend.h"
#include "runtime/backends/cuda/cuda_backend.h"

namespace fourtune::runtime {
namespace {

const Backend& cpu_backend() {
  static const cpu::CpuBackend cpu;
  return cpu;
}

std::vector<const Backend*>& table() {
  static std::vector<const Backend*> all = [] {
    std::vector<const Backend*> found;
    found.push_back(&cpu_backend());
    if (cuda::available()) {
      static const cuda::CudaBackend cuda(gpu::generated_programs());
      found.push_back(&cuda);
    }
    return found;
  }();
  return all;
}

}  // namespace

std::span<const Backend* const> backends() { return table(); }

void add_backend(const Backend& backend) { table().push_back(&backend); }

const Backend& find_backend(std::string_view wanted) {
  const std::string_view name = wanted.empty() ? "cpu" : wanted;
  if (name == cpu_backend().name()) return cpu_backend();  // does not look for other devices
  std::string names;
  for (const Backend* backend : backends()) {
    if (backend->name() == name) return *backend;
    names += (names.empty() ? "" : ", ") + std::string(backend->name());
  }
  const std::string missing = name == "cuda" ? "; " + cuda::why_not_available() : std::string();
  throw Error(Status::backend_unavailable,
              fmt::format("backend '{}' is not available here; available: {}{}", text::shown(name), names, missing));
}

}  // namespace fourtune::runtime
