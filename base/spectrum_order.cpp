// The order of an fft's frequencies: digit reversal along each dimension, and transposition of the dimensions.
#include <fmt/format.h>

#include <algorithm>

#include "base/layout.h"

namespace fourtune {

std::vector<std::int64_t> prime_factors(std::int64_t n) {
  std::vector<std::int64_t> primes;
  for (std::int64_t p = 2; p <= n / p; ++p)
    while (n % p == 0) primes.push_back(p), n /= p;
  if (n > 1) primes.push_back(n);
  return primes;
}

std::int64_t reversed_position(const std::vector<std::int64_t>& primes, std::int64_t k) {
  std::int64_t position = 0;
  for (const std::int64_t p : primes) position = position * p + k % p, k /= p;
  return position;
}

SpectrumOrder adjoint_order(SpectrumOrder order) {
  if (order == SpectrumOrder::natural) return order;
  return order == SpectrumOrder::reversed ? SpectrumOrder::unreversed : SpectrumOrder::reversed;
}

ArrayPlaces::ArrayPlaces(const Problem& problem, bool input)
    : sizes_(input ? input_sizes(problem) : output_sizes(problem)),
      layout_(input ? resolved_input_layout(problem) : resolved_output_layout(problem)),
      reversed_(problem.order == (input ? SpectrumOrder::unreversed : SpectrumOrder::reversed)) {
  if (reversed_)
    for (std::size_t d = 0; d < sizes_.size(); ++d) primes_[d] = prime_factors(sizes_[d]);
}

std::int64_t ArrayPlaces::of(std::int64_t element) const {
  std::int64_t place = 0;
  for (std::size_t d = 0; d < sizes_.size(); element /= sizes_[d++]) place += along(d, element % sizes_[d]);
  return place;
}

ArrayLayout transposed_layout(const Problem& problem) {
  Sizes sizes = problem.n;
  if (problem.fft_type != FftType::c2c) sizes[0] = sizes[0] / 2 + 1;
  ArrayLayout layout;
  layout.distance = 1;
  for (int d = problem.dim - 1; d >= 0; --d) {
    layout.stride[d] = layout.distance;
    layout.distance = checked_multiply(layout.distance, sizes[d], "array size");
  }
  return layout;
}

namespace {

bool same_layout(const Problem& problem, const ArrayLayout& a, const ArrayLayout& b) {
  return a.stride == b.stride && (a.distance == b.distance || problem.batch == 1);
}

// Whether one array is transposed and the other one has its default layout.
bool transposes(const Problem& problem, bool input) {
  const auto& transposed = input ? problem.input_layout : problem.output_layout;
  if (problem.dim < 2 || !transposed || !same_layout(problem, *transposed, transposed_layout(problem))) return false;
  Problem plain = problem;
  plain.input_layout.reset(), plain.output_layout.reset();
  const ArrayLayout other = input ? resolved_output_layout(plain) : resolved_input_layout(plain);
  return same_layout(problem, input ? resolved_output_layout(problem) : resolved_input_layout(problem), other);
}

}  // namespace

bool is_transposed(const Problem& fft) {
  return fft.order == SpectrumOrder::natural && transposes(fft, fft.fft_type == FftType::c2r);
}
bool is_untransposed(const Problem& fft) {
  return fft.order == SpectrumOrder::natural && fft.fft_type == FftType::c2c && transposes(fft, true);
}

std::int64_t spectrum_index(const Problem& problem, const std::array<std::int64_t, most_dimensions>& frequency) {
  if (problem.kind != Kind::fft) throw Error(Status::invalid_problem, "spectrum_index: the problem is not an fft");
  validate(problem);
  const bool real = problem.fft_type != FftType::c2c;
  const bool input =
      problem.fft_type == FftType::c2r || problem.order == SpectrumOrder::unreversed || is_untransposed(problem);
  const ArrayPlaces places(problem, input);
  std::int64_t index = 0;
  for (std::size_t d = 0; d < frequency.size(); ++d) {
    const std::int64_t n = problem.n[d], k = frequency[d];
    const bool half = real && d == 0;
    const std::int64_t least = half ? 0 : -(n / 2), most = half ? n / 2 : n - 1;
    if (k < least || k > most)
      throw Error(Status::invalid_argument,
                  fmt::format("frequency {} of dimension {}: {} to {} are allowed", k, "xyzw"[d], least, most));
    index += places.along(d, k < 0 ? k + n : k);
  }
  return index;
}

const char* to_string(SpectrumOrder order) noexcept {
  static constexpr const char* names[] = {"natural", "reversed", "unreversed"};
  return names[static_cast<int>(order)];
}

}  // namespace fourtune
