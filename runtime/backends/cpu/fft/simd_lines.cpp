// Implements LineFft with the kernels of fft/simd.h, on groups of as many lines as a vector has lanes, or of one line.
//
// Real lines of even length become complex lines of half the length (kernels split and merge); those of odd length
// become complex lines with imaginary part zero.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <optional>
#include <vector>

#include "fourtune/status.h"
#include "runtime/backends/cpu/fft/chirp.h"
#include "runtime/backends/cpu/fft/columns.h"
#include "runtime/backends/cpu/fft/library.h"
#include "runtime/backends/cpu/fft/lines.h"
#include "runtime/backends/cpu/fft/simd.h"

namespace fourtune::runtime::cpu {
namespace {

constexpr std::int64_t kLongestLine = 65536;                    // takes a buffer of 8 MiB
constexpr std::int64_t kLongestConvolved = 8192;                // takes two buffers of 2 MiB
constexpr std::int64_t kLongestSingle = std::int64_t{1} << 29;  // its convolutions have 32-bit indices
constexpr std::int64_t kBlockBytes = std::int64_t{1} << 18;     // for several groups: fits in a second-level cache

// Length of the complex lines that transform lines of length n.
std::int64_t complex_length(std::int64_t n, bool real) { return real && n % 2 == 0 ? n / 2 : n; }

template <class T>
class SimdLines final : public LineFft<T> {
  using Value = std::complex<T>;

 public:
  SimdLines(const SimdFftKernels<T>& kernels, const LineFftChoice& choice, int groups, bool real)
      : LineFft<T>(choice.n, groups * kernels.lanes),
        kernels_(kernels),
        length_(complex_length(choice.n, real)),
        chirp_(simd_fft_supports(length_) ? Chirp<T>() : make_chirp<T>(length_)),
        plan_(shared_simd_fft_plan<T>(chirp_.n > 0 ? chirp_.length : length_)),
        element_(2 * kernels_.lanes),
        groups_(groups),
        real_(real),
        odd_(real && choice.n % 2 != 0),
        swap_(!real && choice.sign > 0) {
    // A group's elements, padded to avoid powers of two so that groups do not share cache sets.
    group_ = (plan_->n + 1) * element_;
    for (std::int64_t k = 0; k <= length_ && (real || chirp_.n > 0); ++k)
      natural_.push_back(static_cast<std::int32_t>(k));
    // swap(z) c = swap(z conj(c)): the last factor is applied before the parts are exchanged back.
    conjugate_chirp_ = chirp_.chirp;
    for (std::size_t k = 1; k < conjugate_chirp_.size(); k += 2) conjugate_chirp_[k] = -conjugate_chirp_[k];
    output_ = chirp_.n > 0 ? natural_.data() : plan_->output.data();
    if (!real && chirp_.n == 0 && length_ > 1)
      columns_.emplace(kernels_, std::vector<typename SimdColumns<T>::Axis>{{plan_, {}}}, swap_);
    if (!real || odd_) return;
    const std::int64_t m = length_;
    for (std::int64_t k = 0; 2 * k <= m; ++k) {
      const double turn = -std::numbers::pi * static_cast<double>(k) / static_cast<double>(m);
      roots_.push_back(static_cast<T>(std::cos(turn)));
      roots_.push_back(static_cast<T>(std::sin(turn)));
    }
  }

  // One area more than there are groups holds one group's half spectrum or its convolution; then the plan's scratch.
  std::int64_t work_bytes() const override {
    return ((groups_ + (real_ || chirp_.n > 0 ? 1 : 0)) * group_ + plan_->scratch * element_) *
           static_cast<std::int64_t>(sizeof(T));
  }
  std::int64_t table_bytes() const override {
    return bytes_of(chirp_.chirp) + bytes_of(chirp_.filter) + bytes_of(conjugate_chirp_) + bytes_of(plan_->twiddles) +
           bytes_of(plan_->output) + bytes_of(natural_) + bytes_of(roots_) + (columns_ ? columns_->bytes() : 0);
  }
  void load(void* work, const Value* from, LinePlaces places, LineRange range, const T* factor) const override {
    for_each_move(places, range, factor, [&](int g, const SimdMove<T>& m, std::int64_t line) {
      kernels_.load(area(work, g), reinterpret_cast<const T*>(from + line), m);
    });
  }
  void zero(void* work, LineRange range) const override {
    for (int g = 0; g < groups_; ++g) std::fill_n(area(work, g) + range.first * element_, range.count * element_, T(0));
  }
  const void* transform(void* work, int count) const override {
    for (int g = 0; g * kernels_.lanes < count; ++g) {
      chirp_.n > 0 ? convolve(area(work, g), area(work, groups_))
                   : kernels_.transform(*plan_, area(work, g), area(work, groups_ + (real_ ? 1 : 0)));
    }
    return work;
  }
  void store(const void* result, Value* to, LinePlaces places, LineRange range, const T* factor) const override {
    for_each_move(places, range, factor, [&](int g, const SimdMove<T>& m, std::int64_t line) {
      kernels_.store(area(result, g), output_, reinterpret_cast<T*>(to + line), m);
    });
  }

