// FFTs of any length as convolutions whose length has only small factors (Bluestein's algorithm):
//   X[k] = c[k] sum_j (x[j] c[j]) conj(c[k - j]),   c[j] = exp(-i pi j^2 / n).
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/backends/cpu/fft/long.h"

namespace fourtune::runtime::cpu {

// The tables of a convolution for sign -1. chirp: n numbers c[j] (re, im); filter: the transform of conj(c), of length
// `length`, divided by `length`.
template <class T>
struct Chirp {
  std::int64_t n = 0, length = 0;
  std::vector<T> chirp, filter;
};
template <class T>
Chirp<T> make_chirp(std::int64_t n);

// One long transform of any length; threads share it. Element i is at i * stride; in == out is allowed.
template <class T>
class LongChirp {
  using Value = std::complex<T>;

 public:
  static bool supports(std::int64_t n);
  // Of what a transform works on, without tables.
  static std::int64_t work_bytes(std::int64_t n);
  LongChirp(std::int64_t n, int sign, int threads);
  void transform(const Value* in, std::int64_t in_stride, Value* out, std::int64_t out_stride);
  std::int64_t bytes() const {
    return data_.bytes() + work_.bytes() + forward_.bytes() + backward_.bytes() + bytes_of(chirp_.chirp) +
           bytes_of(chirp_.filter);
  }

 private:
  AlignedBytes data_, work_;  // allocated before the tables, so that too large a problem is refused at once
  Chirp<T> chirp_;
  bool conjugate_;
  int threads_;
  LongFft<T> forward_, backward_;
};

}  // namespace fourtune::runtime::cpu
