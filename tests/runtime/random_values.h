// Random complex numbers of [-1, 1].
#pragma once

#include <complex>
#include <cstdint>
#include <random>
#include <vector>

namespace fourtune::runtime::cpu {

template <class T>
std::vector<std::complex<T>> random_values(std::int64_t n, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> unit(-1, 1);
  std::vector<std::complex<T>> v(n);
  for (auto& c : v) c = {static_cast<T>(unit(engine)), static_cast<T>(unit(engine))};
  return v;
}

}  // namespace fourtune::runtime::cpu
