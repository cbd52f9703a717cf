// A uniform FFT by slabs or pencils whose ranks have GPUs: the steps of host_fft.cpp, with arrays in the memory of the
// devices. Work goes to one stream, and copies and exchanges to others, so that a chunk travels while the next is
// transformed.
#include <complex>

#include "runtime/distributed/device_lines.h"
#include "runtime/distributed/device_plane_ffts.h"
#include "runtime/distributed/passed_array.h"

namespace fourtune::runtime::distributed {
namespace {

using Lane = DeviceStreams::Lane;

template <class T>
class GpuFft final : public RankExecutor {
  using Complex = std::complex<T>;

 public:
  GpuFft(const Communicator& ranks, const Problem& problem, const RankPlan& plan, const RankOptions& options,
         const RankDevice& device)
      : ranks_(ranks),
        batch_(problem.batch),
        each_column_(options.deterministic && plan.decomposition == Decomposition::slabs),
        of_(problem, ranks.rank(), plan.grid),
        streams_(*device.streams),
        memory_(*device.backend, device.number),
        exchange_(ranks, *device.streams, memory_, plan.exchange, device.nccl, kMarksInPlanes),
        pipeline_(plan.decomposition == Decomposition::pencils ? PipelineStages{nullptr} : PipelineStages{}) {
    executor_options_.deterministic = options.deterministic;
    executor_options_.device = device.number;
    executor_options_.stream = streams_.stream(Lane::work);
    const RankGrid& grid = plan.grid;
    of_.middle.joined = grid.of_planes <= kMostJoined;
    pipeline_.bind(RankGroup(ranks, grid.place_in_plane(ranks.rank()), grid.in_plane, grid.of_planes), of_.middle,
                   plan.chunks, batch_, exchange_, memory_);
    DeviceLines::Shape lines{of_.length, pipeline_.columns_stride(), of_.lines, problem.sign, problem.precision};
    if (!of_.to_spectrum) std::swap(lines.from, lines.to);
    lines.steady = options.deterministic && !each_column_;
    lines_ = std::make_unique<DeviceLines>(*device.backend, plan.local, lines, executor_options_);
    const DevicePlaneSpec planes{ranks, problem, plan, device, memory_, of_, executor_options_, clock_};
    planes_ = plan.decomposition == Decomposition::pencils ? make_gpu_split_planes<T>(planes, pipeline_)
                                                           : make_gpu_whole_planes<T>(planes, pipeline_);
    for (int c = 0; c < pipeline_.chunks(); ++c)
      if (const std::int64_t columns = pipeline_.columns(c).count; columns > 0 && of_.middle.run > 0)
        lines_->prepare(lines_step(columns));
  }

  void set_points(const PointSet&) override {}
  void let_go() override { exchange_.forget(); }

  void execute(void* first, void* second, bool adjoint) override {
    clock_.begin_execute();
    const bool to_columns = of_.to_spectrum != adjoint;
    if (!warm_[adjoint]) ranks_.together([&] { pipeline_.middle().reserve(to_columns), planes_->reserve(to_columns); });
    LocalWork local;
    char *space = nullptr, *spectrum = nullptr;
    local.run([&] {
      space = space_.bind(of_.to_spectrum ? first : second, batch_ * of_.space_bytes(), streams_, memory_);
      spectrum = spectrum_.bind(of_.to_spectrum ? second : first, batch_ * of_.spectrum_bytes(), streams_, memory_);
      clock_.time("upload", [&] {
        memory_.wait();  // for what the application has put on the default stream
        (to_columns ? space_ : spectrum_).upload(memory_);
      });
    });
    const auto planes = [&](std::int64_t b, Complex* work, cpu::LineRange which) {
      planes_->run(space + b * of_.space_bytes(), work, which, adjoint, local);
    };
    const auto lines = [&](std::int64_t b, Complex* work, cpu::LineRange which) {
      local.run([&] { transform_lines(work, spectrum + b * of_.spectrum_bytes(), which, adjoint); });
    };
    to_columns ? pipeline_.to_columns(batch_, clock_, planes, lines)
               : pipeline_.to_planes(batch_, clock_, lines, planes);
    local.run([&] {
      clock_.time("wait", [&] { streams_.wait(Lane::work); });
      exchange_.settle(), planes_->settle();
    });
    local.always([&] { exchange_.rethrow(); });
    local.always([&] { planes_->rethrow(); });
    local.run([&] { clock_.time("download", [&] { (to_columns ? spectrum_ : space_).download(memory_); }); });
    local.end(ranks_, warm_[adjoint]);
  }

  MemoryUse memory() const override {
    const std::int64_t held =
        pipeline_.bytes() + exchange_.bytes() + planes_->bytes() + lines_->bytes() + space_.bytes() + spectrum_.bytes();
    return {held, held};
  }
  // On a GPU, the stages before "wait" only begin their work.
  std::span<const StageTime> stage_times() const override { return clock_.times(); }

 private:
  // Kernels for other numbers of lines may add in another order, so each column of slabs is transformed by the same
  // ones where bits must not depend on the ranks. Pencils, whose columns differ in length, take steady lines there.
  std::int64_t lines_step(std::int64_t columns) const { return (each_column_ ? 1 : columns) * of_.middle.run; }
  void transform_lines(Complex* work, char* spectrum, cpu::LineRange columns, bool adjoint) {
    const std::int64_t step = lines_step(columns.count), end = (columns.first + columns.count) * of_.middle.run;
    if (step == 0 || columns.count == 0) return;
    for (std::int64_t at = columns.first * of_.middle.run; at < end; at += step)
      of_.to_spectrum ? lines_->run(work, spectrum, {at, step}, adjoint)
                      : lines_->run(spectrum, work, {at, step}, adjoint);
  }

  const Communicator& ranks_;
  std::int64_t batch_;
  bool each_column_;
  FftGeometry of_;
  DeviceStreams& streams_;
  DeviceCopy memory_;
  ExecutorOptions executor_options_;
  DeviceExchange exchange_;
  PipelineOf<DeviceMiddle<T>> pipeline_;
  cpu::StageClock clock_;
  std::unique_ptr<DevicePlaneFfts<T>> planes_;
  std::unique_ptr<DeviceLines> lines_;
  PassedArray space_, spectrum_;
  std::array<bool, 2> warm_{false, false};  // forward, adjoint
};

}  // namespace

std::unique_ptr<RankExecutor> make_gpu_fft(const Communicator& ranks, const Problem& problem, const RankPlan& plan,
                                           const RankOptions& options, const RankDevice& device) {
  if (plan.exchange == RankExchange::kernels) return make_gpu_joined_fft(ranks, problem, plan, options, device);
  if (problem.precision == Precision::f32)
    return std::make_unique<GpuFft<float>>(ranks, problem, plan, options, device);
  return std::make_unique<GpuFft<double>>(ranks, problem, plan, options, device);
}

}  // namespace fourtune::runtime::distributed
