// From PassSpec to the text of one kernel.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "fourtune/status.h"
#include "generator/fft/codelet.h"
#include "generator/fft/index_text.h"
#include "generator/fft/pass.h"

namespace fourtune::generator::fft {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

class PassWriter {
 public:
  explicit PassWriter(const PassSpec& pass) : pass_(pass) {}

  PassText run() {
    plan_shared();
    PassText out;
    out.entry = fmt::format("ft_{}_{}", pass_.name, pass_.precision == Precision::f32 ? "f32" : "f64");
    entry_ = out.entry;
    write_kernel();
    out.text = text_;
    out.shared_bytes = static_cast<std::uint32_t>(shared_bytes_);
    out.codelets.assign(codelets_.begin(), codelets_.end());
    for (const auto& layout : layouts_) out.conflicts = std::max(out.conflicts, layout.conflicts);
    return out;
  }

 private:
  // ---- sizes ----
  std::int64_t size(int atom) const { return pass_.atoms[at(atom)].size; }
  std::int64_t product(const std::vector<int>& atoms) const {
    std::int64_t p = 1;
    for (const int atom : atoms) p *= size(atom);
    return p;
  }
  std::int64_t threads_needed(const Round& round) const { return product(round.threads); }
  // Groups of `registers` values that one thread holds.
  std::int64_t groups(const Round& round) const { return (threads_needed(round) + pass_.threads - 1) / pass_.threads; }
  int most_registers() const {
    std::int64_t most = 1;
    for (const Round& round : pass_.rounds) most = std::max(most, groups(round) * product(round.registers));
    return static_cast<int>(most);
  }
  int real_size() const { return pass_.precision == Precision::f32 ? 4 : 8; }

  void plan_shared() {
    std::int64_t values = 0;
    for (std::size_t r = 0; r + 1 < pass_.rounds.size(); ++r) {
      layouts_.push_back(
          shared_layout(pass_, pass_.rounds[r], pass_.rounds[r + 1], real_size() * (pass_.apart ? 1 : 2)));
      values = std::max(values, layouts_.back().values);
    }
    shared_bytes_ = (values * real_size() * (pass_.apart ? 1 : 2) + 127) / 128 * 128;
    if (!pass_.bulk) return;
    landing_offset_ = shared_bytes_;
    shared_bytes_ += tile_values(pass_) * 2 * real_size() + 16;
  }

  // ---- addresses ----
  std::int64_t weight_of(const Index& index, int atom) const {
    std::int64_t weight = 0;
    for (const auto& term : index)
      if (term.atom == atom) weight += term.weight;
    return weight;
  }
  // What the grid's atoms and the thread's contribute; "" when nothing.
  std::string grid_text(const Index& index, bool wide = false) const {
    std::vector<Piece> pieces;
    std::int64_t divisor = 1;
    for (const int atom : pass_.grid_order) {
      pieces.push_back({divisor, size(atom), weight_of(index, atom)});
      divisor *= size(atom);
    }
    return pieces_text(pieces, "tile", divisor, wide);
  }
  std::string thread_text(const Index& index, const Round& round, std::int64_t group, bool wide = false) const {
    std::vector<Piece> pieces;
    std::int64_t divisor = 1;
    for (const int atom : round.threads) {
      pieces.push_back({divisor, size(atom), weight_of(index, atom)});
      divisor *= size(atom);
    }
    std::vector<Piece> block_pieces;
    std::int64_t block_divisor = 1;
    for (const int atom : round.blocks) {
      block_pieces.push_back({block_divisor, size(atom), weight_of(index, atom)});
      block_divisor *= size(atom);
    }
    const std::string by_block = pieces_text(block_pieces, "rank", block_divisor, wide);
    const bool one = groups(round) == 1;
    const std::string number = one ? "t" : group == 0 ? "t" : fmt::format("(t + {})", group * pass_.threads);
    const std::string by_thread =
        pieces_text(pieces, number, one ? divisor : std::max(divisor, groups(round) * pass_.threads), wide);
    return by_thread.empty() ? by_block : by_block.empty() ? by_thread : by_thread + " + " + by_block;
  }
  static std::string sum_text(const std::string& a, const std::string& b) {
    if (a.empty()) return b.empty() ? "0" : b;
    return b.empty() ? a : a + " + " + b;
  }
  // Contribution of register number e of a group.
  std::int64_t register_part(const Index& index, const Round& round, std::int64_t e) const {
    std::int64_t value = 0;
    for (const int atom : round.registers) {
      value += e % size(atom) * weight_of(index, atom);
      e /= size(atom);
    }
    return value;
  }
  Index layout_index(const std::vector<std::int64_t>& stride) const {
    Index index;
    for (std::size_t i = 0; i < stride.size(); ++i)
      if (stride[i]) index.push_back({static_cast<int>(i), stride[i]});
    return index;
  }
  // Number of the block that holds a value in this round.
  Index block_index(const Round& round) const {
    Index index;
    std::int64_t weight = 1;
    for (const int atom : round.blocks) index.push_back({atom, weight}), weight *= size(atom);
    return index;
  }
  static std::string plus(const std::string& base, std::int64_t constant) {
    return constant == 0 ? base : fmt::format("{} + {}", base, number_text(constant));
  }

