// The smallest useful program in C++: a two-dimensional type-1 transform, checked against the sum it stands for.
#include <fourtune/transform.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <random>
#include <vector>

int main() try {
  const int nx = 64, ny = 48, m = 10000;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> x(m), y(m);
  std::vector<std::complex<double>> c(m), f(nx * ny);
  for (int j = 0; j < m; ++j) {
    x[j] = 3.14159265358979 * uniform(random);
    y[j] = 3.14159265358979 * uniform(random);
    c[j] = {uniform(random), uniform(random)};
  }

  fourtune::Transform transform("nufft:type=1,n=64x48,prec=f64,tol=1e-9");
  fourtune::Points points;
  points.m = m;
  points.x = x.data();
  points.y = y.data();
  transform.set_points(points);
  transform.execute(c.data(), f.data());

  // f[i + nx*l] belongs to the mode (i - nx/2, l - ny/2): check every 50th.
  double error = 0, norm = 0;
  for (int at = 0; at < nx * ny; at += 50) {
    const int kx = at % nx - nx / 2, ky = at / nx - ny / 2;
    std::complex<double> sum;
    for (int j = 0; j < m; ++j) sum += c[j] * std::polar(1.0, -(kx * x[j] + ky * y[j]));
    error += std::norm(f[at] - sum);
    norm += std::norm(sum);
  }
  std::printf("relative error %.1e\n", std::sqrt(error / norm));
  return error <= 1e-16 * norm ? 0 : 1;
} catch (const fourtune::Error& error) {
  std::fprintf(stderr, "%s: %s\n", fourtune::status_name(error.status()), error.what());
  return 1;
}
