// Exchange of values between threads through the shared memory of a block or of a cluster.
#include <algorithm>
#include <string_view>

#include "generator/codegen/at.h"
#include "generator/codegen/fft/emit/index_text.h"
#include "generator/codegen/fft/emit/pass_writer.h"

namespace fourtune::generator::fft {
namespace {

// Exclusive-or contributions of consecutive bits of a number: bit i of number / divisor contributes first << i, so the
// contributions add up without carries.
struct BitRun {
  std::int64_t divisor = 1, size = 2, first = 0, all = 0;
};

std::vector<BitRun> runs_of(const std::vector<std::int64_t>& contributions) {
  std::vector<BitRun> runs;
  std::int64_t divisor = 1;
  for (const std::int64_t value : contributions) {
    BitRun* last = runs.empty() ? nullptr : &runs.back();
    const bool next = last && last->divisor * last->size == divisor;
    if (value != 0 && next && value == last->first * last->size && (last->all & value) == 0)
      last->size *= 2, last->all |= value;
    else if (value != 0)
      runs.push_back({divisor, 2, value, value});
    divisor *= 2;
  }
  return runs;
}

// The bit's contribution to the address; 0 for bits that choose the block.
std::int64_t part_of(const SharedLayout& layout, const AtomBit& bit) {
  const auto& bits = layout.bits[at(bit.atom)];
  return at(bit.bit) < bits.size() ? bits[at(bit.bit)] : 0;
}

}  // namespace

// The part of a place in the exchange buffer that depends on the thread.
std::string PassWriter::place_text(const SharedLayout& layout, const Round& round, std::int64_t group) const {
  if (layout.bits.empty()) return sum_text(thread_text(layout_index(layout.stride), round, group), "");
  std::string text;
  const auto add = [&](const std::vector<int>& atoms, const std::string& number) {
    std::vector<std::int64_t> contributions;
    for (const AtomBit& bit : bits_of(pass_, atoms)) contributions.push_back(part_of(layout, bit));
    const std::int64_t end = std::int64_t{1} << contributions.size();
    for (const BitRun& run : runs_of(contributions)) {
      std::string value = number;
      if (run.divisor > 1) value += fmt::format(" / {}", run.divisor);
      if (run.divisor * run.size < end) value += fmt::format(" % {}", run.size);
      if (run.first != 1) value += fmt::format(" * {}", run.first);
      text += (text.empty() ? "(" : " ^ (") + value + ")";
    }
  };
  add(round.threads, thread_number(round, group));
  add(round.blocks, "rank");
  return text.empty() ? "0" : text;
}

void PassWriter::write_place(const SharedLayout& layout, const Round& round, std::int64_t group, bool read, char part) {
  const std::string type = fmt::format("{}{}*", read ? "const " : "", part == '2' ? "real2" : "real");
  const bool cast = part != '2' && !pass_.apart;
  const std::string array = cast ? fmt::format("reinterpret_cast<{}>(shared)", type) : "shared";
  if (layout.bits.empty())
    line("{} p = {} + ({});", type, array, place_text(layout, round, group));
  else
    line("const unsigned a = {};", place_text(layout, round, group));
}

// The place of register e. Address bits that the thread's part may contain are toggled; the other bits are added.
std::string PassWriter::shared_element(const SharedLayout& layout, const Round& round, std::int64_t, std::int64_t e,
                                       const std::string& pointer) const {
  if (layout.bits.empty()) return fmt::format("{}[{}]", pointer, register_part(layout_index(layout.stride), round, e));
  std::int64_t own = 0, value = 0;
  for (const auto* atoms : {&round.threads, &round.blocks})
    for (const AtomBit& bit : bits_of(pass_, *atoms)) own |= part_of(layout, bit);
  for (const AtomBit& bit : bits_of(pass_, round.registers)) {
    if (e & 1) value ^= part_of(layout, bit);
    e >>= 1;
  }
  std::string text = value & own ? fmt::format("(a ^ {})", value & own) : "a";
  if (value & ~own) text += fmt::format(" + {}", value & ~own);
  return fmt::format("{}[{}]", pointer, text);
}

void PassWriter::write_exchange(std::size_t r) {
  const Round &from = pass_.rounds[r], &to = pass_.rounds[r + 1];
  if (from.registers == to.registers && from.threads == to.threads && from.blocks == to.blocks) return;
  if (shuffled()) return write_shuffle(r);
  const bool cross = from.blocks != to.blocks;
  const char* barrier = cross                            ? "dev_cluster_sync();"
                        : memory_.layouts[r].within_warp ? "__syncwarp();"
                                                         : "__syncthreads();";
  for (const char part : std::string_view(parts_behind(pass_, r))) write_part(r, part, cross, barrier);
}

const char* parts_behind(const PassSpec& pass, std::size_t r) {
  const auto real = [](const Port& port) {
    return port.values == Values::real &&
           std::none_of(port.factors.begin(), port.factors.end(), [](const Factor& factor) { return factor.complex; });
  };
  const bool affine = pass.exchange == Exchange::shared && pass.banks != Banks::swizzle && pass.cluster == 1;
  const bool loaded = r == 0 && pass.rounds.front().transforms.empty() && real(pass.load);
  const bool stored = r + 2 == pass.rounds.size() && pass.rounds.back().transforms.empty() && real(pass.store);
  return affine && (loaded || stored) ? "x" : pass.apart ? "xy" : "2";
}

// One exchange of the real parts ('x'), the imaginary parts ('y') or both ('2').
void PassWriter::write_part(std::size_t r, char part, bool cross, const char* barrier) {
  const Round &from = pass_.rounds[r], &to = pass_.rounds[r + 1];
  const SharedLayout& layout = memory_.layouts[r];
  if (cross && part != 'y')
    line("dev_cluster_wait();");  // every block runs, and none still reads its shared memory
  else if (shared_read_)
    line("{}", part == 'y' ? barrier : "__syncthreads();");
  for_groups(from, [&](std::int64_t group, std::int64_t first) {
    put_group(layout, from, group, first, part, cross ? &to : nullptr);
  });
  line("{}", barrier);
  const bool alone = std::string_view(parts_behind(pass_, r)) == "x";
  for_groups(to, [&](std::int64_t group, std::int64_t first) {
    get_group(layout, to, group, first, part);
    for (std::int64_t e = 0; alone && e < product(to.registers); ++e) line("y[{}] = 0;", first + e);
  });
  shared_read_ = true;
}

// across: the next round, if it distributes values over the blocks differently.
void PassWriter::put_group(const SharedLayout& layout, const Round& round, std::int64_t group, std::int64_t first,
                           char part, const Round* across) {
  write_place(layout, round, group, false, part);
  const std::string pointer = layout.bits.empty() ? "p" : "shared";
  for (std::int64_t b = 0; across && b < pass_.cluster; ++b)
    line("{0}* p{1} = dev_cluster_map({2}, {1});", pass_.apart ? "real" : "real2", b, pointer);
  const Round& last = pass_.rounds.back();
  const bool leaves_out = last.cut >= 0 && !pass_.resident && &round == &last - 1;
  for (std::int64_t e = 0; e < product(round.registers); ++e) {
    if (leaves_out && register_part({{last.cut, 1}}, round, e) >= last.kept) continue;
    line("{} = {};",
         shared_element(layout, round, group, e,
                        across ? fmt::format("p{}", register_part(block_index(*across), round, e)) : pointer),
         part != '2' ? fmt::format("{}[{}]", part, first + e) : fmt::format("ft_make(x[{0}], y[{0}])", first + e));
  }
}

// The value of a half spectrum that lies opposite to one that the thread has.
void PassWriter::conjugate(const Round& round, std::int64_t e, std::int64_t first, char part) {
  const Round& loaded = pass_.rounds.front();
  std::int64_t step = 1;
  for (const int atom : round.registers) {
    if (atom == loaded.cut) break;
    step *= size(atom);
  }
  const std::int64_t position = register_part({{loaded.cut, 1}}, round, e);
  const std::int64_t there = first + e - (2 * position - size(loaded.cut)) * step;
  if (part != 'y') line("x[{}] = x[{}];", first + e, there);
  if (part != 'x') line("y[{}] = -y[{}];", first + e, there);
}

void PassWriter::get_group(const SharedLayout& layout, const Round& round, std::int64_t group, std::int64_t first,
                           char part) {
  write_place(layout, round, group, true, part);
  const Round& loaded = pass_.rounds.front();
  const bool completes = loaded.cut >= 0 && &round == &loaded + 1;
  for (std::int64_t e = 0; e < product(round.registers); ++e) {
    if (completes && register_part({{loaded.cut, 1}}, round, e) >= loaded.kept) {
      conjugate(round, e, first, part);
      continue;
    }
    const std::string value = shared_element(layout, round, group, e, layout.bits.empty() ? "p" : "shared");
    if (part != '2')
      line("{}[{}] = {};", part, first + e, value);
    else
      line("{{ const real2 v = {0}; x[{1}] = v.x; y[{1}] = v.y; }}", value, first + e);
  }
}

}  // namespace fourtune::generator::fft
