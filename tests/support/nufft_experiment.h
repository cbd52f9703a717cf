// One nonuniform problem with random data, and the errors of a transform's results: distance from direct sums and from
// adjointness.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "fourtune/transform.h"
#include "generator/plan/plan.h"
#include "runtime/backends/backend.h"

namespace fourtune::test {

using Complex = std::complex<double>;
using generator::Plan;

struct NufftCase {
  Problem problem;
  Plan plan;
  Options options;
  double spread_of_points = 3.14;  // half-width of the coordinates
};

// The data are in the working precision; the reference is computed in double from the same numbers.
template <class T>
class NufftExperiment {
 public:
  explicit NufftExperiment(const NufftCase& c) : problem_(c.problem), order_(c.options.mode_order) {
    std::mt19937_64 random(99);
    std::uniform_real_distribution<double> uniform(-1, 1);
    const std::int64_t m = *problem_.m, targets = problem_.type == 3 ? *problem_.k : mode_count(problem_);
    for (int d = 0; d < problem_.dim; ++d) {
      for (std::int64_t j = 0; j < m; ++j)
        x_[d].push_back(
            static_cast<T>(problem_.type == 3 ? 0.7 + 2 * uniform(random) : c.spread_of_points * uniform(random)));
      if (problem_.type == 3)
        for (std::int64_t l = 0; l < targets; ++l) s_[d].push_back(static_cast<T>(-3 + 12 * uniform(random)));
    }
    for (std::int64_t j = 0; j < m * problem_.batch; ++j) points_.emplace_back(uniform(random), uniform(random));
    for (std::int64_t l = 0; l < targets * problem_.batch; ++l) modes_.emplace_back(uniform(random), uniform(random));
    count_ = targets;
  }

  // Makes transforms use device arrays in this memory; otherwise they use the host's arrays.
  void use(runtime::ArrayMemory& memory) { device_ = &memory; }

  void set_points(Transform& transform) const {
    std::vector<Held> held;
    const auto at = [&](const std::vector<T>& v) -> const void* {
      if (v.empty()) return nullptr;
      if (!device_) return v.data();
      held.emplace_back(*device_, v.data(), v.size() * sizeof(T));
      return held.back().array;
    };
    const void* given[] = {at(x_[0]), at(x_[1]), at(x_[2]), at(s_[0]), at(s_[1]), at(s_[2])};
    transform.set_points(
        {*problem_.m, given[0], given[1], given[2], problem_.type == 3 ? count_ : 0, given[3], given[4], given[5]});
    if (device_) device_->wait();
  }

  void scale_targets(double factor) {
    for (auto& dimension : s_)
      for (T& value : dimension) value = static_cast<T>(value * factor);
  }

  // Relative l2 error of execute (or of the adjoint) against the direct sum, over the whole batch.
  double error(Transform& transform, bool adjoint) const {
    const bool to_modes = (problem_.type != 2) != adjoint;
    auto points = points_;
    auto modes = modes_;
    (to_modes ? modes : points).assign((to_modes ? modes : points).size(), std::complex<T>(7, 7));
    run(transform, points, modes, adjoint);
    const double sign = adjoint ? -problem_.sign : problem_.sign;
    double difference = 0, norm = 0;
    const std::int64_t m = *problem_.m;
    for (std::int64_t b = 0; b < problem_.batch; ++b) {
      std::vector<Complex> want(static_cast<std::size_t>(to_modes ? count_ : m));
      for (std::int64_t l = 0; l < count_; ++l)
        for (std::int64_t j = 0; j < m; ++j) {
          const Complex phase = std::polar(1.0, sign * angle(j, l));
          if (to_modes)
            want[l] += Complex(points_[b * m + j]) * phase;
          else
            want[j] += Complex(modes_[b * count_ + l]) * phase;
        }
      const std::complex<T>* got = to_modes ? modes.data() + b * count_ : points.data() + b * m;
      for (std::size_t i = 0; i < want.size(); ++i) {
        difference += std::norm(Complex(got[i]) - want[i]);
        norm += std::norm(want[i]);
      }
    }
    return std::sqrt(difference / norm);
  }

  // |<A x, y> - <x, A* y>| / (|A x| |y|)
  double adjointness(Transform& transform) const {
    auto points = points_, back = points_;
    auto modes = modes_, forward = modes_;
    const bool to_modes = problem_.type != 2;
    if (to_modes) {
      run(transform, points, forward, false);
      run(transform, back, modes, true);
    } else {
      run(transform, points, forward, true);
      run(transform, back, modes, false);
    }
    Complex left = 0, right = 0;
    double norm_a = 0, norm_b = 0;
    for (std::size_t i = 0; i < modes.size(); ++i) {
      left += Complex(forward[i]) * std::conj(Complex(modes_[i]));
      norm_a += std::norm(Complex(forward[i]));
      norm_b += std::norm(Complex(modes_[i]));
    }
    for (std::size_t j = 0; j < back.size(); ++j) right += Complex(points_[j]) * std::conj(Complex(back[j]));
    return std::abs(left - right) / std::sqrt(norm_a * norm_b);
  }

  // Sets the points, and holds execute and the adjoint against the bound and, in epsilons, against each other.
  void expect_right(Transform& transform, double epsilons) const {
    set_points(transform);
    const double allowed = allowed_error(problem_);
    EXPECT_LE(error(transform, false), allowed);
    EXPECT_LE(error(transform, true), allowed);
    EXPECT_LE(adjointness(transform), epsilons * epsilon(problem_.precision));
  }

 private:
  // A copy of an array on the device.
  struct Held {
    Held(runtime::ArrayMemory& owner, const void* host, std::size_t bytes)
        : memory(&owner), array(owner.allocate(bytes)) {
      memory->upload(array, host, bytes);
    }
    Held(Held&& other) noexcept : memory(other.memory), array(std::exchange(other.array, nullptr)) {}
    ~Held() {
      if (array) memory->release(array);
    }
    runtime::ArrayMemory* memory;
    void* array;
  };
  void run(Transform& transform, std::vector<std::complex<T>>& points, std::vector<std::complex<T>>& modes,
           bool adjoint) const {
    void *first = points.data(), *second = modes.data();
    std::vector<Held> held;
    if (device_) {
      for (auto* each : {&points, &modes}) held.emplace_back(*device_, each->data(), each->size() * sizeof(modes[0]));
      first = held[0].array, second = held[1].array;
    }
    adjoint ? transform.execute_adjoint(first, second) : transform.execute(first, second);
    if (!device_) return;
    device_->wait();
    device_->download(points.data(), first, points.size() * sizeof(points[0]));
    device_->download(modes.data(), second, modes.size() * sizeof(modes[0]));
  }

  double angle(std::int64_t j, std::int64_t l) const {
    double sum = 0;
    for (int d = 0; d < problem_.dim; ++d) {
      double frequency = 0;
      if (problem_.type == 3) {
        frequency = s_[d][l];
      } else {
        const std::int64_t at = l % problem_.n[d], n = problem_.n[d];
        l /= n;
        frequency = static_cast<double>(order_ == ModeOrder::centred ? at - n / 2 : at < (n + 1) / 2 ? at : at - n);
      }
      sum += frequency * static_cast<double>(x_[d][j]);
    }
    return sum;
  }

  Problem problem_;
  ModeOrder order_;
  std::vector<T> x_[3], s_[3];
  std::vector<std::complex<T>> points_, modes_;
  std::int64_t count_ = 0;
  runtime::ArrayMemory* device_ = nullptr;
};

}  // namespace fourtune::test
