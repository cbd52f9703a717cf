// Kernel options: every set of parameters of one kernel that the rules and the device allow.
#include <algorithm>

#include "generator/planner/gpu_fft/enumerate_steps.h"
#include "generator/planner/gpu_fft/plan_cost.h"

namespace fourtune::generator::fft {
namespace {

// What both steps know about the kernel.
struct Setting {
  const FftPlan& plan;
  int kernel;
  const DeviceTraits& device;
  std::int64_t batch;
  double flops;
  FftCosts costs;

  Setting(const FftPlan& p, int k, const DeviceTraits& d, std::int64_t b)
      : plan(p), kernel(k), device(d), batch(b), flops(kernel_flops(p, k)), costs(fft_costs(d)) {}
  const Kernel& which() const { return plan.kernels[static_cast<std::size_t>(kernel)]; }
  double seconds(const Kernel& candidate, const KernelGeometry& g) const {
    return kernel_seconds(plan, candidate, g, flops, device, batch, costs);
  }
  bool fits(const KernelParameters& with, const KernelGeometry& g) const {
    const std::int64_t shared = shared_bytes(with, g.block_elements, plan.precision);
    int registers = registers_estimate(g.elements_per_thread, plan.precision);
    if (with.registers > 0) registers = std::min(registers, with.registers);
    return shared <= device.shared_per_block && resident_blocks(with.threads, registers, shared, device) >= 1;
  }
};

// Whether a warp's registers hold all values that belong together, with one sector of neighbours along x. Without these
// neighbours, a warp that has whole transforms would read single values that are far apart.
bool warp_holds(const KernelGeometry& g, Precision precision) {
  std::int64_t together = 1, step = g.dims[0].length;
  for (const auto& dim : g.dims) together *= dim.transformed;
  for (const Axis& own : g.dims[0].own) step = std::min(step, own.read_stride);
  const std::int64_t sector = 32 / (2 * real_bytes(precision));
  if (step > 1) together *= std::min(g.dims[0].carried, sector);
  return together <= std::int64_t{32} * g.elements_per_thread;
}

bool powers_of_two(const Kernel& kernel, const KernelGeometry& g) {
  const auto power = [](std::int64_t n) { return (n & (n - 1)) == 0; };
  const bool all = power(g.tile_elements) && power(kernel.with.threads);
  return all && (kernel.with.exchange != Exchange::shuffle ||
                 g.tile_elements == std::int64_t{kernel.with.threads} * g.elements_per_thread);
}

// Whether no tile extends beyond the array.
bool whole_tiles(const KernelGeometry& g, std::int64_t batch) {
  return batch % g.batch_carried == 0 && std::all_of(g.dims.begin(), g.dims.end(), [](const DimGeometry& dim) {
           return dim.free_count % dim.carried == 0;
         });
}

bool agrees(const Kernel& kernel, const KernelGeometry& g, Precision precision, const DeviceTraits& device,
            std::int64_t batch) {
  const KernelParameters& with = kernel.with;
  const int cc = device.compute_capability;
  if ((with.exchange == Exchange::none) != (kernel.subs.size() == 1)) return false;
  const bool plain = with.parts == Parts::together && with.banks == Banks::pad;
  if (with.exchange != Exchange::shared && (!plain || with.cluster > 1)) return false;
  if (with.exchange == Exchange::shared && with.banks == Banks::plain) return false;  // bank conflicts: never the best
  const bool bits = with.exchange == Exchange::shuffle || with.banks == Banks::swizzle;
  if (bits && !powers_of_two(kernel, g)) return false;
  if (with.exchange == Exchange::shuffle && !warp_holds(g, precision)) return false;
  const bool twiddles =
      std::any_of(kernel.subs.begin(), kernel.subs.end(), [](const SubFft& sub) { return sub.twiddle; });
  if (with.twiddle != TwiddleForm::table && !twiddles) return false;
  if (with.load == Load::async && cc < 80) return false;
  if (with.load != Load::plain && with.cluster > 1) return false;  // a landing buffer belongs to a single block
  const double run_bytes = g.read_run * 2 * static_cast<double>(real_bytes(precision));
  if (with.load == Load::bulk && (cc < 90 || run_bytes < 16 || !whole_tiles(g, batch))) return false;
  return with.load == Load::plain || g.block_elements >= 1024;  // many small blocks hide latency anyway
}

// Whether the plan has one kernel for lines of one dimension.
bool is_line(const FftPlan& plan) { return plan.kernels.size() == 1 && rank(plan) == 1; }

struct Seen {
  double before = 0, after = 0;
};

struct Shape {
  KernelParameters with;
  double seconds = 0;
};

class ShapeMaker {
 public:
  ShapeMaker(const FftPlan& plan, int kernel, const DeviceTraits& device, std::int64_t batch)
      : set_(plan, kernel, device, batch),
        bound_(set_.which().with),
        dims_(rank(plan)),
        largest_(largest_tile(device, plan.precision, is_line(plan))),
        tiled_(set_.which()),
        candidate_(tiled_),
        landing_(tiled_) {}

