// Spreading and interpolation alone, as particle methods use them: charges are put onto a grid, a field on the grid is
// read at the charges. The window is smooth, reaches a few cells, and both directions use the same one.
#include <cmath>
#include <complex>
#include <cstdio>
#include <random>
#include <vector>

#include "fourtune/transform.h"

namespace {

using Complex = std::complex<double>;
constexpr int kNx = 64, kNy = 48, kCharges = 500;

// A grid's cell (i, j) lies at 2 pi i / nx, 2 pi j / ny; the grid begins at 0.
std::vector<Complex> spread(const std::vector<double>& x, const std::vector<double>& y, std::vector<Complex> charges) {
  fourtune::Options options;
  options.only = fourtune::Only::spread;
  fourtune::Transform transform("nufft:type=1,n=64x48,prec=f64,tol=1e-7", options);
  fourtune::Points points;
  points.m = static_cast<std::int64_t>(x.size()), points.x = x.data(), points.y = y.data();
  transform.set_points(points);
  std::vector<Complex> grid(kNx * kNy);
  transform.execute(charges.data(), grid.data());
  return grid;
}

Complex total(const std::vector<Complex>& values) {
  Complex sum;
  for (const Complex& value : values) sum += value;
  return sum;
}

int failures = 0;
void require(bool right, const char* what) {
  std::printf("%s: %s\n", what, right ? "right" : "WRONG");
  failures += right ? 0 : 1;
}

}  // namespace

int main() try {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> angle(0, 2 * 3.14159265358979), value(-1, 1);
  std::vector<double> x(kCharges), y(kCharges);
  std::vector<Complex> charges(kCharges);
  for (int j = 0; j < kCharges; ++j) x[j] = angle(random), y[j] = angle(random), charges[j] = {value(random), 0};

  // One charge fills the cells around it and no others, and its sum over the grid does not depend on where it is.
  const double cell = 2 * 3.14159265358979 / kNx;
  const auto here = spread({20.3 * cell}, {1.0}, {1.0}), there = spread({41.9 * cell}, {4.4}, {1.0});
  double far = 0;
  for (int j = 0; j < kNy; ++j) far += std::abs(here[40 + kNx * j]) + std::abs(here[63 + kNx * j]);
  require(std::abs(here[20 + kNx * 8]) > 0 && far == 0, "a charge reaches the cells around it");
  require(std::abs(total(here) - total(there)) < 1e-6 * std::abs(total(here)), "no charge is lost between cells");

  // Interpolation is the adjoint of spreading: sum of conj(field) * grid = sum of conj(field at charges) * charge.
  std::vector<Complex> field(kNx * kNy), at_charges(kCharges);
  for (Complex& one : field) one = {value(random), value(random)};
  fourtune::Options options;
  options.only = fourtune::Only::spread;
  fourtune::Transform transform("nufft:type=1,n=64x48,prec=f64,tol=1e-7", options);
  fourtune::Points points;
  points.m = kCharges, points.x = x.data(), points.y = y.data();
  transform.set_points(points);
  std::vector<Complex> grid(kNx * kNy);
  transform.execute(charges.data(), grid.data());
  transform.execute_adjoint(at_charges.data(), field.data());
  Complex on_grid, on_charges;
  for (int i = 0; i < kNx * kNy; ++i) on_grid += std::conj(field[i]) * grid[i];
  for (int j = 0; j < kCharges; ++j) on_charges += std::conj(at_charges[j]) * charges[j];
  require(std::abs(on_grid - on_charges) < 1e-12 * std::sqrt(double(kNx) * kNy * kCharges) * std::abs(total(here)),
          "energy is the same on both sides");
  return failures == 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
