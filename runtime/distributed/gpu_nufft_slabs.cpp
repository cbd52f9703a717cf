// Types 1 and 2 by slabs whose ranks have GPUs. The steps are those of host_nufft.cpp but for the points, which
// gpu_placed_points.h moves, spreads and interpolates.
//
//   type 1: values -> spread -> transform and prune planes -> transposition -> lines -> modes
//   type 2: modes -> lines -> transposition -> pad and transform planes -> fetch planes -> interpolate -> values
//
// deterministic: lines of a column are transformed by one launch.
#include <algorithm>
#include <complex>

#include "runtime/backends/cpu/base/stage_clock.h"
#include "runtime/distributed/device_middle.h"
#include "runtime/distributed/gpu_placed_points.h"
#include "runtime/distributed/joined_ranks.h"
#include "runtime/distributed/passed_array.h"
#include "runtime/distributed/peer_arrays.h"
#include "runtime/distributed/pipeline.h"
#include "runtime/distributed/rank_executor.h"
#include "runtime/slabs/gpu_slab_ffts.h"
#include "runtime/slabs/gpu_slab_plan.h"

namespace fourtune::runtime::distributed {
namespace {

using Lane = DeviceStreams::Lane;

template <class T>
class GpuNufftSlabs final : public RankExecutor {
  using Complex = std::complex<T>;

 public:
  GpuNufftSlabs(const Communicator& ranks, const Problem& problem, const RankPlan& plan, const RankOptions& options,
                const RankDevice& device)
      : ranks_(ranks),
        problem_(problem),
        plan_(plan),
        options_(options),
        backend_(program_backend(*device.backend)),
        streams_(*device.streams),
        memory_(*device.backend, device.number),
        by_kernels_(plan.exchange == RankExchange::kernels),
        kept_in_grid_(plan.kept == Kept::grid),
        chunk_(kept_in_grid_ ? 1 : std::clamp<std::int64_t>(plan.local.chunk, 1, problem.batch)),
        points_(ranks, device, memory_, points_spec(), clock_),
        exchange_(ranks, streams_, memory_, copies(), device.nccl),
        peers_(ranks, streams_),
        ffts_(backend_.queue(device.number), streams_.stream(Lane::work),
              grid_fft_of(problem, plan.local, options.mode_order)) {
    columns_ = mode_columns(problem, ranks.size());
    run_ = problem.dim == 3 ? problem.n[0] : 1;
    lines_count_ = run_ * columns_.size(ranks.rank());
    mode_bytes_ = lines_count_ * problem.n[problem.dim - 1] * kElement;
  }

  void set_points(const PointSet& points) override {
    clock_.begin_set_points();
    warm_ = {false, false};
    std::array<PassedArray, 3> copies;
    PointSet own = points;
    clock_.time("locate", [&] {
      ranks_.together([&] {
        memory_.wait();  // for what the application has put on the default stream
        const std::array<const void**, 3> coordinates{&own.x, &own.y, &own.z};
        for (std::size_t d = 0; d < static_cast<std::size_t>(problem_.dim); ++d) {
          *coordinates[d] = copies[d].bind(const_cast<void*>(*coordinates[d]),
                                           points.m * static_cast<std::int64_t>(sizeof(T)), streams_, memory_);
          copies[d].upload(memory_);
        }
      });
    });
    if (points_.cut(own)) ranks_.together([&] { bind(); });
    points_.move(own);
    count_ = points.m;
    clock_.end_set_points();
  }

  void execute(void* first, void* second, bool adjoint) override {
    clock_.begin_execute();
    const bool to_modes = (problem_.type == 1) != adjoint;
    const int sign = adjoint ? -problem_.sign : problem_.sign;
    if (!warm_[adjoint]) ranks_.together([&] { make_ffts(sign, to_modes); });
    LocalWork local;
    joined_used_ = false;
    char *values = nullptr, *modes = nullptr;
    local.run([&] {
      values = values_of_.bind(first, problem_.batch * count_ * kElement, streams_, memory_);
      modes = modes_of_.bind(second, problem_.batch * mode_bytes_, streams_, memory_);
      clock_.time("upload", [&] {
        memory_.wait();  // for what the application has put on the default stream
        (to_modes ? values_of_ : modes_of_).upload(memory_);
      });
    });
    for (std::int64_t b = 0; b < problem_.batch; b += chunk_) {
      const Chunk now{values + b * count_ * kElement, modes + b * mode_bytes_, std::min(chunk_, problem_.batch - b),
                      sign, adjoint};
      to_modes ? forward(now, local) : backward(now, local);
    }
    local.run([&] {
      clock_.time("wait", [&] { streams_.wait(Lane::work); });
      exchange_.settle(), points_.settle();
    });
    local.always([&] { exchange_.rethrow(); });
    local.always([&] { peers_.rethrow(); });
    points_.rethrow(local);
    local.run([&] { clock_.time("download", [&] { (to_modes ? modes_of_ : values_of_).download(memory_); }); });
    local.end(ranks_, warm_[adjoint]);
  }

