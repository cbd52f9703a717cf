// Planes of a fine grid of which every rank has whole ones: pruned FFTs of each, with nothing to exchange
// (nufft_planes.h).
#include "runtime/backends/cpu/nufft/pruned_fft.h"
#include "runtime/distributed/nufft_planes.h"

namespace fourtune::runtime::distributed {
namespace {

template <class T>
class WholeNufftPlanes final : public NufftPlanes<T> {
  using Complex = std::complex<T>;

 public:
  explicit WholeNufftPlanes(const NufftPlaneSpec<T>& spec) : spec_(spec), last_(spec.problem.dim - 1) {
    kept_plane_ = spec.problem.n[0] * (last_ == 2 ? spec.problem.n[1] : 1);
  }

  void make(bool adjoint) override {
    if (spec_.grid.empty() || ffts_[adjoint]) return;
    const Problem& problem = spec_.problem;
    cpu::PrunedFftSpec spec;
    spec.grid = spec_.grid.shape();
    spec.grid.dim = last_;
    spec.grid.elements = spec.grid.stride[last_];
    spec.grid.fine[last_] = 1;
    spec.grid.stride[last_] = 0;
    spec.modes = problem.n.xyz();
    spec.modes[last_] = 1;
    spec.length = spec_.length;
    spec.sign = adjoint ? -problem.sign : problem.sign;
    spec.order = spec_.order;
    for (std::size_t d = 0; d < static_cast<std::size_t>(last_); ++d) spec.factors[d] = spec_.factors[d];
    spec.fft = spec_.plan.local.cpu().fft;
    spec.fft.rigor = generator::Rigor::estimate;
    spec.threads = spec_.plan.local.cpu().threads;
    ffts_[adjoint] = cpu::make_pruned_fft<T>(spec, (problem.type == 1) != adjoint);
  }
  void truncate(Complex* cells, Complex* kept, std::int64_t planes, bool adjoint, LocalWork& local) override {
    local.run([&] { ffts_[adjoint]->truncate(cells, spec_.grid.shape().stride[last_], kept, kept_plane_, planes); });
  }
  void pad(const Complex* kept, Complex* cells, std::int64_t planes, bool adjoint, LocalWork& local) override {
    local.run([&] { ffts_[adjoint]->pad(kept, kept_plane_, cells, spec_.grid.shape().stride[last_], planes); });
  }
  std::int64_t bytes() const override {
    std::int64_t sum = 0;
    for (const auto& fft : ffts_) sum += fft ? fft->bytes() : 0;
    return sum;
  }

 private:
  NufftPlaneSpec<T> spec_;
  int last_;
  std::int64_t kept_plane_ = 1;
  std::array<std::unique_ptr<cpu::PrunedFft<T>>, 2> ffts_;  // forward and, made on first use, adjoint
};

}  // namespace

template <class T>
std::unique_ptr<NufftPlanes<T>> make_whole_nufft_planes(const NufftPlaneSpec<T>& spec) {
  return std::make_unique<WholeNufftPlanes<T>>(spec);
}
template std::unique_ptr<NufftPlanes<float>> make_whole_nufft_planes(const NufftPlaneSpec<float>&);
template std::unique_ptr<NufftPlanes<double>> make_whole_nufft_planes(const NufftPlaneSpec<double>&);

}  // namespace fourtune::runtime::distributed
