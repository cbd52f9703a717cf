// The smallest useful program on a GPU: a two-dimensional type-1 transform of arrays in its memory, checked against the
// sum it stands for. Needs the CUDA runtime. Ends with 77 where there is no GPU.
#include <cuda_runtime.h>
#include <fourtune/transform.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <random>
#include <vector>

// A copy of the vector in the GPU's memory; null where there is no room, and the transform refuses null arrays.
template <class T>
T* on_device(const std::vector<T>& values) {
  void* memory = nullptr;
  cudaMalloc(&memory, values.size() * sizeof(T));
  cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return static_cast<T*>(memory);
}

int main() try {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("no GPU");
    return 77;
  }
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
  double *x_there = on_device(x), *y_there = on_device(y);
  std::complex<double>*c_there = on_device(c), *f_there = on_device(f);

  fourtune::Options options;
  options.backend = "cuda";  // device 0, its default stream
  fourtune::Transform transform("nufft:type=1,n=64x48,prec=f64,tol=1e-9", options);
  fourtune::Points points;
  points.m = m;
  points.x = x_there;
  points.y = y_there;
  transform.set_points(points);
  transform.execute(c_there, f_there);  // returns at once; the copy below waits for it
  if (cudaMemcpy(f.data(), f_there, f.size() * sizeof(f[0]), cudaMemcpyDeviceToHost) != cudaSuccess) return 1;

  // f[i + nx*l] belongs to the mode (i - nx/2, l - ny/2): check every 50th.
  double error = 0, norm = 0;
  for (int at = 0; at < nx * ny; at += 50) {
    const int kx = at % nx - nx / 2, ky = at / nx - ny / 2;
    std::complex<double> sum;
    for (int j = 0; j < m; ++j) sum += c[j] * std::polar(1.0, -(kx * x[j] + ky * y[j]));
    error += std::norm(f[at] - sum);
    norm += std::norm(sum);
  }
  std::printf("%s\nrelative error %.1e\n", transform.plan().c_str(), std::sqrt(error / norm));
  cudaFree(x_there), cudaFree(y_there), cudaFree(c_there), cudaFree(f_there);
  return error <= 1e-16 * norm ? 0 : 1;
} catch (const fourtune::Error& error) {
  std::fprintf(stderr, "%s: %s\n", fourtune::status_name(error.status()), error.what());
  return 1;
}
