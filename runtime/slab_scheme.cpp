#include "runtime/slab_scheme.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/backends/gpu/listing_queue.h"
#include "runtime/backends/gpu/nufft_executor.h"
#include "runtime/slabs/gpu_slab_ffts.h"
#include "runtime/slabs/gpu_slab_plan.h"
#include "runtime/slabs/point_lists.h"

namespace fourtune::runtime {
namespace {

constexpr std::int64_t kLeastPoints = 256;  // a smaller part saves next to nothing
constexpr int kMostSlabs = 2048;            // a kernel counts the points of each slab, and their copies, in 48 KiB

// Arrays one after the other, as allocations of a GPU are aligned.
class Layout {
 public:
  std::int64_t add(std::int64_t bytes) {
    constexpr std::int64_t kAligned = 256;
    const std::int64_t at = end_;
    end_ += (bytes + kAligned - 1) / kAligned * kAligned;
    return at;
  }
  std::int64_t bytes() const { return end_; }

 private:
  std::int64_t end_ = 0;
};

std::int64_t smallest_slab(const DeviceSlab& slab) {
  std::int64_t least = slab.cells;
  for (int s = 0; s < slab.of_ranks.parts(); ++s) least = std::min(least, slab.of_ranks.size(s));
  return least;
}

// What is tried first: points at a time, transforms whose values are held (0: none), and bytes for columns.
struct FirstTry {
  std::int64_t least_points = 1, points = 1, resident = 0, columns = 0;
  FirstTry(const SlabScheme& scheme, std::int64_t bytes) {
    const std::int64_t m = std::max<std::int64_t>(1, scheme.problem.m.value_or(1));
    // A quarter for points: two copies of a part with its values, its sorted copy, and lists. As much for all values.
    const std::int64_t point = (scheme.problem.dim + 2) * scheme.element() + 60;
    constexpr std::int64_t kMost = std::int64_t{1} << 30;
    least_points = std::min(m, kLeastPoints);
    points = std::clamp(bytes / 4 / point, least_points, std::min(m, kMost));
    resident = std::min(scheme.together, bytes / 4 / (m * scheme.element()));
    columns = bytes / 20 * 11;
  }
};

// Each level takes half as much at a time as the one before, except for the slab.
SlabScheme scheme_of(SlabScheme scheme, const FirstTry& first, int slabs, int level, bool keeps) {
  scheme.slab.cut(Split::even(scheme.slab.rows, slabs));
  scheme.points = std::max(first.least_points, first.points >> level);
  scheme.planes = std::max<std::int64_t>(1, smallest_slab(scheme.slab) >> (level + 2));
  scheme.resident = first.resident > 0 && level < 2;
  if (scheme.resident) scheme.together = first.resident;
  scheme.kept = keeps && scheme.between_bytes() <= first.columns;
  scheme.columns = 1;
  const std::int64_t column = 2 * scheme.element() * (scheme.slab.cells + scheme.last_modes());
  const std::int64_t beside = scheme.kept ? scheme.between_bytes() : 0;
  const std::int64_t fit = (SlabPlaces(scheme).bytes - beside) / column,
                     most = std::max<std::int64_t>(1, scheme.lines() >> level);
  constexpr std::int64_t kRun = 32;  // adjacent columns that a warp reads
  scheme.columns = std::clamp<std::int64_t>(fit > kRun ? fit / kRun * kRun : fit, 1, most);
  return scheme;
}

}  // namespace

std::int64_t SlabScheme::plane_cells() const {
  return plan.window.fine[0] * (problem.dim == 3 ? plan.window.fine[1] : 1);
}
std::int64_t SlabScheme::lines() const { return problem.n[0] * (problem.dim == 3 ? problem.n[1] : 1); }

std::int64_t SlabScheme::stored() const {
  std::int64_t most = 0;
  for (int s = 0; s < slabs(); ++s) most = std::max(most, slab.stored(s));
  return most;
}

SlabPlaces::SlabPlaces(const SlabScheme& scheme) {
  const std::int64_t element = scheme.element(), real = element / 2;
  const auto dims = static_cast<std::size_t>(scheme.problem.dim);
  Layout set_points, ordered, slabs, lines;
  for (std::size_t d = 0; d < dims; ++d) coordinates[d] = set_points.add(scheme.points * real);
  packed = set_points.add(scheme.listed() * real);
  if (scheme.kept) columns = slabs.add(scheme.between_bytes()), lines.add(scheme.between_bytes());
  grid = slabs.add(scheme.stored() * scheme.plane_cells() * element);
  if (scheme.resident) all_values = slabs.add(scheme.together * *scheme.problem.m * element);
  for (std::size_t slot = 0; slot < 2; ++slot) {
    from[slot] = ordered.add(scheme.resident ? 0 : scheme.points * element);
    to[slot] = ordered.add(scheme.resident ? 0 : scheme.listed() * element);
    for (std::size_t d = 0; d < dims; ++d) points[slot][d] = slabs.add(scheme.points * real);
    values[slot] = slabs.add(scheme.points * element);
    planes[slot] = slabs.add(scheme.planes * scheme.lines() * element);
    fine[slot] = lines.add(scheme.columns * scheme.slab.cells * element);
    modes[slot] = lines.add(scheme.columns * scheme.last_modes() * element);
  }
  bytes = std::max({set_points.bytes(), ordered.bytes(), slabs.bytes(), lines.bytes()});
}

Problem slab_problem(const SlabScheme& scheme) {
  Problem part = scheme.problem;
  const auto& fine = scheme.plan.window.fine;
  part.batch = 1;
  part.m = scheme.points;
  part.n = Sizes(fine[0], fine[1], fine[2]);
  part.n[static_cast<std::size_t>(part.dim - 1)] = scheme.stored();
  return part;
}

ExecutorOptions slab_options(const SlabScheme& scheme, int device, void* stream) {
  ExecutorOptions own;
  own.trust_points = true;  // they were looked at when they were put in order
  own.exact_points = scheme.exact_points;
  own.only = scheme.problem.type == 1 ? Only::spread : Only::interpolate;
  own.device = device;
  own.stream = stream;
  if (!scheme.whole()) own.slab = {scheme.slab.cells, scheme.slab.start(0), scheme.slab.before, {}};
  return own;
}

std::int64_t measure_slabs(const SlabScheme& scheme, const DeviceTraits& device,
                           const std::vector<std::int64_t>& parts) {
  std::vector<generator::KernelSource> kernels;
  const auto queue = [&] { return gpu::make_listing_queue(device, kernels); };
  const Problem& problem = scheme.problem;
  const auto gridder =
      gpu::make_gpu_type12_executor(slab_problem(scheme), scheme.plan, slab_options(scheme, 0, nullptr), queue());
  GpuSlabFfts ffts(queue(), nullptr, grid_fft_of(problem, scheme.plan, scheme.order));
  for (const bool adjoint : {false, true}) {
    for (const std::int64_t count : parts) {
      PointSet points;
      points.m = count;
      gridder->set_points(points);
      gridder->execute(nullptr, nullptr, adjoint);
    }
    const int sign = adjoint ? -problem.sign : problem.sign;
    const bool to_modes = (problem.type == 1) != adjoint;
    ffts.prepare_planes(scheme.planes, sign, to_modes);
    ffts.prepare_lines(scheme.columns, {scheme.columns, scheme.columns}, sign, to_modes);
  }
  PointLists lists(problem, queue(), nullptr, 2);
  lists.reserve(scheme.points, scheme.listed(), scheme.slab.cells, 2 * scheme.slabs());
  return SlabPlaces(scheme).bytes + gridder->memory().held + ffts.bytes() + lists.held();
}

SlabScheme fit_slabs(SlabScheme scheme, const DeviceTraits& device, std::int64_t bytes) {
  scheme.slab = DeviceSlab(scheme.plan, scheme.problem);
  const FirstTry first(scheme, bytes);
  const int most = static_cast<int>(std::min<std::int64_t>(scheme.slab.rows, kMostSlabs));
  const auto measured = [&](int slabs, int level, bool keeps) {
    SlabScheme one = scheme_of(scheme, first, slabs, level, keeps);
    one.bytes = SlabPlaces(one).bytes;
    if (one.bytes <= bytes || slabs == most) one.bytes = measure_slabs(one, device, {one.points});
    return one;
  };
  // Columns are what travels most otherwise, there and back, so two levels try to keep them before any does without.
  constexpr int kKeeping = 2;
  for (int attempt = 0;; ++attempt) {
    const bool keeps = attempt < kKeeping;
    const int level = keeps ? attempt : attempt - kKeeping;
    SlabScheme best = scheme_of(scheme, first, most, level, keeps);
    if (keeps && !best.kept) continue;
    best = measured(most, level, keeps);
    if (best.bytes > bytes) {
      if (keeps || best.resident || best.points > first.least_points || best.planes > 1 || best.columns > 1) continue;
      throw Error(Status::out_of_memory,
                  fmt::format("devices: {} bytes are allowed, and even the smallest slabs of this transform need {}",
                              bytes, best.bytes));
    }
    int fits = most, fails = 0;
    while (fits - fails > 1) {
      const int middle = fails + (fits - fails) / 2;
      SlabScheme one = measured(middle, level, keeps);
      if (one.bytes <= bytes)
        fits = middle, best = std::move(one);
      else
        fails = middle;
    }
    return best;
  }
}

}  // namespace fourtune::runtime
