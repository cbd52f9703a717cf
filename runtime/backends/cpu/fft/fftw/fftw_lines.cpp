// FFTs of lines, computed by FFTW.
#include <algorithm>
#include <map>
#include <tuple>

#include "fourtune/status.h"
#include "runtime/backends/cpu/base/aligned_bytes.h"
#include "runtime/backends/cpu/fft/fftw/fftw_families.h"
#include "runtime/backends/cpu/fft/fftw/plan_memory.h"
#include "runtime/backends/cpu/fft/fftw/wisdom.h"
#include "runtime/backends/cpu/fft/lines.h"

namespace fourtune::runtime::cpu {
namespace {

// Calls f(l, i) for all lines and positions, in the order that suits the strides of the outer array better: across
// lines when they are adjacent there, line by line otherwise.
template <class F>
void for_each_place(const LinePlaces& places, std::int64_t count, F f) {
  if (places.line <= places.step) {
    for (std::int64_t i = 0; i < count; ++i) {
      for (int l = 0; l < places.count; ++l) f(l, i);
    }
  } else {
    for (int l = 0; l < places.count; ++l) {
      for (std::int64_t i = 0; i < count; ++i) f(l, i);
    }
  }
}

// Wisdom of the plans made so far, by shape: planning the same lines again is then free.
using ShapeKey = std::tuple<std::int64_t, int, int>;
template <class T>
std::map<ShapeKey, std::string>& remembered_wisdom() {
  static auto* map = new std::map<ShapeKey, std::string>;
  return *map;
}

// Stores lines one after the other, each contiguous, and transforms them with an FFTW plan for one line. Real lines
// that may be transformed together form pairs, the real and imaginary parts of one complex line; other real lines each
// use a complex line.
template <class T>
class FftwLines final : public LineFft<T> {
  using Value = std::complex<T>;

 public:
  FftwLines(const LineFftChoice& choice, int lines, bool real)
      : LineFft<T>(choice.n, lines), per_row_(real && choice.together ? 2 : 1), row_((choice.n + 15) / 16 * 16 + 8) {
    const std::int64_t n = choice.n;
    const int sign = choice.sign;
    const generator::Rigor rigor = line_rigor(choice.fft.rigor);
    const std::lock_guard lock(planner_mutex());
    std::string& known = remembered_wisdom<T>()[{n, sign, static_cast<int>(rigor)}];
    const AlignedBytes scratch(static_cast<std::int64_t>(2 * row_ * sizeof(Value)));
    std::fill_n(scratch.as<T>(), 4 * row_, T(0));
    const PlannerSession<T> session(known.empty() ? choice.wisdom : known);
    const typename Fftw<T>::Dim dim{n, 1, 1};
    Value* a = scratch.as<Value>();
    plan_ = plan_in_time<T>(rigor, [&](unsigned flags) {
      return Fftw<T>::plan_c2c(1, &dim, 0, nullptr, fftw_cast(a), fftw_cast(a + row_), sign,
                               flags | FFTW_DESTROY_INPUT);
    });
    if (!plan_) throw Error(Status::internal, "FFTW made no plan for lines of " + std::to_string(n));
    known = session.wisdom();
    wisdom_ = known;
    memory_ = memory_of(plan_);
  }

