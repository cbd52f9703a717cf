// DFTs of sizes with factors.
#include "generator/codegen/fft/codelet/builder.h"
#include "generator/codegen/fft/codelet/tangent.h"

namespace fourtune::generator::fft {

Values Builder::split_radix(const Values& x) {
  const std::size_t n = x.size(), quarter = n / 4;
  Values even(n / 2), first(quarter), third(quarter), out(n);
  for (std::size_t j = 0; j < n / 2; ++j) even[j] = x[2 * j];
  for (std::size_t j = 0; j < quarter; ++j) first[j] = x[4 * j + 1], third[j] = x[(4 * j + n - 1) % n];
  even = dft(even), first = dft(first), third = dft(third);
  for (std::size_t k = 0; k < quarter; ++k) {
    const auto kk = static_cast<std::int64_t>(k), nn = static_cast<std::int64_t>(n);
    const Complex a = twiddle(first[k], kk, nn), b = twiddle(third[k], -kk, nn);
    const Complex sum = add(a, b), turned = times_minus_i(sub(a, b));
    out[k] = add(even[k], sum);
    out[k + 2 * quarter] = sub(even[k], sum);
    out[k + quarter] = add(even[k + quarter], turned);
    out[k + 3 * quarter] = sub(even[k + quarter], turned);
  }
  return out;
}

Values Builder::tangent(const Values& x) {
  std::vector<RealImaginary> values;
  for (const Complex& value : x) values.push_back({value.re, value.im});
  Values out;
  for (const auto& [re, im] : tangent_fft(dag_, values)) out.push_back({re, im});
  return out;
}

Values Builder::cooley_tukey(const Values& x, int radix) {
  const std::size_t r = static_cast<std::size_t>(radix), m = x.size() / r;
  std::vector<Values> columns(m, Values(r));
  for (std::size_t j = 0; j < m; ++j) {
    for (std::size_t i = 0; i < r; ++i) columns[j][i] = x[i * m + j];
    columns[j] = dft(columns[j]);
  }
  Values out(x.size());
  for (std::size_t k = 0; k < r; ++k) {
    Values row(m);
    for (std::size_t j = 0; j < m; ++j)
      row[j] = twiddle(columns[j][k], static_cast<std::int64_t>(j * k), static_cast<std::int64_t>(x.size()));
    row = dft(row);
    for (std::size_t i = 0; i < m; ++i) out[k + r * i] = row[i];
  }
  return out;
}

Values Builder::prime_factor(const Values& x, int radix) {
  const int n = static_cast<int>(x.size()), p = radix, q = n / p;
  std::vector<Values> columns(static_cast<std::size_t>(q), Values(static_cast<std::size_t>(p)));
  for (int j = 0; j < q; ++j) {
    auto& column = columns[static_cast<std::size_t>(j)];
    for (int i = 0; i < p; ++i) column[static_cast<std::size_t>(i)] = x[static_cast<std::size_t>((q * i + p * j) % n)];
    column = dft(column);
  }
  int p_unit = 0, q_unit = 0;  // 1 mod p and 0 mod q; 0 mod p and 1 mod q
  for (int k = 0; k < n; ++k) {
    if (k % p == 1 % p && k % q == 0) p_unit = k;
    if (k % p == 0 && k % q == 1 % q) q_unit = k;
  }
  Values out(x.size());
  for (int k = 0; k < p; ++k) {
    Values row(static_cast<std::size_t>(q));
    for (int j = 0; j < q; ++j)
      row[static_cast<std::size_t>(j)] = columns[static_cast<std::size_t>(j)][static_cast<std::size_t>(k)];
    row = dft(row);
    for (int j = 0; j < q; ++j)
      out[static_cast<std::size_t>((k * p_unit + j * q_unit) % n)] = row[static_cast<std::size_t>(j)];
  }
  return out;
}

}  // namespace fourtune::generator::fft
