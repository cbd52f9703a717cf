// A uniform FFT by slabs: transforms of whole planes, one transposition, transforms of whole columns.
//
//   to the spectrum (c2c with sign -1, r2c): planes of the input -> work -> transposition -> lines to the output
//   back (c2c with sign +1, c2r):            lines of the input -> transposition -> planes to the output
// The plan says in which pieces the transposition overlaps with the rest (pipeline.h).
// The adjoint is the same steps backwards.
#include <algorithm>
#include <complex>

#include "runtime/backends/cpu/base/stage_clock.h"
#include "runtime/backends/cpu/fft/fft.h"
#include "runtime/distributed/axis_lines.h"
#include "runtime/distributed/fft_geometry.h"
#include "runtime/distributed/pipeline.h"
#include "runtime/distributed/rank_executor.h"

namespace fourtune::runtime::distributed {
namespace {

template <class T>
class FftSlabs final : public RankExecutor {
  using Complex = std::complex<T>;

 public:
  FftSlabs(const Communicator& ranks, const Problem& problem, const RankPlan& plan, const RankOptions& options)
      : ranks_(ranks), problem_(problem), plan_(plan.local), deterministic_(options.deterministic) {
    const FftGeometry of(problem, ranks.rank(), ranks.size());
    to_spectrum_ = of.to_spectrum;
    length_ = of.length;
    run_ = of.middle.run;
    space_plane_ = of.space_plane;
    spectrum_plane_ = of.spectrum_plane;
    own_planes_ = of.own_planes;
    lines_count_ = of.lines;
    pipeline_.bind(ranks, of.middle, plan.chunks, problem.batch, plan_.cpu().threads);
    make_plane_ffts();
    if (lines_count_ > 0) lines_[0] = make_lines(problem.sign);
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
    const auto planes = [&](std::int64_t b, Complex* work, cpu::LineRange which) {
      char* const own = space + b * own_planes_ * space_plane_ * reals * (real_space ? 1 : 2);
      local.run([&] { transform_planes(own, work, which, adjoint); });
    };
    const auto lines = [&](std::int64_t b, Complex* work, cpu::LineRange which) {
      local.run([&] { transform_lines(work, spectrum + b * length_ * lines_count_, which, adjoint); });
    };
    to_spectrum_ != adjoint ? pipeline_.to_columns(problem_.batch, clock_, planes, lines)
                            : pipeline_.to_planes(problem_.batch, clock_, lines, planes);
    local.end(ranks_, warm_[adjoint]);
  }

  MemoryUse memory() const override {
    MemoryUse use;
    use.held = pipeline_.bytes();
    for (const auto& planes : plane_ffts_) use.held += planes.fft->memory().held;
    for (const auto& lines : lines_) use.held += lines ? lines->bytes() : 0;
    use.needed = use.held;
    return use;
  }
  std::span<const StageTime> stage_times() const override { return clock_.times(); }

 private:
  // The transforms of the planes of a piece: all at once or, where results must not depend on how many there are, one
  // at a time.
  struct PlaneFft {
    std::int64_t count = 0;  // planes
    std::unique_ptr<Executor> fft;
  };
  void make_plane_ffts() {
    if (own_planes_ == 0) return;
    if (deterministic_) {
      plane_ffts_.push_back({1, make_plane_fft(1)});
      return;
    }
    for (int c = 0; c < pipeline_.chunks(); ++c)
      if (const std::int64_t count = pipeline_.planes(c).count; count > 0 && !fft_of(count))
        plane_ffts_.push_back({count, make_plane_fft(count)});
  }
  Executor* fft_of(std::int64_t count) const {
    for (const PlaneFft& planes : plane_ffts_)
      if (planes.count == count) return planes.fft.get();
    return nullptr;
  }
  std::unique_ptr<Executor> make_plane_fft(std::int64_t count) const {
    Problem plane = problem_;
    plane.dim = problem_.dim - 1;
    plane.n[plane.dim] = 1;
    plane.batch = count;
    generator::Plan plan = plan_;
    plan.cpu().fft.rigor = generator::Rigor::estimate;
    ExecutorOptions options;
    options.deterministic = deterministic_;
    return cpu::make_fft_executor(plane, plan, options);
  }
  std::unique_ptr<AxisLines<T>> make_lines(int sign) const {
    return std::make_unique<AxisLines<T>>(length_, sign, spectrum_plane_, plan_.cpu().fft, plan_.cpu().threads);
  }

  void transform_lines(Complex* work, Complex* spectrum, cpu::LineRange columns, bool adjoint) const {
    const cpu::LineRange lines{columns.first * run_, columns.count * run_};
    if (lines.count == 0) return;
    const AxisSide<T> whole{cpu::whole_side(length_), nullptr};
    to_spectrum_ != adjoint ? lines_[adjoint]->run(work, whole, spectrum, whole, lines_count_, lines)
                            : lines_[adjoint]->run(spectrum, whole, work, whole, lines_count_, lines);
  }

  void transform_planes(char* space, Complex* work, cpu::LineRange which, bool adjoint) const {
    const std::int64_t bytes =
        space_plane_ * real_bytes(problem_.precision) * (problem_.fft_type == FftType::c2c ? 2 : 1);
    const std::int64_t step = deterministic_ ? 1 : which.count;
    for (std::int64_t p = which.first; p < which.first + which.count; p += step) {
      void *const own = space + p * bytes, *const kept = work + p * spectrum_plane_;
      Executor& fft = *fft_of(step);
      to_spectrum_ ? fft.execute(own, kept, adjoint) : fft.execute(kept, own, adjoint);
    }
  }

  const Communicator& ranks_;
  Problem problem_;
  generator::Plan plan_;
  bool deterministic_, to_spectrum_ = true;
  std::int64_t length_ = 1, run_ = 1, space_plane_ = 1, spectrum_plane_ = 1;  // elements; real ones of real types
  std::int64_t own_planes_ = 0, lines_count_ = 0;
  Pipeline<T> pipeline_;
  std::vector<PlaneFft> plane_ffts_;
  std::array<std::unique_ptr<AxisLines<T>>, 2> lines_;  // forward and, made on first use, adjoint
  std::array<bool, 2> warm_{false, false};              // forward, adjoint
  cpu::StageClock clock_;
};

}  // namespace

Split mode_columns(const Problem& problem, int ranks) {
  const int d = problem.dim - 2;
  if (problem.kind == Kind::nufft) return Split::even(problem.n[d], ranks);
  return Split::even(problem.fft_type == FftType::c2r ? input_sizes(problem)[d] : output_sizes(problem)[d], ranks);
}

std::unique_ptr<RankExecutor> make_fft_slabs(const Communicator& ranks, const Problem& problem, const RankPlan& plan,
                                             const RankOptions& options) {
  if (problem.precision == Precision::f32) return std::make_unique<FftSlabs<float>>(ranks, problem, plan, options);
  return std::make_unique<FftSlabs<double>>(ranks, problem, plan, options);
}

}  // namespace fourtune::runtime::distributed
