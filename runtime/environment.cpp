#include "runtime/environment.h"

#ifdef FOURTUNE_FFTW
#include <fftw3.h>
#endif

namespace fourtune::runtime {

db::Environment environment_here(const DeviceTraits& traits) {
  db::Environment here = db::environment_of(traits);
#ifdef FOURTUNE_FFTW
  here.libraries = fftw_version;
#endif
  here.generator = std::string("plan texts 1");  // raised when a plan text starts to mean other code
  return here;
}

}  // namespace fourtune::runtime
