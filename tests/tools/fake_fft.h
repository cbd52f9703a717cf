// Uniform transforms by direct sums over strided arrays, for the stand-ins of peers' libraries.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

namespace fake {

struct Side {
  std::int64_t stride[3] = {0, 0, 0}, distance = 0;  // elements, x first
  std::int64_t at(std::int64_t b, const std::int64_t (&i)[3]) const {
    return b * distance + i[0] * stride[0] + i[1] * stride[1] + i[2] * stride[2];
  }
};
enum class Type { c2c, r2c, c2r };

struct Fft {
  Type type = Type::c2c;
  int sign = -1;
  std::int64_t n[3] = {1, 1, 1}, batch = 1;
  Side in, out;
};

template <class Visit>
void each(const std::int64_t (&n)[3], Visit visit) {
  for (std::int64_t z = 0; z < n[2]; ++z)
    for (std::int64_t y = 0; y < n[1]; ++y)
      for (std::int64_t x = 0; x < n[0]; ++x) visit({x, y, z});
}

template <class T>
void run(const Fft& fft, const void* from, void* to) {
  using Index = const std::int64_t(&)[3];
  const auto* reals = static_cast<const T*>(from);
  const auto* values = static_cast<const std::complex<T>*>(from);
  const std::int64_t half = fft.n[0] / 2 + 1;
  const std::int64_t out_n[3] = {fft.type == Type::r2c ? half : fft.n[0], fft.n[1], fft.n[2]};
  const auto input = [&](std::int64_t b, Index i) -> std::complex<double> {
    if (fft.type == Type::r2c) return reals[fft.in.at(b, i)];
    if (fft.type == Type::c2c || i[0] < half) return std::complex<double>(values[fft.in.at(b, i)]);
    const std::int64_t mirror[3] = {fft.n[0] - i[0], (fft.n[1] - i[1]) % fft.n[1], (fft.n[2] - i[2]) % fft.n[2]};
    return std::conj(std::complex<double>(values[fft.in.at(b, mirror)]));
  };
  std::vector<std::complex<double>> sums;
  for (std::int64_t b = 0; b < fft.batch; ++b)
    each(out_n, [&](Index k) {
      std::complex<double> sum = 0;
      each(fft.n, [&](Index i) {
        double turns = 0;
        for (int d = 0; d < 3; ++d)
          turns += static_cast<double>(i[d] * k[d] % fft.n[d]) / static_cast<double>(fft.n[d]);
        sum += input(b, i) * std::polar(1.0, fft.sign * 6.283185307179586 * turns);
      });
      sums.push_back(sum);
    });
  auto next = sums.begin();
  for (std::int64_t b = 0; b < fft.batch; ++b)
    each(out_n, [&](Index k) {
      if (fft.type == Type::c2r)
        static_cast<T*>(to)[fft.out.at(b, k)] = static_cast<T>(next->real());
      else
        static_cast<std::complex<T>*>(to)[fft.out.at(b, k)] = std::complex<T>(*next);
      ++next;
    });
}

}  // namespace fake
