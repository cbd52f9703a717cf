// Describes one pass through global memory in terms of digits; emit_pass turns it into a CUDA kernel. All numbers are
// known when the kernel is generated.
//
// The kernel iterates over a space of *atoms*, which are digits of mixed-radix indices. An atom belongs to the grid (it
// is part of the tile's number) or to the tile. A tile has T complex values, where T is the product of its atoms'
// sizes; the registers of one block's threads hold them. A *round* says which tile atoms are in registers and which are
// distributed over threads, and computes the DFTs that this allows; between rounds, values move through shared memory.
// A transformed atom keeps its place: it was a digit of the input's index and becomes a digit of the output's index.
// Every address is a sum over atoms of value times stride, so a thread computes one address, and its values lie at
// constant offsets from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fourtune/problem.h"
#include "generator/codegen/kernel_source.h"
#include "generator/plan/fft/notation.h"

namespace fourtune::generator::fft {

struct Atom {
  std::string name;  // for comments: "y1"
  std::int64_t size = 1;
  bool in_tile = false;
};

// A number made of atoms: the sum of value * weight.
struct IndexTerm {
  int atom = 0;
  std::int64_t weight = 1;
  friend bool operator==(const IndexTerm&, const IndexTerm&) = default;
};
using Index = std::vector<IndexTerm>;
// What a step of the atom adds to the number; 0: nothing.
inline std::int64_t weight_of(const Index& index, int atom) {
  std::int64_t weight = 0;
  for (const IndexTerm& term : index)
    if (term.atom == atom) weight += term.weight;
  return weight;
}

// A dimension of which the array holds only `kept` of n positions: zero padding when loading, truncation when storing.
struct Pruning {
  enum class Kind {
    head,     // positions 0..kept-1
    wrapped,  // frequencies -kept/2..(kept-1)/2, in FFT order on both sides
    centred   // the same frequencies, in ascending order in the array
  };
  Kind kind = Kind::head;
  Index index;              // position in the transform
  std::int64_t n = 1;       // length of the dimension
  std::int64_t kept = 1;    // number of positions in the array
  std::int64_t stride = 1;  // stride in the array
};
// Multiplies by table[index]; the table is an argument of the kernel.
struct Factor {
  Index index;
  int table = 0;         // number of the extra table argument
  bool complex = false;  // false: real values
};
// Values whose index is not below the limit do not exist: a load gives 0, and a store does nothing.
struct Bound {
  Index index;
  std::int64_t limit = 0;
};
enum class Values {
  complex,
  real,       // load: the imaginary part is 0; store: only the real part
  hermitian,  // load only: the array holds indices 0..n/2 of `mirror`; the rest are conjugates, of indices that are
              // negated in the `turned` dimensions, too
  // A real line of 2n values as a complex one of n values, whose real parts are the even and whose imaginary parts the
  // odd values of the line:
  pairs,    // the array holds the real line; the address is in real values, those of a pair are `pair` apart
  folded,   // load only: the array holds the line's half spectrum, values 0..n of `mirror`; with
            // `PassSpec::folds_inside` a thread loads one of two opposite values and reads the other in shared memory
  unfolded  // the complex line's spectrum, values 0..n-1 of `mirror`, becomes the real line's half spectrum, values
            // 0..n: a load takes the one from the array, a store writes the other to it
};
// An array of planes of `columns` rows of `run` values that several ranks hold, whose GPUs see each other's memory. A
// kernel is told where these arrays are: its last parameter has the address of this rank's array, and the bytes from
// there to the array of each rank (0: this one). Part `owner(i)` of columns, or of planes, belongs to a rank. Of its
// values in such an array a kernel finds those of another rank's part there, for some rows, evenly spread, and the rest
// at home; so one kernel may store some rows into the other GPU's memory, and the next one load the rest from there.
struct RankArrays {
  std::int64_t run = 1, columns = 1, planes = 1;
  bool by_planes = false;          // parts are of planes, not of columns
  std::vector<std::int64_t> ends;  // of the ranks' parts
  int eighths = 8;                 // of the rows: those that are not at home
  bool others = false;             // takes the other rows instead
  friend bool operator==(const RankArrays&, const RankArrays&) = default;
};
// The workspace that has these addresses.
inline constexpr int rank_addresses = 4;
// One side of a kernel: its loads or its stores.
struct Port {
  Index address;  // in elements (complex; real for Values::real and pairs), without the atoms of pruned dimensions
  std::vector<Pruning> prunings;
  std::vector<Factor> factors;
  std::vector<Bound> bounds;
  double scale = 1;
  Values values = Values::complex;
  std::int64_t pair = 1;  // pairs
  Pruning mirror;         // hermitian, folded, unfolded: the halved dimension (kind unused)
  std::optional<RankArrays> ranks;
  std::vector<Pruning> turned;  // hermitian: the other dimensions that are still to be transformed (kind, kept unused)
};

enum class Twiddles {
  table,     // every factor from a constant array
  powers,    // the first factor from the array, its powers by multiplication
  computed,  // the first factor by sincospi, its powers by multiplication
  fast       // the first factor by fast intrinsics (f32)
};

// A DFT over `digits` (fastest first); then value k is multiplied by exp(sign 2 pi i k index / period) if period > 1.
struct Dft {
  std::vector<Factor> before;  // products before the DFT
  std::vector<int> digits;
  std::int64_t period = 1;
  Index index;
  int table = 0;  // number of the twiddle table (table and powers)
  int sign = 0;   // 0: the sign of the pass
};
struct Round {
  std::vector<int> registers;  // tile atoms, fastest first
  std::vector<int> threads;    // the other tile atoms, fastest first
  std::vector<int> blocks;     // tile atoms spread over the blocks of a cluster, fastest first
  std::vector<Dft> transforms;
  // A round that only loads or stores has no threads for values that the array does not hold: those of atom `cut` from
  // `kept` on. The round before or behind it has the atom in registers.
  int cut = -1;
  std::int64_t kept = 0;
};

struct PassSpec {
  std::string name;   // name of the kernel's entry, without prefix
  std::string title;  // one line for the comment above it
  Precision precision = Precision::f32;
  int sign = -1;
  int threads = 256;
  int cluster = 1;  // blocks that share a tile; values change blocks between the first two rounds
  std::vector<Atom> atoms;
  std::vector<int> grid_order;  // grid atoms, fastest first
  Port load, store;
  std::vector<Round> rounds;
  Twiddles twiddles = Twiddles::powers;
  std::vector<std::int64_t> tables;  // lengths of the twiddle tables
  // Asks for a round more before the first, or after the last, in which neighbouring threads access neighbours in
  // memory: `where_held` only where else one thread would access them one after the other. For passes that exchange
  // through shared memory.
  enum class Coalesced { no, where_held, always };
  Coalesced coalesced_load = Coalesced::no, coalesced_store = Coalesced::no;
  int extra_tables = 0;                  // number of further table arguments (factors)
  Exchange exchange = Exchange::shared;  // shuffle: no value changes its warp
  Banks banks = Banks::pad;              // layout of the exchange buffer
  bool apart = false;                    // real and imaginary parts are exchanged one after the other
  // The tile stays in shared memory, each value at the same place from the first round to the last, and a thread holds
  // the values of one DFT at a time: one barrier per round and few registers. Requires plain loads, parts together and
  // no cluster.
  bool resident = false;
  bool folds_inside = false;  // of a load of folded values: the tile has whole lines. Parts together, no cluster
  // Of a load of folded values in whole lines, too: the DFTs that the first round makes of each line, an even number.
  // The values of DFT j lie opposite to those of DFT paired - j, and a thread makes both, so that it loads each value
  // once and finds the opposite one in its registers. DFTs 0 and paired / 2 are opposite to themselves, and a pair as
  // well. That round's threads number the DFTs of a line one after the other, and then the lines. 0: each value is
  // loaded twice.
  std::int64_t paired = 0;
  Cache cache = Cache::all;           // of plain loads and of stores
  Load load_by = Load::plain;         // async, bulk: into landing buffers, by persistent blocks
  int pipeline = 1;                   // number of landing buffers
  bool wide = false;                  // 64-bit element offsets
  int max_registers = 0;              // 0: the compiler chooses
  int blocks_per_multiprocessor = 1;  // promised to the compiler
  // Number of values in the arrays that the kernel loads and stores (fewer than in its tiles if these extend beyond the
  // array); 0: all values of its tiles.
  std::int64_t loaded = 0, stored = 0;
};

// Whether an address is in real values.
inline bool in_reals(const Port& port) { return port.values == Values::real || port.values == Values::pairs; }
// Whether the position along the halved dimension is no part of the address.
inline bool mirrors(const Port& port) {
  return port.values == Values::hermitian || port.values == Values::folded || port.values == Values::unfolded;
}

// The values of an atom that a round works on.
inline std::int64_t size_in(const PassSpec& pass, const Round& round, int atom) {
  return atom == round.cut ? round.kept : pass.atoms[static_cast<std::size_t>(atom)].size;
}
// How a round's values reach the next one: real and imaginary parts together ("2"), one after the other ("xy"), or the
// real parts alone ("x"), before a round that only stores them or behind one that only loads them.
const char* parts_behind(const PassSpec& pass, std::size_t round);
// Groups of values that a thread holds in a round.
std::int64_t groups_of(const PassSpec& pass, const Round& round);

// Number of tiles of the grid, and of values per tile.
std::int64_t tile_count(const PassSpec& pass);
std::int64_t tile_values(const PassSpec& pass);

}  // namespace fourtune::generator::fft
