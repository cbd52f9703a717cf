// Real lines of 2n values as complex ones of n values (pass.h: Values::pairs, folded, unfolded). With w = exp(sign 2 pi
// i k / 2n), Z the spectrum of the complex line and X that of the real one,
//   X[k] = ((Z[k] + conj Z[n-k]) - i w (Z[k] - conj Z[n-k])) / 2,      the unscaled way back
//   Z[k] =  (X[k] + conj X[n-k]) + i w (X[k] - conj X[n-k]).
#include <algorithm>
#include <cmath>
#include <numbers>

#include "generator/codegen/fft/codelet/codelet.h"
#include "generator/codegen/fft/emit/index_text.h"
#include "generator/codegen/fft/emit/pass_writer.h"

namespace fourtune::generator::fft {

// ---- pairs of real values

// Whether a pair that lies at a multiple of its size is one value of real2: so are all pairs of a thread, or none.
bool PassWriter::pairs_at_once(const Port& port, const Round& round) const {
  return port.pair == 1 && std::all_of(round.registers.begin(), round.registers.end(), [&](int atom) {
           return size(atom) == 1 || weight_of(port.address, atom) % 2 == 0;
         });
}

std::string PassWriter::load_pair_text(const std::string& place, const Round& round, std::int64_t i) const {
  if (pairs_at_once(pass_.load, round))
    return fmt::format("{{ const real2 v = ft_pair(&{0}, even); x[{1}] = v.x; y[{1}] = v.y; }}", place, i);
  return fmt::format("{{ const real* v = &{0}; x[{1}] = v[0]; y[{1}] = v[{2}]; }}", place, i,
                     number_text(pass_.load.pair));
}

std::string PassWriter::store_pair_text(const std::string& place, const Round& round, std::int64_t i) const {
  if (pairs_at_once(pass_.store, round)) return fmt::format("ft_put_pair(&{0}, x[{1}], y[{1}], even);", place, i);
  return fmt::format("{{ real* v = &{0}; v[0] = x[{1}]; v[{2}] = y[{1}]; }}", place, i, number_text(pass_.store.pair));
}

// ---- the turns +-i w

std::string PassWriter::half_turn_text(const Port& port, const std::string& position) const {
  return fmt::format("ft_half_turn(ft_unit({}, {}, {}, real(0)), {})", pass_.sign, position, 2 * port.mirror.n,
                     port.values == Values::folded ? 1 : -1);
}

// That of a value so many positions after the thread's first: a constant times that one's.
std::string PassWriter::half_turn_text(const Port& port, std::int64_t steps) const {
  const std::int64_t period = 2 * port.mirror.n;
  if (steps == 0) return "u";
  const long double angle =
      pass_.sign * 2 * std::numbers::pi_v<long double> * static_cast<long double>(steps % period) / period;
  return fmt::format("ft_times(u, ft_make(real({}), real({})))",
                     literal(static_cast<double>(std::cos(angle)), Precision::f64),
                     literal(static_cast<double>(std::sin(angle)), Precision::f64));
}

// ---- both values of the array

std::string PassWriter::load_halves_text(const Access& access, const Round& round, std::int64_t e,
                                         std::int64_t i) const {
  const Port& port = pass_.load;
  const std::int64_t steps = register_part(port.mirror.index, round, e), n = port.mirror.n;
  const bool folded = port.values == Values::folded;
  const std::string k = plus(access.mirror, steps);
  const auto place = [&](const std::string& position) {
    return load_text(fmt::format("{}[{} + {}({}) * {}]", access.base,
                                 number_text(register_part(port.address, round, e)), pass_.wide ? "(long long)" : "",
                                 position, number_text(port.mirror.stride)));
  };
  std::string text = "{ ";
  if (folded) {
    text += fmt::format("real2 a = {}, b = {}; ", place(k), place(fmt::format("{} - ({})", n, k)));
    // What the ends have of imaginary parts does not count.
    if (steps == 0) text += fmt::format("if ({} == 0) a.y = b.y = 0; ", k);
  } else {
    text += fmt::format("const real2 a = {}, b = {}; ", place(fmt::format("ft_wrapped({}, {})", k, n)),
                        place(fmt::format("ft_opposite({}, {})", k, n)));
  }
  text += fmt::format("ft_halve(x[{0}], y[{0}], a, b, {1}); ", i, half_turn_text(port, steps));
  if (!folded) text += fmt::format("x[{0}] *= real(0.5); y[{0}] *= real(0.5); ", i);
  return text + "}";
}

// ---- one value in registers, the other one in shared memory

void PassWriter::put_for_unfolding(const Round& round, std::int64_t group, std::int64_t first) {
  Access access;
  line("{{"), indent_ += 2;
  define_factors(access, pass_.store, round, group);
  for (std::int64_t e = 0; e < product(round.registers); ++e)
    write_factors(pass_.store.factors, access.factor, round, e, first + e);
  indent_ -= 2, line("}}");
  put_group(memory_.layouts.back(), round, group, first, '2', nullptr);
}

// The part of a layout that numbers the tile's lines.
Index PassWriter::beside(const SharedLayout& layout, const Pruning& halved) {
  Index lines;
  for (const IndexTerm& term : layout_index(layout.stride))
    if (weight_of(halved.index, term.atom) == 0) lines.push_back(term);
  return lines;
}

// The place of the value opposite to a position, without what the tile's other atoms add.
std::string PassWriter::opposite_text(const SharedLayout& layout, const std::string& position) const {
  const Pruning& mirror = pass_.store.mirror;
  std::string text;
  for (std::size_t i = 0; i < pass_.atoms.size(); ++i) {
    const std::int64_t weight = weight_of(mirror.index, static_cast<int>(i)), stride = layout.stride[i];
    if (!pass_.atoms[i].in_tile || weight == 0) continue;
    std::string digit = position;
    if (weight > 1) digit += fmt::format(" / {}", weight);
    if (weight * pass_.atoms[i].size < mirror.n) digit += fmt::format(" % {}", pass_.atoms[i].size);
    if (stride != 1) digit += fmt::format(" * {}", stride);
    text += (text.empty() ? "" : " + ") + digit;
  }
  return text.empty() ? "0" : text;
}

void PassWriter::unfold_group(const Round& round, std::int64_t group, std::int64_t first) {
  const Port& port = pass_.store;
  const SharedLayout& layout = memory_.layouts.back();
  Access access = begin_access(port, round, group, "to");
  const Index lines = beside(layout, port.mirror);
  line("const real2* q = shared + ({});", sum_text(thread_text(lines, round, group), ""));
  bool natural = true;  // positions follow each other in shared memory
  for (const IndexTerm& term : port.mirror.index)
    natural = natural && (!pass_.atoms[at(term.atom)].in_tile || layout.stride[at(term.atom)] == term.weight);
  const std::int64_t n = port.mirror.n;
  for (std::int64_t e = 0; e < product(round.registers); ++e) {
    if (never_there(port, round, e)) continue;
    const std::int64_t i = first + e, steps = register_part(port.mirror.index, round, e);
    Access plain = access;
    const auto [condition, nowhere] = element(port, plain, round, e);
    const std::string k = plus(access.mirror, steps), wide = pass_.wide ? "(long long)" : "";
    const auto place = [&](const std::string& position) {
      return fmt::format("p[{} + {}({}) * {}]", number_text(register_part(port.address, round, e)), wide, position,
                         number_text(port.mirror.stride));
    };
    line("{}{{", condition.empty() ? "" : fmt::format("if ({}) ", condition));
    line("  const unsigned o = {};",
         steps == 0 ? fmt::format("ft_opposite({}, {})", k, n) : fmt::format("{} - ({})", n, k));
    line("  const real2 b = q[{} + {}];", register_part(lines, round, e), natural ? "o" : opposite_text(layout, "o"));
    if (steps == 0)
      line("  if ({0} == 0) {1}", k,
           store_text(place(std::to_string(n)), fmt::format("ft_make((x[{0}] - y[{0}]) * real({1}), 0)", i,
                                                            literal(port.scale, Precision::f64))));
    line("  ft_halve(x[{0}], y[{0}], ft_make(x[{0}], y[{0}]), b, {1});", i, half_turn_text(port, steps));
    line("  x[{0}] *= real({1}); y[{0}] *= real({1});", i, literal(0.5 * port.scale, Precision::f64));
    line("  {}", store_text(place(k), stored(i)));
    line("}}");
  }
}

// Of `h`, where the thread's value 0 would be: constant offsets take fewer registers than sums of positions.
void PassWriter::begin_half_values(const Access& access) {
  line("const real2* h = {} + {}{} * {};", access.base, pass_.wide ? "(long long)" : "", access.mirror,
       number_text(pass_.load.mirror.stride));
}
std::string PassWriter::half_value_text(const Round& round, std::int64_t e) const {
  const Pruning& mirror = pass_.load.mirror;
  return load_text(fmt::format("h[{}]", number_text(register_part(pass_.load.address, round, e) +
                                                    register_part(mirror.index, round, e) * mirror.stride)));
}

// By the threads that hold values 0. Lines that do not exist have zeros.
void PassWriter::load_ends(const Access& access, const Round& round, std::int64_t group) {
  const Pruning& mirror = pass_.load.mirror;
  const Index lines = beside(memory_.folding, mirror);
  const std::string place = sum_text(thread_text(lines, round, group), "");
  for (std::int64_t e = 0; e < product(round.registers); ++e) {
    if (register_part(mirror.index, round, e) != 0) continue;
    const std::string condition = element(pass_.load, access, round, e).first;
    const std::string value =
        load_text(fmt::format("{}[{} + {}]", access.base, number_text(register_part(pass_.load.address, round, e)),
                              number_text(mirror.n * mirror.stride)));
    line("if ({} == 0) shared[{} + {}] = {};", access.mirror, place, register_part(lines, round, e) + mirror.n,
         condition.empty() ? value : fmt::format("{} ? {} : ft_make(0, 0)", condition, value));
  }
}

void PassWriter::fold_group(const Round& round, std::int64_t group, std::int64_t first) {
  const Access access = begin_access(pass_.load, round, group, nullptr);
  const Pruning& mirror = pass_.load.mirror;
  const Index lines = beside(memory_.folding, mirror);
  line("const real2* q = shared + ({} + {} - {});", sum_text(thread_text(lines, round, group), ""), mirror.n,
       access.mirror);
  for (std::int64_t e = 0; e < product(round.registers); ++e) {
    const std::int64_t i = first + e, steps = register_part(mirror.index, round, e);
    line("{{ real2 a = ft_make(x[{0}], y[{0}]), b = q[{1}];{2} ft_halve(x[{0}], y[{0}], a, b, {3}); }}", i,
         register_part(lines, round, e) - steps,
         // What the ends have of imaginary parts does not count.
         steps == 0 ? fmt::format(" if ({} == 0) a.y = b.y = 0;", access.mirror) : "",
         half_turn_text(pass_.load, steps));
  }
}

void PassWriter::write_folding() {
  const Round& round = pass_.rounds.front();
  for_groups(round, [&](std::int64_t group, std::int64_t first) {
    put_group(memory_.folding, round, group, first, '2', nullptr);
  });
  line("__syncthreads();");
  for_groups(round, [&](std::int64_t group, std::int64_t first) { fold_group(round, group, first); });
  shared_read_ = true;
}

// ---- opposite values in a thread's registers

void PassWriter::write_paired_loads() {
  const Round& round = pass_.rounds.front();
  const std::int64_t half = pass_.paired / 2;
  const bool lines = threads_needed(round) > pass_.paired;
  for (std::int64_t pair = 0; 2 * pair < groups(round); ++pair) {
    const std::string number = pair ? fmt::format("({})", plus("t", pair * pass_.threads)) : "t";
    const std::string dft = lines ? fmt::format("{} % {}", number, half) : number;
    const std::string before = lines ? fmt::format(" + {} / {} * {}", number, half, pass_.paired) : "";
    line("const unsigned d{} = {}{};", 2 * pair, dft, before);
    line("const unsigned d{} = ({} == 0 ? {} : {} - {}){};", 2 * pair + 1, dft, half, pass_.paired, dft, before);
    line("real2 end{} = ft_make(0, 0);", pair);
  }
  for_groups(round, [&](std::int64_t group, std::int64_t first) { load_group(round, group, first); });
  for (std::int64_t pair = 0; 2 * pair < groups(round); ++pair) {
    const bool guard = 2 * (pair + 1) * pass_.threads > threads_needed(round);
    line("{}{{", guard ? fmt::format("if ({} < {}) ", plus("t", pair * pass_.threads), threads_needed(round) / 2) : "");
    indent_ += 2;
    fold_pair(round, pair);
    indent_ -= 2;
    line("}}");
  }
}

// Value n of the line, by the thread that holds value 0.
void PassWriter::load_end(const Access& access, const Round& round, std::int64_t pair) {
  const std::string condition = element(pass_.load, access, round, 0).first;
  const Pruning& mirror = pass_.load.mirror;
  line("if ({} == 0{}) end{} = {};", access.mirror, condition.empty() ? "" : " && " + condition, pair,
       load_text(fmt::format("{}[{}]", access.base, number_text(mirror.n * mirror.stride))));
}

// DFT j holds values j + i paired, the other one values paired - j + i paired.
void PassWriter::fold_pair(const Round& round, std::int64_t pair) {
  const std::int64_t radix = product(round.registers), one = 2 * pair * radix, other = one + radix;
  const Access access = begin_access(pass_.load, round, 2 * pair, nullptr);
  line("if ({} != 0) {{", access.mirror);
  indent_ += 2;
  for (std::int64_t i = 0; i < radix; ++i) fold_opposite(one + i, other + radix - 1 - i, i * pass_.paired);
  indent_ -= 2;
  line("}} else {{");
  indent_ += 2;
  // What the ends have of imaginary parts does not count.
  line("ft_halve(x[{0}], y[{0}], ft_make(x[{0}], 0), ft_make(end{1}.x, 0), u);", one, pair);
  for (std::int64_t i = 1; 2 * i <= radix; ++i) fold_opposite(one + i, one + radix - i, i * pass_.paired);
  for (std::int64_t i = 0; 2 * i < radix; ++i)
    fold_opposite(other + i, other + radix - 1 - i, pass_.paired / 2 + i * pass_.paired);
  indent_ -= 2;
  line("}}");
}

void PassWriter::fold_opposite(std::int64_t one, std::int64_t other, std::int64_t steps) {
  const std::string turn = half_turn_text(pass_.load, steps);
  if (one == other)
    line("ft_halve(x[{0}], y[{0}], ft_make(x[{0}], y[{0}]), ft_make(x[{0}], y[{0}]), {1});", one, turn);
  else
    line("ft_fold(x[{0}], y[{0}], x[{1}], y[{1}], {2});", one, other, turn);
}

}  // namespace fourtune::generator::fft
