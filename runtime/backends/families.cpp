#include "runtime/backends/families.h"

#include <vector>

namespace fourtune::runtime {

bool has_fftw() noexcept {
#ifdef FOURTUNE_FFTW
  return true;
#else
  return false;
#endif
}

void require_families(const generator::Plan& plan) {
  if (!generator::is_gpu(plan.backend) && plan.cpu().fft.family == generator::FftFamily::fftw && !has_fftw())
    throw Error(Status::unsupported,
                "fft=fftw: this build has no FFTW (FOURTUNE_FFTW=OFF); rows (of an fft) and pruned (of a nufft) need "
                "none");
}

generator::Space runnable(generator::Space space) {
  if (has_fftw()) return space;
  std::erase_if(space.candidates, [](const generator::Candidate& candidate) {
    const generator::Plan& plan = candidate.plan;
    return !generator::is_gpu(plan.backend) &&
           (plan.cpu().fft.family == generator::FftFamily::fftw || plan.cpu().fft.rigor != generator::Rigor::measure);
  });
  return space;
}

}  // namespace fourtune::runtime
