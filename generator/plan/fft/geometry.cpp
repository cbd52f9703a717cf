#include "generator/plan/fft/geometry.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace fourtune::generator::fft {
namespace {

// The sub-FFTs of one dimension, in the plan's order.
struct Factor {
  int radix;
  int kernel;
  int sub;
};
std::vector<Factor> factors(const FftPlan& plan, int d) {
  std::vector<Factor> out;
  for (std::size_t k = 0; k < plan.kernels.size(); ++k)
    for (std::size_t s = 0; s < plan.kernels[k].subs.size(); ++s)
      if (index(plan.kernels[k].subs[s].dim) == d)
        out.push_back({plan.kernels[k].subs[s].radix, static_cast<int>(k), static_cast<int>(s)});
  return out;
}

using Strides = std::vector<std::int64_t>;

// Digit i has stride N/(r0..ri): this is the natural input, and the place where the notation leaves every result.
Strides in_place(const std::vector<Factor>& f) {
  Strides out(f.size());
  std::int64_t stride = 1;
  for (std::size_t i = f.size(); i-- > 0; stride *= f[i].radix) out[i] = stride;
  return out;
}

// As in_place, but the finished digits of each kernel are in natural order among themselves.
Strides grouped(const std::vector<Factor>& f, std::size_t made) {
  Strides out = in_place(f);
  for (std::size_t begin = 0; begin < made;) {
    std::size_t end = begin;
    while (end < made && f[end].kernel == f[begin].kernel) ++end;
    std::int64_t stride = out[end - 1];
    for (std::size_t i = begin; i < end; stride *= f[i].radix, ++i) out[i] = stride;
    begin = end;
  }
  return out;
}

// Finished digits at the low end in natural order, the others above them in the order of the input.
Strides sorted(const std::vector<Factor>& f, std::size_t made) {
  Strides out(f.size());
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < made; stride *= f[i].radix, ++i) out[i] = stride;
  for (std::size_t i = f.size(); i-- > made; stride *= f[i].radix) out[i] = stride;
  return out;
}

Strides dim_layout(const FftPlan& plan, const std::vector<Factor>& f, int after) {
  std::size_t made = 0;
  while (made < f.size() && f[made].kernel < after) ++made;
  if (plan.from == DigitOrder::primes) return sorted(f, f.size());
  if (made == 0) return in_place(f);
  if (made == f.size()) {
    switch (plan.order) {
      case DigitOrder::reversed:
      case DigitOrder::primes:
        return in_place(f);
      case DigitOrder::grouped:
        return grouped(f, made);
      case DigitOrder::natural:
        return sorted(f, made);
    }
  }
  switch (plan.kernels[static_cast<std::size_t>(f[made - 1].kernel)].with.store) {
    case Store::place:
      break;
    case Store::grouped:
      return grouped(f, made);
    case Store::sorted:
      return sorted(f, made);
  }
  return in_place(f);
}

std::vector<Axis> merged(std::vector<Axis> axes) {
  std::sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return a.read_stride < b.read_stride; });
  std::vector<Axis> out;
  for (const Axis& axis : axes) {
    if (!out.empty() && axis.read_stride == out.back().read_stride * out.back().extent &&
        axis.write_stride == out.back().write_stride * out.back().extent)
      out.back().extent *= axis.extent;
    else
      out.push_back(axis);
  }
  if (out.empty()) out.push_back({});
  return out;
}

DimGeometry dim_geometry(const FftPlan& plan, int kernel, int d) {
  DimGeometry out;
  const auto f = factors(plan, d);
  if (f.empty()) {
    out.free.emplace_back();
    return out;
  }
  const Strides before = dim_layout(plan, f, kernel), behind = dim_layout(plan, f, kernel + 1);
  std::vector<Axis> free;
  for (std::size_t i = 0; i < f.size(); ++i) {
    const Axis axis{f[i].radix, before[i], behind[i]};
    out.length *= f[i].radix;
    if (f[i].kernel == kernel) {
      out.subs.push_back(f[i].sub);
      out.own.push_back(axis);
      out.transformed *= axis.extent;
    } else {
      free.push_back(axis);
      out.free_count *= axis.extent;
    }
  }
  out.free = merged(std::move(free));
  return out;
}

