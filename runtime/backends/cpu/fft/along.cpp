// Family along: one dimension without gaps, line by line (along.h); threads share the lines of a batch. A real line of
// even length is a complex one of half the length, split into half a spectrum afterwards, or merged from it before.
#include "runtime/backends/cpu/fft/along.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <numbers>
#include <vector>

#include "generator/plan/along.h"
#include "runtime/backends/cpu/base/team.h"
#include "runtime/backends/cpu/fft/half_line.h"
#include "runtime/backends/cpu/fft/operation.h"
#include "runtime/backends/cpu/fft/simd.h"

namespace fourtune::runtime::cpu {
namespace {

template <class T>
constexpr Precision precision_of = sizeof(T) == 4 ? Precision::f32 : Precision::f64;

// Of the threads of a batch that has fewer lines.
template <class T>
int areas_of(const FftOperation& op, std::int64_t n) {
  const int threads = team_size(op.threads);
  return op.batch < threads ? generator::along_areas(n, precision_of<T>, threads) : 1;
}

// exp(-2 pi i turn / length).
template <class T>
std::complex<T> root(std::int64_t turn, std::int64_t length) {
  const double angle = -2 * std::numbers::pi * static_cast<double>(turn % length) / static_cast<double>(length);
  return {static_cast<T>(std::cos(angle)), static_cast<T>(std::sin(angle))};
}

// Of the first pass: for each vector of neighbours and each result, real parts of its lanes, then imaginary ones.
template <class T>
void add_first_twiddles(const typename AlongPlan<T>::Pass& pass, int lanes, std::vector<T>& all) {
  for (std::int64_t group = 0; group < pass.rest; group += lanes) {
    const std::int64_t j = std::min<std::int64_t>(group, pass.rest - lanes);
    for (int q = 1; q < pass.radix; ++q)
      for (const bool imaginary : {false, true})
        for (int l = 0; l < lanes; ++l) {
          const auto w = root<T>((j + along_neighbour(l, lanes)) * q, pass.radix * pass.rest);
          all.push_back(imaginary ? w.imag() : w.real());
        }
  }
}
template <class T>
void add_twiddles(const typename AlongPlan<T>::Pass& pass, std::vector<T>& all) {
  for (std::int64_t j = 0; j < pass.rest; ++j)
    for (int q = 1; q < pass.radix; ++q) {
      const auto w = root<T>(j * q, pass.radix * pass.rest);
      all.push_back(w.real()), all.push_back(w.imag());
    }
}

}  // namespace

template <class T>
AlongPlan<T> make_along_plan(std::int64_t n, int areas) {
  constexpr std::int64_t kApart = 64 / sizeof(T);  // planes begin in different sets of a cache
  AlongPlan<T> plan;
  plan.n = n, plan.areas = areas;
  plan.plane = (n / areas + kApart - 1) / kApart * kApart + kApart;
  std::vector<T> twiddles;
  std::int64_t rest = n, done = 1;
  for (const int radix : generator::along_passes(n, precision_of<T>).radices) {
    rest /= radix;
    plan.passes.push_back({radix, rest, done, static_cast<std::int64_t>(twiddles.size())});
    const auto& pass = plan.passes.back();
    if (done == 1)
      add_first_twiddles<T>(pass, along_kernels<T>().lanes, twiddles);
    else if (rest > 1)
      add_twiddles<T>(pass, twiddles);
    done *= radix;
  }
  plan.twiddles = AlignedBytes(bytes_of(twiddles));
  std::copy(twiddles.begin(), twiddles.end(), plan.twiddles.template as<T>());
  return plan;
}
template AlongPlan<float> make_along_plan(std::int64_t, int);
template AlongPlan<double> make_along_plan(std::int64_t, int);

namespace {

template <class T>
class AlongFft final : public FftRunner {
  using Value = std::complex<T>;

 public:
  AlongFft(const FftOperation& op, std::int64_t n)
      : op_(op),
        transform_(along_kernels<T>().transform),
        kernels_(simd_fft_kernels<T>()),
        plan_(make_along_plan<T>(n, areas_of<T>(op, n))),
        workers_(plan_.areas > 1 ? 1 : static_cast<int>(std::min<std::int64_t>(team_size(op.threads), op.batch))) {
    work_stride_ = (plan_.work_bytes() + 4095) / 4096 * 4096 + 256;
    work_ = AlignedBytes(work_stride_ * workers_);
    if (op.type == FftType::c2c) return;
    turns_ = half_turns<T>(n);
    half_ = {n, turns_.data(), {static_cast<T>(op.interior), (op.type == FftType::r2c) == (op.sign > 0), false}};
  }

