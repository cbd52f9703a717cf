#include "tests/support/fft_reference.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fourtune::test {
namespace {

namespace fft = generator::fft;

// exp(sign 2 pi i m / n) for m = 0..n-1, computed from angles in [-pi, pi].
std::vector<Complex> roots(std::int64_t n, int sign) {
  std::vector<Complex> out(static_cast<std::size_t>(n));
  for (std::int64_t m = 0; m < n; ++m) {
    const std::int64_t centred = 2 * m > n ? m - n : m;
    const double angle = 2 * std::numbers::pi * static_cast<double>(centred) / static_cast<double>(n);
    out[static_cast<std::size_t>(m)] = {std::cos(angle), sign * std::sin(angle)};
  }
  return out;
}

// Executes one sub-FFT in place on a line whose values lie `step` apart.
class SubFftOnLine {
 public:
  SubFftOnLine(const fft::SubFft& sub, int sign)
      : sub_(sub), small_(roots(sub.radix, sign)), block_(roots(sub.n, sign)), in_(small_.size()) {}

  void operator()(Complex* line, std::int64_t step) {
    const std::int64_t length = sub_.count * sub_.radix;
    for (std::int64_t block = 0; block < length; block += sub_.n)
      for (std::int64_t j = 0; j < sub_.stride; ++j) one(line + (block + j) * step, step * sub_.stride, j);
  }

 private:
  void one(Complex* values, std::int64_t step, std::int64_t j) {
    const auto radix = static_cast<std::size_t>(sub_.radix);
    for (std::size_t i = 0; i < radix; ++i) in_[i] = values[static_cast<std::int64_t>(i) * step];
    for (std::size_t k = 0; k < radix; ++k) {
      double re = 0, im = 0;  // by parts, to avoid special cases of the complex product
      for (std::size_t i = 0, at = 0; i < radix; ++i, at = at + k < radix ? at + k : at + k - radix) {
        re += in_[i].real() * small_[at].real() - in_[i].imag() * small_[at].imag();
        im += in_[i].real() * small_[at].imag() + in_[i].imag() * small_[at].real();
      }
      Complex sum(re, im);
      if (sub_.twiddle) sum *= block_[k * static_cast<std::size_t>(j) % block_.size()];
      values[static_cast<std::int64_t>(k) * step] = sum;
    }
  }

  const fft::SubFft& sub_;
  std::vector<Complex> small_, block_;
  std::vector<Complex> in_;
};

void apply(const fft::SubFft& sub, const fft::Lengths& n, int sign, std::vector<Complex>& data) {
  SubFftOnLine run(sub, sign);
  const int d = fft::index(sub.dim);
  std::int64_t step = 1;
  for (std::size_t before = 0; before < static_cast<std::size_t>(d); ++before) step *= n[before];
  const std::int64_t length = n[static_cast<std::size_t>(d)];
  const auto total = static_cast<std::int64_t>(data.size());
  for (std::int64_t outer = 0; outer < total; outer += step * length)
    for (std::int64_t inner = 0; inner < step; ++inner) run(data.data() + outer + inner, step);
}

// For each position of layout `from`, the position along dimension d where layout `to` has the same value.
std::vector<std::int64_t> moves(const std::vector<int>& radices, const std::vector<std::int64_t>& from,
                                const std::vector<std::int64_t>& to) {
  std::vector<std::int64_t> source{0}, target{0};
  for (std::size_t i = 0; i < radices.size(); ++i) {
    const std::size_t before = source.size();
    for (int digit = 1; digit < radices[i]; ++digit)
      for (std::size_t j = 0; j < before; ++j) {
        source.push_back(source[j] + digit * from[i]);
        target.push_back(target[j] + digit * to[i]);
      }
  }
  std::vector<std::int64_t> out(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) out[static_cast<std::size_t>(source[i])] = target[i];
  return out;
}

std::vector<int> radices(const fft::FftPlan& plan, int d) {
  std::vector<int> out;
  for (const auto& kernel : plan.kernels)
    for (const auto& sub : kernel.subs)
      if (fft::index(sub.dim) == d) out.push_back(sub.radix);
  return out;
}

std::vector<Complex> moved(const fft::FftPlan& plan, const fft::Layout& from, const fft::Layout& to,
                           std::vector<Complex> data) {
  if (from == to) return data;
  std::array<std::vector<std::int64_t>, most_dimensions> at;
  for (std::size_t d = 0; d < at.size(); ++d) at[d] = moves(radices(plan, static_cast<int>(d)), from[d], to[d]);
  std::vector<Complex> out(data.size());
  std::size_t i = 0;
  const auto size = [&](std::size_t d) { return static_cast<std::int64_t>(at[d].size()); };
  for (const std::int64_t w : at[3])
    for (const std::int64_t z : at[2])
      for (const std::int64_t y : at[1])
        for (const std::int64_t x : at[0])
          out[static_cast<std::size_t>(((w * size(2) + z) * size(1) + y) * size(0) + x)] = data[i++];
  return out;
}

}  // namespace

void run_kernels(const fft::FftPlan& plan, int sign, int first, int last, std::vector<Complex>& data) {
  const fft::Layout notation = fft::layout(plan, 0);  // positions in the notation never change
  data = moved(plan, fft::layout(plan, first), notation, std::move(data));
  for (int k = first; k < last; ++k)
    for (const auto& sub : plan.kernels[static_cast<std::size_t>(k)].subs) apply(sub, fft::lengths(plan), sign, data);
  data = moved(plan, notation, fft::layout(plan, last), std::move(data));
}

void run_line(const fft::FftPlan& plan, fft::Dim dim, int sign, std::vector<Complex>& line) {
  const auto d = static_cast<std::size_t>(fft::index(dim));
  for (const auto& kernel : plan.kernels)
    for (const auto& sub : kernel.subs)
      if (sub.dim == dim) SubFftOnLine(sub, sign)(line.data(), 1);
  const auto behind = fft::layout(plan, static_cast<int>(plan.kernels.size()))[d];
  const auto to = moves(radices(plan, fft::index(dim)), fft::layout(plan, 0)[d], behind);
  std::vector<Complex> out(line.size());
  for (std::size_t i = 0; i < line.size(); ++i) out[static_cast<std::size_t>(to[i])] = line[i];
  line = std::move(out);
}

std::vector<std::int64_t> frequencies(const fft::FftPlan& plan, fft::Dim dim) {
  const auto d = static_cast<std::size_t>(fft::index(dim));
  const auto r = radices(plan, fft::index(dim));
  std::vector<std::int64_t> natural;
  std::int64_t stride = 1;
  for (const int radix : r) {
    natural.push_back(stride);
    stride *= radix;
  }
  return moves(r, fft::layout(plan, static_cast<int>(plan.kernels.size()))[d], natural);
}

Complex direct_dft(const std::vector<Complex>& line, int sign, std::int64_t k) {
  const auto n = static_cast<std::int64_t>(line.size());
  const auto table = roots(n, sign);
  Complex sum = 0;
  for (std::int64_t j = 0, at = 0; j < n; ++j, at = (at + k) % n)
    sum += line[static_cast<std::size_t>(j)] * table[static_cast<std::size_t>(at)];
  return sum;
}

}  // namespace fourtune::test