// Length of a tile's contiguous runs along one dimension.
std::int64_t run_along(const DimGeometry& dim, bool write) {
  struct Piece {
    std::int64_t stride, extent;
  };
  std::array<Piece, 64> all;  // enough, as every digit has a radix of at least 2
  std::size_t count = 0;
  for (const Axis& own : dim.own)
    if (count < all.size()) all[count++] = {write ? own.write_stride : own.read_stride, own.extent};
  std::int64_t left = dim.carried;
  for (const Axis& axis : dim.free) {
    if (left <= 1 || count == all.size()) break;
    all[count++] = {write ? axis.write_stride : axis.read_stride, std::min(axis.extent, left)};
    left = (left + axis.extent - 1) / axis.extent;
  }
  const std::span pieces = std::span(all).first(count);
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.stride < b.stride; });
  std::int64_t run = 1;
  for (const Piece& piece : pieces) {
    if (piece.stride != run) break;
    run *= piece.extent;
  }
  return run;
}

double run_length(const KernelGeometry& g, bool write) {
  double run = 1;
  for (const DimGeometry& dim : g.dims) {
    const std::int64_t along = run_along(dim, write);
    run *= static_cast<double>(along);
    if (along < dim.length) return run;
  }
  return run * static_cast<double>(g.batch_carried);
}

// a * b for positive numbers, limited to 2^60 so that a hostile text cannot cause an overflow.
std::int64_t times(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t most = std::int64_t{1} << 60;
  return a > most / b ? most : a * b;
}

std::int64_t round_up(std::int64_t value, std::int64_t step) { return (value + step - 1) / step * step; }

}  // namespace

Layout layout(const FftPlan& plan, int after) {
  Layout out;
  for (int d = 0; d < most_dimensions; ++d)
    out[static_cast<std::size_t>(d)] = dim_layout(plan, factors(plan, d), after);
  return out;
}

KernelGeometry geometry(const FftPlan& plan, int kernel) {
  const Kernel& which = plan.kernels[static_cast<std::size_t>(kernel)];
  KernelGeometry out;
  for (int d = 0; d < most_dimensions; ++d) out.dims[static_cast<std::size_t>(d)] = dim_geometry(plan, kernel, d);
  out.first_array = kernel == 0;
  out.from = kernel == 0 ? Target::out : plan.kernels[static_cast<std::size_t>(kernel - 1)].with.to;
  out.in_place = out.from == which.with.to && (!out.first_array || plan.place == Place::in);
  carry(out, plan, kernel);
  return out;
}

void carry(KernelGeometry& g, const FftPlan& plan, int kernel) {
  carry(g, plan.kernels[static_cast<std::size_t>(kernel)], rank(plan));
}

void carry(KernelGeometry& g, const Kernel& which, int dims) {
  g.tile_elements = g.tiles = 1;
  for (int d = 0; d < most_dimensions; ++d) {
    auto& dim = g.dims[static_cast<std::size_t>(d)];
    dim.carried = std::max(1, which.with.tile[static_cast<std::size_t>(d)]);
    dim.tiles = (dim.free_count + dim.carried - 1) / dim.carried;
    if (d >= dims) dim.carried = dim.tiles = 1;  // this entry of the tile is the batch
    g.tile_elements = times(g.tile_elements, times(dim.transformed, dim.carried));
    g.tiles = times(g.tiles, dim.tiles);
  }
  g.batch_carried = std::max(1, which.with.tile[static_cast<std::size_t>(dims)]);
  g.tile_elements = times(g.tile_elements, g.batch_carried);
  g.block_elements = std::max<std::int64_t>(1, g.tile_elements / std::max(1, which.with.cluster));
  g.elements_per_thread = elements_per_thread(which.subs, g.block_elements, which.with.threads);
  g.read_run = run_length(g, false);
  g.write_run = run_length(g, true);
}

bool may_carry(const DimGeometry& dim, std::int64_t carried) {
  if (carried < 1 || carried > dim.free_count) return false;
  if (dim.own.empty()) return true;
  std::int64_t step = dim.length;  // distance between the nearest values of one transform
  for (const Axis& own : dim.own) step = std::min(step, own.read_stride);
  return carried <= step ? step % carried == 0 : carried % step == 0 && dim.free_count % carried == 0;
}

int elements_per_thread(const std::vector<SubFft>& subs, std::int64_t block_elements, int threads) {
  if (threads <= 0) return 0;
  std::int64_t most = 0;
  if (block_elements < std::int64_t{1} << 31) {  // 32-bit divisions, because enumerations call this often
    const auto values = static_cast<std::uint32_t>(block_elements), each = static_cast<std::uint32_t>(threads);
    for (const SubFft& sub : subs) {
      const auto radix = static_cast<std::uint32_t>(sub.radix), transforms = (values + radix - 1) / radix;
      most = std::max(most, std::int64_t{(transforms + each - 1) / each} * radix);
    }
    return static_cast<int>(std::min(most, std::int64_t{1} << 20));
  }
  for (const SubFft& sub : subs) {
    const std::int64_t transforms = (block_elements + sub.radix - 1) / sub.radix;
    most = std::max(most, (transforms + threads - 1) / threads * sub.radix);
  }
  return static_cast<int>(std::min(most, std::int64_t{1} << 20));
}