  // The `most` best shapes.
  std::vector<KernelOption> make(int most, CountTable& counts) {
    most_ = static_cast<std::size_t>(most);
    KernelGeometry g = geometry(set_.plan, set_.kernel);
    for (const auto& tile : tiles(g)) {
      tiled_.with.tile = tile;
      carry(g, tiled_, dims_);
      for (int cluster = 1; cluster <= largest_cluster(set_.device); cluster *= 2)
        if (bound_.cluster == 1 || bound_.cluster == cluster) blocks(g, cluster);
    }
    counts.add("kernels", "tile: fits a block or a cluster, and is worth one", tiles_.before, tiles_.after);
    counts.add("kernels", "cluster: divides the tile, and one block is too small", clusters_.before, clusters_.after);
    counts.add("kernels", "threads: at most a third idle", threads_.before, threads_.after);
    counts.add("kernels", "register-file", registers_.before, registers_.after);
    counts.add("kernels", "shared-memory of the leanest exchange", shared_.before, shared_.after);
    counts.add("kernels", "the best of a radix sequence by estimate", found_, static_cast<double>(out_.size()));
    std::vector<KernelOption> best;
    best.reserve(out_.size());
    for (const Shape& shape : out_) best.push_back({{set_.which().subs, shape.with}, shape.seconds});
    return best;
  }

 private:
  // Neighbours to carry: first runs along x, then lines of the next dimension that has any (or of the batch), to fill a
  // block.
  std::vector<Tile> tiles(KernelGeometry& g) {
    if (bound_.tile[0] != 0) {
      ++tiles_.before, ++tiles_.after;
      return {bound_.tile};
    }
    tiled_.with.tile = {1};
    carry(g, tiled_, dims_);
    const std::int64_t all = elements(set_.plan) * set_.batch;
    std::vector<Tile> out, small;  // small: the largest of the tiles too small for a block
    std::int64_t most = 0;
    for (const std::int64_t x : neighbours(g.dims[0]))
      for (int d = 1; d <= dims_; ++d) {
        const std::int64_t there = d == dims_ ? set_.batch : g.dims[static_cast<std::size_t>(d)].free_count;
        for (std::int64_t more = 1; more <= std::min<std::int64_t>(there, 4096); more *= 2) {
          if (more == 1 && d > 1) continue;  // already listed
          if (d < dims_ && !may_carry(g.dims[static_cast<std::size_t>(d)], more)) continue;
          ++tiles_.before;
          const std::int64_t values = g.tile_elements * x * more;
          if (values > largest_) continue;
          Tile tile(static_cast<int>(x));
          tile[static_cast<std::size_t>(d)] = static_cast<int>(more);
          if (values >= std::min<std::int64_t>(512, all))
            out.push_back(tile);
          else if (values > most)
            most = values, small = {tile};
        }
        if (there > 1) break;  // only the nearest dimension that has neighbours
      }
    if (out.empty()) out = small;  // a small array whose lengths are not powers of two
    tiles_.after += static_cast<double>(out.size());
    return out;
  }

