// Family fftw: the whole transform as one FFTW plan.
//
// FFTW cannot do three things in one plan; each gets an extra pass:
// - c2r out of place destroys its input in more than one dimension: the input is copied to a work array, a few
//   transforms of the batch at a time;
// - sign +1 of r2c, sign -1 of c2r and the weights of the real adjoints are applied to the half spectrum;
// - for some in-place layouts the input is copied first (make_staged_fft).
#include <algorithm>

#include "base/layout.h"
#include "fourtune/status.h"
#include "runtime/backends/cpu/base/aligned_bytes.h"
#include "runtime/backends/cpu/fft/arrays.h"
#include "runtime/backends/cpu/fft/fftw/fftw_families.h"
#include "runtime/backends/cpu/fft/fftw/plan_memory.h"
#include "runtime/backends/cpu/fft/fftw/wisdom.h"
#include "runtime/backends/cpu/fft/operation.h"

namespace fourtune::runtime::cpu {
namespace {

// Copies a spectrum, applying weights and conjugation; in == out is allowed.
template <class T>
void weigh_spectrum(const FftOperation& op, const Sizes& sizes, std::int64_t batch, const std::complex<T>* in,
                    const ArrayLayout& in_layout, std::complex<T>* out, const ArrayLayout& out_layout, bool conjugate) {
  const T flip = conjugate ? T(-1) : T(1), interior = static_cast<T>(op.interior);
  for_each_element(op.threads, sizes, batch, in_layout, out_layout, [=, n = op.n[0]](auto i, auto o, auto x) {
    const T w = x == 0 || 2 * x == n ? T(1) : interior;
    out[o] = std::complex<T>(w * in[i].real(), flip * w * in[i].imag());
  });
}

// The largest divisor of batch such that this many spectra stay below a few MiB.
std::int64_t staged_batch(std::int64_t batch, std::int64_t bytes_of_one) {
  const std::int64_t most =
      std::max<std::int64_t>(1, (std::int64_t{16} << 20) / std::max<std::int64_t>(1, bytes_of_one));
  std::int64_t chunk = std::min(batch, most);
  while (batch % chunk != 0) --chunk;
  return chunk;
}

template <class T>
class FftwRunner final : public FftRunner {
  using Value = std::complex<T>;
  using Api = Fftw<T>;

 public:
  explicit FftwRunner(const FftOperation& op) : op_(op), spectrum_(spectrum_sizes(op)) {
    conjugate_ = (op.type == FftType::r2c && op.sign > 0) || (op.type == FftType::c2r && op.sign < 0);
    weighted_ = conjugate_ || op.interior != 1;
    chunk_ = op.batch;
    plan_in_ = op.in;
    if (op.type == FftType::c2r && !op.in_place && (op.dim > 1 || weighted_)) {
      staged_ = true;
      const auto dense = dense_layout(spectrum_);
      const auto bytes_of_one = static_cast<std::int64_t>(dense.distance * sizeof(Value));
      chunk_ = staged_batch(op.batch, bytes_of_one);
      work_ = AlignedBytes(bytes_of_one * chunk_);
      plan_in_ = dense;
    }
    aligned_ = make_plan(op.deterministic);
    if (!aligned_) throw Error(Status::unsupported, "FFTW has no plan for this layout");
    memory_ = memory_of(aligned_);
  }

  void run(const void* in, void* out) override {
    if (!staged_) {
      if (op_.type == FftType::c2r && weighted_) {  // in place
        auto* spectrum = static_cast<Value*>(out);
        weigh_spectrum(op_, spectrum_, op_.batch, spectrum, op_.in, spectrum, op_.in, conjugate_);
      }
      execute(const_cast<void*>(in), out);
      if (op_.type == FftType::r2c && weighted_) {
        auto* spectrum = static_cast<Value*>(out);
        weigh_spectrum(op_, spectrum_, op_.batch, spectrum, op_.out, spectrum, op_.out, conjugate_);
      }
      return;
    }
    for (std::int64_t b = 0; b < op_.batch; b += chunk_) {
      const Value* from = static_cast<const Value*>(in) + b * op_.in.distance;
      weigh_spectrum(op_, spectrum_, chunk_, from, op_.in, work_.as<Value>(), plan_in_, conjugate_);
      execute(work_.as<Value>(), static_cast<T*>(out) + b * op_.out.distance);
    }
  }
  std::int64_t bytes() const override { return work_.bytes() + memory_.held + unaligned_memory_.held; }
  std::int64_t more_bytes() const override {
    const std::int64_t second_plan = op_.deterministic || unaligned_ ? 0 : memory_.held;
    return second_plan + team_size(op_.threads) * std::max(memory_.scratch, unaligned_memory_.scratch);
  }
  std::string wisdom() const override { return wisdom_; }

