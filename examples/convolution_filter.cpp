#include "examples/convolution.h"

namespace fourtune::examples {

Convolution::Convolution(const std::string& n, const std::function<std::complex<double>(const Frequency&)>& filter,
                         const Options& options)
    : transform_("fft:type=c2c,n=" + n + ",prec=f64,place=in,order=reversed", options) {
  const Problem& problem = transform_.problem();
  const std::int64_t count = mode_count(problem);
  factors_.resize(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    Frequency k{};
    std::int64_t rest = i;
    for (std::size_t d = 0; d < k.size(); rest /= problem.n[d++])
      k[d] = rest % problem.n[d] - (rest % problem.n[d] >= (problem.n[d] + 1) / 2 ? problem.n[d] : 0);
    factors_[static_cast<std::size_t>(spectrum_index(problem, k))] = filter(k) / static_cast<double>(count);
  }
}

void Convolution::apply(std::complex<double>* image) {
  transform_.execute(image, image);
  for (std::size_t i = 0; i < factors_.size(); ++i) image[i] *= factors_[i];
  transform_.execute_adjoint(image, image);  // takes the order that execute gave
}

}  // namespace fourtune::examples
