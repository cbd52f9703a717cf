// Nonuniform transforms whose direct sums a device computes, compared with the host's.
#pragma once

#include <gtest/gtest.h>

#include <complex>
#include <string>
#include <vector>

#include "runtime/backends/device_array.h"
#include "tuner/reference/check.h"
#include "tuner/reference/device_sums.h"
#include "tuner/reference/synthetic.h"

namespace fourtune::tuner {

// Sets an environment variable while it lives.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;
  ~Setting() { ::unsetenv(name_); }

 private:
  const char* name_;
};

// A problem's points and input, on the host and on a device, and outputs to sum.
template <typename T>
class SumsCase {
 public:
  SumsCase(const Problem& problem, runtime::ArrayMemory& memory, std::int64_t outputs, double scale = 1)
      : points_(make_points<T>(problem, 3)) {
    if (problem.type == 3) targets_ = make_targets<T>(problem, 4);
    for (auto& line : points_.x)
      for (T& x : line) x = static_cast<T>(scale * static_cast<double>(x));
    const std::int64_t ends = problem.type == 2 ? *problem.m : problem.type == 3 ? *problem.k : mode_count(problem);
    job.type = problem.type, job.sign = problem.sign, job.n = problem.n.xyz();
    job.points = view(points_), job.targets = view(targets_);
    values_.resize(static_cast<std::size_t>(job.terms()));
    fill_random(std::span<std::complex<T>>(values_), 5);
    job.input = values_.data();
    if (problem.type == 1)
      modes_ = sample_modes(job.n, outputs, 6);
    else
      sample_ = sample_points(ends, outputs, 6);
    job.modes = modes_.mode, job.which = sample_.index;
    for (int d = 0; d < problem.dim; ++d)
      at.x[static_cast<std::size_t>(d)] = upload(memory, points_.x[static_cast<std::size_t>(d)]);
    at.values = upload(memory, values_);
  }
  std::vector<std::complex<double>> by_host() const {
    std::vector<std::complex<double>> out(job.outputs());
    host_sums(job, out);
    return out;
  }
  std::vector<std::complex<double>> by_device(DeviceSums& sums) const {
    std::vector<std::complex<double>> out(job.outputs());
    EXPECT_TRUE(sums.sums(job, at, out)) << sums.why();
    return out;
  }

  NufftSums<T> job;
  DeviceInput at;

 private:
  template <class V>
  const void* upload(runtime::ArrayMemory& memory, const std::vector<V>& values) {
    arrays_.emplace_back(memory, values.size() * sizeof(V));
    arrays_.back().upload(values.data());
    return arrays_.back().data();
  }
  PointSet<T> points_, targets_;
  std::vector<std::complex<T>> values_;
  ModeSample modes_;
  PointSample sample_;
  std::vector<runtime::DeviceArray> arrays_;
};

}  // namespace fourtune::tuner
