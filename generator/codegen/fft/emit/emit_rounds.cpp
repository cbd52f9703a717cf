// Operations on values in registers: products, DFTs, twiddle factors.
#include <map>

#include "generator/codegen/fft/codelet/codelet.h"
#include "generator/codegen/fft/emit/index_text.h"
#include "generator/codegen/fft/emit/pass_writer.h"

namespace fourtune::generator::fft {

void PassWriter::write_transforms(const Round& round) {
  if (round.transforms.empty()) return;
  for_groups(round, [&](std::int64_t group, std::int64_t first) { transform_group(round, group, first); });
}

void PassWriter::transform_group(const Round& round, std::int64_t group, std::int64_t first) {
  for (const Dft& transform : round.transforms) {
    write_products(round, transform.before, group, first);
    write_transform(round, transform, group, first);
  }
}

void PassWriter::write_products(const Round& round, const std::vector<Factor>& factors, std::int64_t group,
                                std::int64_t first) {
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

void PassWriter::write_transform(const Round& round, const Dft& transform, std::int64_t group, std::int64_t first) {
  const std::int64_t radix = product(transform.digits);
  std::int64_t step = 1;  // distance between the registers of one DFT
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

Index PassWriter::digit_index(const Dft& transform) {
  Index index;
  for (const int atom : transform.digits) index.push_back({atom, 1});
  return index;
}

void PassWriter::write_twiddles(const Round& round, const Dft& transform, std::int64_t group, std::int64_t first,
                                std::int64_t radix, std::int64_t step, const std::vector<std::int64_t>& starts,
                                int sign) {
  std::map<std::int64_t, std::vector<std::int64_t>> by_offset;  // starts that share the same factors
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

std::string PassWriter::twiddle_text(const Dft& transform, std::int64_t k, std::int64_t scale, int sign) const {
  const bool stored = transform.table >= 0 && pass_.twiddles != Twiddles::computed && pass_.twiddles != Twiddles::fast;
  if (stored && (pass_.twiddles == Twiddles::table || k == 1))
    return fmt::format("turns{}[m{}]", transform.table, k * scale == 1 ? "" : fmt::format(" * {}", k * scale));
  if (k == 1)
    return fmt::format("ft_unit{}({}, m, {}, real(0))", pass_.twiddles == Twiddles::fast ? "_fast" : "", sign,
                       transform.period);
  return k % 2 ? fmt::format("ft_times(w{}, w1)", k - 1) : fmt::format("ft_square(w{})", k / 2);
}

}  // namespace fourtune::generator::fft
