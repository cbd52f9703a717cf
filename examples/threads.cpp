// A pool of threads, each with a separate transform: one transform serves one thread at a time.
#include <fourtune/typed.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <thread>
#include <vector>

int main() {
  constexpr int workers = 4, rounds = 8, n = 32, m = 2000;
  std::vector<double> errors(workers, 1.0);
  std::vector<std::thread> pool;
  for (int w = 0; w < workers; ++w)
    pool.emplace_back([w, &errors] {
      try {
        fourtune::Options options;
        options.threads = 1;  // the pool has the processor already
        fourtune::TypedTransform<double> transform("nufft:type=2,n=32x32,prec=f64,tol=1e-8", options);
        std::vector<double> x(m), y(m);
        std::vector<std::complex<double>> f(n * n), c(m);
        f[(n / 2) * n + n / 2 + w] = 1;  // the mode (w, 0)
        double worst = 0;
        for (int round = 0; round < rounds; ++round) {
          for (int j = 0; j < m; ++j) x[j] = std::sin(j + round), y[j] = std::cos(3 * j);
          transform.set_points(x, y);
          transform.execute(c, f);
          for (int j = 0; j < m; ++j) worst = std::fmax(worst, std::abs(c[j] - std::polar(1.0, w * x[j])));
        }
        errors[w] = worst;
      } catch (const fourtune::Error& error) {
        std::fprintf(stderr, "%s: %s\n", fourtune::status_name(error.status()), error.what());
      }
    });
  for (std::thread& one : pool) one.join();
  bool right = true;
  for (int w = 0; w < workers; ++w) {
    std::printf("thread %d: error %.1e\n", w, errors[w]);
    right = right && errors[w] < 1e-6;
  }
  return right ? 0 : 1;
}
