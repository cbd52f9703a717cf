#include "runtime/distributed/gpu_placed_points.h"

#include <bit>

#include "runtime/distributed/slab_cost.h"
#include "runtime/slabs/gpu_slab_plan.h"

namespace fourtune::runtime::distributed {

using Lane = DeviceStreams::Lane;

const gpu::ProgramBackend& program_backend(const Backend& backend) {
  const auto* const programs = dynamic_cast<const gpu::ProgramBackend*>(&backend);
  if (programs == nullptr)
    throw Error(Status::unsupported, "ranks=slabs: the backend " + std::string(backend.name()) + " makes no kernels");
  return *programs;
}

GpuPlacedPoints::GpuPlacedPoints(const Communicator& ranks, const RankDevice& device, const DeviceCopy& memory,
                                 const Spec& spec, cpu::StageClock& clock)
    : ranks_(ranks),
      spec_(spec),
      backend_(program_backend(*device.backend)),
      device_(device.number),
      streams_(*device.streams),
      memory_(memory),
      clock_(clock),
      slab_(spec.plan, spec.problem, spec.parts),
      locator_(locator_of(spec.problem, spec.plan, spec.trust, device.backend->traits(device.number))),
      moved_(ranks, spec_.problem, backend_, slab_, device, memory, spec.way),
      fetching_(ranks, streams_, memory, spec.way, device.nccl) {
  element_ = 2 * real_bytes(spec.problem.precision);
  plane_ = spec.plan.window.fine[0] * (spec.problem.dim == 3 ? spec.plan.window.fine[1] : 1);
}

void GpuPlacedPoints::set_maps(const std::array<generator::nufft::Map, 3>& maps) {
  maps_ = maps;
  for (const Part& part : parts_)
    if (part.mapped != nullptr) part.mapped->set_maps(maps);
}

bool GpuPlacedPoints::cut(const PointSet& own) {
  clock_.time("locate", [&] { ranks_.together([&] { at_cells_ = moved_.locate(locator_, own, maps_); }); });
  all_points_ = ranks_.sum(own.m);
  bool changed = false;
  clock_.time("split", [&] {
    std::vector<std::int64_t> points(static_cast<std::size_t>(slab_.rows), 0);
    if (spec_.balance == Balance::points) {
      for (std::int64_t c = 0; c < slab_.cells; ++c)
        points[static_cast<std::size_t>(slab_.row_of(c))] += at_cells_[static_cast<std::size_t>(c)];
      points = ranks_.sum(points);
    }
    SlabShape costs;
    costs.dim = spec_.problem.dim;
    costs.fine = spec_.plan.window.fine;
    costs.side = slab_.row;
    DeviceSlab next = slab_;
    next.cut(split_rows(slab_costs(costs, spec_.plan.window.width, points), ranks_.size() * slab_.parts));
    changed = !bound_ || next.of_parts != slab_.of_parts;
    slab_ = next;
    if (changed) bound_ = false, moved_.forget();
  });
  return changed;
}

void GpuPlacedPoints::bind() {
  parts_.clear();
  if (spec_.kept_in_grid) memory_.resize(grid_, element_);  // which others are told of
  if (own_planes() == 0) return;
  for (int p = 0; p < slab_.parts; ++p) {
    Part& part = parts_.emplace_back();
    part.planes = slab_.planes_of(ranks_.rank(), p);
    if (part.planes.count > 0) part.gridder = make_gridder(part);
  }
  memory_.resize(grid_, checked_multiply(grid_bytes(), spec_.chunk, "fine grids"));
  if (fetches()) fetching_.reserve(0, planes_to_fetch(0));
}

std::unique_ptr<Executor> GpuPlacedPoints::make_gridder(Part& part) {
  Problem problem = spec_.problem;
  problem.batch = 1;
  problem.n = Sizes(spec_.plan.window.fine[0], spec_.plan.window.fine[1], spec_.plan.window.fine[2]);
  problem.n[spec_.problem.dim - 1] = part.planes.count;
  ExecutorOptions own;
  own.deterministic = spec_.deterministic;
  own.trust_points = spec_.trust;
  own.only = spec_.problem.type == 1 ? Only::spread : Only::interpolate;
  own.device = device_;
  own.stream = streams_.stream(Lane::work);
  if (!slab_.whole(ranks_.rank())) own.slab = {slab_.cells, part.planes.start, part.planes.before, {}};
  if (spec_.deterministic) own.slab.agree = [this](std::array<std::uint64_t, 2>& bounds) { agree(bounds); };
  if (!spec_.mapped) return backend_.bind(problem, spec_.plan, own);
  auto mapped = gpu::make_gpu_mapped_executor(problem, spec_.plan, own, backend_.queue(device_));
  mapped->set_maps(maps_);
  part.mapped = mapped.get();
  return mapped;
}

void GpuPlacedPoints::move(const PointSet& own) {
  bound_ = true;  // on all ranks
  clock_.time("move points", [&] {
    clears_ = may_clear() ? grid_bytes() : 0;
    moved_.plan(at_cells_, slab_, clears_);
    if (moved_.stays()) clears_ = 0;
    LocalWork local;
    hold_values();
    const PointSet arrived = moved_.move(own, values_.data(), local);
    clock_.time("sort", [&] {
      ranks_.together([&] {
        local.rethrow();
        moved_.rethrow();
        for (int p = 0; p < static_cast<int>(parts_.size()); ++p) sort(p, arrived);
        streams_.wait(Lane::work);
        moved_.release();
      });
    });
  });
}

void GpuPlacedPoints::sort(int p, const PointSet& arrived) {
  Part& part = parts_[static_cast<std::size_t>(p)];
  if (!part.gridder) return;
  if (!slab_.whole(ranks_.rank())) part.gridder->set_slab(part.planes.start, clears_ > 0);
  PointSet points = arrived;
  if (slab_.parts > 1) {
    points.m = moved_.arrived(p);
    for (const void** array : {&points.x, &points.y, &points.z})
      if (*array != nullptr)
        *array = static_cast<const char*>(*array) + moved_.arrived_before(p) * real_bytes(spec_.problem.precision);
  }
  part.gridder->set_points(points);
}

bool GpuPlacedPoints::may_clear() const {
  return !parts_.empty() && !spec_.deterministic && !slab_.whole(ranks_.rank()) && grid_bytes() % 16 == 0;
}

// For the values that come with points. Collective.
void GpuPlacedPoints::hold_values() {
  const std::int64_t arrived = moved_.stays() ? 0 : moved_.arrived() + 1;
  moved_.forget(static_cast<std::int64_t>(values_.bytes()) / (spec_.chunk * element_) < arrived);
  ranks_.together([&] { memory_.resize(values_, checked_multiply(arrived, spec_.chunk * element_, "values")); });
}

// Bits of doubles that are not negative are in the order of the doubles.
void GpuPlacedPoints::agree(std::array<std::uint64_t, 2>& bounds) {
  agreed_ = true;
  const double largest = ranks_.largest(std::bit_cast<double>(bounds[0]));
  const double most = ranks_.largest(static_cast<double>(bounds[1]));
  const bool sorted = spec_.plan.gpu().points.spread_with.order != generator::nufft::RecordOrder::caller;
  bounds[0] = std::bit_cast<std::uint64_t>(largest);
  bounds[1] = sorted ? static_cast<std::uint64_t>(most) : static_cast<std::uint64_t>(all_points_);
}

DeviceBlocks GpuPlacedPoints::planes_to_fetch(std::int64_t b) const {
  const std::int64_t bytes = slab_.shared * plane_ * element_;
  const auto block = [&](int rank, char* at) { return DeviceBlock{rank, at, {0, 1, bytes, bytes}, 1, bytes}; };
  DeviceBlocks blocks;
  blocks.send.push_back(block(slab_.previous(ranks_.rank()), own_plane(b, 0)));
  blocks.receive.push_back(block(slab_.after(ranks_.rank()), own_plane(b, own_planes())));
  return blocks;
}

void GpuPlacedPoints::run(int p, char* values, std::int64_t b, bool adjoint) {
  const Part& part = parts_[static_cast<std::size_t>(p)];
  const std::int64_t before = slab_.parts > 1 ? moved_.arrived_before(p) : 0;
  if (part.gridder) part.gridder->execute(values + before * element_, grid(b, part), adjoint);
}

void GpuPlacedPoints::spread(char* own, std::int64_t b, bool adjoint, LocalWork& local) {
  char* const values = here(own, b);
  agreed_ = false;
  for (int p = 0; p < slab_.parts; ++p) {
    clock_.time("move values", [&] { moved_.follow(p, own, values, clears_ > 0 ? grid(b) : nullptr); });
    clock_.time("spread", [&] {
      local.run([&] {
        if (!parts_.empty()) run(p, values, b, adjoint);
      });
    });
  }
  std::array<std::uint64_t, 2> none{};
  if (spec_.deterministic && !agreed_) agree(none);  // the others do
}

void GpuPlacedPoints::interpolate(char* own, std::int64_t b, bool adjoint, LocalWork& local) {
  clock_.time("fetch planes", [&] {
    if (!fetches()) return;
    fetching_.begin(0, planes_to_fetch(b));
    fetching_.wait(0);
  });
  char* const values = here(own, b);
  clock_.time("move values", [&] { moved_.await(values); });
  clock_.time("interpolate", [&] {
    for (int p = 0; p < slab_.parts; ++p)
      local.run([&] {
        if (!parts_.empty()) run(p, values, b, adjoint);
        moved_.part_is_there(p);
      });
  });
  clock_.time("move values", [&] { moved_.come_back(values, own, local); });
}

std::int64_t GpuPlacedPoints::bytes() const {
  std::int64_t held = fetching_.bytes() + moved_.bytes() + static_cast<std::int64_t>(grid_.bytes());
  if (!moved_.stays()) held += moved_.arrived() * spec_.chunk * element_;
  for (const Part& part : parts_)
    if (part.gridder) held += part.gridder->memory().held;
  return held;
}

}  // namespace fourtune::runtime::distributed
