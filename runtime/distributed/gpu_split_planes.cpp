// Planes on GPUs that several ranks share (device_plane_ffts.h); split_planes.cpp is the same on processors:
//
//   from space   rows along x -> exchange among the ranks of a plane -> rows along y
//   back         rows along y -> exchange among the ranks of a plane -> rows along x
//
// All planes of a piece are worked on at once and travel as one message for each pair of ranks. A row's result depends
// on nothing but the row where the options ask for that, so the bits are then the same for every grid of ranks.
#include <algorithm>

#include "runtime/distributed/counted_executors.h"
#include "runtime/distributed/device_lines.h"
#include "runtime/distributed/device_plane_ffts.h"
#include "runtime/distributed/plane_ffts.h"

namespace fourtune::runtime::distributed {
namespace {

template <class T>
class GpuSplitPlanes final : public DevicePlaneFfts<T> {
  using Complex = std::complex<T>;
  using Middle = DeviceMiddle<T>;

 public:
  GpuSplitPlanes(const DevicePlaneSpec& spec, const PipelineOf<Middle>& outer)
      : of_(spec.of),
        clock_(spec.clock),
        exchange_(spec.ranks, *spec.device.streams, spec.memory, spec.plan.exchange, spec.device.nccl),
        inner_(PipelineStages{"rows", "rows along y", "exchange in planes"}) {
    std::int64_t most = 0;
    for (int c = 0; c < outer.chunks(); ++c) most = std::max(most, outer.planes(c).count);
    const RankGrid& grid = spec.plan.grid;
    const int first = grid.place_of_planes(spec.ranks.rank()) * grid.in_plane;
    inner_.bind(RankGroup(spec.ranks, first, 1, grid.in_plane), of_.inside, chunks_inside(spec.plan.chunks), most,
                exchange_, spec.memory);
    const std::int64_t in_middle = inner_.columns_stride(), distance = inner_.middle().columns_distance();
    DeviceLines::Shape lines{of_.inside.planes.items(), in_middle, of_.middle.run, spec.problem.sign,
                             spec.problem.precision,    distance,  plane(),        spec.options.deterministic};
    if (!of_.to_spectrum) std::swap(lines.from, lines.to), std::swap(lines.from_distance, lines.to_distance);
    lines_ = std::make_unique<DeviceLines>(*spec.device.backend, spec.plan.local, lines, spec.options);
    for (int c = 0; c < outer.chunks(); ++c) prepare(spec, outer.planes(c).count);
  }

  void reserve(bool to_columns) override { inner_.middle().reserve(to_columns); }

  void run(char* space, Complex* work, cpu::LineRange which, bool adjoint, LocalWork& local) override {
    char* const rows_at = space + which.first * space_plane_bytes();
    Complex* const kept = work + which.first * plane();
    const auto along_x = [&](std::int64_t at, std::int64_t count, Complex* array, cpu::LineRange) {
      if (of_.rows == 0) return;
      void* const own = rows_at + at * space_plane_bytes();
      Executor& fft = *rows_.find(count);
      local.run([&] { of_.to_spectrum ? fft.execute(own, array, adjoint) : fft.execute(array, own, adjoint); });
    };
    const auto along_y = [&](std::int64_t at, std::int64_t count, Complex* array, cpu::LineRange) {
      if (of_.middle.run == 0) return;
      Complex* const own = kept + at * plane();
      const cpu::LineRange all{0, of_.middle.run};
      local.run([&] {
        of_.to_spectrum ? lines_->run(array, own, all, adjoint, count) : lines_->run(own, array, all, adjoint, count);
      });
    };
    of_.to_spectrum != adjoint ? inner_.to_columns(which.count, clock_, along_x, along_y)
                               : inner_.to_planes(which.count, clock_, along_y, along_x);
  }

  void settle() override { exchange_.settle(); }
  void rethrow() override { exchange_.rethrow(); }
  std::int64_t bytes() const override { return inner_.bytes() + exchange_.bytes() + rows_.bytes() + lines_->bytes(); }

 private:
  std::int64_t plane() const { return of_.middle.run * of_.middle.columns.items(); }
  std::int64_t space_plane_bytes() const { return of_.space_plane * of_.space_element; }

  // The transforms for a piece of so many planes, which the pipeline takes in groups.
  void prepare(const DevicePlaneSpec& spec, std::int64_t planes) {
    for (std::int64_t at = 0; at < planes; at += inner_.together()) {
      const std::int64_t count = std::min(inner_.together(), planes - at);
      Problem rows = spec.problem;
      rows.dim = 1;
      rows.n = Sizes(spec.problem.n[0]);
      rows.batch = count * of_.rows;
      if (of_.rows > 0)
        rows_.add(count, [&] { return spec.device.backend->bind(rows, spec.plan.local, spec.options); });
      if (of_.middle.run > 0) lines_->prepare(of_.middle.run, count);
    }
  }

  FftGeometry of_;
  cpu::StageClock& clock_;
  DeviceExchange exchange_;
  PipelineOf<Middle> inner_;
  CountedExecutors rows_;  // by the number of planes
  std::unique_ptr<DeviceLines> lines_;
};

}  // namespace

template <class T>
std::unique_ptr<DevicePlaneFfts<T>> make_gpu_split_planes(const DevicePlaneSpec& spec,
                                                          const PipelineOf<DeviceMiddle<T>>& pipeline) {
  return std::make_unique<GpuSplitPlanes<T>>(spec, pipeline);
}
template std::unique_ptr<DevicePlaneFfts<float>> make_gpu_split_planes(const DevicePlaneSpec&,
                                                                       const PipelineOf<DeviceMiddle<float>>&);
template std::unique_ptr<DevicePlaneFfts<double>> make_gpu_split_planes(const DevicePlaneSpec&,
                                                                        const PipelineOf<DeviceMiddle<double>>&);

}  // namespace fourtune::runtime::distributed