  // ---- text ----
  template <class... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    text_ += std::string(at(indent_), ' ') + fmt::format(format, std::forward<Arguments>(arguments)...) + "\n";
  }
  // `body` for every group of values of a thread, inside braces with a guard where threads are left over.
  template <class Body>
  void for_groups(const Round& round, Body body) {
    const std::int64_t needed = threads_needed(round), count = groups(round);
    for (std::int64_t g = 0; g < count; ++g) {
      const bool guard = (g + 1) * pass_.threads > needed;
      line("{}{{", guard ? fmt::format("if ({} < {}) ", plus("t", g * pass_.threads), needed) : "");
      indent_ += 2;
      body(g, g * product(round.registers));
      indent_ -= 2;
      line("}}");
    }
  }

  std::string value_type(const Port& port) const { return port.values == Values::real ? "real" : "real2"; }

  void write_kernel() {
    const int count = most_registers();
    if (pass_.bulk) write_fetch();
    line("// {}", pass_.title);
    std::string parameters =
        fmt::format("const {}* __restrict__ in, {}* __restrict__ out", value_type(pass_.load), value_type(pass_.store));
    for (std::size_t i = 0; i < pass_.tables.size(); ++i)
      parameters += fmt::format(", const real2* __restrict__ turns{}", i);
    for (int i = 0; i < pass_.extra_tables; ++i)
      parameters += fmt::format(", const {}* __restrict__ table{}", table_is_complex(i) ? "real2" : "real", i);
    line("extern \"C\" __global__ void __launch_bounds__({}, {}) {}({}) {{", pass_.threads,
         pass_.blocks_per_multiprocessor, entry_, parameters);
    indent_ = 2;
    line("const unsigned t = threadIdx.x;");
    if (shared_bytes_) line("FT_SHARED({}, shared);", pass_.apart ? "real" : "real2");
    line("real x[{}], y[{}];", count, count);
    if (pass_.bulk) {
      write_loop_head();
    } else {
      if (pass_.cluster > 1) {
        line("const unsigned rank = dev_cluster_rank();");
        line("const unsigned tile = blockIdx.x / {};", pass_.cluster);
        line("dev_cluster_arrive();");
      } else {
        line("const unsigned tile = blockIdx.x;");
      }
      write_port_pointer("from", "in", pass_.load, true);
      write_load();
    }
    for (std::size_t r = 0; r < pass_.rounds.size(); ++r) {
      line("// ---- round {} of {}", r + 1, pass_.rounds.size());
      write_transforms(pass_.rounds[r]);
      if (r + 1 < pass_.rounds.size()) write_exchange(r);
    }
    write_port_pointer("to", "out", pass_.store, false);
    write_store();
    if (pass_.bulk) {
      indent_ = 2;
      line("}}");
    }
    indent_ = 0;
    line("}}");
  }

  bool table_is_complex(int table) const {
    bool complex = false;
    const auto look = [&](const std::vector<Factor>& factors) {
      for (const auto& factor : factors) complex = complex || (factor.table == table && factor.complex);
    };
    look(pass_.load.factors), look(pass_.store.factors);
    for (const Round& round : pass_.rounds)
      for (const Transform& transform : round.transforms) look(transform.before);
    return complex;
  }

  // ---- global memory ----
  void write_port_pointer(const char* name, const char* base, const Port& port, bool load) {
    const std::string offset = grid_text(port.address, pass_.wide);
    line("{}{}* {} = {}{};", load ? "const " : "", value_type(port), name, base,
         offset.empty() ? "" : " + (" + offset + ")");
  }