  static std::vector<std::int64_t> neighbours(const DimGeometry& dim) {
    std::vector<std::int64_t> out;
    for (std::int64_t c = 1; c <= std::min<std::int64_t>(dim.free_count, 256); ++c) {
      const bool power = (c & (c - 1)) == 0;
      // Powers of two align with sectors; other divisors are used where the length has few powers of two.
      const bool odd =
          ((c % 4 == 0 && dim.free_count % 16 != 0) || (c <= 32 && dim.free_count % 2 == 1)) && dim.free_count % c == 0;
      if ((power || odd || c == dim.free_count) && may_carry(dim, c)) out.push_back(c);
    }
    return out;
  }

  void blocks(KernelGeometry& g, int cluster) {
    ++clusters_.before;
    g.block_elements = g.tile_elements / cluster;
    const bool small = g.block_elements < 2048;  // one block easily holds such a tile
    if (cluster > set_.device.cluster_blocks || g.tile_elements % cluster != 0 || (cluster > 1 && small)) return;
    if (cluster > 1 && set_.which().subs.size() < 2) return;  // nothing to exchange
    ++clusters_.after;
    for (const int threads : counts_of_threads(g.block_elements)) {
      if (bound_.threads != 0 && bound_.threads != threads) continue;
      ++threads_.before;
      g.elements_per_thread = elements_per_thread(set_.which().subs, g.block_elements, threads);
      if (cluster > 1 && !divides_rounds(g, cluster, threads)) continue;
      const std::int64_t slots = std::int64_t{g.elements_per_thread} * threads;
      if (bound_.threads == 0 && threads > 32 && 2 * slots > 3 * g.block_elements) continue;
      ++threads_.after;
      ++registers_.before;
      const int registers = registers_estimate(g.elements_per_thread, set_.plan.precision);
      if (registers > 255) continue;
      int limit = 0;
      if ((registers + 7) / 8 * 8 * threads > set_.device.registers_per_multiprocessor) {
        limit = least_registers(g, threads);
        if (limit == 0) continue;
      }
      ++registers_.after;
      leanest(g, cluster, threads, limit);
    }
  }

  // The limit with which a block fills the register file, if that holds its values and a little more; else 0. Only
  // where it saves another kernel.
  int least_registers(const KernelGeometry& g, int threads) const {
    if (!is_line(set_.plan)) return 0;
    const int words = static_cast<int>(real_bytes(set_.plan.precision) / 4), spare = least_spare_registers * words;
    const int limit = set_.device.registers_per_multiprocessor / threads / 8 * 8;
    return 2 * g.elements_per_thread * words + spare <= limit ? limit : 0;
  }

