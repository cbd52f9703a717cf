// Planes of which every rank has whole ones: an FFT of each, with nothing to exchange (plane_ffts.h).
#include "runtime/backends/cpu/fft/fft.h"
#include "runtime/distributed/counted_executors.h"
#include "runtime/distributed/plane_ffts.h"

namespace fourtune::runtime::distributed {
namespace {

template <class T>
class WholePlanes final : public PlaneFfts<T> {
 public:
  WholePlanes(const PlaneFftSpec& spec, const Pipeline<T>& pipeline)
      : of_(spec.of), work_plane_(of_.middle.joined_plane()), deterministic_(spec.deterministic) {
    // The planes of a piece are transformed all at once or, where results must not depend on how many there are, one at
    // a time.
    for (int c = 0; c < pipeline.chunks(); ++c) {
      const std::int64_t count = pipeline.planes(c).count;
      ffts_.add(count > 0 && deterministic_ ? 1 : count, [&] { return make(spec, deterministic_ ? 1 : count); });
    }
  }

  void run(char* space, std::complex<T>* work, const SomePlanes& planes, bool adjoint, LocalWork& local) override {
    local.run([&] {
      const std::int64_t step = deterministic_ ? 1 : planes.which.count, bytes = of_.space_plane * of_.space_element;
      for (std::int64_t i = 0; i < planes.count; ++i)
        for (std::int64_t p = planes.which.first; p < planes.which.first + planes.which.count; p += step) {
          void* const own = space + ((planes.b + i) * of_.own_planes + p) * bytes;
          void* const kept = work + (i * of_.own_planes + p) * work_plane_;
          Executor& fft = *ffts_.find(step);
          of_.to_spectrum ? fft.execute(own, kept, adjoint) : fft.execute(kept, own, adjoint);
        }
    });
  }
  std::int64_t bytes() const override { return ffts_.bytes(); }

 private:
  std::unique_ptr<Executor> make(const PlaneFftSpec& spec, std::int64_t count) const {
    Problem plane = spec.problem;
    plane.dim = spec.problem.dim - 1;
    plane.n[plane.dim] = 1;
    plane.batch = count;
    if (of_.middle.gap > 0) {
      const Sizes spectrum = of_.to_spectrum ? output_sizes(plane) : input_sizes(plane);
      (of_.to_spectrum ? plane.output_layout : plane.input_layout) = ArrayLayout{{1, spectrum[0]}, work_plane_};
    }
    generator::Plan plan = spec.plan.local;
    plan.cpu().fft.rigor = generator::Rigor::estimate;
    ExecutorOptions options;
    options.deterministic = spec.deterministic;
    return cpu::make_fft_executor(plane, plan, options);
  }

  FftGeometry of_;
  std::int64_t work_plane_;  // elements of a plane in the middle
  bool deterministic_;
  CountedExecutors ffts_;
};

}  // namespace

template <class T>
std::unique_ptr<PlaneFfts<T>> make_whole_plane_ffts(const PlaneFftSpec& spec, const Pipeline<T>& pipeline) {
  return std::make_unique<WholePlanes<T>>(spec, pipeline);
}
template std::unique_ptr<PlaneFfts<float>> make_whole_plane_ffts(const PlaneFftSpec&, const Pipeline<float>&);
template std::unique_ptr<PlaneFfts<double>> make_whole_plane_ffts(const PlaneFftSpec&, const Pipeline<double>&);

}  // namespace fourtune::runtime::distributed
