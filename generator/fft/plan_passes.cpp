// From the notation to digits. Every sub-FFT of a dimension is one digit of its index: value n_i with weight n/radix on
// the way in. A digit keeps its place (its atom) when it is transformed; only the weights that the arrays give it
// change: that is where natural order, grouped and sorted stores, and workspaces laid out for the next kernel come
// from.
#include <fmt/format.h>

#include <algorithm>

#include "fourtune/status.h"
#include "generator/fft/arrange.h"
#include "generator/fft/emit.h"
#include "generator/fft/geometry.h"
#include "generator/fft/placing.h"
#include "generator/fft/tables.h"

namespace fourtune::generator::fft {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
[[noreturn]] void bad(const std::string& message) { throw Error(Status::invalid_plan, message); }

// One digit of one dimension through the plan.
struct Digit {
  std::int64_t radix = 1;
  std::int64_t in = 1;   // weight in the input's index: n_i
  std::int64_t out = 1;  // weight in the output's index: k_i
  int kernel = -1;       // that transforms it; -1: never (the dimension has length 1, or is the batch)
};
// A dimension, or the batch.
struct Line {
  std::string name;
  std::int64_t n = 1;
  int dim = 0;                // 3: the batch
  std::vector<Digit> digits;  // first sub-FFT first
};

// Weights of a line's digits in an array.
using Weights = std::vector<std::int64_t>;
class Planner {
 public:
  Planner(const FftPlan& plan, const EmitOptions& options) : plan_(plan), options_(options) {
    static const char* names[] = {"x", "y", "z"};
    for (int d = 0; d < 3; ++d) axes_.push_back({names[d], options.n[at(d)], d, {}});
    axes_.push_back({"batch", options.batch, 3, {}});
    for (std::size_t k = 0; k < plan.kernels.size(); ++k)
      for (const SubFft& sub : plan.kernels[k].subs)
        axes_[at(index(sub.dim))].digits.push_back({sub.radix, sub.stride, 1, static_cast<int>(k)});
    for (auto& axis : axes_) {
      std::int64_t done = 1;
      for (auto& digit : axis.digits) digit.out = done, done *= digit.radix;
      if (axis.digits.empty()) axis.digits.push_back({axis.n, 1, 1, -1}), done = axis.n;
      if (done != axis.n)
        bad(fmt::format("{}: the plan's radices give length {}, the transform has {}", axis.name, done, axis.n));
    }
  }

  PlannedProgram run() {
    PlannedProgram out;
    for (std::size_t k = 0; k < plan_.kernels.size(); ++k) {
      out.passes.push_back(pass(static_cast<int>(k)));
      choose_workspace(k ? &out.passes[k - 1] : nullptr, out.passes[k], static_cast<int>(k));
      for (const PlannedPass& last = out.passes.back();
           last.to == BufferRef::Where::workspace && last.to_index >= out.workspaces;)
        ++out.workspaces;
    }
    out.work_values = work_values_;
    return out;
  }

 private:
  int kernels() const { return static_cast<int>(plan_.kernels.size()); }
  const KernelParameters& with(int k) const { return plan_.kernels[at(k)].with; }

  // ---- where digits lie ----
  // Positions along an axis after `k` kernels, as weights of its digits.
  Weights positions(const Line& axis, int k) const {
    if (axis.digits.front().kernel < 0) return {1};
    return layout(plan_, k)[at(axis.dim)];
  }

  static std::array<std::int64_t, 4> dense(const std::array<std::int64_t, 3>& n) {
    return {1, n[0], n[0] * n[1], n[0] * n[1] * n[2]};
  }
  std::array<std::int64_t, 3> array_sizes(bool input) const {
    std::array<std::int64_t, 3> n = options_.n;
    const bool half = options_.type == (input ? FftType::c2r : FftType::r2c);
    if (half) n[0] = n[0] / 2 + 1;
    for (int d = 0; d < 3; ++d)
      if (const auto& window = input ? options_.hooks[at(d)].input : options_.hooks[at(d)].output)
        n[at(d)] = window->kept;
    return n;
  }
  std::array<std::int64_t, 4> strides(bool input) const {
    if (const auto& layout = input ? options_.input : options_.output)
      return {layout->stride[0], layout->stride[1], layout->stride[2], layout->distance};
    auto s = dense(array_sizes(input));
    const bool real = options_.type == (input ? FftType::r2c : FftType::c2r);
    if (options_.in_place && real) {  // rows padded to hold the half spectrum
      const std::int64_t row = 2 * (options_.n[0] / 2 + 1);
      s = {1, row, row * options_.n[1], row * options_.n[1] * options_.n[2]};
    }
    return s;
  }

