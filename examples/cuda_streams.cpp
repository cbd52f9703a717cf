// A stream of frames on a GPU: while one frame is transformed, the next one is copied there and the last one back. Two
// lanes have a CUDA stream, a transform and arrays each; an event tells the second lane that the points are there, and
// events measure the time. Needs the CUDA runtime. Ends with 77 where there is no GPU.
#include <cuda_runtime.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

#include "fourtune/transform.h"

namespace {

using Complex = std::complex<float>;
constexpr int kN = 128, kPoints = 100000, kFrames = 16, kLanes = 2;
constexpr double kTolerance = 1e-4;

void require(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

template <class T>
T* on_device(std::size_t count) {
  void* memory = nullptr;
  require(cudaMalloc(&memory, count * sizeof(T)));
  return static_cast<T*>(memory);
}
// Pinned, so that copies run beside kernels.
template <class T>
T* on_host(std::size_t count) {
  void* memory = nullptr;
  require(cudaMallocHost(&memory, count * sizeof(T)));
  return static_cast<T*>(memory);
}

// What one frame at a time needs. It waits for the points before it looks at them.
struct Lane {
  explicit Lane(const fourtune::Points& points, cudaEvent_t points_are_there) {
    require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    require(cudaStreamWaitEvent(stream, points_are_there, 0));
    fourtune::Options options;
    options.backend = "cuda";
    options.stream = stream;
    transform = std::make_unique<fourtune::Transform>("nufft:type=1,n=128x128,m=100000,prec=f32,tol=1e-4", options);
    transform->set_points(points);
    values = on_device<Complex>(kPoints);
    modes = on_device<Complex>(kN * kN);
  }
  ~Lane() {
    transform.reset();
    cudaFree(values), cudaFree(modes);
    cudaStreamDestroy(stream);
  }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  // Returns at once; the results are there when the stream is done.
  void start(const Complex* frame, Complex* result) {
    require(cudaMemcpyAsync(values, frame, kPoints * sizeof(Complex), cudaMemcpyHostToDevice, stream));
    transform->execute(values, modes);
    require(cudaMemcpyAsync(result, modes, kN * kN * sizeof(Complex), cudaMemcpyDeviceToHost, stream));
  }

  cudaStream_t stream = nullptr;
  std::unique_ptr<fourtune::Transform> transform;
  Complex *values = nullptr, *modes = nullptr;
};

// Relative error of one mode against its sum.
double error_at(int kx, int ky, const float* x, const float* y, const Complex* values, const Complex* modes) {
  std::complex<double> sum;
  double size = 0;
  for (int j = 0; j < kPoints; ++j) {
    sum += std::complex<double>(values[j]) * std::polar(1.0, -(kx * double(x[j]) + ky * double(y[j])));
    size += std::norm(values[j]);
  }
  const Complex got = modes[(kx + kN / 2) + kN * (ky + kN / 2)];
  return std::abs(std::complex<double>(got) - sum) / std::sqrt(size);
}

}  // namespace

int main() try {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("no GPU");
    return 77;
  }
  std::mt19937 random(1);
  std::uniform_real_distribution<float> angle(-3.14F, 3.14F), value(-1, 1);
  float* const host_points = on_host<float>(2 * kPoints);
  for (int j = 0; j < 2 * kPoints; ++j) host_points[j] = angle(random);
  Complex* const frames = on_host<Complex>(std::size_t{kFrames} * kPoints);
  for (int j = 0; j < kFrames * kPoints; ++j) frames[j] = {value(random), value(random)};
  Complex* const results = on_host<Complex>(std::size_t{kFrames} * kN * kN);

  cudaStream_t upload = nullptr;
  cudaEvent_t there = nullptr, begin = nullptr, end[kLanes] = {};
  require(cudaStreamCreateWithFlags(&upload, cudaStreamNonBlocking));
  for (cudaEvent_t* event : {&there, &begin, &end[0], &end[1]}) require(cudaEventCreate(event));
  float* const points = on_device<float>(2 * kPoints);
  require(cudaMemcpyAsync(points, host_points, 2 * kPoints * sizeof(float), cudaMemcpyHostToDevice, upload));
  require(cudaEventRecord(there, upload));

  fourtune::Points where;
  where.m = kPoints, where.x = points, where.y = points + kPoints;
  {
    Lane lanes[kLanes] = {Lane(where, there), Lane(where, there)};
    std::printf("plan %s\n", lanes[0].transform->plan().c_str());
    require(cudaEventRecord(begin, lanes[0].stream));
    require(cudaStreamWaitEvent(lanes[1].stream, begin, 0));
    for (int frame = 0; frame < kFrames; ++frame)
      lanes[frame % kLanes].start(frames + std::size_t(frame) * kPoints, results + std::size_t(frame) * kN * kN);
    for (int lane = 0; lane < kLanes; ++lane) {
      require(cudaEventRecord(end[lane], lanes[lane].stream));
      require(cudaEventSynchronize(end[lane]));
    }
  }
  float first = 0, second = 0;
  require(cudaEventElapsedTime(&first, begin, end[0]));
  require(cudaEventElapsedTime(&second, begin, end[1]));

  double worst = 0;
  for (int frame = 0; frame < kFrames; ++frame)
    for (const auto& [kx, ky] : {std::pair(0, 0), std::pair(-64, 17), std::pair(31, -5)})
      worst = std::max(worst, error_at(kx, ky, host_points, host_points + kPoints,
                                       frames + std::size_t(frame) * kPoints, results + std::size_t(frame) * kN * kN));
  std::printf("%d frames in %.2f ms, largest error %.1e\n", kFrames, std::max(first, second), worst);
  for (const cudaEvent_t event : {there, begin, end[0], end[1]}) cudaEventDestroy(event);
  cudaStreamDestroy(upload);
  cudaFree(points);
  cudaFreeHost(host_points), cudaFreeHost(frames), cudaFreeHost(results);
  return worst < 10 * kTolerance ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
