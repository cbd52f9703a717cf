// Planes on GPUs of which every rank has whole ones: a batch of the library's transforms (device_plane_ffts.h).
#include "runtime/distributed/counted_executors.h"
#include "runtime/distributed/device_plane_ffts.h"

namespace fourtune::runtime::distributed {
namespace {

template <class T>
class GpuWholePlanes final : public DevicePlaneFfts<T> {
 public:
  GpuWholePlanes(const DevicePlaneSpec& spec, const PipelineOf<DeviceMiddle<T>>& pipeline) : of_(spec.of) {
    Problem plane = spec.problem;
    plane.dim = spec.problem.dim - 1;
    plane.n[plane.dim] = 1;
    for (int c = 0; c < pipeline.chunks(); ++c) {
      plane.batch = pipeline.planes(c).count;
      ffts_.add(plane.batch, [&] { return spec.device.backend->bind(plane, spec.plan.local, spec.options); });
    }
  }

  void run(char* space, std::complex<T>* work, cpu::LineRange which, bool adjoint, LocalWork& local) override {
    if (which.count == 0) return;
    local.run([&] {
      void* const own = space + which.first * of_.space_plane * of_.space_element;
      void* const kept = work + which.first * of_.spectrum_plane;
      Executor& fft = *ffts_.find(which.count);
      of_.to_spectrum ? fft.execute(own, kept, adjoint) : fft.execute(kept, own, adjoint);
    });
  }
  std::int64_t bytes() const override { return ffts_.bytes(); }

 private:
  FftGeometry of_;
  CountedExecutors ffts_;
};

}  // namespace

template <class T>
std::unique_ptr<DevicePlaneFfts<T>> make_gpu_whole_planes(const DevicePlaneSpec& spec,
                                                          const PipelineOf<DeviceMiddle<T>>& pipeline) {
  return std::make_unique<GpuWholePlanes<T>>(spec, pipeline);
}
template std::unique_ptr<DevicePlaneFfts<float>> make_gpu_whole_planes(const DevicePlaneSpec&,
                                                                       const PipelineOf<DeviceMiddle<float>>&);
template std::unique_ptr<DevicePlaneFfts<double>> make_gpu_whole_planes(const DevicePlaneSpec&,
                                                                        const PipelineOf<DeviceMiddle<double>>&);

}  // namespace fourtune::runtime::distributed