  // Length along an axis of the intermediate arrays: x of a real transform keeps half, windows shrink what is not yet
  // padded or already cut.
  std::int64_t length_between(int d, int k) const {
    const Line& axis = axes_[at(d)];
    if (d == 3) return axis.n;
    const bool before = axis.digits.front().kernel >= k, after = axis.digits.back().kernel < k;
    if (before && options_.hooks[at(d)].input) return options_.hooks[at(d)].input->kept;
    if (after && options_.hooks[at(d)].output) return options_.hooks[at(d)].output->kept;
    if (d == 0 && options_.type == FftType::r2c && after) return axis.n / 2 + 1;
    if (d == 0 && options_.type == FftType::c2r && before) return axis.n / 2 + 1;
    return axis.n;
  }
  bool shortened(int d, int k) const { return length_between(d, k) != axes_[at(d)].n; }

  // Whether a kernel's blocks write places that others still have to read, when both arrays are one.
  static bool moves_values(const PassSpec& spec) {
    if (!spec.load.windows.empty() || !spec.store.windows.empty() || spec.load.values != spec.store.values) return true;
    for (const int atom : spec.grid_order)
      if (load_weight(spec, atom) != store_weight(spec, atom)) return true;
    return false;
  }
  // A kernel that reads a workspace and gives its values other places writes the other workspace.
  void choose_workspace(const PlannedPass* before, PlannedPass& pass, int k) const {
    using Where = BufferRef::Where;
    pass.from_index = before ? before->to_index : 0;
    pass.to_index = pass.to == Where::workspace ? pass.from_index : 0;
    const Where from = pass.from == Where::first && options_.in_place ? Where::second : pass.from;
    // A real transform in place reads and writes rows of the same bytes, a tile at a time.
    const bool rows = options_.in_place && k == 0 && kernels() == 1 && options_.type != FftType::c2c;
    if (from != pass.to || rows || !moves_values(pass.spec)) return;
    if (pass.to == Where::workspace)
      pass.to_index = 1 - pass.from_index;
    else if (options_.type == FftType::c2c)
      bad(fmt::format(
          "kernel {} writes the array that it reads, but gives its values other places: let the kernel before "
          "write to=work",
          k + 1));
  }

  // ---- one pass ----
  PlannedPass pass(int k) {
    const KernelParameters& w = with(k);
    PlannedPass out;
    PassSpec& spec = out.spec;
    spec.precision = options_.precision;
    spec.sign = options_.sign;
    spec.threads = w.threads;
    spec.apart = w.parts == Parts::apart;
    spec.cluster = w.cluster;
    spec.load_by = w.load;
    spec.pipeline = std::max(1, w.pipeline);
    spec.exchange = w.exchange;
    spec.banks = w.banks;
    spec.max_registers = w.registers;
    if (w.registers) spec.blocks_per_multiprocessor = std::max(1, 65536 / (w.threads * w.registers));
    spec.twiddles = w.twiddle == TwiddleForm::table      ? Twiddles::powers
                    : w.twiddle == TwiddleForm::computed ? Twiddles::computed
                                                         : Twiddles::fast;
    spec.title = to_text(plan_.kernels[at(k)]);
    spec.name = fmt::format("{}{}", k + 1, options_.sign < 0 ? "f" : "b");
    const bool first = k == 0, last = k + 1 == kernels();
    const Placings in = first ? outside(true) : between(k), store = last ? outside(false) : between(k + 1);
    std::vector<Transform> transforms(plan_.kernels[at(k)].subs.size());
    std::array<std::size_t, 3> next{};
    std::array<std::vector<Part>, 4> parts;
    for (int d = 0; d < 4; ++d) parts[at(d)] = split_axis(spec, d, k, in[at(d)], store[at(d)]);
    for (std::size_t s = 0; s < transforms.size(); ++s) {
      const SubFft& sub = plan_.kernels[at(k)].subs[s];
      const int d = index(sub.dim);
      const Line& axis = axes_[at(d)];
      std::size_t i = next[at(d)];
      while (axis.digits[i].kernel != k) ++i;
      next[at(d)] = i + 1;
      transforms[s] = transform(out, parts[at(d)], axis, i);
    }
    order_grid(spec, w, parts);
    finish_ports(out, k, parts, in, store);
    for (const auto& table : out.tables)
      spec.tables.push_back(static_cast<std::int64_t>(table.size()) / (2 * real_bytes(options_.precision)));
    add_factors(out, k, parts);
    spec.loaded = spec.stored = 1;
    for (int d = 0; d < 4; ++d) spec.loaded *= length_between(d, k), spec.stored *= length_between(d, k + 1);
    spec.wide = extent(spec.load) > 0x7fffffff || extent(spec.store) > 0x7fffffff;
    arrange(spec, transforms);
    out.from = first                            ? BufferRef::Where::first
               : with(k - 1).to == Target::work ? BufferRef::Where::workspace
                                                : BufferRef::Where::second;
    out.to = !last && w.to == Target::work ? BufferRef::Where::workspace : BufferRef::Where::second;
    return out;
  }

