#include "generator/plan/fft/parameter_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/plan/fft/geometry.h"
#include "generator/plan/fft/notation_keys.h"

namespace fourtune::generator::fft {
namespace {

class ParameterCheck {
 public:
  explicit ParameterCheck(const FftPlan& plan) : plan_(plan), rank_(rank(plan)) {}

  std::vector<Violation> run() {
    for (int k = 0; k < static_cast<int>(plan_.kernels.size()); ++k) {
      const Kernel& kernel = plan_.kernels[static_cast<std::size_t>(k)];
      threads(k, kernel.with);
      tile(k, kernel.with);
      exchange(k, kernel);
      choices(k, kernel.with);
      coalesce(k, kernel.with);
      cluster(k, kernel.with);
      target(k, kernel.with);
    }
    return std::move(found_);
  }

 private:
  void add(Rule rule, int kernel, const std::string& what) {
    found_.push_back({rule, kernel, -1, fmt::format("rule {}: kernel {}: {}", rule_name(rule), kernel + 1, what)});
  }

  void threads(int k, const KernelParameters& with) {
    if (with.threads != 0 && (with.threads < 32 || with.threads > most_threads || with.threads % 32 != 0))
      add(Rule::threads, k,
          fmt::format("threads={}: a block has a multiple of 32 threads, at most {}", with.threads, most_threads));
    if (with.registers != 0 && (with.registers < 16 || with.registers > 255))
      add(Rule::registers, k, fmt::format("registers={}: between 16 and 255 per thread", with.registers));
  }

  void tile(int k, const KernelParameters& with) {
    if (with.tile[0] == 0) return;
    const auto g = geometry(plan_, k);
    for (int d = 0; d <= most_dimensions; ++d) {
      const std::int64_t carried = with.tile[static_cast<std::size_t>(d)];
      if (carried < 1) return add(Rule::tile, k, fmt::format("tile entry {} is {}, at least 1", d + 1, carried));
      if (d > rank_ && carried != 1)
        return add(Rule::tile, k,
                   fmt::format("tile entry {} is {}: the plan has {} dimensions and the batch", d + 1, carried, rank_));
      if (d < rank_) tile_of(k, "XYZW"[d], carried, g.dims[static_cast<std::size_t>(d)]);
    }
    if (g.tile_elements > std::int64_t{1} << 24)
      add(Rule::tile, k, fmt::format("a tile of {} values; at most 2^24", g.tile_elements));
  }

  void tile_of(int k, char name, std::int64_t carried, const DimGeometry& dim) {
    if (carried > dim.free_count)
      return add(Rule::tile, k,
                 fmt::format("the tile carries {} along {}, there are {}", carried, name, dim.free_count));
    std::int64_t step = dim.length;
    for (const Axis& own : dim.own) step = std::min(step, own.read_stride);
    if (!may_carry(dim, carried))
      add(Rule::tile, k,
          fmt::format("the tile carries {} along {}: a divisor of the stride {}, or a multiple of it that divides {}",
                      carried, name, step, dim.free_count));
  }

  void exchange(int k, const Kernel& kernel) {
    const KernelParameters& with = kernel.with;
    if (with.exchange == Exchange::none && kernel.subs.size() > 1)
      add(Rule::exchange, k,
          fmt::format("exchange=none, but {} sub-FFTs hand values on; shared or shuffle", kernel.subs.size()));
    const char* name = name_of(exchanges, with.exchange);
    if (with.exchange != Exchange::shared && with.parts != Parts::together)
      add(Rule::parts, k, fmt::format("parts=apart, but exchange={} has no parts; exchange=shared has", name));
    if (with.exchange != Exchange::shared && with.banks != Banks::pad)
      add(Rule::banks, k,
          fmt::format("banks={}, but exchange={} has no banks; exchange=shared has", name_of(banks_names, with.banks),
                      name));
    if (with.banks == Banks::swizzle && !powers_of_two(kernel))
      add(Rule::banks, k, "banks=swizzle is for powers of two: radices and tile; banks=pad");
    if (with.exchange == Exchange::shuffle && !(powers_of_two(kernel) && fills_threads(k, with)))
      add(Rule::exchange, k,
          "exchange=shuffle is for powers of two: radices, tile and threads, which the tile fills; exchange=shared");
    if (with.exchange != Exchange::shuffle || with.threads == 0 || with.tile[0] == 0) return;
    const auto g = geometry(plan_, k);
    std::int64_t together = 1;
    for (const auto& dim : g.dims) together *= dim.transformed;
    if (together > std::int64_t{32} * g.elements_per_thread)
      add(Rule::exchange, k,
          fmt::format("exchange=shuffle: {} values that belong together need more than a warp with {} a thread; fewer "
                      "threads, or exchange=shared",
                      together, g.elements_per_thread));
  }

  static bool power_of_two(std::int64_t n) { return (n & (n - 1)) == 0; }
  // Whether the place of every value of a tile consists of address bits (all sizes are powers of two).
  static bool powers_of_two(const Kernel& kernel) {
    return std::all_of(kernel.subs.begin(), kernel.subs.end(),
                       [](const SubFft& sub) { return power_of_two(sub.radix); }) &&
           std::all_of(kernel.with.tile.begin(), kernel.with.tile.end(), power_of_two);
  }
  bool fills_threads(int k, const KernelParameters& with) const {
    if (with.threads == 0 || with.tile[0] == 0) return true;
    const auto g = geometry(plan_, k);
    return power_of_two(with.threads) && g.tile_elements == std::int64_t{with.threads} * g.elements_per_thread;
  }

