#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "generator/codegen/fft/lower/lower.h"

namespace fourtune::generator::fft {

EmitOptions adjoint_options(const EmitOptions& options) {
  EmitOptions out = options;
  out.sign = -options.sign;
  std::swap(out.input, out.output);
  for (DimensionHooks& hooks : out.hooks) {
    std::swap(hooks.input, hooks.output);
    std::swap(hooks.input_factors, hooks.output_factors);
    std::swap(hooks.input_turns, hooks.output_turns);
    for (auto* turns : {&hooks.input_turns, &hooks.output_turns})
      for (auto& turn : *turns) turn = std::conj(turn);
  }
  if (options.type != FftType::c2c) out.type = options.type == FftType::r2c ? FftType::c2r : FftType::r2c;
  weigh_half_spectrum(out);
  return out;
}

void weigh_half_spectrum(EmitOptions& adjoint) {
  if (adjoint.type == FftType::c2c) return;
  const bool loads = adjoint.type == FftType::c2r;
  const std::int64_t n = adjoint.n[0];
  std::vector<double>& weights = loads ? adjoint.hooks[0].input_factors : adjoint.hooks[0].output_factors;
  const std::vector<double> factors = weights;
  weights.assign(static_cast<std::size_t>(n), 1);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t stored = std::min(i, n - i);
    double& weight = weights[static_cast<std::size_t>(i)];
    if (stored > 0 && 2 * stored < n) weight = loads ? 0.5 : 2;
    if (!factors.empty()) weight *= factors[static_cast<std::size_t>(stored)];
  }
}

}  // namespace fourtune::generator::fft
