// Puts the backend that runs GPU kernels on the processor into the tests' libcufinufft (emulated_cufinufft), whose
// transforms ask for it.
#include "runtime/backend_table.h"
#include "runtime/backends/emulated/emulated_backend.h"

namespace fourtune::test {
namespace {

const bool added = [] {
  static const runtime::emulated::EmulatedBackend emulated(runtime::gpu::generated_programs());
  runtime::add_backend(emulated);
  return true;
}();

}  // namespace
}  // namespace fourtune::test