  // Statements that define what the guards and positions of a port need, then per value: condition and address.
  struct Access {
    std::vector<std::string> bound, window, factor;
    std::string base, mirror;
  };
  Access begin_access(const Port& port, const Round& round, std::int64_t group, const char* pointer) {
    Access access;
    const auto define = [&](const std::string& name, const Index& index) {
      line("const unsigned {} = {};", name, sum_text(grid_text(index), thread_text(index, round, group)));
      return name;
    };
    const std::string offset = thread_text(port.address, round, group, pass_.wide);
    line("{}{}* p = {}{};", &port == &pass_.load ? "const " : "", value_type(port), pointer,
         offset.empty() ? "" : " + (" + offset + ")");
    access.base = "p";
    for (std::size_t i = 0; i < port.bounds.size(); ++i)
      access.bound.push_back(define(fmt::format("b{}", i), port.bounds[i].index));
    for (std::size_t i = 0; i < port.windows.size(); ++i)
      access.window.push_back(define(fmt::format("n{}", i), port.windows[i].index));
    for (std::size_t i = 0; i < port.factors.size(); ++i)
      access.factor.push_back(define(fmt::format("f{}", i), port.factors[i].index));
    if (port.values == Values::hermitian) access.mirror = define("m", port.mirror.index);
    return access;
  }
  // Condition ("" if always) and element of register e.
  std::pair<std::string, std::string> element(const Port& port, const Access& access, const Round& round,
                                              std::int64_t e) {
    std::string condition, position = number_text(register_part(port.address, round, e));
    const auto also = [&](const std::string& text) { condition += (condition.empty() ? "" : " && ") + text; };
    for (std::size_t i = 0; i < port.bounds.size(); ++i)
      also(fmt::format("{} < {}", plus(access.bound[i], register_part(port.bounds[i].index, round, e)),
                       port.bounds[i].limit));
    for (std::size_t i = 0; i < port.windows.size(); ++i) {
      const Window& window = port.windows[i];
      const std::string n = plus(access.window[i], register_part(window.index, round, e));
      const char* kind = window.kind == Window::Kind::head      ? "head"
                         : window.kind == Window::Kind::wrapped ? "wrapped"
                                                                : "centred";
      also(fmt::format("ft_kept_{}({}, {}, {})", kind, n, window.n, window.kept));
      position += fmt::format(" + {}ft_position_{}({}, {}, {}) * {}", pass_.wide ? "(long long)" : "", kind, n,
                              window.n, window.kept, number_text(window.stride));
    }
    if (port.values == Values::hermitian)
      position += fmt::format(" + {}ft_mirror({}, {}) * {}", pass_.wide ? "(long long)" : "",
                              plus(access.mirror, register_part(port.mirror.index, round, e)), port.mirror.n,
                              number_text(port.mirror.stride));
    return {condition, fmt::format("{}[{}]", access.base, position)};
  }
  void write_factors(const std::vector<Factor>& factors, const std::vector<std::string>& names, const Round& round,
                     std::int64_t e, std::int64_t i) {
    for (std::size_t f = 0; f < factors.size(); ++f) {
      const std::string value =
          fmt::format("table{}[{}]", factors[f].table, plus(names[f], register_part(factors[f].index, round, e)));
      if (factors[f].complex)
        line("ft_turn(x[{0}], y[{0}], {1});", i, value);
      else
        line("{{ const real f = {1}; x[{0}] *= f; y[{0}] *= f; }}", i, value);
    }
  }
  void write_scale(const Port& port, std::int64_t i) {
    if (port.scale != 1) line("x[{0}] *= real({1}); y[{0}] *= real({1});", i, literal(port.scale, Precision::f64));
  }