  void let_go() override { exchange_.forget(); }

  MemoryUse memory() const override {
    const std::int64_t held = pipeline_.bytes() + exchange_.bytes() + points_.bytes() + ffts_.bytes() +
                              values_of_.bytes() + modes_of_.bytes();
    return {held, held};
  }
  // The stages before "wait" only begin their work.
  std::span<const StageTime> stage_times() const override { return clock_.times(); }

 private:
  static constexpr auto kElement = static_cast<std::int64_t>(sizeof(Complex));
  // Transforms that are worked on together.
  struct Chunk {
    char *values, *modes;
    std::int64_t count;
    int sign;
    bool adjoint;
  };

  GpuPlacedPoints::Spec points_spec() const {
    GpuPlacedPoints::Spec spec;
    spec.problem = problem_;
    spec.plan = plan_.local;
    spec.balance = plan_.balance;
    spec.way = copies();
    spec.chunk = chunk_;
    spec.parts = plan_.parts;
    spec.deterministic = options_.deterministic;
    spec.trust = options_.trust_points;
    spec.kept_in_grid = kept_in_grid_;
    return spec;
  }
  const DeviceSlab& slab() const { return points_.slab(); }

  // What depends on where the grid is cut.
  void bind() {
    points_.bind();
    const bool joined = ranks_.size() <= kMostJoined;
    pipeline_.bind(ranks_, {slab().of_ranks, columns_, run_, kElement, joined}, plan_.chunks, chunk_, exchange_,
                   memory_, kept_in_grid_ ? points_.grid() : nullptr);
    if (by_kernels_) share_rows();
  }

  // Which kept planes kernels find in the memory of which rank.
  void share_rows() {
    SharedRows rows = shared_rows({slab().of_ranks, columns_, run_, kElement});
    const auto ranks = static_cast<std::size_t>(ranks_.size());
    pieces_.assign(ranks, {0, pipeline_.middle().joined_bytes()});
    if (!kept_in_grid_) return ffts_.share({rows.of_columns, rows.of_planes});
    const std::int64_t plane = run_ * columns_.items() * kElement;
    for (int r = 0; r < ranks_.size(); ++r)
      pieces_[static_cast<std::size_t>(r)] = {slab().of_ranks.begin(r) * plane, slab().of_ranks.size(r) * plane};
    rows.of_planes.eighths = 8;  // all of them are where their planes are
    ffts_.share({std::nullopt, rows.of_planes});
  }
  // What moves the rest where kernels exchange planes.
  RankExchange copies() const { return by_kernels_ ? RankExchange::peer : plan_.exchange; }
  // The other ranks' kernels may use the joined array from now on. Collective.
  void open_joined(LocalWork& local) {
    if (joined_used_) local.run([&] { streams_.wait(Lane::work); });
    joined_used_ = true;
    peers_.open(pipeline_.middle().joined_array());
    begins_.clear();
    for (std::size_t r = 0; r < peers_.all().size(); ++r)
      begins_.push_back(static_cast<char*>(peers_.all()[r]) - pieces_[r].first);
    ffts_.look({begins_, ranks_.rank(), pieces_});
  }
  // So many planes at a time that what lies between their two dimensions takes little memory, in the order in which
  // kept planes in the memory of the grid overwrite, or are overwritten by, what is not needed any more: a kept plane
  // lies before the one that it is kept of, and is smaller.
  std::vector<cpu::LineRange> plane_pieces(cpu::LineRange which, bool to_modes) const {
    std::vector<cpu::LineRange> pieces =
        pieces_of(which, one_by_one_[to_modes] ? piece_bytes : points_.plane_cells() * kElement);
    if (kept_in_grid_ && !to_modes) std::reverse(pieces.begin(), pieces.end());
    return pieces;
  }
  // The same of columns, whose lines may take two kernels; each column by itself where bits must not depend on the
  // ranks.
  std::vector<cpu::LineRange> column_pieces(cpu::LineRange which) const {
    return pieces_of(which, options_.deterministic ? piece_bytes : run_ * slab().cells * kElement);
  }
  // Planes and lines of one transform, in this order or the other one.
  void exchange_by_kernels(std::int64_t b, const Chunk& now, bool to_modes, LocalWork& local) {
    auto& middle = pipeline_.middle();
    const auto planes = [&] {
      if (!peers_.all().empty()) transform_planes(b, middle.planes_at(0), pipeline_.planes(0), now, to_modes);
    };
    const auto lines = [&] {
      if (!peers_.all().empty())
        transform_lines(middle.columns_at(0), now.modes + b * mode_bytes_, pipeline_.columns(0), now, to_modes);
    };
    clock_.time(to_modes ? "planes" : "lines", [&] { local.run([&] { to_modes ? planes() : lines(); }); });
    clock_.time("exchange", [&] { peers_.meet(); });
    clock_.time(to_modes ? "lines" : "planes", [&] { local.run([&] { to_modes ? lines() : planes(); }); });
  }

