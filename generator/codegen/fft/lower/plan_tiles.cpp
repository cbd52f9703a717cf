// The contents of a kernel's tile: the digits that it transforms and the neighbours that it carries; the other digits
// number the tiles.
#include "base/layout.h"
#include "generator/codegen/fft/lower/pass_planner.h"
#include "generator/codegen/fft/lower/tables.h"
#include "generator/plan/fft/stored_twiddles.h"

namespace fourtune::generator::fft {

std::vector<CarriedDigits> PassPlanner::passive_runs(const Line& axis, int k, const Weights& before,
                                                     const Weights& after) const {
  std::vector<CarriedDigits> runs;
  bool active = false;
  for (std::size_t i = 0; i < axis.digits.size(); ++i) {
    const Digit& digit = axis.digits[i];
    if (digit.kernel == k)
      active = true;
    else if (digit.kernel > k && plan_.from == DigitOrder::primes)
      // Its value is still a digit of the input, whose primes lie the other way round.
      for (std::int64_t low = 1; const std::int64_t p : prime_factors(digit.radix)) {
        const std::int64_t place = digit.radix / (low * p);
        runs.push_back({i, p, digit.in * low, digit.out * low, before[i] * place, after[i] * place});
        low *= p;
      }
    else
      runs.push_back({i, digit.radix, digit.in, digit.out, before[i], after[i]});
  }
  std::sort(runs.begin(), runs.end(),
            [](const CarriedDigits& a, const CarriedDigits& b) { return a.before < b.before; });
  // On a transformed axis, later digits also appear in twiddle indices, and earlier ones in the output's index.
  const auto joins = [&](const CarriedDigits& a, const CarriedDigits& b) {
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

int PassPlanner::add_atom(PassSpec& spec, const std::string& name, std::int64_t size, bool tile) {
  spec.atoms.push_back({name, size, tile});
  return static_cast<int>(spec.atoms.size()) - 1;
}

void PassPlanner::add_parts(PassSpec& spec, std::vector<AxisPart>& parts, const std::string& name, std::int64_t size,
                            bool tile, AxisPart part, const SplitStride& in, const SplitStride& out) {
  if (size == 1) return;
  for (const auto low : {split_for(in, part.before, size), split_for(out, part.after, size)}) {
    if (low == 0) continue;
    if (low == 1 || size % low != 0)
      return refuse(fmt::format(
          "rule tile: {}: {} neighbours of {} do not divide the digit that lies across tiles of the workspace", name,
          low, size));
    add_parts(spec, parts, name + "l", low, tile, part, in, out);
    part.in *= low, part.out *= low, part.before *= low, part.after *= low;
    return add_parts(spec, parts, name + "h", size / low, tile, part, in, out);
  }
  part.atom = add_atom(spec, name, size, tile);
  part.load = stride_of(in, part.before), part.store = stride_of(out, part.after);
  parts.push_back(part);
}

void PassPlanner::add_digit(PassSpec& spec, std::vector<AxisPart>& parts, const std::string& name, std::int64_t radix,
                            const AxisPart& part, const SplitStride& in, const SplitStride& out) {
  const bool from = plan_.from == DigitOrder::primes;
  if (!from && plan_.order != DigitOrder::primes) return add_parts(spec, parts, name, radix, true, part, in, out);
  for (std::int64_t low = 1, number = 1; const std::int64_t p : prime_factors(radix)) {
    const std::int64_t reversed = radix / (low * p);
    AxisPart one = part;
    one.in *= low, one.out *= low;
    one.before *= from ? reversed : low;
    one.after *= from ? low : reversed;
    add_parts(spec, parts, fmt::format("{}_{}", name, number++), p, true, one, in, out);
    low *= p;
  }
}

std::vector<AxisPart> PassPlanner::split_axis(PassSpec& spec, int d, int k, const SplitStride& in,
                                              const SplitStride& out) {
  const Line& axis = axes_[at(d)];
  const Weights before = positions(axis, k), after = positions(axis, k + 1);
  std::int64_t tile = tile_along(d, k);
  std::vector<AxisPart> parts;
  for (std::size_t i = 0; i < axis.digits.size(); ++i) {
    const Digit& digit = axis.digits[i];
    if (digit.kernel == k)
      add_digit(spec, parts, fmt::format("{}{}", axis.name, i + 1), digit.radix,
                {0, i, digit.in, digit.out, before[i], after[i], 0, 0}, in, out);
  }
  const bool active = !parts.empty();
  const std::int64_t length = active ? 0 : length_between(d, k);
  if (!active && (length % tile != 0 || length != axis.n)) {
    // A carried axis whose length differs from the transform's: it is one number, and its last tile may be partly
    // outside.
    const bool bits = with(k).exchange == Exchange::shuffle || with(k).banks == Banks::swizzle;
    if (tile > length && !bits) tile = length;  // tiles of powers of two keep their size
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
  for (const CarriedDigits& run : passive_runs(axis, k, before, after)) {
    const std::int64_t low = std::min(left, run.size);
    if (run.size % low || left % low) {
      refuse(fmt::format("rule tile: kernel {}: a tile of {} neighbours along {} does not divide its {}", k + 1, tile,
                         axis.name, run.size));
      return parts;
    }
    left /= low;
    const std::string name = fmt::format("{}{}", axis.name, run.digit + 1);
    add_parts(spec, parts, name + "_in", low, true, {0, run.digit, run.in, run.out, run.before, run.after, 0, 0}, in,
              out);
    add_parts(spec, parts, name + "_tile", run.size / low, false,
              {0, run.digit, run.in * low, run.out * low, run.before * low, run.after * low, 0, 0}, in, out);
  }
  if (left > 1)
    refuse(fmt::format("rule tile: kernel {}: a tile of {} neighbours along {} is more than there are", k + 1, tile,
                       axis.name));
  for (const AxisPart& part : parts) {
    if (!pruned(d, k, true)) spec.load.address.push_back({part.atom, part.load});
    if (!pruned(d, k, false)) spec.store.address.push_back({part.atom, part.store});
  }
  return parts;
}

Index PassPlanner::natural(const std::vector<AxisPart>& parts, bool input) {
  Index out;
  for (const AxisPart& part : parts) out.push_back({part.atom, input ? part.in : part.out});
  return out;
}

Dft PassPlanner::transform(PlannedPass& out, const std::vector<AxisPart>& parts, const Line& axis, std::size_t i) {
  Dft t;
  for (const AxisPart& part : parts)
    if (part.digit == i) t.digits.push_back(part.atom);
  t.period = i + 1 == axis.digits.size() ? 1 : axis.digits[i].in * axis.digits[i].radix;
  for (const AxisPart& part : parts)
    if (part.digit > i) t.index.push_back({part.atom, part.in});
  if (t.period > 1 && t.period <= most_stored_twiddles && out.spec.twiddles == Twiddles::powers)
    t.table = table_for(out, t.period);
  if (t.period > most_stored_twiddles && out.spec.twiddles == Twiddles::powers) t.table = -1;
  return t;
}

int PassPlanner::table_for(PlannedPass& out, std::int64_t period) {
  for (std::size_t i = 0; i < out.tables.size(); ++i)
    if (table_length(out.tables[i]) % period == 0) return static_cast<int>(i);
  out.tables.push_back(unit_table(period, options_.sign, options_.precision));
  return static_cast<int>(out.tables.size()) - 1;
}

std::int64_t PassPlanner::table_length(const std::vector<std::byte>& table) const {
  return static_cast<std::int64_t>(table.size()) / (2 * real_bytes(options_.precision));
}

void PassPlanner::order_grid(PassSpec& spec, const KernelParameters& w) {
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

}  // namespace fourtune::generator::fft