  void pass(void* work, const Value* from, LinePlaces source, Value* to, LinePlaces target) const override {
    if (!columns_ || source.line != 1 || target.line != 1) return LineFft<T>::pass(work, from, source, to, target);
    columns_->run({reinterpret_cast<const T*>(from), reinterpret_cast<T*>(to), 2 * source.step, 2 * target.step},
                  source.count, area(work, 0), area(work, groups_));
  }

  void load_real(void* work, const T* from, LinePlaces places) const override {
    for_each_group(places, [&](int g, int count, std::int64_t line) {
      const bool pairs = odd_ && places.step == 1;
      kernels_.load(pairs ? area(work, groups_) : area(work, g), from + line, real_move(places, count));
      if (pairs)
        kernels_.spread_pairs(area(work, groups_), length_, area(work, g));
      else if (odd_)
        clear_imaginary(area(work, g));
    });
  }
  void store_half(const void* result, Value* to, LinePlaces places, T interior, bool conjugate) const override {
    T* half = const_cast<T*>(area(result, groups_));
    for_each_group(places, [&](int g, int count, std::int64_t line) {
      if (odd_)
        kernels_.halve(area(result, g), output_, length_, {interior, conjugate}, half);
      else
        kernels_.split(area(result, g), output_, length_, roots_.data(), {interior, conjugate}, half);
      kernels_.store(half, natural_.data(), reinterpret_cast<T*>(to + line),
                     move(places, count, {0, this->n() / 2 + 1}, nullptr));
    });
  }
  void load_half(void* work, const Value* from, LinePlaces places, T interior, bool conjugate) const override {
    T* half = area(work, groups_);
    for_each_group(places, [&](int g, int count, std::int64_t line) {
      kernels_.load(half, reinterpret_cast<const T*>(from + line),
                    move(places, count, {0, this->n() / 2 + 1}, nullptr));
      if (odd_)
        kernels_.extend(half, length_, {interior, conjugate}, area(work, g));
      else
        kernels_.merge(half, length_, roots_.data(), {interior, conjugate}, area(work, g));
    });
  }
  void store_real(const void* result, T* to, LinePlaces places) const override {
    for_each_group(places, [&](int g, int count, std::int64_t line) {
      SimdMove<T> pairs = real_move(places, count);
      if (odd_ && places.step == 1) {
        T* joined = const_cast<T*>(area(result, groups_));
        kernels_.join_pairs(area(result, g), output_, length_, joined);
        return kernels_.store(joined, natural_.data(), to + line, pairs);
      }
      pairs.swap = true;
      kernels_.store(area(result, g), output_, to + line, pairs);
    });
  }

 private:
  // The transform of any length by convolution; the result is in natural order.
  void convolve(T* data, T* other) const {
    const std::int64_t n = chirp_.n, length = chirp_.length;
    kernels_.multiply(data, nullptr, n, chirp_.chirp.data(), false, data);
    std::fill_n(data + n * element_, (length - n) * element_, T(0));
    kernels_.transform(*plan_, data, nullptr);
    // Exchanging real and imaginary parts makes the second transform the inverse of the first.
    kernels_.multiply(data, plan_->output.data(), length, chirp_.filter.data(), true, other);
    kernels_.transform(*plan_, other, nullptr);
    kernels_.multiply(other, plan_->output.data(), n, conjugate_chirp_.data(), true, data);
  }

  void clear_imaginary(T* data) const {
    for (std::int64_t i = 0; i < length_; ++i) std::fill_n(data + i * element_ + kernels_.lanes, kernels_.lanes, T(0));
  }

  T* area(void* work, int g) const { return static_cast<T*>(work) + g * group_; }
  const T* area(const void* work, int g) const { return static_cast<const T*>(work) + g * group_; }

