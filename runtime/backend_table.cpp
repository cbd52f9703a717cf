#include "runtime/backend_table.h"

#include <fmt/format.h>

#include <string>

#include "base/text.h"
#include "runtime/backends/cpu/cpu_backend.h"
#include "runtime/backends/cuda/cuda_backend.h"

namespace fourtune::runtime {
namespace {

const Backend& cpu_backend() {
  static const cpu::CpuBackend one;
  return one;
}
const Backend& cuda_backend() {
  static const cuda::CudaBackend one(gpu::generated_programs());
  return one;
}

// The backends of the library, one line each. A backend is made when it is first asked for.
struct Entry {
  std::string_view name;
  const Backend& (*backend)();
};
constexpr Entry kBackends[] = {
    {"cpu", cpu_backend},
    {"cuda", cuda_backend},
};

std::vector<const Backend*>& added() {
  static std::vector<const Backend*> all;
  return all;
}

}  // namespace

void add_backend(const Backend& backend) { added().push_back(&backend); }

std::vector<const Backend*> backends() {
  std::vector<const Backend*> all;
  for (const Entry& entry : kBackends)
    if (entry.backend().why_not_available().empty()) all.push_back(&entry.backend());
  all.insert(all.end(), added().begin(), added().end());
  return all;
}

const Backend* known_backend(std::string_view name) {
  for (const Entry& entry : kBackends)
    if (entry.name == name) return &entry.backend();
  for (const Backend* backend : added())
    if (backend->name() == name) return backend;
  return nullptr;
}

const Backend& find_backend(std::string_view wanted) {
  const std::string_view name = wanted.empty() ? kBackends[0].name : wanted;
  const Backend* found = known_backend(name);
  const std::string missing = found ? found->why_not_available() : std::string();
  if (found && missing.empty()) return *found;
  std::string names;
  for (const Backend* backend : backends()) names += (names.empty() ? "" : ", ") + std::string(backend->name());
  throw Error(Status::backend_unavailable, fmt::format("backend '{}' is not available here; available: {}{}{}",
                                                       text::shown(name), names, missing.empty() ? "" : "; ", missing));
}

}  // namespace fourtune::runtime
