// FFTs whose input or output is in digit-reversed order (problem.h): natural transforms to or from a work array, and
// one pass that moves the values to their places.
#include <vector>

#include "base/layout.h"
#include "runtime/backends/cpu/base/aligned_bytes.h"
#include "runtime/backends/cpu/fft/arrays.h"
#include "runtime/backends/cpu/fft/operation.h"

namespace fourtune::runtime::cpu {
namespace {

// Reversed positions along a dimension, times its stride. Digits are reversed one by one, so the place of low + L high
// is a sum, and two tables of about sqrt(n) numbers have all places.
struct ReversedLine {
  ReversedLine(std::int64_t n, std::int64_t stride) {
    const std::vector<std::int64_t> primes = prime_factors(n);
    std::int64_t lows = 1;
    for (const std::int64_t p : primes) {
      if (lows > n / lows / p) break;
      lows *= p;
    }
    for (std::int64_t i = 0; i < lows; ++i) low.push_back(reversed_position(primes, i) * stride);
    for (std::int64_t i = 0; i < n / lows; ++i) high.push_back(reversed_position(primes, i * lows) * stride);
  }
  std::int64_t place(std::int64_t k) const {
    const auto lows = static_cast<std::int64_t>(low.size());
    return low[static_cast<std::size_t>(k % lows)] + high[static_cast<std::size_t>(k / lows)];
  }
  std::vector<std::int64_t> low, high;
};

template <class T>
class ReorderedFft final : public FftRunner {
  using Value = std::complex<T>;

 public:
  ReorderedFft(const FftOperation& op, std::unique_ptr<FftRunner> (*make)(const FftOperation&))
      : op_(op), dense_(dense_layout(op.n)), layout_(op.reversed == Reversed::input ? op.in : op.out) {
    for (std::size_t d = 0; d < op.n.size(); ++d) lines_.emplace_back(op.n[d], layout_.stride[d]);
    work_ = AlignedBytes(dense_.distance * op.batch * static_cast<std::int64_t>(sizeof(Value)));
    FftOperation inner = op;
    (op.reversed == Reversed::input ? inner.in : inner.out) = dense_;
    inner.reversed = Reversed::none;
    inner.in_place = false;
    inner_ = make(inner);
  }

  void run(const void* in, void* out) override {
    Value* const work = work_.as<Value>();
    if (op_.reversed == Reversed::input) {
      const auto* from = static_cast<const Value*>(in);
      each_place([=](std::int64_t natural, std::int64_t place) { work[natural] = from[place]; });
      inner_->run(work, out);
    } else {
      inner_->run(in, work);
      auto* to = static_cast<Value*>(out);
      each_place([=](std::int64_t natural, std::int64_t place) { to[place] = work[natural]; });
    }
  }
  std::int64_t bytes() const override { return work_.bytes() + inner_->bytes(); }
  std::int64_t more_bytes() const override { return inner_->more_bytes(); }
  std::string wisdom() const override { return inner_->wisdom(); }

 private:
  // Calls move(place in the work array, place in the reversed one) for every element.
  template <class F>
  void each_place(F move) {
    const ReversedLine &x = lines_[0], &y = lines_[1], &z = lines_[2], &w = lines_[3];
    const auto highs = static_cast<std::int64_t>(x.high.size()), lows = static_cast<std::int64_t>(x.low.size());
    const Sizes& n = op_.n;
    parallel_for(op_.threads, highs * n[1] * n[2] * n[3] * op_.batch, [&, move](std::int64_t piece) {
      std::int64_t rest = piece / highs;
      std::int64_t place = x.high[static_cast<std::size_t>(piece % highs)];
      place += y.place(rest % n[1]), rest /= n[1];
      place += z.place(rest % n[2]), rest /= n[2];
      place += w.place(rest % n[3]) + rest / n[3] * layout_.distance;
      for (std::int64_t i = 0; i < lows; ++i) move(piece * lows + i, place + x.low[static_cast<std::size_t>(i)]);
    });
  }

  FftOperation op_;
  ArrayLayout dense_, layout_;
  std::vector<ReversedLine> lines_;
  AlignedBytes work_;
  std::unique_ptr<FftRunner> inner_;
};

}  // namespace

template <class T>
std::unique_ptr<FftRunner> make_reordered_fft(const FftOperation& op,
                                              std::unique_ptr<FftRunner> (*make)(const FftOperation&)) {
  return std::make_unique<ReorderedFft<T>>(op, make);
}

template std::unique_ptr<FftRunner> make_reordered_fft<float>(const FftOperation&,
                                                              std::unique_ptr<FftRunner> (*)(const FftOperation&));
template std::unique_ptr<FftRunner> make_reordered_fft<double>(const FftOperation&,
                                                               std::unique_ptr<FftRunner> (*)(const FftOperation&));

}  // namespace fourtune::runtime::cpu
