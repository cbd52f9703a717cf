// Types 1 and 2 by slabs whose ranks have GPUs. The steps are those of nufft_slabs.cpp except for the shared cells:
// points near a cut are spread by both ranks (gpu_moved_points.h), and before interpolation a rank gets the planes
// behind its own ones.
//
//   set_points: locate every point -> cut the grid into slabs -> move points -> sort
//   type 1: move values -> spread -> transform and prune planes -> transposition -> lines -> modes
//   type 2: modes -> lines -> transposition -> pad and transform planes -> fetch planes -> interpolate -> move values
//
// deterministic: spreading adds integers (templates/nufft_common.cuh) whose unit all ranks agree on, so sums do not
// depend on the slabs; each point's value is a separate sum; lines of a column are transformed by one launch.
#include <algorithm>
#include <bit>
#include <complex>

#include "runtime/backends/cpu/base/stage_clock.h"
#include "runtime/distributed/device_middle.h"
#include "runtime/distributed/gpu_moved_points.h"
#include "runtime/distributed/joined_ranks.h"
#include "runtime/distributed/passed_array.h"
#include "runtime/distributed/peer_arrays.h"
#include "runtime/distributed/pipeline.h"
#include "runtime/distributed/rank_executor.h"
#include "runtime/distributed/slab_cost.h"
#include "runtime/slabs/device_slab.h"
#include "runtime/slabs/gpu_slab_ffts.h"
#include "runtime/slabs/gpu_slab_plan.h"

namespace fourtune::runtime::distributed {
namespace {

using Lane = DeviceStreams::Lane;

const gpu::ProgramBackend& programs_of(const Backend& backend) {
  const auto* const programs = dynamic_cast<const gpu::ProgramBackend*>(&backend);
  if (programs == nullptr)
    throw Error(Status::unsupported, "ranks=slabs: the backend " + std::string(backend.name()) + " makes no kernels");
  return *programs;
}

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
        backend_(programs_of(*device.backend)),
        device_(device.number),
        streams_(*device.streams),
        memory_(*device.backend, device.number),
        slab_(plan.local, problem),
        locator_(locator_of(problem, plan.local, options.trust_points, device.backend->traits(device.number))),
        by_kernels_(plan.exchange == RankExchange::kernels),
        kept_in_grid_(plan.kept == Kept::grid),
        moved_(ranks, problem, backend_, slab_.cells, device, memory_, copies()),
        exchange_(ranks, streams_, memory_, copies(), device.nccl),
        fetching_(ranks, streams_, memory_, copies(), device.nccl),
        peers_(ranks, streams_),
        ffts_(backend_.queue(device.number), streams_.stream(Lane::work),
              grid_fft_of(problem, plan.local, options.mode_order)) {
    chunk_ = kept_in_grid_ ? 1 : std::clamp<std::int64_t>(plan.local.chunk, 1, problem.batch);
    columns_ = mode_columns(problem, ranks.size());
    run_ = problem.dim == 3 ? problem.n[0] : 1;
    lines_count_ = run_ * columns_.size(ranks.rank());
    mode_bytes_ = lines_count_ * problem.n[problem.dim - 1] * kElement;
    plane_ = plan.local.window.fine[0] * (problem.dim == 3 ? plan.local.window.fine[1] : 1);
  }

