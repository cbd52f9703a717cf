// A one-dimensional type 3: sums over points at frequencies that are no grid, checked against the direct sum.
#include <fourtune/typed.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <random>
#include <vector>

int main() try {
  constexpr int sources = 5000, targets = 3000;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> time(0, 10), frequency(-200, 200), value(-1, 1);
  std::vector<double> x(sources), s(targets);
  std::vector<std::complex<double>> c(sources), f(targets);
  for (int j = 0; j < sources; ++j) {
    x[j] = time(random);
    c[j] = {value(random), value(random)};
  }
  for (double& one : s) one = frequency(random);

  // f[k] = sum_j c[j] exp(-i s[k] x[j]); set_points takes the sources, then the targets.
  fourtune::TypedTransform<double> transform("nufft:type=3,dim=1,prec=f64,tol=1e-10");
  transform.set_points(x, s);
  transform.execute(c, f);

  double error = 0, norm = 0;
  for (int k = 0; k < targets; k += 100) {
    std::complex<double> sum;
    for (int j = 0; j < sources; ++j) sum += c[j] * std::polar(1.0, -s[k] * x[j]);
    error += std::norm(f[k] - sum);
    norm += std::norm(sum);
  }
  std::printf("relative error %.1e\n", std::sqrt(error / norm));
  return error <= 1e-19 * norm ? 0 : 1;
} catch (const fourtune::Error& error) {
  std::fprintf(stderr, "%s: %s\n", fourtune::status_name(error.status()), error.what());
  return 1;
}