  std::int64_t work_bytes() const override {
    return static_cast<std::int64_t>((this->lines() + 1) * row_ * sizeof(Value));
  }
  std::int64_t table_bytes() const override { return memory_.held; }
  std::int64_t scratch_bytes() const override { return memory_.scratch; }
  void load(void* work, const Value* from, LinePlaces places, LineRange range, const T* factor) const override {
    Value* rows = static_cast<Value*>(work) + range.first;
    if (factor != nullptr) {
      for_each_place(places, range.count, [&](int l, std::int64_t i) {
        rows[l * row_ + i] = from[i * places.step + l * places.line] * factor[i];
      });
    } else {
      for_each_place(places, range.count,
                     [&](int l, std::int64_t i) { rows[l * row_ + i] = from[i * places.step + l * places.line]; });
    }
  }
  void zero(void* work, LineRange range) const override {
    Value* rows = static_cast<Value*>(work) + range.first;
    for (int l = 0; l < this->lines(); ++l) std::fill_n(rows + l * row_, range.count, Value());
  }
  const void* transform(void* work, int count) const override {
    // Line l moves to row l + 1, starting from the last line: out of place with one spare row.
    Value* rows = static_cast<Value*>(work);
    for (int l = (count + per_row_ - 1) / per_row_ - 1; l >= 0; --l) {
      Fftw<T>::execute_c2c(plan_.get(), fftw_cast(rows + l * row_), fftw_cast(rows + (l + 1) * row_));
    }
    return rows + row_;
  }
  void store(const void* result, Value* to, LinePlaces places, LineRange range, const T* factor) const override {
    const Value* rows = static_cast<const Value*>(result) + range.first;
    if (factor != nullptr) {
      for_each_place(places, range.count, [&](int l, std::int64_t i) {
        to[i * places.step + l * places.line] = rows[l * row_ + i] * factor[i];
      });
    } else {
      for_each_place(places, range.count,
                     [&](int l, std::int64_t i) { to[i * places.step + l * places.line] = rows[l * row_ + i]; });
    }
  }
  void load_real(void* work, const T* from, LinePlaces places) const override {
    for (int l = 0; l < places.count; l += per_row_) {
      Value* row = static_cast<Value*>(work) + l / per_row_ * row_;
      const T *a = from + l * places.line, *b = a + places.line;
      const bool pair = per_row_ == 2 && l + 1 < places.count;
      for (std::int64_t i = 0; i < this->n(); ++i) row[i] = Value(a[i * places.step], pair ? b[i * places.step] : T(0));
    }
  }
  void store_half(const void* result, Value* to, LinePlaces places, T interior, bool conjugate) const override {
    const std::int64_t n = this->n();
    const T flip = conjugate ? T(-1) : T(1);
    for (int l = 0; l < places.count; ++l) {
      const Value* row = static_cast<const Value*>(result) + l / per_row_ * row_;
      Value* line = to + l * places.line;
      for (std::int64_t k = 0; k <= n / 2; ++k) {
        const Value z = row[k], mirror = std::conj(row[k == 0 ? 0 : n - k]);
        const T w = (k == 0 || 2 * k == n) ? T(0.5) : T(0.5) * interior;
        // z = A + i B with Hermitian A and B.
        const Value sum = z + mirror, difference = z - mirror;
        const Value v = l % per_row_ == 0 ? sum : Value(difference.imag(), -difference.real());
        line[k * places.step] = Value(w * v.real(), flip * w * v.imag());
      }
    }
  }
  void load_half(void* work, const Value* from, LinePlaces places, T interior, bool conjugate) const override {
    const std::int64_t n = this->n();
    const T flip = conjugate ? T(-1) : T(1);
    for (int l = 0; l < places.count; l += per_row_) {
      Value* row = static_cast<Value*>(work) + l / per_row_ * row_;
      const Value *a = from + l * places.line, *b = a + places.line;
      const bool pair = per_row_ == 2 && l + 1 < places.count;
      for (std::int64_t k = 0; k <= n / 2; ++k) {
        Value u = a[k * places.step], v = pair ? b[k * places.step] : Value();
        if (k == 0 || 2 * k == n) {
          row[k] = Value(u.real(), v.real());
          continue;
        }
        u = interior * Value(u.real(), flip * u.imag());
        v = interior * Value(v.real(), flip * v.imag());
        row[k] = Value(u.real() - v.imag(), u.imag() + v.real());
        row[n - k] = Value(u.real() + v.imag(), v.real() - u.imag());
      }
    }
  }
  void store_real(const void* result, T* to, LinePlaces places) const override {
    for (int l = 0; l < places.count; ++l) {
      const T* row = reinterpret_cast<const T*>(static_cast<const Value*>(result) + l / per_row_ * row_) + l % per_row_;
      T* line = to + l * places.line;
      for (std::int64_t i = 0; i < this->n(); ++i) line[i * places.step] = row[2 * i];
    }
  }
  std::string wisdom() const override { return wisdom_; }

 private:
  int per_row_;       // number of lines that share a complex one
  std::int64_t row_;  // elements from line to line; avoids powers of two
  FftwPlan<T> plan_;
  FftwMemory memory_;
  std::string wisdom_;
};

}  // namespace

template <class T>
std::unique_ptr<LineFft<T>> make_fftw_lines(const LineFftChoice& choice, bool real) {
  // Both halves of the work buffer fit well inside a core's second-level cache.
  constexpr std::int64_t kWorkBytes = std::int64_t{1} << 19;
  const std::int64_t fits = kWorkBytes / (2 * choice.n * static_cast<std::int64_t>(sizeof(std::complex<T>)));
  std::int64_t lines = std::min<std::int64_t>({choice.fft.block, choice.available, std::max<std::int64_t>(fits, 1)});
  lines = std::max<std::int64_t>(lines, 1);
  return std::make_unique<FftwLines<T>>(choice, static_cast<int>(real ? lines + lines % 2 : lines), real);
}

template std::unique_ptr<LineFft<float>> make_fftw_lines(const LineFftChoice&, bool);
template std::unique_ptr<LineFft<double>> make_fftw_lines(const LineFftChoice&, bool);

}  // namespace fourtune::runtime::cpu
