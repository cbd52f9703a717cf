// A uniform FFT by slabs whose ranks have GPUs: the steps of fft_slabs.cpp, with arrays in the memory of the devices.
// Work goes to one stream, and copies and exchanges to others, so that a chunk travels while the next is transformed.
#include <complex>

#include "runtime/distributed/counted_executors.h"
#include "runtime/distributed/device_lines.h"
#include "runtime/distributed/device_middle.h"
#include "runtime/distributed/fft_geometry.h"
#include "runtime/distributed/passed_array.h"
#include "runtime/distributed/pipeline.h"
#include "runtime/distributed/rank_executor.h"

namespace fourtune::runtime::distributed {
namespace {

using Lane = DeviceStreams::Lane;

template <class T>
class GpuFftSlabs final : public RankExecutor {
  using Complex = std::complex<T>;

 public:
  GpuFftSlabs(const Communicator& ranks, const Problem& problem, const RankPlan& plan, const RankOptions& options,
              const RankDevice& device)
      : ranks_(ranks),
        batch_(problem.batch),
        deterministic_(options.deterministic),
        of_(problem, ranks.rank(), plan.grid),
        streams_(*device.streams),
        memory_(*device.backend, device.number),
        exchange_(ranks, *device.streams, memory_, plan.exchange, device.nccl) {
    executor_options_.deterministic = options.deterministic;
    executor_options_.device = device.number;
    executor_options_.stream = streams_.stream(Lane::work);
    pipeline_.bind(ranks, of_.middle, plan.chunks, batch_, exchange_, memory_);
    DeviceLines::Shape lines{of_.length, pipeline_.middle().pieces().columns_stride(), of_.lines, problem.sign,
                             problem.precision};
    if (!of_.to_spectrum) std::swap(lines.from, lines.to);
    lines_ = std::make_unique<DeviceLines>(*device.backend, plan.local, lines, executor_options_);
    Problem plane = problem;
    plane.dim = problem.dim - 1;
    plane.n[plane.dim] = 1;
    for (int c = 0; c < pipeline_.chunks(); ++c) {
      plane.batch = pipeline_.planes(c).count;
      planes_.add(plane.batch, [&] { return device.backend->bind(plane, plan.local, executor_options_); });
      lines_->prepare(lines_step(pipeline_.columns(c).count));
    }
  }

  void set_points(const PointSet&) override {}
  void let_go() override { exchange_.forget(); }

  void execute(void* first, void* second, bool adjoint) override {
    clock_.begin_execute();
    const bool to_columns = of_.to_spectrum != adjoint;
    if (!warm_[adjoint]) ranks_.together([&] { pipeline_.middle().reserve(to_columns); });
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
      local.run([&] { transform_planes(space + b * of_.space_bytes(), work, which, adjoint); });
    };
    const auto lines = [&](std::int64_t b, Complex* work, cpu::LineRange which) {
      local.run([&] { transform_lines(work, spectrum + b * of_.spectrum_bytes(), which, adjoint); });
    };
    to_columns ? pipeline_.to_columns(batch_, clock_, planes, lines)
               : pipeline_.to_planes(batch_, clock_, lines, planes);
    local.run([&] {
      clock_.time("wait", [&] { streams_.wait(Lane::work); });
      exchange_.settle();
    });
    local.always([&] { exchange_.rethrow(); });
    local.run([&] { clock_.time("download", [&] { (to_columns ? spectrum_ : space_).download(memory_); }); });
    local.end(ranks_, warm_[adjoint]);
  }

  MemoryUse memory() const override {
    const std::int64_t held =
        pipeline_.bytes() + exchange_.bytes() + planes_.bytes() + lines_->bytes() + space_.bytes() + spectrum_.bytes();
    return {held, held};
  }
  // On a GPU, the stages before "wait" only begin their work.
  std::span<const StageTime> stage_times() const override { return clock_.times(); }

 private:
  void transform_planes(char* space, Complex* work, cpu::LineRange which, bool adjoint) const {
    if (which.count == 0) return;
    void *const own = space + which.first * of_.space_plane * of_.space_element, *const kept =
                                                                                     work +
                                                                                     which.first * of_.spectrum_plane;
    Executor& fft = *planes_.find(which.count);
    of_.to_spectrum ? fft.execute(own, kept, adjoint) : fft.execute(kept, own, adjoint);
  }

  // Kernels for other numbers of lines may add in another order, so each column is transformed by the same ones where
  // bits must not depend on the ranks.
  std::int64_t lines_step(std::int64_t columns) const { return (deterministic_ ? 1 : columns) * of_.middle.run; }
  void transform_lines(Complex* work, char* spectrum, cpu::LineRange columns, bool adjoint) {
    const std::int64_t step = lines_step(columns.count), end = (columns.first + columns.count) * of_.middle.run;
    if (columns.count == 0) return;
    for (std::int64_t at = columns.first * of_.middle.run; at < end; at += step)
      of_.to_spectrum ? lines_->run(work, spectrum, {at, step}, adjoint)
                      : lines_->run(spectrum, work, {at, step}, adjoint);
  }

  const Communicator& ranks_;
  std::int64_t batch_;
  bool deterministic_;
  FftGeometry of_;
  DeviceStreams& streams_;
  DeviceCopy memory_;
  ExecutorOptions executor_options_;
  DeviceExchange exchange_;
  PipelineOf<DeviceMiddle<T>> pipeline_;
  CountedExecutors planes_;
  std::unique_ptr<DeviceLines> lines_;
  PassedArray space_, spectrum_;
  std::array<bool, 2> warm_{false, false};  // forward, adjoint
  cpu::StageClock clock_;
};

}  // namespace

std::unique_ptr<RankExecutor> make_gpu_fft_slabs(const Communicator& ranks, const Problem& problem,
                                                 const RankPlan& plan, const RankOptions& options,
                                                 const RankDevice& device) {
  if (plan.exchange == RankExchange::kernels) return make_gpu_joined_fft(ranks, problem, plan, options, device);
  if (problem.precision == Precision::f32)
    return std::make_unique<GpuFftSlabs<float>>(ranks, problem, plan, options, device);
  return std::make_unique<GpuFftSlabs<double>>(ranks, problem, plan, options, device);
}

}  // namespace fourtune::runtime::distributed