  void choices(int k, const KernelParameters& with) {
    if (with.twiddle == TwiddleForm::fast && plan_.precision != Precision::f32)
      add(Rule::twiddle, k, "twiddle=fast is for prec=f32; computed or table");
    if (with.load == Load::plain && with.pipeline != 0)
      add(Rule::load, k, fmt::format("pipeline={} without load=async or load=bulk", with.pipeline));
    if (with.load != Load::plain && (with.pipeline < 1 || with.pipeline > 4))
      add(Rule::load, k,
          fmt::format("pipeline={}: load={} lands in 1 to 4 buffers", with.pipeline, name_of(loads, with.load)));
    auto sorted = with.blocks;
    std::sort(sorted.begin(), sorted.end());
    bool named = sorted == memory_order;
    for (int d = rank_; d < most_dimensions; ++d)
      named = named && with.blocks[static_cast<std::size_t>(d)] == static_cast<Dim>(d);
    if (!named)
      add(Rule::blocks, k,
          fmt::format("blocks orders x, y, z and w, each once; those past the plan's {} dimensions stay last", rank_));
  }

  void coalesce(int k, const KernelParameters& with) {
    if (with.coalesce == Coalesce::none) return;
    const char* name = name_of(coalesces, with.coalesce);
    if (with.exchange != Exchange::shared)
      add(Rule::coalesce, k,
          fmt::format("coalesce={}: values change threads through shared memory: exchange=shared", name));
    if (with.cluster > 1)
      add(Rule::coalesce, k,
          fmt::format("coalesce={}: a cluster's tile changes blocks between its first two rounds; cluster=1", name));
    if (with.load == Load::bulk && with.coalesce != Coalesce::store)
      add(Rule::coalesce, k,
          fmt::format("coalesce={}: load=bulk brings whole runs of memory already; coalesce=store", name));
  }

  void cluster(int k, const KernelParameters& with) {
    const bool power = with.cluster >= 1 && with.cluster <= 16 && (with.cluster & (with.cluster - 1)) == 0;
    if (!power) return add(Rule::cluster, k, fmt::format("cluster={}: 1, 2, 4, 8 or 16 blocks", with.cluster));
    if (with.cluster == 1) return;
    if (with.load != Load::plain)
      add(Rule::cluster, k,
          fmt::format("load={} lands in one block's memory, a tile of a cluster is in several; load=plain",
                      name_of(loads, with.load)));
    if (with.exchange != Exchange::shared)
      return add(Rule::cluster, k, "the blocks of a cluster exchange through shared memory: exchange=shared");
    if (with.tile[0] == 0) return;
    const auto g = geometry(plan_, k);
    if (g.tile_elements % with.cluster != 0)
      add(Rule::cluster, k, fmt::format("{} blocks do not divide a tile of {} values", with.cluster, g.tile_elements));
  }

  void target(int k, const KernelParameters& with) {
    const bool last = k + 1 == static_cast<int>(plan_.kernels.size());
    if (last && with.to != Target::out) add(Rule::target, k, "the last kernel writes to=out");
    const auto g = geometry(plan_, k);
    if (!g.in_place) return;
    for (std::size_t d = 0; d < g.dims.size(); ++d)
      if (!stays(g.dims[d]))
        return add(
            Rule::target, k,
            fmt::format(
                "it writes the array that it reads, but {} changes its layout across tiles; write to={}, "
                "or let the kernels before store={}",
                "XYZW"[d],
                with.to == Target::out && k + 1 < static_cast<int>(plan_.kernels.size()) ? "work" : "out after to=work",
                plan_.order == DigitOrder::natural   ? "sorted"
                : plan_.order == DigitOrder::grouped ? "grouped"
                                                     : "place"));
  }

  // Whether a tile has the same positions along the dimension before and after the kernel.
  static bool stays(const DimGeometry& dim) {
    for (const Axis& axis : dim.free)
      if (axis.read_stride != axis.write_stride) return false;
    return ranges(dim.own, false) == ranges(dim.own, true);
  }
  // The set of positions of some digits as ranges {stride, extent}; ranges that continue each other are merged.
  static std::vector<std::pair<std::int64_t, std::int64_t>> ranges(const std::vector<Axis>& axes, bool write) {
    std::vector<std::pair<std::int64_t, std::int64_t>> parts, out;
    for (const Axis& axis : axes) parts.emplace_back(write ? axis.write_stride : axis.read_stride, axis.extent);
    std::sort(parts.begin(), parts.end());
    for (const auto& [stride, extent] : parts) {
      if (!out.empty() && stride == out.back().first * out.back().second)
        out.back().second *= extent;
      else
        out.emplace_back(stride, extent);
    }
    return out;
  }

  const FftPlan& plan_;
  int rank_;
  std::vector<Violation> found_;
};

}  // namespace

std::vector<Violation> check_parameters(const FftPlan& plan) { return ParameterCheck(plan).run(); }

}  // namespace fourtune::generator::fft