  Placings outside(bool input) const {
    Placings out;
    const auto s = strides(input);
    for (int d = 0; d < 4; ++d) out[at(d)] = straight(s[at(d)]);
    return out;
  }

  // The array between kernels k-1 and k: dense, x fastest; or, where kernel k copies whole tiles in bulk, tile after
  // tile of it.
  Placings between(int k) {
    Placings out;
    std::int64_t next = 1;
    for (int d = 0; d < 4; ++d) out[at(d)] = straight(next), next *= length_between(d, k);
    work_values_ = std::max(work_values_, next);
    if (with(k).load != Load::bulk || with(k - 1).to != Target::work) return out;
    Placings tiled;
    std::int64_t low = 1;
    for (int d = 0; d < 4; ++d) {
      const std::int64_t cut = tile_cut(d, k);
      if (cut == 0) return out;
      tiled[at(d)] = {cut, low, 0};
      low *= cut;
    }
    for (int d = 0; d < 4; ++d) {
      tiled[at(d)].high = low;
      low *= axes_[at(d)].n / tiled[at(d)].cut;
    }
    return tiled;
  }
  // How many of the lowest positions of an axis are in one tile of kernel k; 0: they are not the lowest, or do not
  // divide the axis or the digit that they end in.
  std::int64_t tile_cut(int d, int k) const {
    const Line& axis = axes_[at(d)];
    if (length_between(d, k) != axis.n) return 0;
    const Weights before = positions(axis, k);
    std::int64_t active = 1, span = 1;
    for (std::size_t i = 0; i < axis.digits.size(); ++i)
      if (axis.digits[i].kernel == k)
        active *= axis.digits[i].radix, span = std::max(span, before[i] * axis.digits[i].radix);
    const std::int64_t tile = tile_along(d, k);
    if (active > 1 && (span != active || tile != 1)) return 0;
    const std::int64_t cut = active * tile;
    for (std::size_t i = 0; i < axis.digits.size(); ++i) {
      const std::int64_t low = before[i], size = axis.digits[i].radix;
      if (low < cut && cut < low * size && (cut % low != 0 || size % (cut / low) != 0)) return 0;
    }
    return axis.n % cut ? 0 : cut;
  }
  int tile_along(int d, int k) const {
    if (d < 3 && d >= rank(plan_)) return 1;
    return std::max(1, with(k).tile[at(d < 3 ? d : rank(plan_))]);
  }

