#include "generator/codegen/fft/emit/pass_memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/codegen/at.h"
#include "generator/codegen/fft/emit/pass_writer.h"

namespace fourtune::generator::fft {
namespace {

std::int64_t real_size(const PassSpec& pass) { return pass.precision == Precision::f32 ? 4 : 8; }
std::int64_t size(const PassSpec& pass, int atom) { return pass.atoms[at(atom)].size; }

std::int64_t product(const PassSpec& pass, const std::vector<int>& atoms) {
  std::int64_t all = 1;
  for (const int atom : atoms) all *= size(pass, atom);
  return all;
}

bool same_places(const Round& a, const Round& b) {
  return a.registers == b.registers && a.threads == b.threads && a.blocks == b.blocks;
}

// Bytes of one landing buffer.
std::int64_t slot_bytes(const PassSpec& pass) {
  const std::int64_t value = real_size(pass) * (pass.load.values == Values::real ? 1 : 2);
  if (pass.load_by == Load::bulk) return tile_values(pass) * value;
  return most_registers(pass) * pass.threads * value;
}

std::string bulk_rule(const PassSpec& pass) {
  const auto rule = [&](const std::string& what) {
    return "rule load: " + pass.title + ": " + what + "; load=async or load=plain";
  };
  if (pass.load.values != Values::complex || !pass.load.prunings.empty() || !pass.load.bounds.empty())
    return rule("bulk copies take whole tiles of complex values, here part of a tile is not in the array");
  const Landing land = landing_of(pass);
  const std::int64_t value = 2 * real_size(pass);
  if (land.run * value % 16 != 0)
    return rule(fmt::format("bulk copies take multiples of 16 bytes, the runs have {}", land.run * value));
  const auto run_end = land.order.begin() + static_cast<std::ptrdiff_t>(land.run_atoms);
  for (int atom = 0; atom < static_cast<int>(pass.atoms.size()); ++atom) {
    const std::int64_t bytes = weight_of(pass.load.address, atom) * value;
    if (bytes % 16 != 0 && std::find(land.order.begin(), run_end, atom) == run_end)
      return rule(fmt::format("bulk copies start at multiples of 16 bytes, a stride has {}", bytes));
  }
  return {};
}

std::string shuffle_rule(const PassSpec& pass, const Round& from, const Round& to) {
  const auto rule = [&](const char* what) {
    return fmt::format("rule exchange: {}: exchange=shuffle {}; exchange=shared", pass.title, what);
  };
  for (const Round* round : {&from, &to})
    if (!powers_of_two(pass, round->registers) || !powers_of_two(pass, round->threads) ||
        product(pass, round->threads) != pass.threads)
      return rule("takes tiles of powers of two that fill the block's threads");
  const std::vector<AtomBit> before = bits_of(pass, from.threads), after = bits_of(pass, to.threads);
  for (std::size_t i = kLaneBits; i < before.size(); ++i)
    if (before[i] != after[i]) return rule("keeps values in their warp, and here they change it");
  return {};
}

std::string swizzle_rule(const PassSpec& pass, const Round& from, const Round& to) {
  for (const std::vector<int>* list : {&from.threads, &from.registers, &to.threads, &to.registers})
    for (const int atom : *list)
      if (std::find(to.blocks.begin(), to.blocks.end(), atom) == to.blocks.end() && !powers_of_two(pass, {atom}))
        return "rule banks: " + pass.title + ": banks=swizzle takes tiles of powers of two; banks=pad";
  return {};
}

// Whole lines of a halved dimension, of so many values, one after the other.
SharedLayout lines_layout(const PassSpec& pass, const Pruning& halved, std::int64_t values) {
  SharedLayout out;
  out.stride.assign(pass.atoms.size(), 0);
  std::int64_t next = values;
  for (std::size_t i = 0; i < pass.atoms.size(); ++i) {
    if (!pass.atoms[i].in_tile) continue;
    out.stride[i] = weight_of(halved.index, static_cast<int>(i));
    if (out.stride[i] == 0) out.stride[i] = next, next *= pass.atoms[i].size;
  }
  out.values = next;
  return out;
}

std::string half_rule(const PassSpec& pass) {
  const bool loads =
      pass.load.values == Values::pairs || pass.load.values == Values::folded || pass.load.values == Values::unfolded;
  if (loads && pass.load_by != Load::plain)
    return "rule load: " + pass.title + ": real lines of half the length take load=plain";
  if (pass.paired && (pass.resident || pass.cluster > 1 || pass.exchange == Exchange::shuffle))
    return "rule exchange: " + pass.title + ": opposite DFTs in a thread take exchange=shared and no cluster";
  const bool shared = pass.resident || (!pass.apart && pass.cluster == 1 && pass.exchange != Exchange::shuffle);
  if ((pass.store.values == Values::unfolded && (!shared || pass.load_by != Load::plain)) ||
      (pass.folds_inside && (!shared || pass.resident)))
    return "rule exchange: " + pass.title + ": half spectra take exchange=shared, parts=together and no cluster";
  return {};
}

}  // namespace

std::int64_t most_registers(const PassSpec& pass) {
  std::int64_t most = 1;
  for (const Round& round : pass.rounds)
    most = std::max(most, (pass.resident ? 1 : groups_of(pass, round)) * product(pass, round.registers));
  return most;
}

Landing landing_of(const PassSpec& pass) {
  constexpr std::int64_t kLongestRun = 16384;  // bytes of one bulk copy
  Landing out;
  for (std::size_t i = 0; i < pass.atoms.size(); ++i)
    if (pass.atoms[i].in_tile) out.order.push_back(static_cast<int>(i));
  std::stable_sort(out.order.begin(), out.order.end(),
                   [&](int a, int b) { return weight_of(pass.load.address, a) < weight_of(pass.load.address, b); });
  out.stride.assign(pass.atoms.size(), 0);
  std::int64_t next = 1;
  bool contiguous = true;
  for (const int atom : out.order) {
    contiguous = contiguous && weight_of(pass.load.address, atom) == next &&
                 next * size(pass, atom) * 2 * real_size(pass) <= kLongestRun;
    out.stride[at(atom)] = next;
    next *= size(pass, atom);
    if (contiguous) out.run = next, ++out.run_atoms;
  }
  out.rows = next / out.run;
  return out;
}

namespace {

// Bytes of the exchange of so many values, of all landing buffers and their barriers.
struct Bytes {
  std::int64_t exchange = 0, all = 0;
};
Bytes bytes_of(const PassSpec& pass, std::int64_t values) {
  const std::int64_t word = real_size(pass) * (pass.apart ? 1 : 2);
  Bytes out;
  out.exchange = out.all = (values * word + 127) / 128 * 128;
  if (pass.load_by == Load::plain) return out;
  const std::int64_t barriers = pass.load_by == Load::bulk ? 8 * pass.pipeline : 0;
  out.all += (slot_bytes(pass) * pass.pipeline + barriers + 15) / 16 * 16;
  return out;
}

}  // namespace

PassMemory pass_memory(const PassSpec& pass) {
  PassMemory out;
  const std::int64_t word = real_size(pass) * (pass.apart ? 1 : 2);
  if (pass.resident) {
    if (pass.rounds.size() > 1) out.layouts.push_back(resident_layout(pass, static_cast<int>(word)));
  } else if (pass.exchange != Exchange::shuffle) {
    for (std::size_t r = 0; r + 1 < pass.rounds.size(); ++r) {
      const std::int64_t here = *parts_behind(pass, r) == '2' ? 2 * real_size(pass) : real_size(pass);
      out.layouts.push_back(shared_layout(pass, pass.rounds[r], pass.rounds[r + 1], static_cast<int>(here)));
    }
  }
  if (pass.store.values == Values::unfolded && !pass.resident)
    out.layouts.push_back(lines_layout(pass, pass.store.mirror, pass.store.mirror.n));
  if (pass.folds_inside) out.folding = lines_layout(pass, pass.load.mirror, pass.load.mirror.n + 1);
  std::int64_t values = out.folding.values;
  for (const SharedLayout& layout : out.layouts) values = std::max(values, layout.values);
  const Bytes bytes = bytes_of(pass, values);
  out.landing_offset = bytes.exchange, out.bytes = bytes.all;
  return out;
}

std::int64_t least_bytes(const PassSpec& pass) {
  const bool exchanges = (pass.rounds.size() > 1 && (pass.resident || pass.exchange != Exchange::shuffle)) ||
                         pass.store.values == Values::unfolded;
  const std::int64_t tile = tile_values(pass);
  if (pass.folds_inside) return bytes_of(pass, tile + tile / pass.load.mirror.n).all;
  return bytes_of(pass, exchanges ? tile / pass.cluster : 0).all;
}

std::string broken_rule(const PassSpec& pass) {
  if (std::string why = half_rule(pass); !why.empty()) return why;
  if (pass.load_by == Load::bulk)
    if (std::string why = bulk_rule(pass); !why.empty()) return why;
  if (pass.resident) return {};
  for (std::size_t r = 0; r + 1 < pass.rounds.size(); ++r) {
    const Round &from = pass.rounds[r], &to = pass.rounds[r + 1];
    std::string why;
    if (pass.exchange == Exchange::shuffle)
      why = same_places(from, to) ? "" : shuffle_rule(pass, from, to);
    else if (pass.banks == Banks::swizzle)
      why = swizzle_rule(pass, from, to);
    if (!why.empty()) return why;
  }
  return {};
}

bool powers_of_two(const PassSpec& pass, const std::vector<int>& atoms) {
  return std::all_of(atoms.begin(), atoms.end(),
                     [&](int atom) { return (size(pass, atom) & (size(pass, atom) - 1)) == 0; });
}

std::vector<AtomBit> bits_of(const PassSpec& pass, const std::vector<int>& atoms) {
  std::vector<AtomBit> bits;
  for (const int atom : atoms)
    for (int bit = 0; (std::int64_t{1} << bit) < size(pass, atom); ++bit) bits.push_back({atom, bit});
  return bits;
}

}  // namespace fourtune::generator::fft
