// Known-good plans: not tuned, but right on every device.
#include <fmt/format.h>

#include <algorithm>

#include "base/layout.h"
#include "fourtune/status.h"
#include "generator/codegen/fft/any_length/any_size.h"
#include "generator/codegen/fft/any_length/line_radices.h"

namespace fourtune::generator::fft {
namespace {

// Longest line in one kernel along y and z, where a tile should carry 16 neighbours.
constexpr std::int64_t most_strided = 1024;

// Radices of a line along x that fills a block, for two blocks on a multiprocessor; nothing if there are none.
std::vector<int> radices_of_two_blocks(const EmitOptions& options) {
  const bool room = options.device.registers_per_multiprocessor >= 2 * threads_of_two * registers_of_two;
  return room && options.n[0] > 8192 ? radices_for_two_blocks(options.n[0], options.precision) : std::vector<int>();
}

// The same along x: what threads hold, if a block's shared memory holds the real or imaginary parts of a line with
// some padding. Lines of more than 8192 fill a block, so there must be enough of them to keep the device busy.
std::int64_t most_line(const EmitOptions& options) {
  std::int64_t lines = options.batch;
  for (std::size_t d = 1; d < options.n.size(); ++d) lines *= options.n[d];
  const std::int64_t held = threads_of_longest * most_held(options.precision), n = options.n[0];
  // Radices of which a round would leave a thread two DFTs where registers have room for one do not fill a block
  // either.
  bool fills = 2 * lines >= options.device.multiprocessors;
  if (fills && n > 8192 && n <= held)
    fills = !radices_of_two_blocks(options).empty() ||
            threads_of_long_line(n, radices_of_line(n, options.precision), options.precision).has_value();
  const std::int64_t longest = fills ? held : 8192;
  for (std::int64_t most = std::min(held, longest); most > 4096; most /= 2)
    if (most * real_bytes(options.precision) * 17 / 16 <= options.device.shared_per_block) return most;
  return 4096;
}

// A kernel whose tiles are whole lines, or whose values stay in their places, may write the array that it reads.
bool keeps_tiles(const FftPlan& plan, const Kernel& kernel) {
  if (plan.order == DigitOrder::primes) return true;
  return kernel.subs.front().n == kernel.subs.front().count * kernel.subs.front().radix &&
         kernel.subs.back().stride == 1;
}
// Whether values of the transform fit the output array and lie there as the next kernel expects them.
bool output_may_hold(const EmitOptions& options) {
  bool may = options.type != FftType::c2r && !options.output && (!options.in_place || !options.input);
  for (const auto& hook : options.hooks) may = may && !hook.input && !hook.output;
  return may;
}
// With a half spectrum this holds only after x is finished: until then, the kernels exchange whole complex lines.
bool finishes_x(const FftPlan& plan, std::size_t k) {
  return std::none_of(plan.kernels.begin() + static_cast<std::ptrdiff_t>(k) + 1, plan.kernels.end(),
                      [](const Kernel& kernel) { return kernel.subs.front().dim == Dim::x; });
}
// Chooses the array that each kernel writes. The last kernel writes the output. A kernel may write the output that it
// also reads only if it keeps its tiles (there are two workspaces). The output is preferred to a workspace.
void choose_targets(FftPlan& plan, const EmitOptions& options) {
  const std::size_t count = plan.kernels.size();
  const bool may = output_may_hold(options);
  const std::size_t ways = std::size_t{1} << (count ? count - 1 : 0);
  for (std::size_t way = 0; way < ways; ++way) {  // bit k: kernel k writes the workspace
    bool right = true;
    int before = options.in_place ? 0 : -1;  // 0: output, 1: workspace, -1: a separate input
    for (std::size_t k = 0; k < count; ++k) {
      const int to = k + 1 < count ? static_cast<int>(way >> k & 1) : 0;
      const bool hold = may && (options.type == FftType::c2c || finishes_x(plan, k));
      right = right && (to != before || to == 1 || keeps_tiles(plan, plan.kernels[k])) &&
              (hold || to == 1 || k + 1 == count);
      plan.kernels[k].with.to = to ? Target::work : Target::out;
      before = to;
    }
    if (right) return;
  }
  throw Error(Status::unsupported, "no order of arrays for the kernels of this transform");
}

// Two radices of at most 32, the larger one first, or nothing. On an H200, a strided line of 384 values ran at 94-97 %
// of copy speed in two rounds (24, 16) and at 73 % in three (16, 12, 2); tiles hold 24 to 32 values per thread.
std::vector<int> two_radices(std::int64_t n) {
  for (int large = 32; large >= 16; --large)
    if (n % large == 0 && n / large <= large && n / large >= 8) {
      int a = large;  // the most balanced pair
      for (int b = large - 1; b * b >= n; --b)
        if (n % b == 0) a = b;
      return {a, static_cast<int>(n / a)};
    }
  return {};
}

// Number of neighbours that a tile carries along a dimension that the kernel does not transform: at most `wanted`, in
// equal shares that are multiples of 4.
std::int64_t neighbours(std::int64_t wanted, std::int64_t count) {
  const std::int64_t tile = std::min(wanted, count);
  if (tile < 8) return tile;
  const std::int64_t tiles = (count + tile - 1) / tile, share = ((count + tiles - 1) / tiles + 3) / 4 * 4;
  return std::min(share, tile);
}

// The same on a line that needs several kernels. Positions on the line lie in runs, the nearest first; a tile holds
// whole runs, then a divisor of the next one (rule tile): one that fills sectors of 32 bytes, if it has at least two
// thirds of what is wanted; else the largest one. Of an odd run it may be a divisor of up to `most`.
std::int64_t neighbours_on_line(std::int64_t wanted, std::int64_t most, const std::vector<std::int64_t>& runs,
                                std::int64_t sector) {
  std::int64_t tile = 1;
  for (const std::int64_t run : runs) {
    std::int64_t part = std::min(wanted / tile, run);
    while (run % part != 0) --part;
    for (std::int64_t whole = wanted / tile; 3 * whole * tile >= 2 * wanted && part * tile % sector != 0; --whole)
      if (run % whole == 0 && whole * tile % sector == 0) part = whole;
    // Odd lengths may have no divisor near it but a larger one: 3^12 in f64 takes 9 neighbours and not 3.
    if (run % 2 == 1 && 3 * part * tile < 2 * wanted)
      for (std::int64_t more = wanted / tile + 1; more * tile <= most && part * tile < wanted; ++more)
        if (run % more == 0) part = more;
    tile *= part;
    if (part < run || tile >= wanted) break;
  }
  return tile;
}

// The runs beside a kernel's positions. In natural order the transformed positions lie below those to come. By primes
// they lie above, and each prime factor is a run, the last one transformed first: so the mirrored plan may carry as
// many.
std::vector<std::int64_t> runs_on_line(const FftPlan& plan, std::int64_t done, std::int64_t to_come) {
  if (plan.order != DigitOrder::primes) return {done, to_come};
  std::vector<std::int64_t> primes = prime_factors(done);  // ascending, as the radices transform them
  primes.push_back(to_come);
  std::reverse(primes.begin(), primes.end());
  return primes;
}

}  // namespace

bool has_codelets(std::int64_t n) {
  for (std::int64_t p = 2; p <= 61; ++p)
    while (n % p == 0) n /= p;
  return n == 1;
}

namespace {

std::int64_t values_of(const EmitOptions& options) {
  std::int64_t values = options.batch;
  for (const std::int64_t n : options.n) values *= n;
  return values;
}

// Reduces the tile if the device has more multiprocessors than there are tiles, because small grids are limited by
// latency. `halves` says whether a tile may be halved.
template <class Halves>
std::int64_t spread_out(std::int64_t tile, std::int64_t least, std::int64_t product, const EmitOptions& options,
                        const Halves& halves) {
  const std::int64_t values = values_of(options);
  while (halves(tile) && tile / 2 >= least && values / (product * tile) < options.device.multiprocessors) tile /= 2;
  return tile;
}
bool is_even(std::int64_t tile) { return tile % 2 == 0; }

// Lines of a tile of short real ones, so that tiles begin where sectors do: some 640 values in eights, or 800 in fours.
std::int64_t lines_of_short_real(std::int64_t n) {
  return n <= 64 ? std::max<std::int64_t>(8, (640 / n + 4) / 8 * 8) : std::max<std::int64_t>(4, (800 / n + 2) / 4 * 4);
}

// Neighbours that fill cache lines.
std::int64_t run_of(const EmitOptions& options) { return options.precision == Precision::f32 ? 16 : 8; }

// Few lines of 64 KB, which would be one block for most multiprocessors: 4096 x 139 in f64 takes 12.1 us by one block
// of 256 threads, 10.0 by two of 128 (H200). Reads of other blocks' halves cost more where there are many lines.
bool takes_two_blocks(const EmitOptions& options) {
  const bool dense = !options.input && !options.output && options.type == FftType::c2c;
  return dense && options.precision == Precision::f64 && options.n[0] == 4096 && options.device.cluster_blocks >= 2 &&
         values_of(options) / 4096 <= 2 * options.device.multiprocessors;
}

// The radices of each kernel of one dimension, and what its tiles follow from.
struct LineKernels {
  std::vector<std::vector<int>> groups;
  std::int64_t most_values = 8192, beside = 0;  // per tile; neighbours along x
  bool one_along_x = false, short_real = false, two_blocks = false;
  bool split = false;  // a line over the two blocks of a cluster
};
LineKernels kernels_of_line(const FftPlan& plan, const EmitOptions& options, int d) {
  const std::int64_t run = run_of(options);
  const std::int64_t n = options.n[static_cast<std::size_t>(d)];
  const std::int64_t most = d == 0 ? most_line(options) : most_strided;
  const bool by_primes = plan.order == DigitOrder::primes;
  const std::int64_t longest = n <= most ? most : 512;
  auto groups =
      by_primes ? ascending_kernels_of(ascending_radices_of(n), longest) : kernels_of(radices_up_to_16(n), longest);
  // Groups of radices need more kernels than factors do where radices are large: 243000 = 15 15 15 9 8 is 486 500.
  if (!by_primes && groups.size() > 2)
    if (auto two = two_kernels_of(n, longest); !two.empty()) groups = std::move(two);
  std::int64_t most_values = 8192, beside = run;
  const bool one_along_x = d == 0 && n <= most && !by_primes && !options.hooks[0].input && !options.hooks[0].output;
  if (one_along_x) groups = {radices_of_line(n, options.precision)};
  // Several radices find their places in rows of half spectra, which are shorter, value by value; a thread that holds a
  // whole line gathers them as they lie in memory: on an H200 c2r 26 f64 x 161319 took 34.8 us by 2 and 13, 21.4 so,
  // r2c 22 f32 x 381300 22.4 by 2 and 11 and 20.0. Longer lines take two radices in small tiles: on an H100 r2c 216 f32
  // x 38836 took 32.0 us by three radices in tiles of 2048 values, 27.5 so, c2r 432 f64 x 9709 33.7 and 26.6.
  const std::vector<int> short_real = one_along_x && options.type != FftType::c2c
                                          ? radices_of_short_real_line(n, options.type, options.precision)
                                          : std::vector<int>();
  if (!short_real.empty()) groups = {short_real};
  // A line that fills a block waits for its loads and stores unless there is another one: 9000 x 1000 takes 54.4 us
  // alone and 43.1 by two blocks of 384 threads.
  const std::vector<int> two_blocks = one_along_x ? radices_of_two_blocks(options) : std::vector<int>();
  if (!two_blocks.empty()) groups = {two_blocks};
  const bool aligned = options.by_length || options.n[0] % run == 0 ||
                       n > 400;  // 300^3: 380 us this way, 362 us in three rounds; 500^3: 1.82 and 2.07 ms
  if (d > 0 && n > 256 && n <= most && options.precision == Precision::f32 && aligned)
    if (const auto pair = two_radices(n);
        !pair.empty() && (!by_primes || primes_ascend(pair)))  // as many values per thread as the larger DFT has
      groups = {pair}, most_values = 16384, beside = pair[1] <= 16 && options.n[0] % (2 * run) == 0 ? 2 * run : run;
  const bool split = one_along_x && takes_two_blocks(options);
  if (split) groups = {{16, 16, 16}};
  return {std::move(groups), most_values, beside, one_along_x, short_real.size() > 1, !two_blocks.empty(), split};
}

// One kernel of a dimension, which is made step by step.
struct LineKernel {
  const EmitOptions& options;
  const std::vector<int>& group;    // radices
  int d = 0, dims = 1;              // dimension, and how many there are
  std::int64_t n = 1;               // length of the line
  std::int64_t done = 1, left = 1;  // products of the radices of the kernels before and behind
  std::int64_t product = 1;         // of the kernel's radices
  bool along = false;               // of a long line along x: neighbours are on the same line
  bool two_radices = false;         // complex lines along x, whole in this kernel
  bool small_tiles = false;         // of these
  bool tiny = false;                // many short lines per block
  std::int64_t held = 0;            // lines that a thread holds
  // Along x, a tile carries neighbouring lines or, on a long line, neighbours on the same line.
  std::size_t carrier() const { return d == 0 && !along ? 1 : 0; }
  std::int64_t carried() const {
    return along ? n / product : d > 0 ? options.n[0] : dims > 1 ? options.n[1] : options.batch;
  }
};

// How many neighbours a tile carries along its carrier; whether they are as many as it may carry.
struct Carried {
  std::int64_t tile = 1;
  bool most = true;
};
Carried neighbours_of(const FftPlan& plan, const LineKernels& line, const LineKernel& kernel) {
  const std::int64_t run = run_of(kernel.options), product = kernel.product;
  // Odd lines suit small tiles: on an H100 399 f32 x 42048 took 98.9 us in tiles of five lines and 97.1 in tiles of
  // two, 575 x 29178 97.9 and 93.5 one by one. Lines of even length do not care; 805 takes 95.7 by twos and 110 one by
  // one.
  const bool odd = line.one_along_x && !kernel.two_radices && kernel.n % 2 == 1 && kernel.n <= 600;
  const std::int64_t wanted = kernel.held > 0 ? kernel.held * threads_of_short(kernel.n, kernel.options.precision)
                              : kernel.d > 0 && !kernel.tiny ? line.beside
                              : kernel.along                 ? run
                              : line.short_real              ? lines_of_short_real(product)
                              : odd                          ? std::max<std::int64_t>(1, 1024 / product)
                              : kernel.small_tiles           ? std::max<std::int64_t>(4, 1024 / product / 4 * 4)
                                                             : std::max<std::int64_t>(1, 2048 / product);
  const std::int64_t most_wanted = std::max<std::int64_t>(1, std::min(wanted, line.most_values / product));
  const std::vector<std::int64_t> runs = runs_on_line(plan, kernel.done, kernel.left);
  const std::int64_t most_on_line = std::min(2 * run, line.most_values / 2 / product);
  const auto on_line = [&](std::int64_t at_most) {
    return neighbours_on_line(at_most, at_most == most_wanted ? most_on_line : at_most, runs, run / 4);
  };
  // Whole warps, though the last tile is in part empty.
  const bool many = kernel.held > 0 && kernel.carried() >= 4 * most_wanted;
  const std::int64_t most = kernel.along ? on_line(most_wanted)
                            : many       ? most_wanted
                                         : neighbours(most_wanted, kernel.carried());
  // Strided tiles keep whole sectors of 32 bytes.
  const std::int64_t least = kernel.carrier() == 0 && !kernel.tiny ? run / 4 : (512 + product - 1) / product;
  const std::int64_t tile = spread_out(most, least, product, kernel.options, [&](std::int64_t of) {
    return is_even(of) && (!kernel.along || on_line(of / 2) == of / 2);
  });
  return {tile, tile == most};
}

void set_threads(KernelParameters& with, const LineKernels& line, const LineKernel& kernel, std::int64_t values) {
  const Precision precision = kernel.options.precision;
  with.threads = threads_for(values, kernel.group);
  // Three blocks of 16 values for each thread on a multiprocessor, in place of one: 4096 f64 x 2048 took 90.8 us on an
  // H200 and takes 70.5.
  if (line.one_along_x && precision == Precision::f64 && kernel.group == std::vector{8, 8, 8, 8}) with.threads = 256;
  if (line.split) with.threads = 128, with.cluster = 2;
  if (line.two_blocks)
    with.threads = threads_of_two, with.registers = registers_of_two;
  else if (line.one_along_x && kernel.n > 8192)
    with.threads = threads_of_long_line(kernel.n, kernel.group, precision).value_or(with.threads);
  if (kernel.held > 0) with.threads = static_cast<int>((values - 1) / (kernel.n * kernel.held) / 32 * 32 + 32);
}

void set_exchange(KernelParameters& with, const LineKernels& line, const LineKernel& kernel, std::int64_t values) {
  const EmitOptions& options = kernel.options;
  with.exchange = kernel.group.size() > 1 ? Exchange::shared : Exchange::none;
  if (line.one_along_x) {
    with.coalesce = line.short_real || (kernel.two_radices && !kernel.small_tiles)
                        ? Coalesce::none
                        : coalesce_of(kernel.group, kernel.n, options.precision, kernel.small_tiles ? 160 : 64);
    // Places of several radices in rows that are shorter than the tile's lines are costly to find. A thread that
    // holds a line completes it itself, so that half spectra pass as they lie in memory: on an H100 c2r 23 f64 x
    // 45590 takes 9.3 us so and 12.0 where the first-level cache gathers what threads load.
    if (options.type == FftType::c2r && kernel.group.size() > 1) with.coalesce = Coalesce::none;
    if (with.coalesce != Coalesce::none) with.exchange = Exchange::shared;
  }
  const std::int64_t exchanged =
      with.exchange == Exchange::shared ? values * 2 * real_bytes(options.precision) * 17 / 16 : 0;
  const bool tight = exchanged > options.device.shared_per_block;
  // Lets two blocks be resident, or makes one block fit at all.
  if (tight || (kernel.d == 0 ? kernel.product : values / 2) > 4096) with.parts = Parts::apart;
}

// Adds the kernels of one dimension.
void add_line(FftPlan& plan, const EmitOptions& options, int d, int dims) {
  const std::int64_t n = options.n[static_cast<std::size_t>(d)];
  if (!has_codelets(n)) throw Error(Status::invalid_plan, fmt::format("length {} has a prime factor above 61", n));
  if (n == 1) return;
  const LineKernels line = kernels_of_line(plan, options, d);
  std::int64_t left = n;
  for (const auto& group : line.groups) {
    Kernel kernel;
    LineKernel one{options, group, d, dims, n, n / left};
    for (const int r : group) {
      kernel.subs.push_back({static_cast<Dim>(d), n / r, r, left / r, left, left != r});
      left /= r, one.product *= r;
    }
    one.left = left;
    one.along = d == 0 && line.groups.size() > 1;
    // Complex lines of two radices gather neighbours where many tiles hide the round for it: on an H100 72 f32 x 116508
    // takes 48.1 us in tiles of 16 lines, 57.0 in tiles of 28 without such rounds, and 30 f64 x 139810 48.0 and 51.5.
    one.two_radices = line.one_along_x && group.size() == 2 && options.type == FftType::c2c && one.product <= 256;
    one.small_tiles = one.two_radices && values_of(options) / 1024 >= 8 * options.device.multiprocessors;
    one.tiny = d > 0 && one.product * run_of(options) < 512;
    one.held = line.one_along_x && group.size() == 1 ? lines_of_thread(n) : 0;
    auto& w = kernel.with;
    w.tile = {1};
    const Carried carried = neighbours_of(plan, line, one);
    w.tile[one.carrier()] = static_cast<int>(carried.tile);
    std::int64_t values = one.product * w.tile[one.carrier()];
    // For short lines, tiles also span further dimensions.
    for (int other = 1; one.tiny && carried.most && other < dims; ++other) {
      if (other == d || 2 * values > 2048) continue;
      auto& more = w.tile[static_cast<std::size_t>(other)];
      more = static_cast<int>(neighbours(2048 / values, options.n[static_cast<std::size_t>(other)]));
      values *= more;
    }
    set_threads(w, line, one, values);
    set_exchange(w, line, one, values);
    // Threads that gather unlike numbers of neighbours: 78 f32 x 215093 took 93.9 us on an H200 in tiles of 12 lines by
    // 96 threads, 67.0 in tiles of 16; 66 and 102 values 66.3 and 68.8. Where they gather, they do so at both ends: 232
    // f32 x 72316 on an H100 95.9 us at one and 92.8 at both.
    if (one.small_tiles && w.coalesce != Coalesce::none && (values % w.threads != 0 || w.coalesce != Coalesce::both))
      if (const auto even = even_tile(group.front(), group.back())) {
        w.tile[one.carrier()] = even->lines, w.threads = even->threads, w.coalesce = Coalesce::both;
        const int last = even->small_first ? group.front() : group.back(), first = static_cast<int>(n / last);
        kernel.subs = {{Dim::x, last, first, last, n, true}, {Dim::x, first, last, 1, last, false}};
      }
    w.store = plan.order == DigitOrder::primes ? Store::place : Store::sorted;
    w.to = Target::out;
    plan.kernels.push_back(kernel);
  }
}

std::int64_t values_of(const Kernel& kernel) {
  std::int64_t product = 1;
  for (const SubFft& sub : kernel.subs) product *= sub.radix;
  return product;
}

// Joins all of a short last dimension, z or w, and the end of the one before it in one kernel, which saves a pass
// through memory.
void join_short(FftPlan& plan, const EmitOptions& options) {
  const std::int64_t run = options.precision == Precision::f32 ? 16 : 8, most = 4096;
  for (const auto& hook : options.hooks)
    if (hook.input || hook.output) return;
  if (options.type != FftType::c2c || plan.kernels.size() < 2) return;
  Kernel& end = plan.kernels[plan.kernels.size() - 2];
  const Kernel& short_one = plan.kernels.back();
  const std::int64_t product = values_of(end) * values_of(short_one);
  const int d = index(short_one.subs[0].dim);
  const bool whole = values_of(short_one) == options.n[static_cast<std::size_t>(d)];
  if (d < 2 || index(end.subs[0].dim) != d - 1 || !whole || product * run > most) return;
  end.subs.insert(end.subs.end(), short_one.subs.begin(), short_one.subs.end());
  std::vector<int> radices;
  for (const SubFft& sub : end.subs) radices.push_back(sub.radix);
  end.with.exchange = Exchange::shared;
  end.with.tile = {static_cast<int>(neighbours(product * run < 512 ? 2048 / product : run, options.n[0]))};
  end.with.threads = threads_for(product * end.with.tile[0], radices);
  plan.kernels.pop_back();
}

FftPlan empty_plan(const EmitOptions& options) {
  FftPlan plan;
  // The kernels for an input by prime factors are the mirrored ones of an output.
  const bool by_primes = options.from == DigitOrder::primes || options.order == DigitOrder::primes;
  plan.order = by_primes ? DigitOrder::primes : DigitOrder::natural;
  plan.precision = options.precision;
  plan.place = options.in_place ? Place::in : Place::out;
  return plan;
}

// The finished plan in the order that the options ask for.
FftPlan directed(const FftPlan& plan, const EmitOptions& options) {
  return options.from == DigitOrder::primes ? mirrored(plan) : plan;
}

}  // namespace

FftPlan plain_plan(const EmitOptions& options) {
  if (std::optional<FftPlan> whole = whole_plan(options)) return *std::move(whole);
  FftPlan plan = empty_plan(options);
  int dims = most_dimensions;
  while (dims > 1 && options.n[static_cast<std::size_t>(dims - 1)] == 1) --dims;
  // For real output, x is the last dimension; else it is the first.
  for (int d = 0; d < dims; ++d)
    add_line(plan, options,
             options.type == FftType::c2r ? (d + 1) % dims
             : options.last_first         ? dims - 1 - d
                                          : d,
             dims);
  join_short(plan, options);
  choose_targets(plan, options);
  return directed(plan, options);
}

void carry_batch(FftPlan& plan, const EmitOptions& options, bool to_first) {
  Kernel& kernel = to_first ? plan.kernels.front() : plan.kernels.back();
  std::size_t rank = options.n.size();
  while (rank > 1 && options.n[rank - 1] == 1) --rank;
  if (options.tile_rank > 0) rank = static_cast<std::size_t>(options.tile_rank);
  std::int64_t product = 1;
  std::vector<int> radices;
  for (const SubFft& sub : kernel.subs) product *= sub.radix, radices.push_back(sub.radix);
  auto& tile = kernel.with.tile;
  const bool strided = kernel.subs.front().dim != Dim::x;
  // Carries 32 bytes of one array and 64 of the other contiguously, or what a block can hold.
  const std::int64_t single = options.precision == Precision::f32 ? 2 : 1, most = 16384 * single / 2;
  std::int64_t carried = 1;
  const std::int64_t line = product * (strided ? 2 * single : tile[0]);
  while (carried < 4 * single && 2 * carried <= options.batch && 2 * carried * line <= most) carried *= 2;
  if (strided || rank > 1) {
    int& neighbours = tile[strided ? 0 : 1];
    const std::int64_t least = strided ? std::min<std::int64_t>(2 * single, options.n[0]) : 1;
    neighbours = static_cast<int>(std::max(least, neighbours / carried));
  }
  tile[rank] = static_cast<int>(carried);
  std::int64_t values = product;
  for (const int t : tile) values *= t;
  if (values > most / 2) kernel.with.parts = Parts::apart;
  kernel.with.threads = threads_for(values, radices);
}

FftPlan line_plan(const EmitOptions& options, int dimension) {
  FftPlan plan = empty_plan(options);
  add_line(plan, options, dimension, dimension + 1);
  choose_targets(plan, options);
  return directed(plan, options);
}

std::optional<FftPlan> joined_plan(const EmitOptions& options, int dimension) {
  const std::int64_t run = options.precision == Precision::f32 ? 16 : 8;
  const std::int64_t product =
      options.n[static_cast<std::size_t>(dimension)] * options.n[static_cast<std::size_t>(dimension) + 1];
  const std::int64_t beside = dimension == 0 ? 1 : std::min(run, options.n[0]);
  if (product * beside > (dimension == 0 ? 128 : 512) * run) return {};
  FftPlan plan = empty_plan(options);
  for (const int d : {dimension, dimension + 1}) add_line(plan, options, d, 3);
  if (plan.kernels.size() != 2) return {};
  Kernel& kernel = plan.kernels.front();
  const Kernel& other = plan.kernels.back();
  kernel.subs.insert(kernel.subs.end(), other.subs.begin(), other.subs.end());
  std::vector<int> radices;
  for (const SubFft& sub : kernel.subs) radices.push_back(sub.radix);
  kernel.with.exchange = Exchange::shared;
  kernel.with.tile = {1};
  // Next to planes of x and y, a tile carries further planes of z or, if there is no z, of the batch.
  const std::int64_t others = dimension > 0 ? options.n[0] : options.n[2] > 1 ? options.n[2] : options.batch;
  std::int64_t wanted = std::max<std::int64_t>(beside, 2048 / product);
  if (dimension == 0) wanted = spread_out(wanted, 1, product, options, is_even);
  int& tile = kernel.with.tile[dimension > 0 ? 0 : 2];
  tile = static_cast<int>(neighbours(std::max<std::int64_t>(1, wanted), others));
  kernel.with.threads = threads_for(product * tile, radices);
  kernel.with.parts = product * tile > 4096 ? Parts::apart : Parts::together;
  plan.kernels.pop_back();
  choose_targets(plan, options);
  return directed(plan, options);
}

}  // namespace fourtune::generator::fft
