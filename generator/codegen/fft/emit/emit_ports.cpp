// Loads from and stores to global memory, with their fused operations: prunings, bounds, factors, scale, conjugate
// mirrors.
#include <algorithm>

#include "generator/codegen/fft/codelet/codelet.h"
#include "generator/codegen/fft/emit/index_text.h"
#include "generator/codegen/fft/emit/pass_writer.h"

namespace fourtune::generator::fft {

void PassWriter::write_port_pointer(const char* name, const char* base, const Port& port, bool load) {
  const std::string offset = grid_text(port.address, pass_.wide);
  line("{}{}* {} = {}{};", load ? "const " : "", value_type(port), name, base,
       offset.empty() ? "" : " + (" + offset + ")");
}

// How far from home a value is.
void PassWriter::write_rank_function(const char* side, const Port& port) {
  const RankArrays& of = *port.ranks;
  const char* const number = of.run * of.columns * of.planes > 0xffffffff ? "unsigned long long" : "unsigned";
  line("FT_DEVICE long long {}_{}({} i, const long long* __restrict__ ranks) {{", entry_, side, number);
  line("  const unsigned column = i / {} % {};", of.run, of.columns);
  line("  if ({}(column * {} % 8 < {})) return 0;", of.others ? "" : "!", of.eighths, of.eighths);
  if (of.by_planes)
    line("  const unsigned at = i / {};", number_text(of.run * of.columns));
  else
    line("  const unsigned at = column;");
  std::string owner;
  for (std::size_t r = 0; r + 1 < of.ends.size(); ++r)
    owner += fmt::format("at < {} ? ranks[{}] : ", of.ends[r], r + 1);
  line("  return {}ranks[{}];", owner, of.ends.size());
  line("}}");
}

PassWriter::Access PassWriter::begin_access(const Port& port, const Round& round, std::int64_t group,
                                            const char* pointer) {
  Access access;
  const auto define = [&](const std::string& name, const Index& index) {
    line("const unsigned {} = {};", name, sum_text(grid_text(index), thread_text(index, round, group)));
    return name;
  };
  if (pointer) {
    const std::string offset = thread_text(port.address, round, group, pass_.wide);
    line("{}{}* p = {}{};", &port == &pass_.load ? "const " : "", value_type(port), pointer,
         offset.empty() ? "" : " + (" + offset + ")");
    access.base = "p";
    if (port.ranks)
      line("const {} at_home = (reinterpret_cast<long long>(p) - ranks[0]) / {};",
           port.ranks->run * port.ranks->columns * port.ranks->planes > 0xffffffff ? "unsigned long long" : "unsigned",
           2 * real_size());
    for (std::size_t i = 0; i < port.bounds.size(); ++i)
      access.bound.push_back(define(fmt::format("b{}", i), port.bounds[i].index));
    for (std::size_t i = 0; i < port.prunings.size(); ++i)
      access.pruning.push_back(define(fmt::format("n{}", i), port.prunings[i].index));
  }
  if (mirrors(port)) access.mirror = define("m", port.mirror.index);
  if (pointer && port.values == Values::pairs && pairs_at_once(port, round)) line("const bool even = ft_even(p);");
  const bool halves_here = &port == &pass_.load && loads_once() ? pointer == nullptr : mirrors(port);
  if (halves_here && port.values != Values::hermitian) line("const real2 u = {};", half_turn_text(port, access.mirror));
  for (std::size_t i = 0; i < port.turned.size(); ++i)
    access.turned.push_back(define(fmt::format("t{}", i), port.turned[i].index));
  return access;
}

void PassWriter::define_factors(Access& access, const Port& port, const Round& round, std::int64_t group) {
  for (std::size_t i = 0; i < port.factors.size(); ++i) {
    const Index& index = port.factors[i].index;
    access.factor.push_back(fmt::format("f{}", i));
    line("const unsigned f{} = {};", i, sum_text(grid_text(index), thread_text(index, round, group)));
  }
}

std::int64_t PassWriter::most_elsewhere(const Index& index, const Round& round) const {
  std::int64_t most = 0;
  for (const auto& term : index)
    if (std::find(round.registers.begin(), round.registers.end(), term.atom) == round.registers.end())
      most += (size_in(pass_, round, term.atom) - 1) * term.weight;
  return most;
}

bool PassWriter::never_there(const Port& port, const Round& round, std::int64_t e) const {
  return std::any_of(port.bounds.begin(), port.bounds.end(),
                     [&](const Bound& bound) { return register_part(bound.index, round, e) >= bound.limit; });
}

std::pair<std::string, std::string> PassWriter::element(const Port& port, const Access& access, const Round& round,
                                                        std::int64_t e) const {
  std::string condition, position = number_text(register_part(port.address, round, e));
  const auto also = [&](const std::string& text) { condition += (condition.empty() ? "" : " && ") + text; };
  for (std::size_t i = 0; i < port.bounds.size(); ++i) {
    const Bound& bound = port.bounds[i];
    const std::int64_t here = register_part(bound.index, round, e);
    if (here + most_elsewhere(bound.index, round) < bound.limit) continue;
    also(fmt::format("{} < {}", plus(access.bound[i], here), bound.limit));
  }
  for (std::size_t i = 0; i < port.prunings.size(); ++i) {
    const Pruning& pruning = port.prunings[i];
    const std::int64_t here = register_part(pruning.index, round, e);
    if (round.cut >= 0 && here + most_elsewhere(pruning.index, round) < pruning.kept) {
      position += fmt::format(" + {}({}) * {}", pass_.wide ? "(long long)" : "", plus(access.pruning[i], here),
                              number_text(pruning.stride));
      continue;
    }
    const std::string n = plus(access.pruning[i], register_part(pruning.index, round, e));
    const char* kind = pruning.kind == Pruning::Kind::head      ? "head"
                       : pruning.kind == Pruning::Kind::wrapped ? "wrapped"
                                                                : "centred";
    also(fmt::format("ft_kept_{}({}, {}, {})", kind, n, pruning.n, pruning.kept));
    position += fmt::format(" + {}ft_position_{}({}, {}, {}) * {}", pass_.wide ? "(long long)" : "", kind, n, pruning.n,
                            pruning.kept, number_text(pruning.stride));
  }
  if (port.values == Values::hermitian) {
    const char* const wide = pass_.wide ? "(long long)" : "";
    const std::string mirror = plus(access.mirror, register_part(port.mirror.index, round, e));
    position += round.cut >= 0 ? fmt::format(" + {}({}) * {}", wide, mirror, number_text(port.mirror.stride))
                               : fmt::format(" + {}ft_mirror({}, {}) * {}", wide, mirror, port.mirror.n,
                                             number_text(port.mirror.stride));
    for (std::size_t i = 0; i < port.turned.size(); ++i)
      position += fmt::format(" + {}ft_turned({}, {}, {} > {}) * {}", wide,
                              plus(access.turned[i], register_part(port.turned[i].index, round, e)), port.turned[i].n,
                              mirror, port.mirror.n / 2, number_text(port.turned[i].stride));
  }
  if (port.ranks) {
    const bool load = &port == &pass_.load;
    return {condition, fmt::format("*reinterpret_cast<{}{}*>(reinterpret_cast<{}char*>({} + ({})) + {}_{}(at_home + "
                                   "({}), ranks))",
                                   load ? "const " : "", value_type(port), load ? "const " : "", access.base, position,
                                   entry_, load ? "from" : "to", position)};
  }
  return {condition, fmt::format("{}[{}]", access.base, position)};
}

void PassWriter::write_factors(const std::vector<Factor>& factors, const std::vector<std::string>& names,
                               const Round& round, std::int64_t e, std::int64_t i) {
  for (std::size_t f = 0; f < factors.size(); ++f) {
    const std::string value =
        fmt::format("table{}[{}]", factors[f].table, plus(names[f], register_part(factors[f].index, round, e)));
    if (factors[f].complex)
      line("ft_turn(x[{0}], y[{0}], {1});", i, value);
    else
      line("{{ const real f = {1}; x[{0}] *= f; y[{0}] *= f; }}", i, value);
  }
}

void PassWriter::write_scale(const Port& port, std::int64_t i) {
  if (port.scale != 1) line("x[{0}] *= real({1}); y[{0}] *= real({1});", i, literal(port.scale, Precision::f64));
}

std::string PassWriter::load_text(const std::string& place) const {
  switch (pass_.cache) {
    case Cache::all:
      break;
    case Cache::l2:
      return fmt::format("__ldcg(&{})", place);
    case Cache::stream:
      return fmt::format("__ldcs(&{})", place);
  }
  return place;
}

std::string PassWriter::store_text(const std::string& place, const std::string& value) const {
  switch (pass_.cache) {
    case Cache::all:
      break;
    case Cache::l2:
      return fmt::format("__stcg(&{}, {});", place, value);
    case Cache::stream:
      return fmt::format("__stcs(&{}, {});", place, value);
  }
  return fmt::format("{} = {};", place, value);
}

void PassWriter::load_group(const Round& round, std::int64_t group, std::int64_t first) {
  Access access = begin_access(pass_.load, round, group, "from");
  define_factors(access, pass_.load, round, group);
  if (loads_once()) begin_half_values(access);
  for (std::int64_t e = 0; e < product(round.registers); ++e) {
    const std::int64_t i = first + e;
    if (never_there(pass_.load, round, e)) {  // the compiler removes what a DFT does with it
      line("x[{0}] = y[{0}] = 0;", i);
      continue;
    }
    const auto [condition, place] = element(pass_.load, access, round, e);
    const std::string value = load_text(place);
    if (!condition.empty()) line("x[{0}] = y[{0}] = 0;", i);
    const std::string guard = condition.empty() ? "" : fmt::format("if ({}) ", condition);
    if (pass_.load.values == Values::pairs)
      line("{}{}", guard, load_pair_text(place, round, i));
    else if (loads_once())
      line("{}{{ const real2 v = {}; x[{}] = v.x; y[{}] = v.y; }}", guard, half_value_text(round, e), i, i);
    else if (mirrors(pass_.load) && pass_.load.values != Values::hermitian)
      line("{}{}", guard, load_halves_text(access, round, e, i));
    else if (pass_.load.values == Values::real)
      line("{}{{ x[{}] = {}; y[{}] = 0; }}", guard, i, value, i);
    else
      line("{}{{ const real2 v = {}; x[{}] = v.x; y[{}] = v.y; }}", guard, value, i, i);
  }
  if (pass_.folds_inside) load_ends(access, round, group);
  if (pass_.paired && group % 2 == 0) load_end(access, round, group / 2);
  write_loaded(access, round, first);
}

// Operations on values that have arrived in registers.
void PassWriter::write_loaded(const Access& access, const Round& round, std::int64_t first) {
  const Port& port = pass_.load;
  for (std::int64_t e = 0; e < product(round.registers); ++e) {
    const std::int64_t i = first + e;
    if (never_there(port, round, e)) continue;
    if (port.values == Values::hermitian && round.cut < 0)
      line("if ({} > {}) y[{}] = -y[{}];", plus(access.mirror, register_part(port.mirror.index, round, e)),
           port.mirror.n / 2, i, i);
    write_factors(port.factors, access.factor, round, e, i);
    write_scale(port, i);
  }
}

void PassWriter::store_group(const Round& round, std::int64_t group, std::int64_t first) {
  if (pass_.store.values == Values::unfolded) return unfold_group(round, group, first);
  Access access = begin_access(pass_.store, round, group, "to");
  define_factors(access, pass_.store, round, group);
  for (std::int64_t e = 0; e < product(round.registers); ++e) {
    const std::int64_t i = first + e;
    if (never_there(pass_.store, round, e)) continue;
    const auto [condition, place] = element(pass_.store, access, round, e);
    const std::string store =
        pass_.store.values == Values::pairs ? store_pair_text(place, round, i) : store_text(place, stored(i));
    const std::string guard = condition.empty() ? "" : fmt::format("if ({}) ", condition);
    if (!pass_.store.factors.empty() || pass_.store.scale != 1) {
      if (!guard.empty()) line("{}{{", guard);
      write_factors(pass_.store.factors, access.factor, round, e, i);
      write_scale(pass_.store, i);
      line("{}", store);
      if (!guard.empty()) line("}}");
    } else {
      line("{}{}", guard, store);
    }
  }
}

std::string PassWriter::stored(std::int64_t i) const {
  return pass_.store.values == Values::real ? fmt::format("x[{}]", i) : fmt::format("ft_make(x[{}], y[{}])", i, i);
}

}  // namespace fourtune::generator::fft