  void run(const void* in, void* out) override {
    if (plan_.areas > 1) {
      for (std::int64_t b = 0; b < op_.batch; ++b) shared_line(in, out, b);
      return;
    }
    // Each thread takes a few runs of neighbouring lines, so that handing them out costs little.
    const std::int64_t run = workers_ > 1 ? std::max<std::int64_t>(1, op_.batch / (8 * workers_)) : op_.batch;
    parallel_for(workers_, (op_.batch + run - 1) / run, [&](std::int64_t index, int worker) {
      const std::int64_t first = index * run, count = std::min(run, op_.batch - first);
      T* const work = reinterpret_cast<T*>(work_.as<char>() + worker * work_stride_);
      if (op_.type == FftType::c2c)
        return complex_lines(static_cast<const T*>(in), static_cast<T*>(out), first, count, work);
      for (std::int64_t b = first; b < first + count; ++b)
        op_.type == FftType::r2c ? to_half(static_cast<const T*>(in), static_cast<Value*>(out), b, work)
                                 : to_real(static_cast<const Value*>(in), static_cast<T*>(out), b, work);
    });
  }
  std::int64_t bytes() const override { return work_.bytes() + plan_.twiddles.bytes() + bytes_of(turns_); }
  std::string wisdom() const override { return {}; }

 private:
  void complex_lines(const T* in, T* out, std::int64_t first, std::int64_t count, T* work) const {
    const std::int64_t in_distance = 2 * op_.in.distance, out_distance = 2 * op_.out.distance;
    transform_(plan_, {in + first * in_distance, out + first * out_distance, in_distance, out_distance, count}, work,
               op_.sign > 0);
  }
  void to_half(const T* in, Value* out, std::int64_t b, T* work) const {
    Value* const spectrum = out + b * op_.out.distance;
    T* const numbers = reinterpret_cast<T*>(spectrum);
    transform_(plan_, {in + b * op_.in.distance, numbers}, work, false);
    split_ends(spectrum, half_.m);
    kernels_.split_line(numbers, 1, half_.m / 2 + 1, half_);
  }
  void to_real(const Value* in, T* out, std::int64_t b, T* work) const {
    const Value* const spectrum = in + b * op_.in.distance;
    T* const to = out + b * op_.out.distance;
    const Value ends = merged_ends(spectrum, half_.m);
    kernels_.merge_line(reinterpret_cast<const T*>(spectrum), to, 1, half_.m / 2 + 1, half_);
    to[0] = ends.real(), to[1] = ends.imag();
    transform_(plan_, {to, to}, work, true);
  }

  // One line by all threads.
  void shared_line(const void* in, void* out, std::int64_t b) const {
    const bool to_half = op_.type == FftType::r2c, to_real = op_.type == FftType::c2r;
    const T* from = static_cast<const T*>(in) + b * op_.in.distance * (to_half ? 1 : 2);
    T* const to = static_cast<T*>(out) + b * op_.out.distance * (to_real ? 1 : 2);
    if (to_real) {
      const Value ends = merged_ends(reinterpret_cast<const Value*>(from), half_.m);
      for_pieces([&](std::int64_t first, std::int64_t last) { kernels_.merge_line(from, to, first, last, half_); });
      to[0] = ends.real(), to[1] = ends.imag();
      from = to;
    }
    const bool swap = op_.type == FftType::c2c ? op_.sign > 0 : to_real;
    T* const work = work_.as<T>();
    const AlongKernels<T>& lines = along_kernels<T>();
    const auto at_once = [&](auto f) { parallel_for(plan_.areas, plan_.areas, f); };
    at_once([&](std::int64_t part) { lines.first(plan_, static_cast<int>(part), from, work, swap); });
    at_once([&](std::int64_t area) { lines.later(plan_, static_cast<int>(area), work, to, swap); });
    if (!to_half) return;
    split_ends(reinterpret_cast<Value*>(to), half_.m);
    for_pieces([&](std::int64_t first, std::int64_t last) { kernels_.split_line(to, first, last, half_); });
  }
  // Calls f(first, last) for a piece of positions 1 .. m/2 for each area.
  template <class F>
  void for_pieces(F f) const {
    const std::int64_t count = half_.m / 2, areas = plan_.areas;
    parallel_for(plan_.areas, areas,
                 [&](std::int64_t piece) { f(1 + count * piece / areas, 1 + count * (piece + 1) / areas); });
  }

  FftOperation op_;
  void (*transform_)(const AlongPlan<T>&, const AlongLines<T>&, T*, bool);
  const SimdFftKernels<T>& kernels_;
  AlongPlan<T> plan_;
  int workers_;
  AlignedBytes work_;
  std::int64_t work_stride_ = 0;
  std::vector<T> turns_;
  HalfLine<T> half_;
};

}  // namespace

template <class T>
std::unique_ptr<FftRunner> make_along_fft(const FftOperation& op) {
  const std::int64_t n = op.type == FftType::c2c ? op.n[0] : op.n[0] / 2;
  if (along_kernels<T>().lanes == 0) return make_rows_fft<T>(op);  // a processor without vectors
  if (op.in_place && !rows_stay_in_place(op)) return make_staged_fft<T>(op, &make_along_fft<T>);
  return std::make_unique<AlongFft<T>>(op, n);
}
template std::unique_ptr<FftRunner> make_along_fft<float>(const FftOperation&);
template std::unique_ptr<FftRunner> make_along_fft<double>(const FftOperation&);

}  // namespace fourtune::runtime::cpu