std::size_t round_size(const std::vector<SubFft>& subs, std::size_t first, int elements_per_thread) {
  std::int64_t used = 1;
  std::size_t at = first;
  while (at < subs.size() && (at == first || used * subs[at].radix <= elements_per_thread)) used *= subs[at++].radix;
  return at - first;
}

std::int64_t shared_bytes(const KernelParameters& with, std::int64_t block_elements, Precision precision) {
  const std::int64_t real = real_bytes(precision);
  std::int64_t exchange = 0;
  if (with.exchange == Exchange::shared) exchange = block_elements * real * (with.parts == Parts::apart ? 1 : 2);
  if (with.banks == Banks::pad) exchange += exchange / 32;
  return round_up(exchange, 128) + with.pipeline * block_elements * 2 * real;
}

std::int64_t shared_bytes(const FftPlan& plan, int kernel) {
  return shared_bytes(plan.kernels[static_cast<std::size_t>(kernel)].with, geometry(plan, kernel).block_elements,
                      plan.precision);
}

int registers_estimate(int held, Precision precision) {
  const int words = static_cast<int>(real_bytes(precision) / 4);
  return held == 0 ? 0 : 3 * held * words + 16;
}

int registers_estimate(const FftPlan& plan, int kernel) {
  return registers_estimate(geometry(plan, kernel).elements_per_thread, plan.precision);
}

int resident_blocks(int threads, int registers, std::int64_t shared, const DeviceTraits& device) {
  if (threads == 0) return 0;
  if (device.compute_capability >= 80) shared += 1024;  // reserved by the system in each block
  const std::int64_t by_threads = device.threads_per_multiprocessor / threads;
  const std::int64_t by_registers =
      device.registers_per_multiprocessor / (round_up(std::max(1, registers), 8) * threads);
  const std::int64_t by_shared = shared == 0 ? 32 : device.shared_per_multiprocessor / shared;
  return static_cast<int>(std::min({by_threads, by_registers, by_shared, std::int64_t{32}}));
}

int resident_blocks(const FftPlan& plan, int kernel, const DeviceTraits& device) {
  const KernelParameters& with = plan.kernels[static_cast<std::size_t>(kernel)].with;
  int registers = registers_estimate(plan, kernel);
  if (with.registers > 0) registers = std::min(registers, with.registers);
  return resident_blocks(with.threads, registers, shared_bytes(plan, kernel), device);
}

std::int64_t elements(const FftPlan& plan) {
  std::int64_t all = 1;
  for (const std::int64_t n : lengths(plan)) all *= n;
  return all;
}

std::int64_t kernel_bytes(const FftPlan& plan) { return elements(plan) * 2 * 2 * real_bytes(plan.precision); }

double codelet_flops(int radix) {
  // Powers of two: counts of split-radix programs. Primes: counts of the symmetric form. Other radices: from their
  // factors.
  switch (radix) {
    case 1:
      return 0;
    case 2:
      return 4;
    case 4:
      return 16;
    case 8:
      return 56;
    case 16:
      return 168;
    case 32:
      return 456;
    case 64:
      return 1160;
    default:
      break;
  }
  int a = 1;
  while (radix % (2 * a) == 0) a *= 2;
  if (a == 1)
    for (a = 3; radix % a != 0; a += 2) {
    }
  const int b = radix / a;
  if (b == 1) return 1.5 * (radix - 1) * (radix - 1) + 6.0 * (radix - 1);
  return b * codelet_flops(a) + a * codelet_flops(b) + 6.0 * (a - 1) * (b - 1);
}

double kernel_flops(const FftPlan& plan, int kernel) {
  const auto total = static_cast<double>(elements(plan));
  double flops = 0;
  for (const SubFft& sub : plan.kernels[static_cast<std::size_t>(kernel)].subs) {
    flops += total / sub.radix * codelet_flops(sub.radix);
    if (sub.twiddle) flops += 6 * total * (1 - 1.0 / sub.radix) * (1 - 1.0 / static_cast<double>(sub.stride));
  }
  return flops;
}

bool uses_workspace(const FftPlan& plan) {
  return std::any_of(plan.kernels.begin(), plan.kernels.end(),
                     [](const Kernel& kernel) { return kernel.with.to == Target::work; });
}

}  // namespace fourtune::generator::fft
