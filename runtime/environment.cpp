#include "runtime/environment.h"

#include "runtime/backend_table.h"

namespace fourtune::runtime {
namespace {

Software software_of(std::string_view name) {
  const Backend* backend = known_backend(name);
  if (const auto own = backend ? backend->software() : std::nullopt) return *own;
  return find_backend({}).software().value_or(Software{});
}

}  // namespace

db::Environment environment_here(const DeviceTraits& traits) {
  db::Environment here = db::environment_of(traits);
  const Software software = software_of(traits.backend);
  here.driver = software.driver;
  here.compiler = software.compiler;
  here.libraries = software.libraries;
  here.generator = std::string("plan texts 1");  // raise this when a plan text starts to mean different code
  return here;
}

}  // namespace fourtune::runtime