  // Usual numbers of threads, and those that have one DFT of a radix each.
  std::vector<int> counts_of_threads(std::int64_t values) const {
    constexpr int warp = 32, most = 1024;
    std::vector<int> out{32, 64, 96, 128, 192, 256, 384, 512, 768, 1024};
    for (const SubFft& sub : set_.which().subs)
      if (const std::int64_t each = (values / sub.radix + warp - 1) / warp * warp; each <= most)
        out.push_back(static_cast<int>(each));
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  // Values move to other blocks of a cluster between the first two rounds. The cluster size must therefore divide
  // the numbers of DFTs of both rounds, and divide the tile evenly.
  bool divides_rounds(const KernelGeometry& g, int cluster, int threads) {
    const auto& subs = set_.which().subs;
    if (g.block_elements % threads != 0) return false;
    std::size_t at = 0;
    for (int round = 0; round < 2; ++round) {
      if (at == subs.size()) return false;
      std::int64_t radices = 1;
      for (const std::size_t end = at + round_size(subs, at, g.elements_per_thread); at < end; ++at)
        radices *= subs[at].radix;
      if (radices % cluster != 0) return false;
    }
    return true;
  }

  void leanest(const KernelGeometry& g, int cluster, int threads, int registers) {
    Kernel& kernel = candidate_;
    kernel.with = tiled_.with;
    kernel.with.threads = threads;
    kernel.with.cluster = cluster;
    kernel.with.registers = registers;
    if (kernel.subs.size() > 1) {
      kernel.with.exchange = Exchange::shared;
      kernel.with.parts = Parts::apart;
      kernel.with.banks = Banks::pad;
    }
    ++shared_.before;
    if (!set_.fits(kernel.with, g)) return;
    ++shared_.after;
    double seconds = set_.seconds(kernel, g);
    Kernel& landing = landing_;  // a shape is as good as its best kind of load
    landing.with = kernel.with;
    landing.with.load = set_.device.compute_capability >= 90 ? Load::bulk : Load::async;
    landing.with.pipeline = 1;
    if (agrees(landing, g, set_.plan.precision, set_.device, set_.batch) && set_.fits(landing.with, g))
      seconds = std::min(seconds, set_.seconds(landing, g));
    keep({kernel.with, seconds});
  }

  // By increasing seconds, and those of the same in the order in which they are found.
  void keep(const Shape& shape) {
    ++found_;
    if (out_.size() == most_ && (most_ == 0 || shape.seconds >= out_.back().seconds)) return;
    if (out_.size() == most_) out_.pop_back();
    const auto behind = std::upper_bound(out_.begin(), out_.end(), shape,
                                         [](const Shape& a, const Shape& b) { return a.seconds < b.seconds; });
    out_.insert(behind, shape);
  }

  Setting set_;
  KernelParameters bound_;
  int dims_;
  std::int64_t largest_;
  Seen tiles_, clusters_, threads_, registers_, shared_;
  std::size_t most_ = 0;
  double found_ = 0;
  std::vector<Shape> out_;
  Kernel tiled_, candidate_, landing_;  // all of the same radices
};

}  // namespace

std::vector<KernelOption> kernel_shapes(const FftPlan& plan, int kernel, const DeviceTraits& device, std::int64_t batch,
                                        int most, CountTable& counts) {
  return ShapeMaker(plan, kernel, device, batch).make(most, counts);
}

std::vector<KernelOption> kernel_choices(const FftPlan& plan, int kernel, const DeviceTraits& device,
                                         std::int64_t batch, const EnumerationForms& forms, CountTable& counts) {
  const Setting set(plan, kernel, device, batch);
  const KernelGeometry g = geometry(plan, kernel);
  constexpr std::pair<Load, int> landings[] = {{Load::plain, 0}, {Load::async, 1}, {Load::bulk, 1}, {Load::bulk, 2}};
  std::vector<KernelOption> out;
  Seen choices, shared;
  Kernel candidate = set.which();
  for (const Exchange exchange : {Exchange::none, Exchange::shared, Exchange::shuffle})
    for (const Parts parts : {Parts::together, Parts::apart})
      for (const Banks banks : {Banks::plain, Banks::pad, Banks::swizzle})
        for (const TwiddleForm twiddle :
             {TwiddleForm::table, TwiddleForm::computed})  // fast loses digits: only on request
          for (const auto& [load, pipeline] : landings) {
            KernelParameters& with = candidate.with;
            with.exchange = exchange;
            with.parts = parts;
            with.banks = banks;
            with.twiddle = twiddle;
            with.load = load;
            with.pipeline = pipeline;
            if ((exchange == Exchange::shuffle && !forms.shuffle) || (banks == Banks::swizzle && !forms.swizzle) ||
                (load == Load::async && !forms.async) || (load == Load::bulk && !forms.bulk))
              continue;
            ++choices.before;
            if (!agrees(candidate, g, plan.precision, device, batch)) continue;
            ++choices.after;
            ++shared.before;
            if (!set.fits(with, g)) continue;
            ++shared.after;
            out.push_back({candidate, set.seconds(candidate, g)});
          }
  counts.add("choices", "exchange, parts, banks, twiddle and load agree; capability", choices.before, choices.after);
  counts.add("choices", "shared-memory", shared.before, shared.after);
  return out;
}

}  // namespace fourtune::generator::fft
