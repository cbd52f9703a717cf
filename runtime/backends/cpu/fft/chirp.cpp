#include "runtime/backends/cpu/fft/chirp.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "generator/window/fft_size.h"
#include "runtime/backends/cpu/fft/arrays.h"

namespace fourtune::runtime::cpu {
namespace {

// Computed in double precision for every T: rounding errors in the filter would appear in every result.
std::vector<std::complex<double>> chirp_values(std::int64_t n) {
  std::vector<std::complex<double>> c;
  c.reserve(static_cast<std::size_t>(n));
  std::int64_t square = 0;  // j^2 mod 2n, from (j+1)^2 = j^2 + 2j + 1
  for (std::int64_t j = 0; j < n; ++j) {
    const double turn = -std::numbers::pi * static_cast<double>(square) / static_cast<double>(n);
    c.emplace_back(std::cos(turn), std::sin(turn));
    square = (square + 2 * j + 1) % (2 * n);
  }
  return c;
}

// The whole transform (sign -1) of one line, by the one-line kernels or, when long, as a matrix.
std::vector<std::complex<double>> transform_of(const std::vector<std::complex<double>>& data) {
  const auto n = static_cast<std::int64_t>(data.size());
  std::vector<std::complex<double>> result(data.size());
  if (n >= kShortLine && LongFft<double>::supports(n)) {
    std::vector<std::complex<double>> work(static_cast<std::size_t>(LongFft<double>::work_values(n)));
    LongFft<double>(n, -1, 1).transform(data.data(), 1, work.data(), result.data(), 1);
    return result;
  }
  const auto& kernels = single_fft_kernels<double>();
  const auto plan = make_simd_fft_plan<double>(n);
  const AlignedBytes work(n * 2 * kernels.lanes * static_cast<std::int64_t>(sizeof(double)));
  SimdMove<double> line;
  line.size = n;
  kernels.load(work.as<double>(), reinterpret_cast<const double*>(data.data()), line);
  kernels.transform(plan, work.as<double>(), nullptr);
  kernels.store(work.as<double>(), plan.output.data(), reinterpret_cast<double*>(result.data()), line);
  return result;
}

std::int64_t convolution_length(std::int64_t n) { return generator::smooth_size(2 * n - 1); }

}  // namespace

template <class T>
Chirp<T> make_chirp(std::int64_t n) {
  Chirp<T> result;
  result.n = n;
  result.length = convolution_length(n);
  const auto c = chirp_values(n);
  std::vector<std::complex<double>> filter(static_cast<std::size_t>(result.length));
  for (std::int64_t j = 0; j < n; ++j) {
    filter[j] = std::conj(c[j]);
    if (j > 0) filter[result.length - j] = filter[j];
  }
  const auto store = [](const std::vector<std::complex<double>>& from, double scale, std::vector<T>& to) {
    to.reserve(2 * from.size());
    for (const auto& v : from) {
      to.push_back(static_cast<T>(scale * v.real()));
      to.push_back(static_cast<T>(scale * v.imag()));
    }
  };
  store(c, 1, result.chirp);
  store(transform_of(filter), 1 / static_cast<double>(result.length), result.filter);
  return result;
}
template Chirp<float> make_chirp(std::int64_t);
template Chirp<double> make_chirp(std::int64_t);

template <class T>
bool LongChirp<T>::supports(std::int64_t n) {
  return LongFft<T>::supports(convolution_length(n));
}

template <class T>
std::int64_t LongChirp<T>::work_bytes(std::int64_t n) {
  return 2 * convolution_length(n) * static_cast<std::int64_t>(sizeof(Value));
}

template <class T>
LongChirp<T>::LongChirp(std::int64_t n, int sign, int threads)
    : data_(convolution_length(n) * static_cast<std::int64_t>(sizeof(Value))),
      work_(LongFft<T>::work_values(convolution_length(n)) * static_cast<std::int64_t>(sizeof(Value))),
      chirp_(make_chirp<T>(n)),
      conjugate_(sign > 0),
      threads_(threads),
      forward_(chirp_.length, -1, threads),
      backward_(chirp_.length, 1, threads) {}

template <class T>
void LongChirp<T>::transform(const Value* in, std::int64_t in_stride, Value* out, std::int64_t out_stride) {
  // A transform of sign +1 is the conjugate of the transform of the conjugated input.
  const T flip = conjugate_ ? T(-1) : T(1);
  const auto* c = reinterpret_cast<const Value*>(chirp_.chirp.data());
  const auto* filter = reinterpret_cast<const Value*>(chirp_.filter.data());
  auto* data = data_.as<Value>();
  const auto product = [](Value a, Value b) {
    return Value(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  };
  parallel_for(threads_, chirp_.n, [=](std::int64_t j) {
    const Value x = in[j * in_stride];
    data[j] = product(Value(x.real(), flip * x.imag()), c[j]);
  });
  std::fill(data + chirp_.n, data + chirp_.length, Value());
  forward_.transform(data, 1, work_.as<Value>(), data, 1);
  parallel_for(threads_, chirp_.length, [=](std::int64_t k) { data[k] = product(data[k], filter[k]); });
  backward_.transform(data, 1, work_.as<Value>(), data, 1);
  parallel_for(threads_, chirp_.n, [=](std::int64_t k) {
    const Value y = product(data[k], c[k]);
    out[k * out_stride] = Value(y.real(), flip * y.imag());
  });
}

template class LongChirp<float>;
template class LongChirp<double>;

}  // namespace fourtune::runtime::cpu
