// A uniform FFT by slabs: transforms of whole planes, one transposition, transforms of whole columns.
//
// The spatial side of the transform is split by planes (the last dimension) and its spectrum by columns (the last
// dimension but one), so that a transform and its inverse need one exchange each.
//   to the spectrum (c2c with sign -1, r2c): planes of the input -> work -> transposition -> lines to the output
//   back (c2c with sign +1, c2r):            lines of the input -> transposition -> planes to the output
// The adjoint is the same steps backwards.
#include <algorithm>
#include <complex>

#include "runtime/backends/cpu/base/buffer.h"
#include "runtime/backends/cpu/base/stage_clock.h"
#include "runtime/backends/cpu/fft/fft.h"
#include "runtime/distributed/axis_lines.h"
#include "runtime/distributed/rank_executor.h"
#include "runtime/distributed/transposition.h"

namespace fourtune::runtime::distributed {
namespace {

template <class T>
class FftSlabs final : public RankExecutor {
  using Complex = std::complex<T>;

 public:
  FftSlabs(const Communicator& ranks, const Problem& problem, const generator::Plan& plan, const RankOptions& options)
      : ranks_(ranks), problem_(problem), plan_(plan), deterministic_(options.deterministic) {
    const int last = problem.dim - 1;
    to_spectrum_ = problem.fft_type == FftType::r2c || (problem.fft_type == FftType::c2c && problem.sign < 0);
    const Sizes spectrum = to_spectrum_ ? output_sizes(problem) : input_sizes(problem);
    const Sizes space = to_spectrum_ ? input_sizes(problem) : output_sizes(problem);
    length_ = problem.n[last];
    planes_ = Split::even(length_, ranks.size());
    columns_ = mode_columns(problem, ranks.size());
    run_ = problem.dim == 3 ? spectrum[0] : 1;
    space_plane_ = problem.dim == 3 ? space[0] * space[1] : space[0];
    spectrum_plane_ = run_ * columns_.items();
    const int threads = plan.cpu().threads;
    exchange_ = Transposition(ranks, planes_, columns_, run_, sizeof(Complex), threads);
    own_planes_ = planes_.size(ranks.rank());
    lines_count_ = run_ * columns_.size(ranks.rank());
    if (own_planes_ > 0) plane_fft_ = make_plane_fft();
    if (lines_count_ > 0) lines_[0] = make_lines(problem.sign);
    by_planes_.resize(own_planes_ * spectrum_plane_);
    if (!exchange_.trivial()) by_columns_.resize(length_ * lines_count_);
  }

  void set_points(const PointSet&) override {}

  void execute(void* first, void* second, bool adjoint) override {
    clock_.begin_execute();
    LocalWork local;
    const std::int64_t reals = real_bytes(problem_.precision);
    const bool real_space = problem_.fft_type != FftType::c2c;
    char* const space = static_cast<char*>(to_spectrum_ ? first : second);
    Complex* const spectrum = static_cast<Complex*>(to_spectrum_ ? second : first);
    if (adjoint && lines_count_ > 0 && !lines_[1]) local.run([&] { lines_[1] = make_lines(-problem_.sign); });
    for (std::int64_t b = 0; b < problem_.batch; ++b) {
      char* const planes = space + b * own_planes_ * space_plane_ * reals * (real_space ? 1 : 2);
      one(planes, spectrum + b * length_ * lines_count_, adjoint, local);
    }
    local.end(ranks_, warm_[adjoint]);
  }

  MemoryUse memory() const override {
    MemoryUse use;
    use.held = by_planes_.bytes() + by_columns_.bytes() + (plane_fft_ ? plane_fft_->memory().held : 0);
    for (const auto& lines : lines_) use.held += lines ? lines->bytes() : 0;
    use.needed = use.held;
    return use;
  }
  std::span<const StageTime> stage_times() const override { return clock_.times(); }

