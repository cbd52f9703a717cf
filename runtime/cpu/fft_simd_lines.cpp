// LineFft on top of the vectorised kernels: groups of as many lines as a vector has lanes.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <numbers>
#include <vector>

#include "runtime/cpu/fft_lines.h"
#include "runtime/cpu/fft_simd.h"

namespace fourtune::runtime::cpu {
namespace {

constexpr std::int64_t kLongestLine = 65536;  // a buffer of 8 MiB

// Plans in use, shared by length: transforms over cubes and executors of the same sizes have one table.
template <class T>
std::shared_ptr<const SimdFftPlan<T>> shared_plan(std::int64_t n) {
  static std::mutex mutex;
  static std::map<std::int64_t, std::weak_ptr<const SimdFftPlan<T>>> plans;
  const std::lock_guard lock(mutex);
  auto plan = plans[n].lock();
  if (!plan) {
    plan = std::make_shared<const SimdFftPlan<T>>(make_simd_fft_plan<T>(n));
    plans[n] = plan;
  }
  return plan;
}

template <class T>
class SimdLines final : public LineFft<T> {
  using Value = std::complex<T>;

 public:
  SimdLines(const LineFftChoice& choice, int groups, bool real)
      : LineFft<T>(choice.n, groups * simd_fft_kernels<T>().lanes),
        kernels_(simd_fft_kernels<T>()),
        plan_(shared_plan<T>(real ? choice.n / 2 : choice.n)),
        element_(2 * kernels_.lanes),
        groups_(groups),
        real_(real),
        swap_(!real && choice.sign > 0) {
    // A group's elements, off powers of two so that groups do not share cache sets.
    group_ = (plan_->n + 1) * element_;
    if (!real) return;
    const std::int64_t m = plan_->n;
    for (std::int64_t k = 0; 2 * k <= m; ++k) {
      const double turn = -std::numbers::pi * static_cast<double>(k) / static_cast<double>(m);
      roots_.push_back(static_cast<T>(std::cos(turn)));
      roots_.push_back(static_cast<T>(std::sin(turn)));
    }
    for (std::int64_t k = 0; k <= m; ++k) natural_.push_back(static_cast<std::int32_t>(k));
  }

  // Real lines have a second area, for one group's half spectrum.
  std::int64_t work_bytes() const override {
    return (groups_ + (real_ ? 1 : 0)) * group_ * static_cast<std::int64_t>(sizeof(T));
  }
  void load(void* work, const Value* from, LinePlaces places, LineRange range, const T* factor) const override {
    for_each_group(places, [&](int g, int count, std::int64_t line) {
      kernels_.load(area(work, g), reinterpret_cast<const T*>(from + line), move(places, count, range, factor));
    });
  }
  void zero(void* work, LineRange range) const override {
    for (int g = 0; g < groups_; ++g) std::fill_n(area(work, g) + range.first * element_, range.count * element_, T(0));
  }
  const void* transform(void* work, int count) const override {
    for (int g = 0; g * kernels_.lanes < count; ++g) kernels_.transform(*plan_, area(work, g));
    return work;
  }
  void store(const void* result, Value* to, LinePlaces places, LineRange range, const T* factor) const override {
    for_each_group(places, [&](int g, int count, std::int64_t line) {
      kernels_.store(area(result, g), plan_->output.data(), reinterpret_cast<T*>(to + line),
                     move(places, count, range, factor));
    });
  }

  bool independent() const override { return true; }
  void load_real(void* work, const T* from, LinePlaces places) const override {
    for_each_group(places, [&](int g, int count, std::int64_t line) {
      kernels_.load(area(work, g), from + line, real_move(places, count));
    });
  }
  void store_half(const void* result, Value* to, LinePlaces places, T interior, bool conjugate) const override {
    T* half = const_cast<T*>(area(result, groups_));
    for_each_group(places, [&](int g, int count, std::int64_t line) {
      kernels_.split(area(result, g), plan_->output.data(), plan_->n, roots_.data(), interior, conjugate, half);
      kernels_.store(half, natural_.data(), reinterpret_cast<T*>(to + line),
                     move(places, count, {0, plan_->n + 1}, nullptr));
    });
  }
  void load_half(void* work, const Value* from, LinePlaces places, T interior, bool conjugate) const override {
    T* half = area(work, groups_);
    for_each_group(places, [&](int g, int count, std::int64_t line) {
      kernels_.load(half, reinterpret_cast<const T*>(from + line), move(places, count, {0, plan_->n + 1}, nullptr));
      kernels_.merge(half, plan_->n, roots_.data(), interior, conjugate, area(work, g));
    });
  }
  void store_real(const void* result, T* to, LinePlaces places) const override {
    for_each_group(places, [&](int g, int count, std::int64_t line) {
      SimdMove<T> pairs = real_move(places, count);
      pairs.swap = true;
      kernels_.store(area(result, g), plan_->output.data(), to + line, pairs);
    });
  }

 private:
  T* area(void* work, int g) const { return static_cast<T*>(work) + g * group_; }
  const T* area(const void* work, int g) const { return static_cast<const T*>(work) + g * group_; }

  // f(group, lines in it, offset of its first line).
  template <class F>
  void for_each_group(const LinePlaces& places, F f) const {
    for (int g = 0; g * kernels_.lanes < places.count; ++g) {
      const int first = g * kernels_.lanes;
      f(g, std::min(kernels_.lanes, places.count - first), first * places.line);
    }
  }
  SimdMove<T> move(const LinePlaces& places, int count, LineRange range, const T* factor) const {
    return {2 * places.step, 2 * places.line, count, 1, range.first, range.count, factor, swap_};
  }
  // Neighbouring numbers of a real line as pairs.
  SimdMove<T> real_move(const LinePlaces& places, int count) const {
    return {2 * places.step, places.line, count, places.step, 0, plan_->n, nullptr, false};
  }

  const SimdFftKernels<T>& kernels_;
  std::shared_ptr<const SimdFftPlan<T>> plan_;
  std::int64_t element_, group_;
  int groups_;
  bool real_, swap_;
  std::vector<T> roots_;               // real: exp(-pi i k / m), k <= m/2
  std::vector<std::int32_t> natural_;  // real: 0 .. m
};

}  // namespace

template <class T>
std::unique_ptr<LineFft<T>> make_simd_lines(const LineFftChoice& choice, bool real) {
  const int lanes = simd_fft_kernels<T>().lanes;
  if (lanes == 0 || (real && choice.n % 2 != 0) || !simd_fft_supports(real ? choice.n / 2 : choice.n)) return nullptr;
  // Idle lanes cost as much as busy ones, and one line through FFTW about a third of a full vector of them.
  if (4 * choice.available < lanes || choice.n > kLongestLine) return nullptr;
  const std::int64_t wished = std::min<std::int64_t>(choice.fft.block, choice.available);
  const std::int64_t most = std::max<std::int64_t>(
      1, (std::int64_t{1} << 18) / (choice.n * 2 * lanes * static_cast<std::int64_t>(sizeof(T))));
  const std::int64_t groups = std::clamp<std::int64_t>(wished / lanes, 1, most);
  return std::make_unique<SimdLines<T>>(choice, static_cast<int>(groups), real);
}
template std::unique_ptr<LineFft<float>> make_simd_lines(const LineFftChoice&, bool);
template std::unique_ptr<LineFft<double>> make_simd_lines(const LineFftChoice&, bool);

}  // namespace fourtune::runtime::cpu
