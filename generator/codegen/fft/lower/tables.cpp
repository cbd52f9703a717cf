#include "generator/codegen/fft/lower/tables.h"

#include <cstring>
#include <map>
#include <mutex>
#include <tuple>

#include "generator/codegen/fft/lower/roots.h"

namespace fourtune::generator::fft {

std::vector<std::byte> real_table(const std::vector<double>& values, Precision precision) {
  const auto size = static_cast<std::size_t>(real_bytes(precision));
  std::vector<std::byte> bytes(values.size() * size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float single = static_cast<float>(values[i]);
    std::memcpy(bytes.data() + i * size, precision == Precision::f32 ? static_cast<const void*>(&single) : &values[i],
                size);
  }
  return bytes;
}

std::vector<std::byte> complex_table(const std::vector<std::complex<long double>>& values, Precision precision) {
  std::vector<double> parts;
  parts.reserve(2 * values.size());
  for (const auto& value : values) {
    parts.push_back(static_cast<double>(value.real()));
    parts.push_back(static_cast<double>(value.imag()));
  }
  return real_table(parts, precision);
}

std::vector<std::byte> zero_table(std::int64_t values, Precision precision) {
  return std::vector<std::byte>(static_cast<std::size_t>(2 * values * real_bytes(precision)));
}

namespace {

std::vector<std::byte> made_unit_table(std::int64_t n, int sign, Precision precision) {
  const Roots roots(n, sign);
  std::vector<std::complex<long double>> values;
  values.reserve(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; ++k) values.push_back(roots[k]);
  return complex_table(values, precision);
}

}  // namespace

// Thousands of candidates for one problem need the same few tables, so the most recent ones are cached.
std::vector<std::byte> unit_table(std::int64_t n, int sign, Precision precision) {
  constexpr std::size_t most_kept = 16;
  static std::mutex mutex;
  static std::map<std::tuple<std::int64_t, int, Precision>, std::vector<std::byte>> kept;
  const auto key = std::make_tuple(n, sign, precision);
  {
    const std::lock_guard lock(mutex);
    if (const auto found = kept.find(key); found != kept.end()) return found->second;
  }
  std::vector<std::byte> made = made_unit_table(n, sign, precision);
  const std::lock_guard lock(mutex);
  if (kept.size() >= most_kept) kept.clear();
  kept.emplace(key, made);
  return made;
}

}  // namespace fourtune::generator::fft
