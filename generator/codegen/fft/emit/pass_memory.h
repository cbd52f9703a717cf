// Shared memory of a pass: the places of values between its rounds, and landing buffers for tiles that are copied ahead
// of time. Found without writing any text. shared_layout.cpp searches the padding.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/codegen/fft/lower/pass.h"

namespace fourtune::generator::fft {

// The places of a tile's values in shared memory between two rounds: a stride in values for every tile atom.
struct SharedLayout {
  std::vector<std::int64_t> stride;  // by atom; 0 for atoms of the grid
  std::int64_t values = 0;           // size including padding
  // Swizzled: [atom][bit]; the address is the exclusive or of these values, not their sum. Empty: strides are used.
  std::vector<std::vector<std::int64_t>> bits;
  double conflicts = 1;      // shared-memory passes per access, mean of writing and reading; 1 means no conflicts
  bool within_warp = false;  // no value moves to another warp
};
// Where the blocks of a cluster change (to.blocks differs), to.blocks choose the block, and strides are within that
// block. `word`: bytes per value (4, 8 or 16). pad: the layout with the fewest bank conflicts that the search found;
// plain: the same without padding; swizzle: no padding and no conflicts, only for powers of two (broken_rule).
SharedLayout shared_layout(const PassSpec& pass, const Round& from, const Round& to, int word);
// The same for a resident tile: one layout for all rounds.
SharedLayout resident_layout(const PassSpec& pass, int word);

// A tile in its landing buffer: tile atoms by increasing address, the number of values per run, and the place of each
// atom in the buffer.
struct Landing {
  std::vector<int> order;
  std::int64_t run = 1, rows = 1;
  std::size_t run_atoms = 0;
  std::vector<std::int64_t> stride;
};
Landing landing_of(const PassSpec& pass);

// The values that a thread holds, at most.
std::int64_t most_registers(const PassSpec& pass);

struct PassMemory {
  std::vector<SharedLayout> layouts;  // of the exchange behind each round; one where the tile is resident
  SharedLayout folding;               // PassSpec::folds_inside: lines of half spectra, n + 1 values each
  std::int64_t landing_offset = 0, bytes = 0;
};
PassMemory pass_memory(const PassSpec& pass);
// The bytes without padding, found at once: a pass needs at least these.
std::int64_t least_bytes(const PassSpec& pass);

// Which passes can be written: the first rule that the pass breaks, and what would be right; empty: none.
std::string broken_rule(const PassSpec& pass);

// ---- bits of a tile atom's value, for exchanges that move bits: swizzled layouts and warp shuffles
struct AtomBit {
  int atom = 0, bit = 0;
  friend bool operator==(const AtomBit&, const AtomBit&) = default;
};
bool powers_of_two(const PassSpec& pass, const std::vector<int>& atoms);
std::vector<AtomBit> bits_of(const PassSpec& pass, const std::vector<int>& atoms);  // lowest first
inline constexpr std::size_t kLaneBits = 5;

}  // namespace fourtune::generator::fft
