// Runs in-place operations that move elements between rows on a copy of the input.
#include "runtime/backends/cpu/base/aligned_bytes.h"
#include "runtime/backends/cpu/fft/arrays.h"
#include "runtime/backends/cpu/fft/operation.h"

namespace fourtune::runtime::cpu {
namespace {

// Copies the input of an in-place operation to a work array, then runs the operation out of place.
template <class T>
class StagedFft final : public FftRunner {
 public:
  StagedFft(const FftOperation& op, std::unique_ptr<FftRunner> (*make)(const FftOperation&)) : op_(op) {
    sizes_ = op.type == FftType::r2c ? op.n : spectrum_sizes(op);
    FftOperation inner = op;
    inner.in = dense_ = dense_layout(sizes_);
    inner.in_place = false;
    const auto item = static_cast<std::int64_t>(op.type == FftType::r2c ? sizeof(T) : 2 * sizeof(T));
    work_ = AlignedBytes(dense_.distance * op.batch * item);
    inner_ = make(inner);
  }
  void run(const void* in, void* out) override {
    if (op_.type == FftType::r2c) {
      copy(static_cast<const T*>(in));
    } else {
      copy(static_cast<const std::complex<T>*>(in));
    }
    inner_->run(work_.as<void>(), out);
  }
  std::int64_t bytes() const override { return work_.bytes() + inner_->bytes(); }
  std::int64_t more_bytes() const override { return inner_->more_bytes(); }
  std::string wisdom() const override { return inner_->wisdom(); }

 private:
  template <class U>
  void copy(const U* in) {
    for_each_element(op_.threads, sizes_, op_.batch, op_.in, dense_,
                     [=, to = work_.as<U>()](auto i, auto o, auto) { to[o] = in[i]; });
  }
  FftOperation op_;
  Sizes sizes_;
  ArrayLayout dense_;
  AlignedBytes work_;
  std::unique_ptr<FftRunner> inner_;
};

}  // namespace

bool rows_stay_in_place(const FftOperation& op) {
  const std::int64_t in_scale = op.type == FftType::c2r ? 2 : 1, out_scale = op.type == FftType::r2c ? 2 : 1;
  if (op.type == FftType::c2c) {
    if (op.in.stride[0] != op.out.stride[0] && op.n[0] > 1) return false;
  } else if (op.in.stride[0] != 1 || op.out.stride[0] != 1) {
    return false;
  }
  for (int d = 1; d < op.dim; ++d) {
    if (op.n[d] > 1 && op.in.stride[d] * in_scale != op.out.stride[d] * out_scale) return false;
  }
  return op.batch == 1 || op.in.distance * in_scale == op.out.distance * out_scale;
}

template <class T>
std::unique_ptr<FftRunner> make_staged_fft(const FftOperation& op,
                                           std::unique_ptr<FftRunner> (*make)(const FftOperation&)) {
  return std::make_unique<StagedFft<T>>(op, make);
}

template std::unique_ptr<FftRunner> make_staged_fft<float>(const FftOperation&,
                                                           std::unique_ptr<FftRunner> (*)(const FftOperation&));
template std::unique_ptr<FftRunner> make_staged_fft<double>(const FftOperation&,
                                                            std::unique_ptr<FftRunner> (*)(const FftOperation&));

}  // namespace fourtune::runtime::cpu