 private:
  FftwPlan<T> make_plan(bool unaligned) {
    typename Api::Dim dims[most_dimensions], loop{chunk_, plan_in_.distance, op_.out.distance};
    for (int d = 0; d < op_.dim; ++d) {
      // FFTW's order: the last dimension is the one that real transforms halve.
      dims[op_.dim - 1 - d] = {op_.n[d], plan_in_.stride[d], op_.out.stride[d]};
    }
    const int loops = chunk_ > 1 ? 1 : 0;
    const bool real_in = op_.type == FftType::r2c, real_out = op_.type == FftType::c2r;
    const std::int64_t in_bytes = layout_span(plan_in_, real_in ? op_.n : spectrum_, chunk_, "the input") *
                                  static_cast<std::int64_t>(real_in ? sizeof(T) : sizeof(Value));
    const std::int64_t out_bytes = layout_span(op_.out, real_out ? op_.n : spectrum_, chunk_, "the output") *
                                   static_cast<std::int64_t>(real_out ? sizeof(T) : sizeof(Value));
    // Measured plans overwrite the arrays on which they are made. Estimated plans do not touch them, so then these
    // arrays are address space only.
    const AlignedBytes a(op_.in_place ? std::max(in_bytes, out_bytes) : in_bytes);
    const AlignedBytes b(op_.in_place ? 0 : out_bytes);
    if (op_.choice.rigor != generator::Rigor::estimate) clear(a), clear(b);
    unsigned kind = unaligned ? FFTW_UNALIGNED : 0U;
    if (!op_.in_place) kind |= staged_ ? FFTW_DESTROY_INPUT : FFTW_PRESERVE_INPUT;
    auto* in = a.as<Value>();
    auto* out = op_.in_place ? in : b.as<Value>();
    const PlannerSession<T> session(op_.wisdom, op_.deterministic ? 1 : op_.threads);
    FftwPlan<T> plan = plan_in_time<T>(op_.choice.rigor, [&](unsigned rigor) {
      const unsigned flags = rigor | kind;
      if (real_in) return Api::plan_r2c(op_.dim, dims, loops, &loop, reinterpret_cast<T*>(in), fftw_cast(out), flags);
      if (real_out) return Api::plan_c2r(op_.dim, dims, loops, &loop, fftw_cast(in), reinterpret_cast<T*>(out), flags);
      return Api::plan_c2c(op_.dim, dims, loops, &loop, fftw_cast(in), fftw_cast(out), op_.sign, flags);
    });
    if (!unaligned) wisdom_ = session.wisdom();
    return plan;
  }

  void clear(const AlignedBytes& bytes) const {
    T* data = bytes.as<T>();
    parallel_for(op_.threads, bytes.bytes() / static_cast<std::int64_t>(sizeof(T)), [=](auto i) { data[i] = 0; });
  }

  // Arrays aligned like those given to the planner use the plan made for them; others get a second plan on first use. A
  // deterministic plan serves all arrays.
  void execute(void* in, void* out) {
    const bool aligned = op_.deterministic || (Api::alignment_of(in) == 0 && Api::alignment_of(out) == 0);
    if (!aligned && !unaligned_) {
      unaligned_ = make_plan(true);
      if (!unaligned_) throw Error(Status::internal, "FFTW has no plan for arrays of this alignment");
      unaligned_memory_ = memory_of(unaligned_);
    }
    const auto plan = (aligned ? aligned_ : unaligned_).get();
    if (op_.type == FftType::r2c) {
      Api::execute_r2c(plan, static_cast<T*>(in), fftw_cast(static_cast<Value*>(out)));
    } else if (op_.type == FftType::c2r) {
      Api::execute_c2r(plan, fftw_cast(static_cast<Value*>(in)), static_cast<T*>(out));
    } else {
      Api::execute_c2c(plan, fftw_cast(static_cast<Value*>(in)), fftw_cast(static_cast<Value*>(out)));
    }
  }

  FftOperation op_;
  Sizes spectrum_;
  ArrayLayout plan_in_;  // the input as the plan sees it
  std::int64_t chunk_ = 1;
  bool conjugate_ = false, weighted_ = false, staged_ = false;
  AlignedBytes work_;
  FftwPlan<T> aligned_, unaligned_;
  FftwMemory memory_, unaligned_memory_;
  std::string wisdom_;
};

}  // namespace

template <class T>
std::unique_ptr<FftRunner> make_library_fft(const FftOperation& op) {
  if (op.in_place && !rows_stay_in_place(op)) return make_staged_fft<T>(op, &make_library_fft<T>);
  return std::make_unique<FftwRunner<T>>(op);
}

template std::unique_ptr<FftRunner> make_library_fft<float>(const FftOperation&);
template std::unique_ptr<FftRunner> make_library_fft<double>(const FftOperation&);

}  // namespace fourtune::runtime::cpu
