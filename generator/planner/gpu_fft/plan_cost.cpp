#include "generator/planner/gpu_fft/plan_cost.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "generator/plan/fft/stored_twiddles.h"

namespace fourtune::generator::fft {
namespace {

// `values`: of all transforms. `here`: only the output counts.
bool stays_in_l2(const FftPlan& plan, const DeviceTraits& device, double values, bool here = false) {
  const double array = values * 2 * static_cast<double>(real_bytes(plan.precision));
  const double arrays = !here && (plan.place == Place::out || uses_workspace(plan)) ? 2 : 1;
  return array * arrays < 0.8 * static_cast<double>(device.l2_bytes);
}

// Share of copy bandwidth that the resident blocks reach: one of 512 threads 0.81 (H200, 256^3 f32), two of half the
// size 0.95, and one with bulk loads into a landing buffer 0.84.
double overlap(const KernelParameters& with, int resident, const FftCosts& costs) {
  const double blocks = with.load == Load::bulk ? resident + 0.2 : resident;
  const double warps = resident * with.threads / 32.0;  // too few cannot keep memory or arithmetic busy
  return 1 / (1 + costs.alone / blocks + costs.few_warps / warps);
}

// The number of exchanges between threads, and how many neighbours in memory threads load and store at once along x:
// the distance of the values that one thread holds; 0: x is not in the round, or an exchange arranges the values.
struct Rounds {
  int exchanges = 0;
  double load_chunk = 0, store_chunk = 0;
  bool along = false;  // the kernel transforms x
  bool alone = false;  // a thread holds whole lines
  bool rows = false;   // x is in the last round of a kernel that transforms other dimensions too
  double idle = 1;     // slots of threads for DFTs over the DFTs that there are, by the mean of rounds
};
Rounds rounds_of(const Kernel& kernel, const KernelGeometry& g) {
  const DimGeometry& x = g.dims[0];
  const auto least = [&](double& chunk, std::size_t sub, bool write) {
    for (std::size_t i = 0; i < x.subs.size(); ++i) {
      if (static_cast<std::size_t>(x.subs[i]) != sub) continue;
      const auto stride = static_cast<double>(write ? x.own[i].write_stride : x.own[i].read_stride);
      chunk = chunk > 0 ? std::min(chunk, stride) : stride;
    }
  };
  Rounds out;
  out.along = !x.subs.empty();
  out.alone = kernel.subs.size() == 1;
  // Radices share a round only where every thread holds as many values as the others (lower/arrange.cpp).
  const bool even = g.block_elements % kernel.with.threads == 0;
  double idle = 0, count = 0;
  for (std::size_t first = 0; first < kernel.subs.size();) {
    const std::size_t end = first + round_size(kernel.subs, first, even ? g.elements_per_thread : 1);
    if (first > 0) ++out.exchanges;
    std::int64_t radices = 1;
    for (std::size_t sub = first; sub < end; ++sub) radices *= kernel.subs[sub].radix;
    const auto share = static_cast<double>(g.block_elements) / static_cast<double>(radices * kernel.with.threads);
    idle += std::ceil(share - 1e-9) / share, ++count;
    for (std::size_t sub = first; sub < end; ++sub) {
      if (first == 0) least(out.load_chunk, sub, false);
      if (end == kernel.subs.size()) least(out.store_chunk, sub, true);
    }
    first = end;
  }
  out.idle = idle / count;
  out.rows = out.store_chunk > 0 &&
             std::any_of(kernel.subs.begin(), kernel.subs.end(), [](const SubFft& sub) { return sub.dim != Dim::x; });
  const bool load = kernel.with.coalesce == Coalesce::load || kernel.with.coalesce == Coalesce::both;
  const bool store = kernel.with.coalesce == Coalesce::store || kernel.with.coalesce == Coalesce::both;
  out.exchanges += (load ? 1 : 0) + (store ? 1 : 0);
  if (load) out.load_chunk = 0;
  if (store) out.store_chunk = 0;
  return out;
}

}  // namespace

double peak_flops(const DeviceTraits& device, Precision precision) {
  const int cc = device.compute_capability;
  const bool server = cc == 70 || cc == 80 || cc == 90 || cc == 100;
  const double lanes32 = cc <= 80 ? 64 : 128;
  const double lanes64 = !server ? 2 : cc >= 90 ? 64 : 32;
  return 2 * device.clock_hz * device.multiprocessors * (precision == Precision::f32 ? lanes32 : lanes64);
}

double copy_bandwidth(const DeviceTraits& device) { return fft_costs(device).copy * device.memory_bandwidth; }

// 0.63 for runs of 16 bytes, 0.93 for 64 bytes in kernels of an H100; the rest of what passes with short runs lose is
// in sectors that they share with their neighbours and in blocks that cannot hide it.
double run_efficiency(double run_bytes, const FftCosts& costs, bool cached) {
  return 1 / (1 + costs.run * (cached ? costs.run_cached : 1) / std::pow(run_bytes, 1.5));
}

// Bulk copies of short rows are slow: 0.25 for 128 bytes and 0.44 for 256 bytes on an H200.
double bulk_efficiency(double row_bytes) { return row_bytes / (row_bytes + 340); }

// cp.async of one complex value at a time: on an H200, 0.8 of the speed of a pass with plain loads in f32, no limit in
// f64.
double async_efficiency(Precision precision) { return precision == Precision::f32 ? 0.6 : 1; }

Floors floors(const FftPlan& plan, const DeviceTraits& device, std::int64_t batch) {
  Floors out;
  const auto transforms = static_cast<double>(batch);
  const FftCosts costs = fft_costs(device);
  const double copied = static_cast<double>(kernel_bytes(plan)) * transforms / copy_bandwidth(device);
  const bool cached = stays_in_l2(plan, device, static_cast<double>(elements(plan)) * transforms, true);
  for (int k = 0; k < static_cast<int>(plan.kernels.size()); ++k) {
    const double bytes = copied / (cached && k > 0 ? costs.cached : 1);  // the first kernel finds nothing in the cache
    const double flops = kernel_flops(plan, k) * transforms / peak_flops(device, plan.precision);
    out.bytes += bytes;
    out.flops += flops;
    out.launches += costs.launch;
    out.total += std::max(bytes, flops) + costs.launch;
  }
  return out;
}

namespace {

// Seconds of loads and stores: run lengths, then the overlap with other work.
struct Traffic {
  double copy = 0, busy = 1;  // seconds each way at the speed of a copy; overlap()
  RealWork part;
  bool cached = false;  // in the L2 cache
  bool small = false;   // an array takes little of it
};
double memory_seconds(const FftPlan& plan, const KernelParameters& with, const KernelGeometry& g, const Rounds& rounds,
                      const Traffic& traffic, const FftCosts& costs) {
  // A kernel that moves less waits as long for what it does between loads and stores.
  const auto direction = [&](double efficiency) {
    const double moved = traffic.part.moved;
    return traffic.copy * std::max(moved / efficiency, moved - 1 + 1 / std::min(1.0, traffic.busy));
  };
  const auto complex_bytes = static_cast<double>(2 * real_bytes(plan.precision));
  // Stores of less than a sector of neighbours write it in parts; the first-level cache gathers loads of single values.
  constexpr double sector = 32;
  // A run that begins inside a sector shares its first and its last one with its neighbours.
  const auto whole = [&](double run) {
    const double begins = std::gcd(std::llround(run), std::int64_t{32});
    return run / (run + costs.straddle * (sector - begins));
  };
  const double stored = rounds.store_chunk * complex_bytes * traffic.part.write;
  const bool scattered_load = rounds.load_chunk == 1 && with.load == Load::plain;
  // Chunks of less than two sectors write these in parts, as the cache does not gather what threads store; rows of half
  // spectra pass as they lie in memory where several threads hold a line. Chunks of larger arrays may lie in rows of
  // several dimensions (28x4096 f32 x 34 on an H100: 75 us by chunks of 32 or 56 bytes, 20 expected; most took a
  // third).
  const bool short_chunks = stored > 0 && stored < 2 * sector && (traffic.part.moved == 1 || rounds.alone);
  const double begins = std::gcd(std::llround(stored), std::int64_t{32});
  const double stores = !short_chunks                   ? 1
                        : rounds.rows && !traffic.small ? costs.scattered_stores
                                                        : 1 + costs.partial * (sector - begins) / stored;
  // A kernel with bulk loads finds its tiles contiguous where the previous kernel wrote a workspace.
  const bool whole_tiles = !g.first_array && g.from == Target::work;
  const double run_bytes = g.read_run * complex_bytes * traffic.part.read;
  const double write_bytes = g.write_run * complex_bytes * traffic.part.write;
  FftCosts of_runs = costs;
  if (!rounds.along) of_runs.run = costs.run_rows;
  const auto runs = [&](double bytes) { return run_efficiency(bytes, of_runs, traffic.cached); };
  const double read = with.load == Load::plain   ? runs(run_bytes) * whole(run_bytes)
                      : with.load == Load::async ? std::min(async_efficiency(plan.precision), runs(run_bytes))
                      : whole_tiles              ? 1
                                                 : bulk_efficiency(run_bytes);
  return direction(read) * (scattered_load ? costs.scattered_loads : 1) +
         direction(runs(write_bytes) * whole(write_bytes)) * stores;
}

// Shared memory: every exchange writes and reads each value at 128 bytes per clock and multiprocessor. Three quarters
// of that is reached without bank conflicts, and less if nothing avoids them; shared memory of other blocks in a
// cluster is slower.
double exchange_seconds(const KernelParameters& with, const Rounds& rounds, double bytes, const DeviceTraits& device,
                        const FftCosts& costs) {
  const double exchanges = rounds.exchanges * (with.exchange == Exchange::shuffle ? 0.6 : 1);
  double lanes = 128.0 * device.clock_hz * device.multiprocessors * costs.shared;
  if (with.exchange == Exchange::shared && with.banks == Banks::plain) lanes *= 0.4;
  if (with.banks == Banks::swizzle) lanes *= 0.98;  // one exclusive or per value; prefers padding where both fit
  double exchange = exchanges * bytes * 2 / lanes;
  if (with.exchange == Exchange::shared && with.parts == Parts::apart) exchange *= 1.15;  // twice the barriers
  if (with.pipeline > 0) exchange += bytes / lanes;                                       // out of the landing buffer
  return exchange;
}

}  // namespace

// How much longer a kernel takes whose threads hold more values than leave room for other threads: 0.6 to 0.9 of the
// time were predicted without this, and half of it with more than 64 values (70 values: 255 registers and 8 warps on a
// multiprocessor of an H100). In f64 more than 42 values do not fit the registers, and what is spilled grows with each
// (lines of 43 values on an H100 at the speed of memory, of 53 at half, of 59 at 0.3 of it).
static double crowding(int values, Precision precision, const FftCosts& costs) {
  if (precision == Precision::f32) return values > 64 ? 1.75 * costs.crowded : values > 32 ? costs.crowded : 1;
  return values > 42 ? costs.crowded * std::pow(std::max(1.0, values / 47.0), 4) : 1;
}

double kernel_seconds(const FftPlan& plan, const Kernel& kernel, const KernelGeometry& g, double flops,
                      const DeviceTraits& device, std::int64_t batch, const FftCosts& costs, RealWork part) {
  const KernelParameters& with = kernel.with;
  const auto complex_bytes = static_cast<double>(2 * real_bytes(plan.precision));
  const double transforms = static_cast<double>(batch) * part.lines;
  const auto all = static_cast<double>(elements(plan)), values = all * transforms;
  int registers = registers_estimate(g.elements_per_thread, plan.precision);
  if (with.registers > 0) registers = std::min(registers, with.registers);
  const int resident = std::max(
      1, resident_blocks(with.threads, registers, shared_bytes(with, g.block_elements, plan.precision), device));

  // A kernel that writes the array that it reads finds there what the one before it wrote.
  const bool here = !g.first_array && g.from == Target::out && with.to == Target::out;
  const bool cached = stays_in_l2(plan, device, all * static_cast<double>(batch), here);
  const bool small = all * static_cast<double>(batch) * complex_bytes < 0.25 * static_cast<double>(device.l2_bytes);
  // The first kernel finds nothing in the cache.
  const double near = cached && !g.first_array ? costs.cached : 1;
  const double copy = values * complex_bytes / (costs.copy * device.memory_bandwidth * near);
  const Rounds rounds = rounds_of(kernel, g);
  double memory =
      memory_seconds(plan, with, g, rounds, {copy, overlap(with, resident, costs), part, cached, small}, costs);

  // Arithmetic: mixes of additions and multiply-adds reach about half of the peak. Computed twiddle factors cost extra.
  double work = flops;
  for (const SubFft& sub : kernel.subs) {
    if (!sub.twiddle) continue;
    // The first factor of a DFT, and its powers by multiplication.
    const double each = with.twiddle == TwiddleForm::fast ? 0.15 : plan.precision == Precision::f32 ? 0.4 : 1;
    const bool stored = with.twiddle == TwiddleForm::table && sub.n <= most_stored_twiddles;
    work += 6 * all + (stored ? 0 : costs.unit * each * all / sub.radix);
  }
  const double arithmetic = work * transforms / (costs.arithmetic * peak_flops(device, plan.precision));
  const double exchange = exchange_seconds(with, rounds, values * complex_bytes, device, costs);

  // Traffic between the blocks of a cluster: everything except the share that stays in its block.
  const double ports = 64.0 * device.multiprocessors * device.clock_hz;  // bytes per second into multiprocessors
  const double crossing = values * complex_bytes * (1 - 1.0 / with.cluster) / (costs.crossing * ports);

  // Blocks that do not fill the device's last wave. In the only one, each multiprocessor works for its own blocks.
  const double blocks =
      std::ceil(static_cast<double>(g.tiles) * with.cluster *
                (part.lines < 1 ? transforms : std::ceil(transforms / static_cast<double>(g.batch_carried))));
  const double slots = static_cast<double>(device.multiprocessors) * resident;
  const double waves = std::ceil(blocks / slots);
  const double each = std::ceil(blocks / device.multiprocessors) * device.multiprocessors;
  const double fill = waves > 1 ? std::min(1.0, blocks / (waves * slots) + (waves - 1) * 0.05) : blocks / each;
  // Idle threads, and partial tiles.
  const double covered = static_cast<double>(g.tiles) * static_cast<double>(g.tile_elements / g.batch_carried) / all;
  const double compute = (arithmetic + exchange) * rounds.idle * std::max(1.0, covered) / fill;
  if (waves > 1) memory /= std::min(1.0, fill * 1.5);
  // Two blocks on some multiprocessors and one on others: these wait for those.
  if (waves == 1 && resident == 2 && blocks > device.multiprocessors) memory /= fill;
  // Each block waits for memory, for barriers, and for the operations of a thread one after the other.
  const double steps = work / all * g.elements_per_thread;
  // Of a line that a thread holds alone the real side has half of the words.
  const bool half = kernel.subs.size() == 1 && (part.read < 1 || part.write < 1);
  const double crowded = crowding(half ? g.elements_per_thread / 2 : g.elements_per_thread, plan.precision, costs);
  const bool spills = plan.precision == Precision::f64 && crowded > 1;
  const double chain = waves * (costs.wait * (1 + 0.1 * rounds.exchanges) +
                                costs.step * steps * (spills ? crowded : 1) / device.clock_hz);
  // Memory and arithmetic hide behind each other across blocks: the first one of a multiprocessor has nothing to
  // compute while it loads, and the last one nothing to load.
  const double turns = std::max(1.0, blocks / device.multiprocessors);
  const double hidden = costs.hidden * (1 - costs.first / turns);
  const double rate = (std::max(memory, compute) + (1 - hidden) * std::min(memory, compute)) * crowded + crossing;
  return std::max(rate, chain) + costs.launch + (g.first_array ? costs.cold : 0);
}

double kernel_seconds(const FftPlan& plan, const Kernel& kernel, const KernelGeometry& g, double flops,
                      const DeviceTraits& device, std::int64_t batch) {
  return kernel_seconds(plan, kernel, g, flops, device, batch, fft_costs(device));
}

double kernel_seconds(const FftPlan& plan, int kernel, const DeviceTraits& device, std::int64_t batch) {
  return kernel_seconds(plan, plan.kernels[static_cast<std::size_t>(kernel)], geometry(plan, kernel),
                        kernel_flops(plan, kernel), device, batch);
}

double plan_seconds(const FftPlan& plan, const DeviceTraits& device, std::int64_t batch, const FftCosts& costs) {
  double out = 0;
  for (int k = 0; k < static_cast<int>(plan.kernels.size()); ++k)
    out += kernel_seconds(plan, plan.kernels[static_cast<std::size_t>(k)], geometry(plan, k), kernel_flops(plan, k),
                          device, batch, costs);
  return out;
}

double plan_seconds(const FftPlan& plan, const DeviceTraits& device, std::int64_t batch) {
  return plan_seconds(plan, device, batch, fft_costs(device));
}

}  // namespace fourtune::generator::fft
