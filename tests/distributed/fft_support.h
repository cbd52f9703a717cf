// Whole FFTs by one process and by ranks.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/distributed/support.h"

namespace fourtune::test {

// What one process writes, and what the ranks write, gathered; real arrays are vectors of real numbers.
template <class In, class Out>
struct FftResults {
  std::vector<In> first;
  std::vector<Out> second;
};

template <class E>
std::vector<E> drawn(std::size_t count, unsigned seed) {
  std::vector<E> values(count);
  unsigned state = seed;
  const auto next = [&] { return static_cast<double>((state = state * 1664525u + 1013904223u) >> 8) / 8388608.0 - 1; };
  for (E& value : values) {
    if constexpr (std::is_floating_point_v<E>) {
      value = static_cast<E>(next());
    } else {
      value = {static_cast<typename E::value_type>(next()), static_cast<typename E::value_type>(next())};
    }
  }
  return values;
}

inline std::int64_t count_of(const Sizes& sizes) { return sizes[0] * sizes[1] * sizes[2]; }

// A copy that starts so many bytes behind a multiple of 64.
template <class E>
class ShiftedArray {
 public:
  ShiftedArray(const std::vector<E>& values, std::size_t shift) : bytes_(values.size() * sizeof(E) + shift + 64) {
    void* at = bytes_.data();
    std::size_t space = bytes_.size();
    data_ = reinterpret_cast<E*>(static_cast<char*>(std::align(64, 1, at, space)) + shift);
    std::copy(values.begin(), values.end(), data_);
    count_ = values.size();
  }
  E* data() const { return count_ > 0 ? data_ : nullptr; }
  std::vector<E> values() const { return std::vector<E>(data_, data_ + count_); }

 private:
  std::vector<char> bytes_;
  E* data_ = nullptr;
  std::size_t count_ = 0;
};

// On the processor.
template <class In, class Out>
FftResults<In, Out> alone(const Problem& problem, bool adjoint, Options options) {
  const std::int64_t in = problem.batch * count_of(input_sizes(problem)),
                     out = problem.batch * count_of(output_sizes(problem));
  FftResults<In, Out> r{drawn<In>(static_cast<std::size_t>(in), 1), drawn<Out>(static_cast<std::size_t>(out), 2)};
  options.plan.clear();
  options.backend.clear();
  options.device = 0;
  Transform transform(to_token(problem), options);
  adjoint ? transform.execute_adjoint(r.first.data(), r.second.data())
          : transform.execute(r.first.data(), r.second.data());
  return r;
}

// shift: where a rank's arrays start (ShiftedArray). executes: the last one counts.
template <class In, class Out>
FftResults<In, Out> together(const Problem& problem, bool adjoint, const Options& options, MPI_Comm comm,
                             std::size_t shift = 16, int executes = 1) {
  const auto in = input_sizes(problem), out = output_sizes(problem);
  const auto first = drawn<In>(static_cast<std::size_t>(problem.batch * count_of(in)), 1);
  const auto second = drawn<Out>(static_cast<std::size_t>(problem.batch * count_of(out)), 2);
  DistributedTransform transform(to_token(problem), MPI_Comm_c2f(comm), options);
  const Part a = transform.first_part(), b = transform.second_part();
  const ShiftedArray<In> one(take(first, in, a, problem.batch), shift);
  const ShiftedArray<Out> two(take(second, out, b, problem.batch), shift);
  for (int i = 0; i < executes; ++i)
    adjoint ? transform.execute_adjoint(one.data(), two.data()) : transform.execute(one.data(), two.data());
  return {gathered(one.values(), in, a, problem.batch, comm), gathered(two.values(), out, b, problem.batch, comm)};
}

template <class In, class Out>
void compare_types(const Problem& problem, const std::vector<Options>& ways, std::size_t shift, int executes) {
  Options one;
  one.default_databases = false;
  one.threads = 1;
  const double allowed = 30 * epsilon(problem.precision);
  for (const bool adjoint : {false, true}) {
    const auto right = alone<In, Out>(problem, adjoint, one);
    for (const Options& way : ways) {
      SCOPED_TRACE(to_token(problem) + " " + way.plan + (adjoint ? " adjoint" : ""));
      const auto result = together<In, Out>(problem, adjoint, way, MPI_COMM_WORLD, shift, executes);
      EXPECT_LE(error_of(result.first, right.first), adjoint ? allowed : 0);
      EXPECT_LE(error_of(result.second, right.second), adjoint ? 0 : allowed);
    }
  }
}

template <class T>
void compare_precision(const Problem& problem, const std::vector<Options>& ways, std::size_t shift, int executes) {
  using Complex = std::complex<T>;
  switch (problem.fft_type) {
    case FftType::c2c:
      return compare_types<Complex, Complex>(problem, ways, shift, executes);
    case FftType::r2c:
      return compare_types<T, Complex>(problem, ways, shift, executes);
    case FftType::c2r:
      return compare_types<Complex, T>(problem, ways, shift, executes);
  }
}

// Expects of each way that the ranks write what one process does, in both directions, and leave their input as it was.
// shift, executes: as for `together`.
inline void compare_with_alone(const std::string& token, const std::vector<Options>& ways, std::size_t shift = 16,
                               int executes = 1) {
  const Problem problem = parse_problem(token);
  problem.precision == Precision::f32 ? compare_precision<float>(problem, ways, shift, executes)
                                      : compare_precision<double>(problem, ways, shift, executes);
}

}  // namespace fourtune::test
