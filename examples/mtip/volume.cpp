#include "examples/mtip/volume.h"

#include <cmath>
#include <cstdio>
#include <utility>

#include "examples/mtip/steps.h"

namespace mtip {
namespace {

std::string cube(std::int64_t n) {
  const std::string side = std::to_string(n);
  return side + "x" + side + "x" + side;
}
std::string fft_token(std::int64_t n, int sign) {
  return "fft:type=c2c,n=" + cube(n) + ",prec=f64" + (sign > 0 ? ",sign=1" : "");
}
std::string nufft_token(int type, std::int64_t n, double tol) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.3e", tol);
  return "nufft:type=" + std::to_string(type) + ",n=" + cube(n) + ",prec=f64,sign=" + (type == 1 ? "-1" : "1") +
         ",tol=" + digits;
}
fourtune::Options options_of(const Computing& computing, bool points) {
  fourtune::Options options;
  options.backend = computing.backend;
  options.device = -1;  // the GPUs of a machine in turn
  if (points) options.mode_order = fourtune::ModeOrder::fft;
  if (!points) options.plan = "ranks=slabs";  // their spectra are split as the modes of the others are
  return options;
}

}  // namespace

Volume::Volume(std::int64_t n, int communicator, const Computing& computing)
    : n_(n),
      half_((n + 1) / 2),
      to_reciprocal_(fft_token(n, 1), communicator, options_of(computing, false)),
      to_space_(fft_token(n, -1), communicator, options_of(computing, false)),
      merge_(nufft_token(1, n, computing.tol), communicator, options_of(computing, true)),
      slice_(nufft_token(2, half_, computing.tol), communicator, options_of(computing, true)) {}

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
  merge_.set_points({samples.count(), samples.x.data(), samples.y.data(), samples.z.data()});
}

Values Volume::merge(Values values) {
  Values f(space_count());
  merge_.execute(values.data(), f.data());
  return f;
}

Values Volume::slice(const Values& f, const Samples& samples) {
  // The ranks' parts of the inner cells are put together, and cut as the smaller transform has them.
  const auto side = static_cast<std::size_t>(half_);
  const auto inner = [&](const Vector& x) {
    std::size_t at = 0;
    for (int d = 2; d >= 0; --d) {
      const auto place = std::llround(x[static_cast<std::size_t>(d)]);
      if (place < -(half_ / 2) || place >= half_ - half_ / 2) return side * side * side;
      at = at * side + static_cast<std::size_t>(place < 0 ? place + half_ : place);
    }
    return at;
  };
  std::vector<double> cells(2 * side * side * side, 0);
  for_each_cell([&](std::size_t at, const Vector& x) {
    const std::size_t to = inner(x);
    if (2 * to < cells.size()) cells[2 * to] = f[at].real(), cells[2 * to + 1] = f[at].imag();
  });
  cells = sum(std::move(cells));
  const fourtune::Part part = slice_.modes();
  Values own;
  for (std::int64_t z = part.first[2]; z < part.first[2] + part.size[2]; ++z)
    for (std::int64_t y = part.first[1]; y < part.first[1] + part.size[1]; ++y)
      for (std::int64_t x = part.first[0]; x < part.first[0] + part.size[0]; ++x) {
        const auto at = static_cast<std::size_t>((z * half_ + y) * half_ + x);
        own.emplace_back(cells[2 * at], cells[2 * at + 1]);
      }
  slice_.set_points({samples.count(), samples.x.data(), samples.y.data(), samples.z.data()});
  Values values(static_cast<std::size_t>(samples.count()));
  slice_.execute(values.data(), own.data());
  return values;
}

}  // namespace mtip