  void set_points(const PointSet& points) override {
    clock_.begin_set_points();
    warm_ = {false, false};
    std::array<PassedArray, 3> copies;
    PointSet own = points;
    std::vector<std::int64_t> at_cells;
    clock_.time("locate", [&] {
      ranks_.together([&] {
        memory_.wait();  // for what the application has put on the default stream
        const std::array<const void**, 3> coordinates{&own.x, &own.y, &own.z};
        for (std::size_t d = 0; d < static_cast<std::size_t>(problem_.dim); ++d) {
          *coordinates[d] = copies[d].bind(const_cast<void*>(*coordinates[d]),
                                           points.m * static_cast<std::int64_t>(sizeof(T)), streams_, memory_);
          copies[d].upload(memory_);
        }
        at_cells = moved_.locate(locator_, own);
      });
    });
    clock_.time("split", [&] { split(at_cells); });
    clock_.time("move points", [&] {
      clears_ = may_clear() ? grid_bytes() : 0;
      moved_.plan(at_cells, slab_.owners(), slab_.neighbours(), clears_);
      if (moved_.stays()) clears_ = 0;
      LocalWork local;
      hold_values();
      const PointSet here = moved_.move(own, values_.data(), local);
      clock_.time("sort", [&] {
        ranks_.together([&] {
          local.rethrow();
          moved_.rethrow();
          if (gridder_ && !slab_.whole(ranks_.rank())) gridder_->set_slab(slab_.start(ranks_.rank()), clears_ > 0);
          if (gridder_) gridder_->set_points(here);
          streams_.wait(Lane::work);
          moved_.release();
        });
      });
    });
    count_ = points.m;
    all_points_ = ranks_.sum(count_);
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
      exchange_.settle(), fetching_.settle(), moved_.settle();
    });
    local.always([&] { exchange_.rethrow(); });
    local.always([&] { fetching_.rethrow(); });
    local.always([&] { peers_.rethrow(); });
    local.always([&] { moved_.rethrow(); });
    local.run([&] { clock_.time("download", [&] { (to_modes ? modes_of_ : values_of_).download(memory_); }); });
    local.end(ranks_, warm_[adjoint]);
  }

  void let_go() override { exchange_.forget(); }

  MemoryUse memory() const override {
    std::int64_t held = pipeline_.bytes() + exchange_.bytes() + fetching_.bytes() + moved_.bytes() + ffts_.bytes() +
                        values_of_.bytes() + modes_of_.bytes() + static_cast<std::int64_t>(grid_.bytes());
    if (!moved_.stays()) held += moved_.arrived() * chunk_ * kElement;
    if (gridder_) held += gridder_->memory().held;
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

  // Whether the grid is cleared while values move, and spreading adds to it.
  bool may_clear() const {
    return gridder_ && !options_.deterministic && !slab_.whole(ranks_.rank()) && grid_bytes() % 16 == 0;
  }
  // For the values that come with points. Collective.
  void hold_values() {
    const std::int64_t arrived = moved_.stays() ? 0 : moved_.arrived() + 1;
    exchange_.forget(static_cast<std::int64_t>(values_.bytes()) / (chunk_ * kElement) < arrived);
    ranks_.together([&] { memory_.resize(values_, checked_multiply(arrived, chunk_ * kElement, "values")); });
  }

  // Cuts the grid into slabs for these points and binds what depends on that.
  void split(const std::vector<std::int64_t>& at_cells) {
    std::vector<std::int64_t> points(static_cast<std::size_t>(slab_.rows), 0);
    if (plan_.balance == Balance::points) {
      for (std::int64_t c = 0; c < slab_.cells; ++c)
        points[static_cast<std::size_t>(slab_.row_of(c))] += at_cells[static_cast<std::size_t>(c)];
      points = ranks_.sum(points);
    }
    SlabShape costs;
    costs.dim = problem_.dim;
    costs.fine = plan_.local.window.fine;
    costs.side = slab_.row;
    DeviceSlab next = slab_;
    next.cut(split_rows(slab_costs(costs, plan_.local.window.width, points), ranks_.size()));
    if (bound_ && next.of_ranks == slab_.of_ranks) return;
    bound_ = false;
    slab_ = next;
    exchange_.forget();
    ranks_.together([&] {
      bind_gridder();
      const bool joined = ranks_.size() <= kMostJoined;
      pipeline_.bind(ranks_, {slab_.of_ranks, columns_, run_, kElement, joined}, plan_.chunks, chunk_, exchange_,
                     memory_, kept_in_grid_ ? grid_.data() : nullptr);
      if (by_kernels_) share_rows();
      if (fetches()) fetching_.reserve(0, planes_to_fetch(0));
    });
    bound_ = true;
  }

  // Which kept planes kernels find in the memory of which rank.
  void share_rows() {
    SharedRows rows = shared_rows({slab_.of_ranks, columns_, run_, kElement});
    const auto ranks = static_cast<std::size_t>(ranks_.size());
    pieces_.assign(ranks, {0, pipeline_.middle().joined_bytes()});
    if (!kept_in_grid_) return ffts_.share({rows.of_columns, rows.of_planes});
    const std::int64_t plane = run_ * columns_.items() * kElement;
    for (int r = 0; r < ranks_.size(); ++r)
      pieces_[static_cast<std::size_t>(r)] = {slab_.of_ranks.begin(r) * plane, slab_.of_ranks.size(r) * plane};
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
    std::vector<cpu::LineRange> pieces = pieces_of(which, one_by_one_[to_modes] ? piece_bytes : plane_ * kElement);
    if (kept_in_grid_ && !to_modes) std::reverse(pieces.begin(), pieces.end());
    return pieces;
  }
  // The same of columns, whose lines may take two kernels; each column by itself where bits must not depend on the
  // ranks.
  std::vector<cpu::LineRange> column_pieces(cpu::LineRange which) const {
    return pieces_of(which, options_.deterministic ? piece_bytes : run_ * slab_.cells * kElement);
  }
  // Pieces of at most piece_bytes, or of one item. None of nothing.
  static std::vector<cpu::LineRange> pieces_of(cpu::LineRange which, std::int64_t item_bytes) {
    std::vector<cpu::LineRange> pieces;
    if (which.count == 0) return pieces;
    const std::int64_t most = std::max<std::int64_t>(1, piece_bytes / std::max<std::int64_t>(1, item_bytes));
    const Split parts = Split::even(which.count, static_cast<int>((which.count + most - 1) / most));
    for (int part = 0; part < parts.parts(); ++part)
      pieces.push_back({which.first + parts.begin(part), parts.size(part)});
    return pieces;
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

  std::int64_t own_planes() const { return slab_.of_ranks.size(ranks_.rank()); }
  std::int64_t grid_bytes() const { return own_planes() > 0 ? slab_.stored(ranks_.rank()) * plane_ * kElement : 0; }
  char* grid(std::int64_t b) const { return static_cast<char*>(grid_.data()) + b * grid_bytes(); }
  char* own_plane(std::int64_t b, std::int64_t plane) const {
    return grid(b) + (slab_.own_begin(ranks_.rank()) + plane) * plane_ * kElement;
  }

  void bind_gridder() {
    gridder_.reset();
    if (kept_in_grid_) memory_.resize(grid_, kElement);  // which others are told of
    if (own_planes() == 0) return;
    const int rank = ranks_.rank();
    Problem part = problem_;
    part.batch = 1;
    part.n = Sizes(plan_.local.window.fine[0], plan_.local.window.fine[1], plan_.local.window.fine[2]);
    part.n[problem_.dim - 1] = slab_.stored(rank);
    ExecutorOptions own;
    own.deterministic = options_.deterministic;
    own.trust_points = options_.trust_points;
    own.only = problem_.type == 1 ? Only::spread : Only::interpolate;
    own.device = device_;
    own.stream = streams_.stream(Lane::work);
    if (!slab_.whole(rank)) own.slab = {slab_.cells, slab_.start(rank), slab_.before, {}};
    if (options_.deterministic) own.slab.agree = [this](std::array<std::uint64_t, 2>& bounds) { agree(bounds); };
    gridder_ = backend_.bind(part, plan_.local, own);
    memory_.resize(grid_, checked_multiply(grid_bytes(), chunk_, "fine grids"));
  }

  // Bits of doubles that are not negative are in the order of the doubles.
  void agree(std::array<std::uint64_t, 2>& bounds) {
    agreed_ = true;
    const double largest = ranks_.largest(std::bit_cast<double>(bounds[0]));
    const double most = ranks_.largest(static_cast<double>(bounds[1]));
    const bool sorted = plan_.local.gpu().points.spread_with.order != generator::nufft::RecordOrder::caller;
    bounds[0] = std::bit_cast<std::uint64_t>(largest);
    bounds[1] = sorted ? static_cast<std::uint64_t>(most) : static_cast<std::uint64_t>(all_points_);
  }

  void spread(void* values, std::int64_t b, bool adjoint, LocalWork& local) {
    agreed_ = false;
    local.run([&] {
      if (gridder_) gridder_->execute(values, grid(b), adjoint);
    });
    std::array<std::uint64_t, 2> none{};
    if (options_.deterministic && !agreed_) agree(none);  // the others do
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
      ffts_.planes(own_plane(b, piece.first), work + piece.first * run_ * columns_.items(), piece.count, now.sign,
                   to_modes);
  }

  bool fetches() const { return own_planes() > 0 && !slab_.whole(ranks_.rank()) && slab_.shared > 0; }
  DeviceBlocks planes_to_fetch(std::int64_t b) const {
    const std::int64_t bytes = slab_.shared * plane_ * kElement;
    const auto block = [&](int rank, char* at) { return DeviceBlock{rank, at, {0, 1, bytes, bytes}, 1, bytes}; };
    DeviceBlocks blocks;
    blocks.send.push_back(block(slab_.previous(ranks_.rank()), own_plane(b, 0)));
    blocks.receive.push_back(block(slab_.after(ranks_.rank()), own_plane(b, own_planes())));
    return blocks;
  }

  void forward(const Chunk& now, LocalWork& local) {
    if (by_kernels_) open_joined(local);
    for (std::int64_t b = 0; b < now.count; ++b) {
      char* const own = now.values + b * count_ * kElement;
      char* const here = moved_.stays() ? own : static_cast<char*>(values_.data()) + b * moved_.arrived() * kElement;
      clock_.time("move values", [&] { moved_.follow(own, here, clears_ > 0 ? grid(b) : nullptr); });
      clock_.time("spread", [&] { spread(here, b, now.adjoint, local); });
    }
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
    for (std::int64_t b = 0; b < now.count; ++b) {
      clock_.time("fetch planes", [&] {
        if (!fetches()) return;
        fetching_.begin(0, planes_to_fetch(b));
        fetching_.wait(0);
      });
      char* const own = now.values + b * count_ * kElement;
      char* const here = moved_.stays() ? own : static_cast<char*>(values_.data()) + b * moved_.arrived() * kElement;
      clock_.time("move values", [&] { moved_.await(here); });
      clock_.time("interpolate", [&] {
        local.run([&] {
          if (gridder_) gridder_->execute(here, grid(b), now.adjoint);
        });
      });
      clock_.time("move values", [&] { moved_.come_back(here, own, local); });
    }
  }

  const Communicator& ranks_;
  Problem problem_;
  RankPlan plan_;
  RankOptions options_;
  const gpu::ProgramBackend& backend_;
  int device_;
  DeviceStreams& streams_;
  DeviceCopy memory_;
  DeviceSlab slab_;
  generator::nufft::StageKernels locator_;
  bool by_kernels_, kept_in_grid_, joined_used_ = false;
  GpuMovedPoints moved_;
  DeviceExchange exchange_, fetching_;
  PeerArrays peers_;
  PipelineOf<DeviceMiddle<T>> pipeline_;
  GpuSlabFfts ffts_;
  std::unique_ptr<Executor> gridder_;  // spreads and interpolates in this rank's slab; null without cells
  Split columns_;
  std::int64_t chunk_ = 1, run_ = 1, lines_count_ = 0, mode_bytes_ = 0, plane_ = 1;  // plane_: cells
  std::int64_t count_ = 0, all_points_ = 0;
  std::int64_t clears_ = 0;  // bytes of a grid; 0: spreading clears it
  bool bound_ = false, agreed_ = false;
  DeviceArray grid_, values_;
  PassedArray values_of_, modes_of_;
  // RankExchange::kernels: what each rank has of the joined array, and where that begins.
  std::vector<gpu::ProgramSet::Ranks::Piece> pieces_;
  std::vector<void*> begins_;
  std::array<bool, 2> one_by_one_{};        // by direction: planes, as a single kernel transforms one
  std::array<bool, 2> warm_{false, false};  // forward, adjoint
  cpu::StageClock clock_;
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
