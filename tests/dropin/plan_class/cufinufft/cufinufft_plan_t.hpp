// cuFINUFFT's tests use the class behind its handles. This one has the functions that they call, made of the public C
// interface, so that the tests run on any library with that interface.
#pragma once
#include <cufinufft.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "cufinufft/types.hpp"

template <class T>
struct cufinufft_plan_t {
  static constexpr bool is_double = std::is_same_v<T, double>;
  using Complex = cuda_complex<T>;

  cufinufft_plan_t(int type, int dim, const int* modes, int sign, int transforms, T tol,
                   const cufinufft_opts& options) {
    std::int64_t n[3] = {1, 1, 1};
    for (int d = 0; d < dim && type != 3; ++d) n[d] = modes[d];
    cufinufft_opts copy = options;
    if constexpr (is_double)
      check(cufinufft_makeplan(type, dim, n, sign, transforms, tol, &plan_, &copy), "makeplan");
    else
      check(cufinufftf_makeplan(type, dim, n, sign, transforms, tol, &plan_, &copy), "makeplan");
  }
  cufinufft_plan_t(const cufinufft_plan_t&) = delete;
  ~cufinufft_plan_t() {
    if constexpr (is_double)
      cufinufft_destroy(plan_);
    else
      cufinufftf_destroy(plan_);
  }

  // The tests read the points from arrays that the interface does not write, though it does not say so everywhere.
  void setpts(int m, const T* x, const T* y, const T* z, int k, const T* s, const T* t, const T* u) {
    const auto open = [](const T* array) { return const_cast<T*>(array); };
    if constexpr (is_double)
      check(cufinufft_setpts(plan_, m, open(x), open(y), open(z), k, open(s), open(t), open(u)), "setpts");
    else
      check(cufinufftf_setpts(plan_, m, open(x), open(y), open(z), k, open(s), open(t), open(u)), "setpts");
  }
  void execute(Complex* c, Complex* f) const {
    if constexpr (is_double)
      check(cufinufft_execute(plan_, c, f), "execute");
    else
      check(cufinufftf_execute(plan_, c, f), "execute");
  }

 private:
  static void check(int status, const char* function) {
    if (status > 1) throw std::runtime_error(std::string(function) + " gave status " + std::to_string(status));
  }
  std::conditional_t<is_double, cufinufft_plan, cufinufftf_plan> plan_ = nullptr;
};