  void write_load() {
    const Round& round = pass_.rounds.front();
    for_groups(round, [&](std::int64_t group, std::int64_t first) {
      const Access access = begin_access(pass_.load, round, group, "from");
      for (std::int64_t e = 0; e < product(round.registers); ++e) {
        const std::int64_t i = first + e;
        const auto [condition, value] = element(pass_.load, access, round, e);
        if (!condition.empty()) line("x[{0}] = y[{0}] = 0;", i);
        const std::string guard = condition.empty() ? "" : fmt::format("if ({}) ", condition);
        if (pass_.load.values == Values::real)
          line("{}{{ x[{}] = {}; y[{}] = 0; }}", guard, i, value, i);
        else
          line("{}{{ const real2 v = {}; x[{}] = v.x; y[{}] = v.y; }}", guard, value, i, i);
        if (pass_.load.values == Values::hermitian)
          line("if ({} > {}) y[{}] = -y[{}];", plus(access.mirror, register_part(pass_.load.mirror.index, round, e)),
               pass_.load.mirror.n / 2, i, i);
      }
      for (std::int64_t e = 0; e < product(round.registers); ++e) {
        write_factors(pass_.load.factors, access.factor, round, e, first + e);
        write_scale(pass_.load, first + e);
      }
    });
  }

  void write_store() {
    const Round& round = pass_.rounds.back();
    for_groups(round, [&](std::int64_t group, std::int64_t first) {
      const Access access = begin_access(pass_.store, round, group, "to");
      for (std::int64_t e = 0; e < product(round.registers); ++e) {
        const std::int64_t i = first + e;
        const auto [condition, value] = element(pass_.store, access, round, e);
        const std::string guard = condition.empty() ? "" : fmt::format("if ({}) ", condition);
        if (!pass_.store.factors.empty() || pass_.store.scale != 1) {
          if (!guard.empty()) line("{}{{", guard);
          write_factors(pass_.store.factors, access.factor, round, e, i);
          write_scale(pass_.store, i);
          line("{} = {};", value, stored(i));
          if (!guard.empty()) line("}}");
        } else {
          line("{}{} = {};", guard, value, stored(i));
        }
      }
    });
  }
  std::string stored(std::int64_t i) const {
    return pass_.store.values == Values::real ? fmt::format("x[{}]", i) : fmt::format("ft_make(x[{}], y[{}])", i, i);
  }

  // ---- landing buffer ----
  // Tile atoms by ascending address, how many values lie in one run, and where each atom lies in the buffer.
  struct Landing {
    std::vector<int> order;
    std::int64_t run = 1, rows = 1;
    std::size_t run_atoms = 0;
    std::vector<std::int64_t> stride;
  };
  Landing landing() const {
    Landing out;
    for (std::size_t i = 0; i < pass_.atoms.size(); ++i)
      if (pass_.atoms[i].in_tile) out.order.push_back(static_cast<int>(i));
    std::stable_sort(out.order.begin(), out.order.end(),
                     [&](int a, int b) { return weight_of(pass_.load.address, a) < weight_of(pass_.load.address, b); });
    out.stride.assign(pass_.atoms.size(), 0);
    std::int64_t next = 1;
    bool contiguous = true;
    for (const int atom : out.order) {
      contiguous =
          contiguous && weight_of(pass_.load.address, atom) == next && next * size(atom) * 2 * real_size() <= 16384;
      out.stride[at(atom)] = next;
      next *= size(atom);
      if (contiguous) out.run = next, ++out.run_atoms;
    }
    out.rows = next / out.run;
    return out;
  }

  void write_fetch() {
    const Landing land = landing();
    line("// Starts the copies of one tile: {} runs of {} values, by the threads of a warp.", land.rows, land.run);
    line(
        "FT_DEVICE void {}_fetch(const real2* __restrict__ in, real2* landing, unsigned long long* arrived, unsigned "
        "tile, "
        "unsigned lane) {{",
        entry_);
    indent_ = 2;
    write_port_pointer("from", "in", pass_.load, true);
    line("if (lane == 0) dev_mbarrier_expect(arrived, {});", tile_values(pass_) * 2 * real_size());
    line("__syncwarp();");
    std::vector<Piece> pieces;
    std::int64_t divisor = 1;
    for (std::size_t i = land.run_atoms; i < land.order.size(); ++i) {
      pieces.push_back({divisor, size(land.order[i]), weight_of(pass_.load.address, land.order[i])});
      divisor *= size(land.order[i]);
    }
    const std::string row = pieces_text(pieces, "row", divisor, pass_.wide);
    line("for (unsigned row = lane; row < {}; row += 32)", land.rows);
    line("  dev_bulk_load(landing + row * {}, from + ({}), {}, arrived);", land.run, row.empty() ? "0" : row,
         land.run * 2 * real_size());
    indent_ = 0;
    line("}}");
  }