 private:
  // The transform of the planes of this rank: all at once or, where results must not depend on how many there are, one
  // at a time.
  std::unique_ptr<Executor> make_plane_fft() const {
    Problem plane = problem_;
    plane.dim = problem_.dim - 1;
    plane.n[plane.dim] = 1;
    plane.batch = deterministic_ ? 1 : own_planes_;
    generator::Plan plan = plan_;
    plan.cpu().fft.rigor = generator::Rigor::estimate;
    ExecutorOptions options;
    options.deterministic = deterministic_;
    return cpu::make_fft_executor(plane, plan, options);
  }
  std::unique_ptr<AxisLines<T>> make_lines(int sign) const {
    return std::make_unique<AxisLines<T>>(length_, sign, spectrum_plane_, plan_.cpu().fft, plan_.cpu().threads);
  }

  void one(char* space, Complex* spectrum, bool adjoint, LocalWork& local) {
    Complex* const columns = exchange_.trivial() ? by_planes_.data() : by_columns_.data();
    const AxisSide<T> whole{cpu::whole_side(length_), nullptr};
    if (to_spectrum_ != adjoint) {
      clock_.time("planes", [&] { local.run([&] { transform_planes(space, adjoint); }); });
      if (!exchange_.trivial()) clock_.time("exchange", [&] { exchange_.to_columns(by_planes_.data(), columns); });
      clock_.time("lines", [&] {
        local.run([&] {
          if (lines_count_ > 0) lines_[adjoint]->run(columns, whole, spectrum, whole, lines_count_);
        });
      });
    } else {
      clock_.time("lines", [&] {
        local.run([&] {
          if (lines_count_ > 0) lines_[adjoint]->run(spectrum, whole, columns, whole, lines_count_);
        });
      });
      if (!exchange_.trivial()) clock_.time("exchange", [&] { exchange_.to_planes(columns, by_planes_.data()); });
      clock_.time("planes", [&] { local.run([&] { transform_planes(space, adjoint); }); });
    }
  }

  void transform_planes(char* space, bool adjoint) {
    if (!plane_fft_) return;
    const std::int64_t bytes =
        space_plane_ * real_bytes(problem_.precision) * (problem_.fft_type == FftType::c2c ? 2 : 1);
    for (std::int64_t p = 0; p < (deterministic_ ? own_planes_ : 1); ++p) {
      void* const own = space + p * bytes;
      void* const work = by_planes_.data() + p * spectrum_plane_;
      to_spectrum_ ? plane_fft_->execute(own, work, adjoint) : plane_fft_->execute(work, own, adjoint);
    }
  }

  const Communicator& ranks_;
  Problem problem_;
  generator::Plan plan_;
  bool deterministic_, to_spectrum_ = true;
  std::int64_t length_ = 1, run_ = 1, space_plane_ = 1, spectrum_plane_ = 1;  // elements; real ones of real types
  std::int64_t own_planes_ = 0, lines_count_ = 0;
  Split planes_, columns_;
  Transposition exchange_;
  std::unique_ptr<Executor> plane_fft_;
  std::array<std::unique_ptr<AxisLines<T>>, 2> lines_;  // forward and, made on first use, adjoint
  cpu::Buffer<Complex> by_planes_, by_columns_;
  std::array<bool, 2> warm_{false, false};  // forward, adjoint
  cpu::StageClock clock_;
};

}  // namespace

Split mode_columns(const Problem& problem, int ranks) {
  const int d = problem.dim - 2;
  if (problem.kind == Kind::nufft) return Split::even(problem.n[d], ranks);
  return Split::even(problem.fft_type == FftType::c2r ? input_sizes(problem)[d] : output_sizes(problem)[d], ranks);
}

std::unique_ptr<RankExecutor> make_fft_slabs(const Communicator& ranks, const Problem& problem,
                                             const generator::Plan& plan, const RankOptions& options) {
  if (problem.precision == Precision::f32) return std::make_unique<FftSlabs<float>>(ranks, problem, plan, options);
  return std::make_unique<FftSlabs<double>>(ranks, problem, plan, options);
}

}  // namespace fourtune::runtime::distributed
