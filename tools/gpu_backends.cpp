#include "tools/gpu_backends.h"

#include <algorithm>

#include "runtime/emulated/emulated_backend.h"

namespace fourtune::tools {

const runtime::Backend& bench_backend(const std::string& name) {
  const auto all = runtime::backends();
  const bool known =
      std::any_of(all.begin(), all.end(), [&](const runtime::Backend* one) { return one->name() == name; });
  if (name == "emulated" && !known) {
    static const runtime::emulated::EmulatedBackend emulated(runtime::gpu::generated_programs());
    runtime::add_backend(emulated);
  }
  return runtime::find_backend(name);
}

}  // namespace fourtune::tools