  void write_loop_head() {
    const Landing land = landing();
    line("real2* const landing = reinterpret_cast<real2*>(reinterpret_cast<char*>(shared) + {});", landing_offset_);
    line("unsigned long long* const arrived = reinterpret_cast<unsigned long long*>(landing + {});",
         tile_values(pass_));
    line("unsigned parity = 0;");
    line("if (t == 0) dev_mbarrier_init(arrived);");
    line("__syncthreads();");
    line("if (t < 32 && blockIdx.x < {}) {}_fetch(in, landing, arrived, blockIdx.x, t);", tile_count(pass_), entry_);
    line("for (unsigned tile = blockIdx.x; tile < {}; tile += gridDim.x) {{", tile_count(pass_));
    indent_ += 2;
    line("dev_mbarrier_wait(arrived, parity);");
    line("parity ^= 1;");
    const Index index = layout_index(land.stride);
    const Round& round = pass_.rounds.front();
    for_groups(round, [&](std::int64_t group, std::int64_t first) {
      line("const real2* p = landing + ({});", sum_text(thread_text(index, round, group), ""));
      for (std::int64_t e = 0; e < product(round.registers); ++e)
        line("{{ const real2 v = p[{}]; x[{}] = v.x; y[{}] = v.y; }}", register_part(index, round, e), first + e,
             first + e);
    });
    line("__syncthreads();");
    line("if (t < 32 && tile + gridDim.x < {}) {{", tile_count(pass_));
    line("  dev_fence_bulk();");
    line("  {}_fetch(in, landing, arrived, tile + gridDim.x, t);", entry_);
    line("}}");
  }

  // ---- transforms ----
  void write_transforms(const Round& round) {
    if (round.transforms.empty()) return;
    for_groups(round, [&](std::int64_t group, std::int64_t first) {
      for (const Transform& transform : round.transforms) {
        write_products(round, transform.before, group, first);
        write_transform(round, transform, group, first);
      }
    });
  }

  void write_products(const Round& round, const std::vector<Factor>& factors, std::int64_t group, std::int64_t first) {
    if (factors.empty()) return;
    line("{{");
    indent_ += 2;
    std::vector<std::string> names;
    for (const Factor& factor : factors) {
      names.push_back(fmt::format("f{}", names.size()));
      line("const unsigned {} = {};", names.back(),
           sum_text(grid_text(factor.index), thread_text(factor.index, round, group)));
    }
    for (std::int64_t e = 0; e < product(round.registers); ++e) write_factors(factors, names, round, e, first + e);
    indent_ -= 2;
    line("}}");
  }

  void write_transform(const Round& round, const Transform& transform, std::int64_t group, std::int64_t first) {
    const std::int64_t radix = product(transform.digits);
    std::int64_t step = 1;  // between the registers of one DFT
    for (const int atom : round.registers) {
      if (atom == transform.digits.front()) break;
      step *= size(atom);
    }
    const int sign = transform.sign ? transform.sign : pass_.sign;
    codelets_.insert(static_cast<int>(radix));
    std::vector<std::int64_t> starts;
    for (std::int64_t e = 0; e < product(round.registers); ++e)
      if (register_part(digit_index(transform), round, e) == 0) starts.push_back(e);
    for (const auto e : starts)
      line("dft{0}<{1}>({3} + {2}, {4} + {2});", radix, step, first + e, sign < 0 ? "x" : "y", sign < 0 ? "y" : "x");
    if (transform.period > 1) write_twiddles(round, transform, group, first, radix, step, starts, sign);
  }
  Index digit_index(const Transform& transform) const {
    Index index;
    for (const int atom : transform.digits) index.push_back({atom, 1});
    return index;
  }

  void write_twiddles(const Round& round, const Transform& transform, std::int64_t group, std::int64_t first,
                      std::int64_t radix, std::int64_t step, const std::vector<std::int64_t>& starts, int sign) {
    std::map<std::int64_t, std::vector<std::int64_t>> by_offset;  // starts that share their factors
    for (const auto e : starts) by_offset[register_part(transform.index, round, e)].push_back(e);
    const std::string base = sum_text(grid_text(transform.index), thread_text(transform.index, round, group));
    for (const auto& [offset, list] : by_offset) {
      if (base == "0" && offset == 0) continue;
      line("{{");
      indent_ += 2;
      line("const unsigned m = {};", base == "0" ? number_text(offset) : plus(base, offset));
      const std::int64_t scale =
          pass_.tables.empty() || transform.table < 0 ? 1 : pass_.tables[at(transform.table)] / transform.period;
      for (std::int64_t k = 1; k < radix; ++k) {
        line("const real2 w{} = {};", k, twiddle_text(transform, k, scale, sign));
        for (const auto e : list) line("ft_turn(x[{0}], y[{0}], w{1});", first + e + k * step, k);
      }
      indent_ -= 2;
      line("}}");
    }
  }

