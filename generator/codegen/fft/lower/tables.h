// Contents of the constant arrays that kernels read, in the kernel's precision.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fourtune/problem.h"

namespace fourtune::generator::fft {

std::vector<std::byte> real_table(const std::vector<double>& values, Precision precision);
std::vector<std::byte> complex_table(const std::vector<std::complex<long double>>& values, Precision precision);
// So many complex values, all zero: for those who only ask whether kernels exist.
std::vector<std::byte> zero_table(std::int64_t values, Precision precision);
// exp(sign 2 pi i k / n), k < n.
std::vector<std::byte> unit_table(std::int64_t n, int sign, Precision precision);

}  // namespace fourtune::generator::fft
