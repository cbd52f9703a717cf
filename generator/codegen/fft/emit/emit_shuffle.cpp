// Exchanges inside a warp without shared memory. The bits of a value's place in the tile identify it: some bits number
// a thread's registers, five number its lane, and the rest number its warp. From one round to the next, register bits
// and lane bits change places. A register bit and a lane bit are swapped by shuffling half of the registers, lane bits
// are permuted by one shuffle of all registers, and register bits by renaming.
#include <algorithm>
#include <array>

#include "generator/codegen/fft/emit/pass_writer.h"

namespace fourtune::generator::fft {
namespace {

std::size_t place_of(const std::vector<AtomBit>& bits, const AtomBit& bit) {
  return static_cast<std::size_t>(std::find(bits.begin(), bits.end(), bit) - bits.begin());
}

}  // namespace

void PassWriter::write_shuffle(std::size_t r) {
  const Round &from = pass_.rounds[r], &to = pass_.rounds[r + 1];
  std::vector<AtomBit> registers = bits_of(pass_, from.registers), threads = bits_of(pass_, from.threads);
  const std::vector<AtomBit> wanted = bits_of(pass_, to.registers), lanes = bits_of(pass_, to.threads);
  if (!shared_read_) line("__syncwarp();");  // all lanes have read values that an in-place array will overwrite
  shared_read_ = true;
  line("{{");
  indent_ += 2;
  const std::int64_t count = std::int64_t{1} << registers.size();
  // Lane bits that must become register bits.
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t l = 0; l < kLaneBits; ++l) {
      const std::size_t bit = place_of(registers, lanes[l]);
      if (threads[l] == lanes[l] || bit == registers.size()) continue;
      line("const bool upper{} = t & {};", l, 1 << l);
      for (std::int64_t e = 0; e < count; ++e)
        if (!(e >> bit & 1))
          line("ft_trade(x[{0}], x[{1}], {2}, upper{3}); ft_trade(y[{0}], y[{1}], {2}, upper{3});", e,
               e | std::int64_t{1} << bit, 1 << l, l);
      std::swap(registers[bit], threads[l]);
      moved = true;
    }
  }
  std::string source;
  for (std::size_t l = 0; l < kLaneBits; ++l) {
    const std::size_t old = place_of(threads, lanes[l]);  // lane bit l of the receiver is bit `old` of the sender
    source += fmt::format("{}(t >> {} & 1) << {}", l ? " | " : "", l, old);
  }
  if (!std::equal(lanes.begin(), lanes.begin() + kLaneBits, threads.begin())) {
    line("const unsigned source = {};", source);
    for (std::int64_t e = 0; e < count; ++e)
      line("x[{0}] = __shfl_sync(0xffffffffu, x[{0}], source); y[{0}] = __shfl_sync(0xffffffffu, y[{0}], source);", e);
  }
  // Register e of the next round is register old(e) of this one; the permutation is written cycle by cycle.
  std::vector<bool> done(at(count), false);
  const auto old = [&](std::int64_t e) {
    std::int64_t place = 0;
    for (std::size_t bit = 0; bit < wanted.size(); ++bit)
      if (e >> bit & 1) place |= std::int64_t{1} << place_of(registers, wanted[bit]);
    return place;
  };
  for (std::int64_t start = 0; start < count; ++start) {
    if (done[at(start)] || old(start) == start) continue;
    line("{{");
    line("  const real2 v = ft_make(x[{0}], y[{0}]);", start);
    std::int64_t e = start;
    for (; old(e) != start; e = old(e)) {
      line("  x[{0}] = x[{1}]; y[{0}] = y[{1}];", e, old(e));
      done[at(e)] = true;
    }
    line("  x[{0}] = v.x; y[{0}] = v.y;", e);
    done[at(e)] = true;
    line("}}");
  }
  indent_ -= 2;
  line("}}");
}

}  // namespace fourtune::generator::fft
