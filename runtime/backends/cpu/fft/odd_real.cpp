// One long real line of odd length as a complex one, which takes less than what FFTW does for such lengths, above all
// with large primes. Threads share each line; or, where there are enough of them and each stays in a core's cache, they
// take whole ones. Lines are not paired to fill the imaginary parts, since a large or infinite one would spoil the
// other.
#include <algorithm>
#include <complex>
#include <memory>
#include <vector>

#include "generator/plan/lane_radices.h"
#include "runtime/backends/cpu/base/aligned_bytes.h"
#include "runtime/backends/cpu/base/team.h"
#include "runtime/backends/cpu/fft/arrays.h"
#include "runtime/backends/cpu/fft/chirp.h"
#include "runtime/backends/cpu/fft/long.h"
#include "runtime/backends/cpu/fft/operation.h"

namespace fourtune::runtime::cpu {
namespace {

constexpr std::int64_t kOddPiece = 4096;  // positions that a thread copies at a time

template <class T>
class OddReal final : public FftRunner {
  using Value = std::complex<T>;

 public:
  explicit OddReal(const FftOperation& op) : op_(op), n_(op.n[0]) {
    const int workers = team_size(op.threads);
    const std::int64_t bytes = n_ * static_cast<std::int64_t>(sizeof(Value));
    const bool apart = are_long_lines_apart(4 * bytes, op.batch, workers);  // a convolution works on so many
    threads_ = apart ? 1 : op.threads;
    work_stride_ = (bytes + 4095) / 4096 * 4096 + 256;
    work_ = AlignedBytes(work_stride_ * (apart ? workers : 1));
    FftOperation line = op;
    line.type = FftType::c2c, line.batch = 1, line.in_place = true, line.threads = threads_;
    line.in = line.out = dense_layout(op.n);
    for (int worker = 0; worker < (apart ? workers : 1); ++worker) lines_.push_back(make_rows_fft<T>(line));
  }

  void run(const void* in, void* out) override {
    const auto one = [&](std::int64_t b, int worker) {
      auto* const line = reinterpret_cast<Value*>(work_.as<char>() + worker * work_stride_);
      op_.type == FftType::r2c ? widen(static_cast<const T*>(in) + b * op_.in.distance, line)
                               : extend(static_cast<const Value*>(in) + b * op_.in.distance, line);
      lines_[static_cast<std::size_t>(worker)]->run(line, line);
      op_.type == FftType::r2c ? keep_half(line, static_cast<Value*>(out) + b * op_.out.distance)
                               : keep_real(line, static_cast<T*>(out) + b * op_.out.distance);
    };
    if (lines_.size() > 1)
      parallel_for(static_cast<int>(lines_.size()), op_.batch, one);
    else
      for (std::int64_t b = 0; b < op_.batch; ++b) one(b, 0);
  }
  std::int64_t bytes() const override {
    std::int64_t sum = work_.bytes();
    for (const auto& line : lines_) sum += line->bytes();
    return sum;
  }
  std::string wisdom() const override { return {}; }

 private:
  // Calls f(k) for k < count.
  template <class F>
  void for_positions(std::int64_t count, F f) const {
    parallel_for(threads_, (count + kOddPiece - 1) / kOddPiece, [&](std::int64_t piece) {
      const std::int64_t last = std::min(count, (piece + 1) * kOddPiece);
      for (std::int64_t k = piece * kOddPiece; k < last; ++k) f(k);
    });
  }
  void widen(const T* from, Value* line) const {
    for_positions(n_, [=, step = op_.in.stride[0]](std::int64_t j) { line[j] = from[j * step]; });
  }
  void keep_half(const Value* line, Value* to) const {
    for_positions(n_ / 2 + 1, [=, step = op_.out.stride[0], interior = static_cast<T>(op_.interior)](std::int64_t k) {
      to[k * step] = k == 0 ? line[k] : interior * line[k];
    });
  }
  void extend(const Value* from, Value* line) const {
    for_positions(n_ / 2 + 1,
                  [=, this, step = op_.in.stride[0], interior = static_cast<T>(op_.interior)](std::int64_t k) {
                    const Value x = from[k * step];
                    line[k] = k == 0 ? Value(x.real()) : interior * x;
                    if (k > 0) line[n_ - k] = std::conj(line[k]);
                  });
  }
  void keep_real(const Value* line, T* to) const {
    for_positions(n_, [=, step = op_.out.stride[0]](std::int64_t j) { to[j * step] = line[j].real(); });
  }

  FftOperation op_;
  std::int64_t n_;
  int threads_ = 1;
  AlignedBytes work_;
  std::int64_t work_stride_ = 0;
  std::vector<std::unique_ptr<FftRunner>> lines_;  // one that threads share, or one per thread
};

}  // namespace

template <class T>
std::unique_ptr<FftRunner> make_odd_real_fft(const FftOperation& op) {
  const std::int64_t n = op.n[0];
  const bool convolved =
      n >= kShortLine && !generator::has_factors_up_to(n, generator::kLargestSummed) && LongChirp<T>::supports(n);
  if (op.dim != 1 || op.type == FftType::c2c || n % 2 == 0 || !(LongFft<T>::supports(n) || convolved)) return nullptr;
  return std::make_unique<OddReal<T>>(op);
}

template std::unique_ptr<FftRunner> make_odd_real_fft<float>(const FftOperation&);
template std::unique_ptr<FftRunner> make_odd_real_fft<double>(const FftOperation&);

}  // namespace fourtune::runtime::cpu
