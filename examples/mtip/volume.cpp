#include "examples/mtip/volume.h"

#include <cstdio>

namespace mtip {
namespace {

std::string cube(std::int64_t n) {
  const std::string side = std::to_string(n);
  return side + "x" + side + "x" + side;
}
std::string fft_token(std::int64_t n, int sign) {
  return "fft:type=c2c,n=" + cube(n) + ",prec=f64" + (sign > 0 ? ",sign=1" : "");
}
std::string nufft_token(std::int64_t n, double tol) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.3e", tol);
  return "nufft:type=2,n=" + cube(n) + ",prec=f64,tol=" + digits;
}
fourtune::Options fft_order() {
  fourtune::Options options;
  options.mode_order = fourtune::ModeOrder::fft;
  return options;
}

}  // namespace

Volume::Volume(std::int64_t n, int communicator, double tol)
    : n_(n),
      to_reciprocal_(fft_token(n, 1), communicator),
      to_space_(fft_token(n, -1), communicator),
      at_samples_(nufft_token(n, tol), communicator, fft_order()) {}

Values Volume::to_reciprocal(Values f) {
  Values result(reciprocal_count());
  to_reciprocal_.execute(f.data(), result.data());
  return result;
}

Values Volume::to_space(Values f) {
  Values result(space_count());
  to_space_.execute(f.data(), result.data());
  const double scale = 1 / static_cast<double>(n_ * n_ * n_);
  for (Complex& value : result) value *= scale;
  return result;
}

void Volume::set_samples(const Samples& samples) {
  samples_ = samples.count();
  at_samples_.set_points({samples_, samples.x.data(), samples.y.data(), samples.z.data()});
}

Values Volume::slice(Values f) {
  Values values(static_cast<std::size_t>(samples_));
  at_samples_.execute(values.data(), f.data());
  return values;
}

Values Volume::merge(Values values) {
  Values f(space_count());
  at_samples_.execute_adjoint(values.data(), f.data());
  return f;
}

}  // namespace mtip