  // A run of an axis' digits that is one atom: transformed in this kernel, or neighbours, or part of the grid.
  struct Part {
    int atom = 0;
    std::size_t digit = 0;               // of the axis; of several joined ones, any
    std::int64_t in = 1, out = 1;        // weights in the input's and the output's index
    std::int64_t before = 1, after = 1;  // positions along the axis in the array read and written
    std::int64_t load = 0, store = 0;    // strides in these arrays
  };
  // Passive digits that move as one number.
  struct Run {
    std::size_t digit = 0;
    std::int64_t size = 1, in = 1, out = 1, before = 1, after = 1;
  };
  std::vector<Run> passive_runs(const Line& axis, int k, const Weights& before, const Weights& after) const {
    std::vector<Run> runs;
    bool active = false;
    for (std::size_t i = 0; i < axis.digits.size(); ++i) {
      const Digit& digit = axis.digits[i];
      if (digit.kernel == k)
        active = true;
      else
        runs.push_back({i, digit.radix, digit.in, digit.out, before[i], after[i]});
    }
    std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.before < b.before; });
    // Where the axis is worked on, later digits also count in twiddles and earlier ones in the output's index.
    const auto joins = [&](const Run& a, const Run& b) {
      if (b.before != a.before * a.size || b.after != a.after * a.size) return false;
      const bool later = axis.digits[a.digit].kernel > k;
      if (later != (axis.digits[b.digit].kernel > k)) return !active;
      return !active || (later ? b.in == a.in * a.size : b.out == a.out * a.size);
    };
    for (std::size_t i = 0; i + 1 < runs.size();) {
      if (joins(runs[i], runs[i + 1])) {
        runs[i].size *= runs[i + 1].size;
        runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      } else {
        ++i;
      }
    }
    return runs;
  }
  int add_atom(PassSpec& spec, const std::string& name, std::int64_t size, bool tile) {
    spec.atoms.push_back({name, size, tile});
    return static_cast<int>(spec.atoms.size()) - 1;
  }

  // Adds the atoms of one digit, or of part of one, split where an array's stride changes inside it.
  void add_parts(PassSpec& spec, std::vector<Part>& parts, const std::string& name, std::int64_t size, bool tile,
                 Part part, const Placing& in, const Placing& out) {
    if (size == 1) return;
    for (const auto low : {split_for(in, part.before, size), split_for(out, part.after, size)}) {
      if (low == 0) continue;
      if (low == 1 || size % low != 0)
        bad(fmt::format("{}: {} neighbours of {} do not divide the digit that lies across tiles of the workspace", name,
                        low, size));
      add_parts(spec, parts, name + "l", low, tile, part, in, out);
      part.in *= low, part.out *= low, part.before *= low, part.after *= low;
      return add_parts(spec, parts, name + "h", size / low, tile, part, in, out);
    }
    part.atom = add_atom(spec, name, size, tile);
    part.load = stride_of(in, part.before), part.store = stride_of(out, part.after);
    parts.push_back(part);
  }

  std::vector<Part> split_axis(PassSpec& spec, int d, int k, const Placing& in, const Placing& out) {
    const Line& axis = axes_[at(d)];
    const Weights before = positions(axis, k), after = positions(axis, k + 1);
    std::int64_t tile = tile_along(d, k);
    std::vector<Part> parts;
    for (std::size_t i = 0; i < axis.digits.size(); ++i) {
      const Digit& digit = axis.digits[i];
      if (digit.kernel == k)
        add_parts(spec, parts, fmt::format("{}{}", axis.name, i + 1), digit.radix, true,
                  {0, i, digit.in, digit.out, before[i], after[i], 0, 0}, in, out);
    }
    const bool active = !parts.empty();
    const std::int64_t length = active ? 0 : length_between(d, k);
    if (!active && (length % tile != 0 || length != axis.n)) {
      // An axis that only passes by, at a length of its own: one number, its last tile partly outside.
      const bool bits = with(k).exchange == Exchange::shuffle || with(k).banks == Banks::swizzle;
      if (tile > length && !bits) tile = length;  // tiles of powers of two stay so
      const std::int64_t tiles = (length + tile - 1) / tile;
      const int low = add_atom(spec, axis.name + "_in", tile, true),
                high = add_atom(spec, axis.name + "_tile", tiles, false);
      for (Port* port : {&spec.load, &spec.store}) {
        const std::int64_t stride = (port == &spec.load ? in : out).low;
        port->address.push_back({low, stride}), port->address.push_back({high, stride * tile});
        if (length % tile) port->bounds.push_back({{{low, 1}, {high, tile}}, length});
      }
      return parts;
    }
    std::int64_t left = tile;
    for (const Run& run : passive_runs(axis, k, before, after)) {
      const std::int64_t low = std::min(left, run.size);
      if (run.size % low || left % low)
        bad(fmt::format("kernel {}: a tile of {} neighbours along {} does not divide its {}", k + 1, tile, axis.name,
                        run.size));
      left /= low;
      const std::string name = fmt::format("{}{}", axis.name, run.digit + 1);
      add_parts(spec, parts, name + "_in", low, true, {0, run.digit, run.in, run.out, run.before, run.after, 0, 0}, in,
                out);
      add_parts(spec, parts, name + "_tile", run.size / low, false,
                {0, run.digit, run.in * low, run.out * low, run.before * low, run.after * low, 0, 0}, in, out);
    }
    if (left > 1)
      bad(fmt::format("kernel {}: a tile of {} neighbours along {} is more than there are", k + 1, tile, axis.name));
    for (const Part& part : parts) {
      if (!windowed(d, k, true)) spec.load.address.push_back({part.atom, part.load});
      if (!windowed(d, k, false)) spec.store.address.push_back({part.atom, part.store});
    }
    return parts;
  }
  // This kernel pads (load) or cuts (store) this axis, so that a window gives its addresses.
  bool windowed(int d, int k, bool load) const {
    if (d == 3) return false;
    const Line& axis = axes_[at(d)];
    if (load) {
      if (axis.digits.front().kernel != k) return false;
      return options_.hooks[at(d)].input.has_value() || (d == 0 && options_.type == FftType::c2r);
    }
    if (axis.digits.back().kernel != k) return false;
    return options_.hooks[at(d)].output.has_value() || (d == 0 && options_.type == FftType::r2c);
  }

  static Index natural(const std::vector<Part>& parts, bool input) {
    Index out;
    for (const Part& part : parts) out.push_back({part.atom, input ? part.in : part.out});
    return out;
  }

  // Sub-FFT i of an axis: value k turns by k * (index of the digits still to come) / n.
  Transform transform(PlannedPass& out, const std::vector<Part>& parts, const Line& axis, std::size_t i) {
    Transform t;
    for (const Part& part : parts)
      if (part.digit == i) t.digits.push_back(part.atom);
    t.period = i + 1 == axis.digits.size() ? 1 : axis.digits[i].in * axis.digits[i].radix;
    for (const Part& part : parts)
      if (part.digit > i) t.index.push_back({part.atom, part.in});
    if (t.period > 1 && t.period <= most_table && out.spec.twiddles == Twiddles::powers)
      t.table = table_for(out, t.period);
    if (t.period > most_table && out.spec.twiddles == Twiddles::powers) t.table = -1;
    return t;
  }
  static constexpr std::int64_t most_table = 65536;

  int table_for(PlannedPass& out, std::int64_t period) {
    for (std::size_t i = 0; i < out.tables.size(); ++i)
      if (table_length(out.tables[i]) % period == 0) return static_cast<int>(i);
    out.tables.push_back(unit_table(period, options_.sign, options_.precision));
    return static_cast<int>(out.tables.size()) - 1;
  }
  std::int64_t table_length(const std::vector<std::byte>& table) const {
    return static_cast<std::int64_t>(table.size()) / (2 * real_bytes(options_.precision));
  }
  void order_grid(PassSpec& spec, const KernelParameters& w, const std::array<std::vector<Part>, 4>&) {
    const auto append = [&](const std::string& axis) {
      std::vector<int> atoms;
      for (std::size_t i = 0; i < spec.atoms.size(); ++i)
        if (!spec.atoms[i].in_tile && spec.atoms[i].name.rfind(axis, 0) == 0) atoms.push_back(static_cast<int>(i));
      std::stable_sort(atoms.begin(), atoms.end(),
                       [&](int a, int b) { return load_weight(spec, a) < load_weight(spec, b); });
      spec.grid_order.insert(spec.grid_order.end(), atoms.begin(), atoms.end());
    };
    for (const Dim d : w.blocks) append(axes_[at(index(d))].name);
    append("batch");
  }
  static std::int64_t weight_in(const Index& index, int atom) {
    std::int64_t weight = 0;
    for (const auto& term : index)
      if (term.atom == atom) weight += term.weight;
    return weight;
  }
  static std::int64_t load_weight(const PassSpec& spec, int atom) { return weight_in(spec.load.address, atom); }
  static std::int64_t store_weight(const PassSpec& spec, int atom) { return weight_in(spec.store.address, atom); }

  void finish_ports(PlannedPass& out, int k, const std::array<std::vector<Part>, 4>& parts, const Placings& in,
                    const Placings& store) {
    PassSpec& spec = out.spec;
    for (int d = 0; d < 3; ++d) {
      const Line& axis = axes_[at(d)];
      for (const bool load : {true, false}) {
        if (!windowed(d, k, load)) continue;
        Port& port = load ? spec.load : spec.store;
        Window window;
        const auto& hook = load ? options_.hooks[at(d)].input : options_.hooks[at(d)].output;
        if (hook) window = *hook;
        window.index = natural(parts[at(d)], load);
        window.n = axis.n;
        window.stride = (load ? in : store)[at(d)].low;
        if (d == 0 && load && options_.type == FftType::c2r) {
          port.values = Values::hermitian;
          port.mirror = window;
          continue;
        }
        if (!hook) window.kind = Window::Kind::head, window.kept = axis.n / 2 + 1;  // r2c
        if (!load && plan_.order != Order::natural) bad("truncated output needs natural order");
        port.windows.push_back(window);
      }
    }
    if (k == 0 && options_.type == FftType::r2c) spec.load.values = Values::real;
    if (k + 1 == kernels()) {
      spec.store.scale = options_.scale;
      if (options_.type == FftType::c2r) spec.store.values = Values::real;
    }
  }

  // Factors of the hooks: at the kernel that first loads, or last stores, the dimension's digits.
  void add_factors(PlannedPass& out, int k, const std::array<std::vector<Part>, 4>& parts) {
    for (int d = 0; d < 3; ++d) {
      const Line& axis = axes_[at(d)];
      const DimensionHooks& hooks = options_.hooks[at(d)];
      for (const bool load : {true, false}) {
        if ((load ? axis.digits.front().kernel : axis.digits.back().kernel) != k) continue;
        const auto& window = load ? hooks.input : hooks.output;
        const auto add = [&](std::vector<std::byte> table, bool complex) {
          out.tables.push_back(std::move(table));
          (load ? out.spec.load : out.spec.store)
              .factors.push_back({natural(parts[at(d)], load), out.spec.extra_tables++, complex});
        };
        if (const auto& factors = load ? hooks.input_factors : hooks.output_factors; !factors.empty())
          add(real_table(by_position(window, factors, axis.n), options_.precision), false);
        if (const auto& turns = load ? hooks.input_turns : hooks.output_turns; !turns.empty())
          add(complex_table(by_position(window, turns, axis.n), options_.precision), true);
      }
    }
  }
  // Values of the kept positions, by position in the transform; 0 elsewhere.
  template <class T>
  static std::vector<T> by_position(const std::optional<Window>& window, const std::vector<T>& values, std::int64_t n) {
    const std::int64_t kept = window ? window->kept : n;
    if (static_cast<std::int64_t>(values.size()) != kept)
      bad(fmt::format("{} factors for {} kept positions", values.size(), kept));
    std::vector<T> full(at(n), T(0));
    for (std::int64_t i = 0; i < kept; ++i) full[at(position_in_transform(window, i, kept, n))] = values[at(i)];
    return full;
  }
  static std::int64_t position_in_transform(const std::optional<Window>& hook, std::int64_t i, std::int64_t kept,
                                            std::int64_t n) {
    if (!hook || hook->kind == Window::Kind::head) return i;
    if (hook->kind == Window::Kind::wrapped) return i < (kept + 1) / 2 ? i : i + n - kept;
    return i >= kept / 2 ? i - kept / 2 : i + n - kept / 2;
  }

  std::int64_t extent(const Port& port) const {
    std::int64_t sum = 0;
    (void)port;
    for (const bool input : {true, false}) {
      const auto s = strides(input);
      const auto n = array_sizes(input);
      std::int64_t last = s[3] * (options_.batch - 1);
      for (int d = 0; d < 3; ++d) last += s[at(d)] * (n[at(d)] - 1);
      sum = std::max(sum, last);
    }
    return std::max(sum, work_values_);
  }

  const FftPlan& plan_;
  const EmitOptions& options_;
  std::vector<Line> axes_;
  std::int64_t work_values_ = 0;
};

}  // namespace

PlannedProgram plan_passes(const FftPlan& plan, const EmitOptions& options) { return Planner(plan, options).run(); }

}  // namespace fourtune::generator::fft
