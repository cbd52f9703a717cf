// The CPU backend: FFTs by our own lines or FFTW 3, and our own spreading and interpolation.
#pragma once

#include "runtime/backends/backend.h"

namespace fourtune::runtime::cpu {

class CpuBackend final : public Backend {
 public:
  std::string_view name() const override { return "cpu"; }
  std::optional<Software> software() const override;
  // Throws Error{invalid_plan} when the plan is for another backend.
  std::unique_ptr<Executor> bind(const Problem& problem, const generator::Plan& plan,
                                 const ExecutorOptions& options) const override;

 protected:
  DeviceTraits traits_of(int device) const override;
};

}  // namespace fourtune::runtime::cpu
