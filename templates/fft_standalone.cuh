// ---- main: fills the input, runs the program, compares sampled outputs with direct sums in double, times it ----------
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

static void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

static void* device(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), "cudaMalloc");
  check(cudaMemset(memory, 0xff, bytes), "cudaMemset");  // NaN: what is not written shows
  return memory;
}

// Where result k of a dimension lies along it: mixed-radix digits of k, least significant first.
static long long position(const Dimension& dimension, long long k) {
  long long at = 0;
  for (int i = 0; i < dimension.digits; ++i) {
    at += k % dimension.radix[i] * dimension.stride[i];
    k /= dimension.radix[i];
  }
  return at;
}

int main() {
  long long total = 1;
  for (const Dimension& dimension : kDimensions) total *= dimension.n;
  const std::size_t in_bytes = sizeof(Real) * 2 * total * kBatch, out_bytes = in_bytes;
  std::vector<std::complex<Real>> in(total * kBatch), out(total * kBatch);
  std::mt19937 random(1);
  for (auto& value : in) value = {Real(random() * (2.0 / 4294967296.0) - 1), Real(random() * (2.0 / 4294967296.0) - 1)};

  void* first = device(in_bytes);
  void* second = kInPlace ? first : device(out_bytes);
  std::vector<void*> work, constants;
  for (const long long bytes : kWorkspaces) work.push_back(bytes ? device(bytes) : nullptr);
  for (const Constant& constant : kConstants) {
    constants.push_back(constant.bytes ? device(constant.bytes) : nullptr);
    if (constant.bytes)
      check(cudaMemcpy(constants.back(), constant.data, constant.bytes, cudaMemcpyHostToDevice), "copy");
  }
  const auto launch = [&](const Launch& l) {
    void* pointers[max_arguments];
    void* arguments[max_arguments];
    for (int i = 0; i < l.arguments; ++i) {
      const Argument& a = l.argument[i];
      char* base = static_cast<char*>(a.where == 'f'   ? first
                                      : a.where == 's' ? second
                                      : a.where == 'w' ? work[a.index]
                                                       : constants[a.index]);
      pointers[i] = base + a.offset;
      arguments[i] = &pointers[i];
    }
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(l.grid);
    config.blockDim = dim3(l.block);
    config.dynamicSmemBytes = l.shared;
    cudaLaunchAttribute cluster;
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = l.cluster;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    config.attrs = &cluster;
    config.numAttrs = l.cluster > 1;
    check(cudaLaunchKernelExC(&config, l.kernel, arguments), "launch");
  };
  for (const Launch& l : kLaunches)
    if (l.shared > 48 * 1024)
      check(cudaFuncSetAttribute(l.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, l.shared), "shared memory");

  check(cudaMemcpy(first, in.data(), in_bytes, cudaMemcpyHostToDevice), "copy");
  for (const Launch& l : kLaunches) launch(l);
  check(cudaMemcpy(out.data(), second, out_bytes, cudaMemcpyDeviceToHost), "copy");

  double error = 0, norm = 0;
  for (int sample = 0; sample < 8; ++sample) {
    const long long b = random() % kBatch;
    std::vector<std::complex<double>> turn[4];
    long long at = 0, before = 1;
    for (int d = 0; d < 4; ++d) {
      const long long n = kDimensions[d].n, k = random() % n;
      for (long long j = 0; j < n; ++j)
        turn[d].push_back(std::polar(1.0, kSign * 6.283185307179586 * double(j * k % n) / double(n)));
      at += before * position(kDimensions[d], k);
      before *= n;
    }
    std::complex<double> sum = 0;
    const std::complex<Real>* from = in.data() + b * total;
    for (const std::complex<double>& w : turn[3])
      for (const std::complex<double>& z : turn[2])
        for (const std::complex<double>& y : turn[1]) {
          std::complex<double> row = 0;
          for (const std::complex<double>& x : turn[0]) row += std::complex<double>(*from++) * x;
          sum += row * y * z * w;
        }
    sum *= kScale;
    error += std::norm(std::complex<double>(out[b * total + at]) - sum);
    norm += std::norm(sum);
  }
  error = std::sqrt(error / norm);

  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "event");
  check(cudaEventCreate(&end), "event");
  std::vector<double> times;
  for (int i = 0; i < 20; ++i) {
    if (kInPlace) check(cudaMemcpy(first, in.data(), in_bytes, cudaMemcpyHostToDevice), "copy");  // values stay finite
    check(cudaEventRecord(begin), "event");
    for (const Launch& l : kLaunches) launch(l);
    check(cudaEventRecord(end), "event");
    check(cudaEventSynchronize(end), "run");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end), "event");
    times.push_back(milliseconds);
  }
  std::sort(times.begin(), times.end());
  const double ms = times[times.size() / 2], flops = 5.0 * double(total * kBatch) * std::log2(double(total));
  double bytes = 0;
  for (const Launch& l : kLaunches) bytes += double(l.bytes);
  std::printf("%s\nerror %.2e  time %.4f ms (median of %d)  %.0f GFLOP/s  %.0f GB/s\n", kPlan, error, ms,
              int(times.size()), flops / ms * 1e-6, bytes / ms * 1e-6);
  const bool right = error < (sizeof(Real) == 4 ? 4e-6 : 7e-15);
  std::printf(right ? "right\n" : "WRONG\n");
  return right ? 0 : 1;
}
