// Planes of the fine grid that several ranks share:
//
//   type 1   rows along x, pruned -> exchange among the ranks of a plane -> rows along y, pruned
//   type 2   rows along y, padded -> exchange among the ranks of a plane -> rows along x, padded
//
// The exchange is a transposition, of whose arrays each is one plane: from parts of y with all kept modes along x to
// parts of these with all of y. So only what is kept along x travels. It goes in pieces where the transposition behind
// it does. A row's result depends on nothing but the row, so the bits are the same for every grid of ranks. One rank
// with whole planes runs the same code, plane by plane, where bits matter.
#include <algorithm>

#include "runtime/backends/cpu/nufft/nufft_common.h"
#include "runtime/distributed/grid_rows.h"
#include "runtime/distributed/nufft_planes.h"
#include "runtime/distributed/pipeline.h"
#include "runtime/distributed/plane_ffts.h"

namespace fourtune::runtime::distributed {
namespace {

// The modes along a dimension, and their factors.
template <class T>
struct ModesAlong {
  cpu::LineSide side;
  std::vector<T> factor;
  ModesAlong(const NufftPlaneSpec<T>& spec, std::size_t d)
      : side(cpu::part_side(spec.cut.fine[d], spec.problem.n[static_cast<int>(d)], spec.order)),
        factor(cpu::factors_in_order<T>(spec.factors[d], side)) {}
  AxisSide<T> as_side(std::int64_t distance = 0) const { return {side, factor.data(), distance}; }
};

template <class T>
class SplitNufftPlanes final : public NufftPlanes<T> {
  using Complex = std::complex<T>;

 public:
  explicit SplitNufftPlanes(const NufftPlaneSpec<T>& spec)
      : spec_(spec),
        shared_(spec.plan.grid.in_plane > 1),
        x_(spec, 0),
        y_(spec, 1),
        inner_(shared_ ? PipelineStages{"rows", "rows along y", "exchange in planes"}
                       : PipelineStages{nullptr, nullptr, nullptr}) {
    const RankGrid& grid = spec.plan.grid;
    const int rank = spec.ranks.rank(), first = grid.place_of_planes(rank) * grid.in_plane;
    const Split rows = shared_ ? spec.cut.cells(1) : Split::even(spec.cut.fine[1], 1);
    const TranspositionShape shape{rows, Split::even(spec.problem.n[0], grid.in_plane), 1, sizeof(Complex)};
    own_x_ = shape.columns.size(grid.place_in_plane(rank));
    inner_.bind(RankGroup(spec.ranks, first, 1, grid.in_plane), shape, chunks_inside(spec.plan.chunks),
                std::max<std::int64_t>(spec.most_planes, 1), spec.plan.local.cpu().threads);
  }

  void make(bool adjoint) override {
    Ffts& ffts = ffts_[adjoint];
    if (ffts.lines) return;
    const auto& fine = spec_.cut.fine;
    const generator::CpuStages& stages = spec_.plan.local.cpu();
    const GridRowSpec rows{fine[0], adjoint ? -spec_.problem.sign : spec_.problem.sign, fine[1] * fine[2], stages.fft,
                           stages.threads};
    if (!spec_.grid.empty()) ffts.rows = std::make_unique<GridRows<T>>(rows, spec_.grid.rows(), spec_.grid.shape());
    ffts.lines =
        std::make_unique<AxisLines<T>>(fine[1], rows.sign, spec_.problem.n[0] * fine[2], stages.fft, stages.threads);
  }

  void truncate(Complex* cells, Complex* kept, std::int64_t planes, bool adjoint, LocalWork& local) override {
    const auto along_x = [&](std::int64_t at, std::int64_t count, Complex* array, cpu::LineRange) {
      if (cells != nullptr)
        local.run([&] { ffts_[adjoint].rows->truncate(cells + at * plane(), array, x_.as_side(), count); });
    };
    const auto along_y = [&](std::int64_t at, std::int64_t count, Complex* array, cpu::LineRange) {
      if (own_x_ > 0)
        local.run([&] {
          ffts_[adjoint].lines->run(array, all_of_y(), kept + at * kept_plane(), y_.as_side(kept_plane()), own_x_,
                                    {0, own_x_}, count);
        });
    };
    inner_.to_columns(planes, spec_.clock, along_x, along_y);
  }

  void pad(const Complex* kept, Complex* cells, std::int64_t planes, bool adjoint, LocalWork& local) override {
    const auto along_y = [&](std::int64_t at, std::int64_t count, Complex* array, cpu::LineRange) {
      if (own_x_ > 0)
        local.run([&] {
          ffts_[adjoint].lines->run(kept + at * kept_plane(), y_.as_side(kept_plane()), array, all_of_y(), own_x_,
                                    {0, own_x_}, count);
        });
    };
    const auto along_x = [&](std::int64_t at, std::int64_t count, Complex* array, cpu::LineRange) {
      if (cells != nullptr)
        local.run([&] { ffts_[adjoint].rows->pad(array, cells + at * plane(), x_.as_side(), count); });
    };
    inner_.to_planes(planes, spec_.clock, along_y, along_x);
  }

  std::int64_t bytes() const override {
    std::int64_t sum = inner_.bytes();
    for (const Ffts& ffts : ffts_) sum += (ffts.rows ? ffts.rows->bytes() : 0) + (ffts.lines ? ffts.lines->bytes() : 0);
    return sum;
  }

 private:
  struct Ffts {
    std::unique_ptr<GridRows<T>> rows;
    std::unique_ptr<AxisLines<T>> lines;
  };

  std::int64_t plane() const { return spec_.grid.shape().stride[2]; }
  std::int64_t kept_plane() const { return own_x_ * spec_.problem.n[1]; }
  AxisSide<T> all_of_y() const { return {cpu::whole_side(spec_.cut.fine[1]), nullptr, own_x_ * spec_.cut.fine[1]}; }

  NufftPlaneSpec<T> spec_;
  bool shared_;  // there are other ranks with these planes
  ModesAlong<T> x_, y_;
  Pipeline<T> inner_;
  std::int64_t own_x_ = 0;    // this rank's modes along x
  std::array<Ffts, 2> ffts_;  // forward and, made on first use, adjoint
};

}  // namespace

template <class T>
std::unique_ptr<NufftPlanes<T>> make_split_nufft_planes(const NufftPlaneSpec<T>& spec) {
  return std::make_unique<SplitNufftPlanes<T>>(spec);
}
template std::unique_ptr<NufftPlanes<float>> make_split_nufft_planes(const NufftPlaneSpec<float>&);
template std::unique_ptr<NufftPlanes<double>> make_split_nufft_planes(const NufftPlaneSpec<double>&);

}  // namespace fourtune::runtime::distributed
