// A uniform FFT on processors, by slabs or pencils: transforms of a rank's planes, one transposition, transforms of
// whole columns.
//
//   to the spectrum (c2c with sign -1, r2c): planes of the input -> work -> transposition -> lines to the output
//   back (c2c with sign +1, c2r):            lines of the input -> transposition -> planes to the output
// By pencils several ranks share a plane, and within planes there is another exchange (split_planes.cpp); the
// transposition then is among the ranks that have the same part of x. The plan says in which pieces the transposition
// overlaps with the rest (pipeline.h). The adjoint is the same steps backwards.
#include <array>
#include <complex>

#include "runtime/backends/cpu/base/stage_clock.h"
#include "runtime/distributed/axis_lines.h"
#include "runtime/distributed/fft_geometry.h"
#include "runtime/distributed/pipeline.h"
#include "runtime/distributed/plane_ffts.h"
#include "runtime/distributed/rank_executor.h"

namespace fourtune::runtime::distributed {
namespace {

// Whether planes are transformed row by row, also whole ones: where the bits of slabs have to be those of pencils.
bool splits_planes(const Problem& problem, const RankPlan& plan, bool deterministic) {
  return plan.grid.in_plane > 1 ||
         (problem.dim == 3 && deterministic && plan.local.cpu().fft.family == generator::FftFamily::rows);
}

template <class T>
class HostFft final : public RankExecutor {
  using Complex = std::complex<T>;

 public:
  HostFft(const Communicator& ranks, const Problem& problem, const RankPlan& plan, const RankOptions& options)
      : ranks_(ranks),
        problem_(problem),
        plan_(plan.local),
        of_(problem, ranks.rank(), plan.grid),
        pipeline_(plan.grid.in_plane > 1 ? PipelineStages{nullptr} : PipelineStages{}) {
    const RankGroup with_same_x(ranks, plan.grid.place_in_plane(ranks.rank()), plan.grid.in_plane, plan.grid.of_planes);
    of_.middle.joined = plan.exchange == RankExchange::shared;
    if (of_.middle.joined && problem.dim == 3) of_.middle.gap = plane_gap(of_.spectrum_plane, of_.middle.element);
    pipeline_.bind(with_same_x, of_.middle, plan.chunks, problem.batch, plan_.cpu().threads);
    // Lines go from one array to another, where a transform of one process works in its output. Of all ranks' input,
    // middle and output the caches keep most if the last one passes them by.
    const std::int64_t array = of_.length * of_.spectrum_plane * of_.middle.element;
    past_caches_ = options.cache_bytes > 0 && 3 * array >= options.cache_bytes;
    const PlaneFftSpec planes{ranks, problem, plan, of_, options.deterministic, clock_};
    planes_ = splits_planes(problem, plan, options.deterministic) ? make_split_plane_ffts<T>(planes, pipeline_)
                                                                  : make_whole_plane_ffts<T>(planes, pipeline_);
    if (of_.lines > 0) lines_[0] = make_lines(problem.sign);
  }

  void set_points(const PointSet&) override {}

  void execute(void* first, void* second, bool adjoint) override {
    clock_.begin_execute();
    LocalWork local;
    char* const space = static_cast<char*>(of_.to_spectrum ? first : second);
    Complex* const spectrum = static_cast<Complex*>(of_.to_spectrum ? second : first);
    if (adjoint && of_.lines > 0 && !lines_[1]) local.run([&] { lines_[1] = make_lines(-problem_.sign); });
    const auto planes = [&](std::int64_t b, std::int64_t count, Complex* work, cpu::LineRange which) {
      planes_->run(space, work, {b, count, which}, adjoint, local);
    };
    const auto lines = [&](std::int64_t b, Complex* work, cpu::LineRange which) {
      local.run([&] { transform_lines(work, spectrum + b * of_.length * of_.lines, which, adjoint); });
    };
    of_.to_spectrum != adjoint ? pipeline_.to_columns(problem_.batch, clock_, planes, lines)
                               : pipeline_.to_planes(problem_.batch, clock_, lines, planes);
    local.end(ranks_, warm_[adjoint]);
  }

  MemoryUse memory() const override {
    MemoryUse use;
    use.held = pipeline_.bytes() + planes_->bytes();
    for (const auto& lines : lines_) use.held += lines ? lines->bytes() : 0;
    use.needed = use.held;
    return use;
  }
  std::span<const StageTime> stage_times() const override { return clock_.times(); }

 private:
  std::unique_ptr<AxisLines<T>> make_lines(int sign) const {
    return std::make_unique<AxisLines<T>>(of_.length, sign, of_.spectrum_plane, plan_.cpu().fft, plan_.cpu().threads);
  }

  void transform_lines(Complex* work, Complex* spectrum, cpu::LineRange columns, bool adjoint) const {
    const cpu::LineRange lines{columns.first * of_.middle.run, columns.count * of_.middle.run};
    if (lines.count == 0) return;
    AxisSide<T> whole{cpu::whole_side(of_.length)}, middle{whole.side, nullptr, 0, pipeline_.columns_stride()};
    whole.past_caches = middle.past_caches = past_caches_;
    of_.to_spectrum != adjoint ? lines_[adjoint]->run(work, middle, spectrum, whole, of_.lines, lines)
                               : lines_[adjoint]->run(spectrum, whole, work, middle, of_.lines, lines);
  }

  const Communicator& ranks_;
  Problem problem_;
  generator::Plan plan_;
  FftGeometry of_;
  bool past_caches_ = false;  // the arrays together are larger than what processors share
  cpu::StageClock clock_;
  Pipeline<T> pipeline_;
  std::unique_ptr<PlaneFfts<T>> planes_;
  std::array<std::unique_ptr<AxisLines<T>>, 2> lines_;  // forward and, made on first use, adjoint
  std::array<bool, 2> warm_{false, false};              // forward, adjoint
};

}  // namespace

Split mode_columns(const Problem& problem, int ranks) {
  const int d = problem.dim - 2;
  if (problem.kind == Kind::nufft) return Split::even(problem.n[d], ranks);
  return Split::even(problem.fft_type == FftType::c2r ? input_sizes(problem)[d] : output_sizes(problem)[d], ranks);
}

std::unique_ptr<RankExecutor> make_host_fft(const Communicator& ranks, const Problem& problem, const RankPlan& plan,
                                            const RankOptions& options) {
  if (problem.precision == Precision::f32) return std::make_unique<HostFft<float>>(ranks, problem, plan, options);
  return std::make_unique<HostFft<double>>(ranks, problem, plan, options);
}

}  // namespace fourtune::runtime::distributed