  // Calls f(group, lines in it, offset of its first line).
  template <class F>
  void for_each_group(const LinePlaces& places, F f) const {
    for (int g = 0; g * kernels_.lanes < places.count; ++g) {
      const int first = g * kernels_.lanes;
      f(g, std::min(kernels_.lanes, places.count - first), first * places.line);
    }
  }
  // For complex lines: calls f(first group, a move of one or several groups, offset of its first line).
  template <class F>
  void for_each_move(const LinePlaces& places, LineRange range, const T* factor, F f) const {
    const int whole = places.line == 1 ? places.count / kernels_.lanes : 0;
    if (whole > 0) {
      SimdMove<T> together = move(places, kernels_.lanes, range, factor);
      together.groups = whole;
      together.group = group_;
      f(0, together, std::int64_t{0});
    }
    for (int g = whole; g * kernels_.lanes < places.count; ++g) {
      const int first = g * kernels_.lanes;
      f(g, move(places, std::min(kernels_.lanes, places.count - first), range, factor), first * places.line);
    }
  }
  SimdMove<T> move(const LinePlaces& places, int count, LineRange range, const T* factor) const {
    SimdMove<T> result;
    result.step = 2 * places.step;
    result.line = 2 * places.line;
    result.count = count;
    result.first = range.first;
    result.size = range.count;
    result.factor = factor;
    result.swap = swap_;
    result.past_caches = places.past_caches;
    return result;
  }
  // Neighbouring numbers of a real line form pairs; the last pair of an odd line has one number. With gaps between
  // them, the numbers of an odd line are real parts, which a move from work with exchanged parts writes last.
  SimdMove<T> real_move(const LinePlaces& places, int count) const {
    SimdMove<T> result;
    const bool single = odd_ && places.step != 1;
    result.step = single ? places.step : 2 * places.step;
    result.line = places.line;
    result.imag = single ? 0 : places.step;
    result.count = count;
    result.size = odd_ && !single ? (length_ + 1) / 2 : length_;
    result.half = odd_ && !single;
    return result;
  }

  const SimdFftKernels<T>& kernels_;
  std::int64_t length_;  // length of the complex transforms
  Chirp<T> chirp_;       // for lengths that the kernels do not support; empty otherwise
  std::vector<T> conjugate_chirp_;
  std::shared_ptr<const SimdFftPlan<T>> plan_;
  const std::int32_t* output_ = nullptr;  // positions of the results
  std::int64_t element_, group_;
  int groups_;
  bool real_, odd_, swap_;                 // odd_: real and of odd length
  std::optional<SimdColumns<T>> columns_;  // complex, not convolved: for pass()
  std::vector<T> roots_;                   // real, even: exp(-pi i k / m), k <= m/2
  std::vector<std::int32_t> natural_;      // 0 .. length
};

template <class T>
std::unique_ptr<LineFft<T>> make_lines(const SimdFftKernels<T>& kernels, const LineFftChoice& choice, bool real) {
  const std::int64_t length = complex_length(choice.n, real);
  const std::int64_t wished = std::min<std::int64_t>(choice.fft.block, choice.available) / kernels.lanes;
  const std::int64_t group_bytes = length * 2 * kernels.lanes * static_cast<std::int64_t>(sizeof(T));
  const std::int64_t groups = std::clamp<std::int64_t>(wished, 1, std::max<std::int64_t>(1, kBlockBytes / group_bytes));
  return std::make_unique<SimdLines<T>>(kernels, choice, static_cast<int>(groups), real);
}

}  // namespace

template <class T>
std::unique_ptr<LineFft<T>> make_simd_lines(const LineFftChoice& choice, bool real) {
  const int lanes = simd_fft_kernels<T>().lanes;
  const std::int64_t length = complex_length(choice.n, real);
  if (length > (simd_fft_supports(length) ? kLongestLine : kLongestConvolved)) return nullptr;
  // Idle lanes cost as much as busy ones, and one line through FFTW costs about a third of a full vector of lines.
  if (4 * choice.available < lanes) return nullptr;
  return make_lines<T>(simd_fft_kernels<T>(), choice, real);
}
template std::unique_ptr<LineFft<float>> make_simd_lines(const LineFftChoice&, bool);
template std::unique_ptr<LineFft<double>> make_simd_lines(const LineFftChoice&, bool);

template <class T>
std::unique_ptr<LineFft<T>> make_single_lines(const LineFftChoice& choice, bool real) {
  const std::int64_t length = complex_length(choice.n, real);
  if (length > kLongestSingle)
    throw Error(
        Status::unsupported,
        fmt::format("lines of {} points: without FFTW at most {} are transformed at a time", length, kLongestSingle));
  return make_lines<T>(single_fft_kernels<T>(), choice, real);
}
template std::unique_ptr<LineFft<float>> make_single_lines(const LineFftChoice&, bool);
template std::unique_ptr<LineFft<double>> make_single_lines(const LineFftChoice&, bool);

}  // namespace fourtune::runtime::cpu