  void make_ffts(int sign, bool to_modes) {
    const GpuSlabFfts::Strides strides{lines_count_, pipeline_.middle().pieces().columns_stride()};
    one_by_one_[to_modes] = false;
    for (int c = 0; c < pipeline_.chunks(); ++c) {
      for (const cpu::LineRange& piece : plane_pieces(pipeline_.planes(c), to_modes)) {
        if (!kept_in_grid_)
          ffts_.prepare_planes(piece.count, sign, to_modes);
        else if (ffts_.prepare_planes_inside(piece.count, sign, to_modes) < piece.count)
          one_by_one_[to_modes] = true;
      }
      for (const cpu::LineRange& piece : column_pieces(pipeline_.columns(c)))
        ffts_.prepare_lines(piece.count * run_, strides, sign, to_modes);
    }
    pipeline_.middle().reserve(to_modes);
  }
  void transform_lines(Complex* work, char* modes, cpu::LineRange columns, const Chunk& now, bool to_modes) {
    for (const cpu::LineRange& piece : column_pieces(columns)) {
      const std::int64_t at = piece.first * run_;
      ffts_.lines(work + at, modes + at * kElement, piece.count * run_, now.sign, to_modes);
    }
  }
  void transform_planes(std::int64_t b, Complex* work, cpu::LineRange which, const Chunk& now, bool to_modes) {
    for (const cpu::LineRange& piece : plane_pieces(which, to_modes))
      ffts_.planes(points_.own_plane(b, piece.first), work + piece.first * run_ * columns_.items(), piece.count,
                   now.sign, to_modes);
  }

  void forward(const Chunk& now, LocalWork& local) {
    if (by_kernels_) open_joined(local);
    for (std::int64_t b = 0; b < now.count; ++b)
      points_.spread(now.values + b * count_ * kElement, b, now.adjoint, local);
    const auto planes = [&](std::int64_t b, Complex* work, cpu::LineRange which) {
      local.run([&] { transform_planes(b, work, which, now, true); });
    };
    const auto lines = [&](std::int64_t b, Complex* work, cpu::LineRange which) {
      local.run([&] { transform_lines(work, now.modes + b * mode_bytes_, which, now, true); });
    };
    if (!by_kernels_) return pipeline_.to_columns(now.count, clock_, planes, lines);
    for (std::int64_t b = 0; b < now.count; ++b) {
      if (b > 0) open_joined(local);
      exchange_by_kernels(b, now, true, local);
    }
  }

  void backward(const Chunk& now, LocalWork& local) {
    const auto lines = [&](std::int64_t b, Complex* work, cpu::LineRange which) {
      local.run([&] { transform_lines(work, now.modes + b * mode_bytes_, which, now, false); });
    };
    const auto planes = [&](std::int64_t b, Complex* work, cpu::LineRange which) {
      local.run([&] { transform_planes(b, work, which, now, false); });
    };
    if (!by_kernels_) pipeline_.to_planes(now.count, clock_, lines, planes);
    for (std::int64_t b = 0; b < now.count && by_kernels_; ++b) {
      open_joined(local);
      exchange_by_kernels(b, now, false, local);
    }
    for (std::int64_t b = 0; b < now.count; ++b)
      points_.interpolate(now.values + b * count_ * kElement, b, now.adjoint, local);
  }

  const Communicator& ranks_;
  Problem problem_;
  RankPlan plan_;
  RankOptions options_;
  const gpu::ProgramBackend& backend_;
  DeviceStreams& streams_;
  DeviceCopy memory_;
  cpu::StageClock clock_;
  bool by_kernels_, kept_in_grid_, joined_used_ = false;
  std::int64_t chunk_ = 1;
  GpuPlacedPoints points_;
  DeviceExchange exchange_;
  PeerArrays peers_;
  PipelineOf<DeviceMiddle<T>> pipeline_;
  GpuSlabFfts ffts_;
  Split columns_;
  std::int64_t run_ = 1, lines_count_ = 0, mode_bytes_ = 0, count_ = 0;
  PassedArray values_of_, modes_of_;
  // RankExchange::kernels: what each rank has of the joined array, and where that begins.
  std::vector<gpu::ProgramSet::Ranks::Piece> pieces_;
  std::vector<void*> begins_;
  std::array<bool, 2> one_by_one_{};        // by direction: planes, as a single kernel transforms one
  std::array<bool, 2> warm_{false, false};  // forward, adjoint
};

}  // namespace

std::unique_ptr<RankExecutor> make_gpu_nufft_slabs(const Communicator& ranks, const Problem& problem,
                                                   const RankPlan& plan, const RankOptions& options,
                                                   const RankDevice& device) {
  if (problem.precision == Precision::f32)
    return std::make_unique<GpuNufftSlabs<float>>(ranks, problem, plan, options, device);
  return std::make_unique<GpuNufftSlabs<double>>(ranks, problem, plan, options, device);
}

}  // namespace fourtune::runtime::distributed