  std::string twiddle_text(const Transform& transform, std::int64_t k, std::int64_t scale, int sign) const {
    const bool stored =
        transform.table >= 0 && pass_.twiddles != Twiddles::computed && pass_.twiddles != Twiddles::fast;
    if (stored && (pass_.twiddles == Twiddles::table || k == 1))
      return fmt::format("turns{}[m{}]", transform.table, k * scale == 1 ? "" : fmt::format(" * {}", k * scale));
    if (k == 1)
      return fmt::format("ft_unit{}({}, m, {}, real(0))", pass_.twiddles == Twiddles::fast ? "_fast" : "", sign,
                         transform.period);
    return k % 2 ? fmt::format("ft_times(w{}, w1)", k - 1) : fmt::format("ft_square(w{})", k / 2);
  }

  // ---- exchange ----
  void write_exchange(std::size_t r) {
    const Round &from = pass_.rounds[r], &to = pass_.rounds[r + 1];
    const SharedLayout& layout = layouts_[r];
    if (from.registers == to.registers && from.threads == to.threads && from.blocks == to.blocks) return;
    const Index index = layout_index(layout.stride);
    const bool cross = from.blocks != to.blocks;
    const char* barrier = cross ? "dev_cluster_sync();" : layout.within_warp ? "__syncwarp();" : "__syncthreads();";
    const auto parts = pass_.apart ? std::vector<const char*>{"x", "y"} : std::vector<const char*>{"xy"};
    for (const char* part : parts) {
      if (cross && part[0] == 'x')
        line("dev_cluster_wait();");  // every block runs and none reads its shared memory any more
      else if (shared_read_)
        line("{}", part[0] == 'y' ? barrier : "__syncthreads();");
      for_groups(from, [&](std::int64_t group, std::int64_t first) {
        line("{}* p = shared + ({});", pass_.apart ? "real" : "real2", sum_text(thread_text(index, from, group), ""));
        for (std::int64_t b = 0; cross && b < pass_.cluster; ++b)
          line("{0}* p{1} = dev_cluster_map(p, {1});", pass_.apart ? "real" : "real2", b);
        for (std::int64_t e = 0; e < product(from.registers); ++e)
          line(
              "p{}[{}] = {};", cross ? fmt::format("{}", register_part(block_index(to), from, e)) : "",
              register_part(index, from, e),
              pass_.apart ? fmt::format("{}[{}]", part, first + e) : fmt::format("ft_make(x[{0}], y[{0}])", first + e));
      });
      line("{}", barrier);
      for_groups(to, [&](std::int64_t group, std::int64_t first) {
        line("const {}* p = shared + ({});", pass_.apart ? "real" : "real2",
             sum_text(thread_text(index, to, group), ""));
        for (std::int64_t e = 0; e < product(to.registers); ++e) {
          const std::int64_t offset = register_part(index, to, e);
          if (pass_.apart)
            line("{}[{}] = p[{}];", part, first + e, offset);
          else
            line("{{ const real2 v = p[{0}]; x[{1}] = v.x; y[{1}] = v.y; }}", offset, first + e);
        }
      });
      shared_read_ = true;
    }
  }

  const PassSpec& pass_;
  std::string entry_, text_;
  int indent_ = 0;
  std::vector<SharedLayout> layouts_;
  std::int64_t shared_bytes_ = 0, landing_offset_ = 0;
  bool shared_read_ = false;
  std::set<int> codelets_;
};

}  // namespace

std::int64_t tile_count(const PassSpec& pass) {
  std::int64_t count = 1;
  for (const Atom& atom : pass.atoms)
    if (!atom.in_tile) count *= atom.size;
  return count;
}

std::int64_t tile_values(const PassSpec& pass) {
  std::int64_t count = 1;
  for (const Atom& atom : pass.atoms)
    if (atom.in_tile) count *= atom.size;
  return count;
}

PassText emit_pass(const PassSpec& pass) { return PassWriter(pass).run(); }

}  // namespace fourtune::generator::fft
