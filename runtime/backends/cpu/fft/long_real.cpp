// One long real line of even length n = 2 m: a complex transform of m pairs of neighbours (the four-step method of
// long.h), and one pass that splits the spectra of even and odd numbers, or merges them before it. Threads share each
// line; or, where there are enough of them and each stays in a core's cache, they take whole ones.
#include <algorithm>
#include <complex>
#include <memory>
#include <vector>

#include "runtime/backends/cpu/base/aligned_bytes.h"
#include "runtime/backends/cpu/base/team.h"
#include "runtime/backends/cpu/fft/half_line.h"
#include "runtime/backends/cpu/fft/long.h"
#include "runtime/backends/cpu/fft/operation.h"
#include "runtime/backends/cpu/fft/simd.h"

namespace fourtune::runtime::cpu {
namespace {

constexpr std::int64_t kPiece = 2048;  // positions that a thread splits or merges at a time

template <class T>
class LongReal final : public FftRunner {
  using Value = std::complex<T>;

 public:
  explicit LongReal(const FftOperation& op)
      : op_(op), kernels_(simd_fft_kernels<T>()), m_(op.n[0] / 2), forward_(op.type == FftType::r2c) {
    const int workers = team_size(op.threads);
    const std::int64_t bytes = LongFft<T>::work_values(m_) * static_cast<std::int64_t>(sizeof(Value));
    const bool apart = are_long_lines_apart(bytes, op.batch, workers);
    work_stride_ = (bytes + 4095) / 4096 * 4096 + 256;
    work_ = AlignedBytes(apart ? work_stride_ * workers : bytes);
    for (int worker = 0; worker < (apart ? workers : 1); ++worker)
      ffts_.push_back(std::make_unique<LongFft<T>>(m_, forward_ ? -1 : 1, apart ? 1 : op.threads));
    threads_ = apart ? 1 : workers;
    turns_ = half_turns<T>(m_);
    half_ = {m_, turns_.data(), {static_cast<T>(op.interior), forward_ == (op.sign > 0), false}};
  }

  void run(const void* in, void* out) override {
    const auto one = [&](std::int64_t b, int worker) {
      const LongFft<T>& fft = *ffts_[static_cast<std::size_t>(worker)];
      Value* work = reinterpret_cast<Value*>(work_.as<char>() + worker * work_stride_);
      if (forward_) {
        auto* spectrum = static_cast<Value*>(out) + b * op_.out.distance;
        fft.transform(reinterpret_cast<const Value*>(static_cast<const T*>(in) + b * op_.in.distance), 1, work,
                      spectrum, 1);
        split(spectrum);
      } else {
        auto* line = reinterpret_cast<Value*>(static_cast<T*>(out) + b * op_.out.distance);
        merge(static_cast<const Value*>(in) + b * op_.in.distance, line);
        fft.transform(line, 1, work, line, 1);
      }
    };
    if (ffts_.size() > 1)
      parallel_for(static_cast<int>(ffts_.size()), op_.batch, one);
    else
      for (std::int64_t b = 0; b < op_.batch; ++b) one(b, 0);
  }
  std::int64_t bytes() const override {
    std::int64_t sum = work_.bytes() + bytes_of(turns_);
    for (const auto& fft : ffts_) sum += fft->bytes();
    return sum;
  }
  std::string wisdom() const override { return {}; }

 private:
  // Calls f(first, last) for pieces of positions 1 .. m/2.
  template <class F>
  void for_pieces(F f) const {
    parallel_for(threads_, (m_ / 2 + kPiece - 1) / kPiece, [&](std::int64_t piece) {
      const std::int64_t first = 1 + piece * kPiece;
      f(first, std::min(first + kPiece, m_ / 2 + 1));
    });
  }
  void split(Value* line) const {
    split_ends(line, m_);
    for_pieces(
        [&](std::int64_t from, std::int64_t to) { kernels_.split_line(reinterpret_cast<T*>(line), from, to, half_); });
  }
  void merge(const Value* from, Value* to) const {
    const Value ends = merged_ends(from, m_);
    for_pieces([&](std::int64_t begin, std::int64_t end) {
      kernels_.merge_line(reinterpret_cast<const T*>(from), reinterpret_cast<T*>(to), begin, end, half_);
    });
    to[0] = ends;
  }

  FftOperation op_;
  const SimdFftKernels<T>& kernels_;
  std::int64_t m_;
  bool forward_;
  int threads_ = 1;
  AlignedBytes work_;
  std::int64_t work_stride_ = 0;
  std::vector<std::unique_ptr<LongFft<T>>> ffts_;  // one that threads share, or one per thread
  std::vector<T> turns_;
  HalfLine<T> half_;
};

}  // namespace

template <class T>
std::unique_ptr<FftRunner> make_long_real_fft(const FftOperation& op) {
  const bool real = op.type != FftType::c2c, dense = op.in.stride[0] == 1 && op.out.stride[0] == 1;
  if (op.dim != 1 || !real || op.n[0] % 2 != 0 || !dense || !LongFft<T>::supports(op.n[0] / 2)) return nullptr;
  return std::make_unique<LongReal<T>>(op);
}

template std::unique_ptr<FftRunner> make_long_real_fft<float>(const FftOperation&);
template std::unique_ptr<FftRunner> make_long_real_fft<double>(const FftOperation&);

}  // namespace fourtune::runtime::cpu
