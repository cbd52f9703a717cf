#include "runtime/environment.h"

#include "runtime/backend_table.h"

namespace fourtune::runtime {
namespace {

Software software_of(std::string_view name) {
  const Backend* backend = known_backend(name);
  if (const auto own = backend ? backend->software() : std::nullopt) return *own;
  return find_backend({}).software().value_or(Software{});
}

db::Environment environment_with(const DeviceTraits& traits, const Software& software) {
  db::Environment here = db::environment_of(traits);
  here.driver = software.driver;
  here.compiler = software.compiler;
  here.libraries = software.libraries;
  here.generator = std::string("plan texts 1");  // raise this when a plan text starts to mean different code
  return here;
}

}  // namespace

db::Environment environment_here(const DeviceTraits& traits) {
  return environment_with(traits, software_of(traits.backend));
}

db::Environment environment_at_hand(const DeviceTraits& traits) {
  const Backend* backend = known_backend(traits.backend);
  const bool asking_loads = backend && backend->capabilities().keeps_kernels;
  return asking_loads ? environment_with(traits, {backend->driver_version(), {}, {}}) : environment_here(traits);
}

}  // namespace fourtune::runtime
