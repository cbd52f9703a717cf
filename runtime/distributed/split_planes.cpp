// Planes that several ranks share:
//
//   from space   rows along x -> exchange among the ranks of a plane -> rows along y
//   back         rows along y -> exchange among the ranks of a plane -> rows along x
//
// The exchange is another transposition, of whose arrays each is one plane: from parts of y with all of x to parts
// of x with all of y. A piece of planes is one batch of its pipeline. Where the plan cuts the transposition behind it
// into chunks, this one travels in pieces too, so that some planes travel while others are transformed.
//
// A row's result depends on nothing but the row, so the bits are the same for every grid of ranks. One rank with whole
// planes runs the same code, plane by plane, where bits matter (host_fft.cpp).
#include <algorithm>
#include <array>

#include "runtime/distributed/axis_lines.h"
#include "runtime/distributed/plane_ffts.h"
#include "runtime/distributed/row_ffts.h"

namespace fourtune::runtime::distributed {
namespace {

FftType reversed(FftType type) {
  return type == FftType::c2c ? type : type == FftType::r2c ? FftType::c2r : FftType::r2c;
}

template <class T>
class SplitPlanes final : public PlaneFfts<T> {
  using Complex = std::complex<T>;

 public:
  SplitPlanes(const PlaneFftSpec& spec, const Pipeline<T>& outer)
      : problem_(spec.problem),
        plan_(spec.plan),
        of_(spec.of),
        clock_(spec.clock),
        shared_(spec.plan.grid.in_plane > 1),
        inner_(shared_ ? PipelineStages{"rows", "rows along y", "exchange in planes"}
                       : PipelineStages{nullptr, nullptr, nullptr}) {
    std::int64_t most = 0;
    for (int c = 0; c < outer.chunks(); ++c) most = std::max(most, outer.planes(c).count);
    const RankGrid& grid = spec.plan.grid;
    const int first = grid.place_of_planes(spec.ranks.rank()) * grid.in_plane;
    inner_.bind(RankGroup(spec.ranks, first, 1, grid.in_plane), of_.inside, chunks_inside(spec.plan.chunks),
                most * outer.together(), spec.plan.local.cpu().threads);
    make(false);
  }

  void run(char* space, Complex* work, const SomePlanes& planes, bool adjoint, LocalWork& local) override {
    local.run([&] { make(adjoint); });
    // All of these planes follow each other in both arrays: where there are several transforms, none of them is cut.
    const std::int64_t first = planes.b * of_.own_planes + planes.which.first, plane = of_.middle.joined_plane();
    char* const rows_at = space + first * of_.space_plane * of_.space_element;
    Complex* const kept = work + planes.which.first * plane;
    const Ffts& ffts = ffts_[adjoint];
    const bool from_space = of_.to_spectrum != adjoint;
    const auto along_x = [&](std::int64_t at, std::int64_t count, Complex* array, cpu::LineRange) {
      char* const own = rows_at + at * of_.space_plane * of_.space_element;
      local.run([&] {
        from_space ? ffts.rows->run(own, array, count * of_.rows) : ffts.rows->run(array, own, count * of_.rows);
      });
    };
    const auto along_y = [&](std::int64_t at, std::int64_t count, Complex* array, cpu::LineRange) {
      const AxisSide<T> inside{cpu::whole_side(columns()), nullptr, of_.middle.run * columns()},
          outside{inside.side, nullptr, plane};
      const cpu::LineRange all{0, of_.middle.run};
      Complex* const own = kept + at * plane;
      local.run([&] {
        from_space ? ffts.lines->run(array, inside, own, outside, of_.middle.run, all, count)
                   : ffts.lines->run(own, outside, array, inside, of_.middle.run, all, count);
      });
    };
    const std::int64_t count = planes.count * planes.which.count;
    from_space ? inner_.to_columns(count, clock_, along_x, along_y) : inner_.to_planes(count, clock_, along_y, along_x);
  }

  std::int64_t bytes() const override {
    std::int64_t sum = inner_.bytes();
    for (const Ffts& ffts : ffts_) sum += (ffts.rows ? ffts.rows->bytes() : 0) + (ffts.lines ? ffts.lines->bytes() : 0);
    return sum;
  }

 private:
  struct Ffts {
    std::unique_ptr<RowFfts<T>> rows;
    std::unique_ptr<AxisLines<T>> lines;
  };

  std::int64_t columns() const { return of_.middle.columns.items(); }

  void make(bool adjoint) {
    Ffts& ffts = ffts_[adjoint];
    if (of_.own_planes == 0 || ffts.rows) return;
    RowFftSpec rows;
    rows.type = adjoint ? reversed(problem_.fft_type) : problem_.fft_type;
    rows.n = problem_.n[0];
    rows.sign = adjoint ? -problem_.sign : problem_.sign;
    // The weights of stored entries that have a mirror image (cpu/fft/fft.h).
    if (adjoint && rows.type != FftType::c2c) rows.interior = rows.type == FftType::c2r ? 0.5 : 2;
    rows.usual = problem_.n[1] * of_.length;
    rows.choice = plan_.local.cpu().fft;
    rows.threads = plan_.local.cpu().threads;
    ffts.lines = std::make_unique<AxisLines<T>>(columns(), rows.sign, of_.inside.columns.items() * of_.length,
                                                rows.choice, rows.threads);
    ffts.rows = std::make_unique<RowFfts<T>>(rows);
  }

  Problem problem_;
  RankPlan plan_;
  FftGeometry of_;
  cpu::StageClock& clock_;
  bool shared_;  // there are other ranks with these planes
  Pipeline<T> inner_;
  std::array<Ffts, 2> ffts_;  // forward and, made on first use, adjoint
};

}  // namespace

template <class T>
std::unique_ptr<PlaneFfts<T>> make_split_plane_ffts(const PlaneFftSpec& spec, const Pipeline<T>& pipeline) {
  return std::make_unique<SplitPlanes<T>>(spec, pipeline);
}
template std::unique_ptr<PlaneFfts<float>> make_split_plane_ffts(const PlaneFftSpec&, const Pipeline<float>&);
template std::unique_ptr<PlaneFfts<double>> make_split_plane_ffts(const PlaneFftSpec&, const Pipeline<double>&);

}  // namespace fourtune::runtime::distributed
