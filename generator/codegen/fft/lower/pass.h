// One trip through global memory, as digits: what emit_pass turns into a CUDA kernel. Everything is a number known when
// the kernel is written.
//
// The kernel walks a space of *atoms*, digits of mixed-radix indices. An atom belongs to the grid (it is part of the
// number of the tile) or to the tile. A tile is T = product of its atoms' sizes complex values, held in the registers
// of one block's threads. A *round* says which tile atoms are in registers and which are spread over threads, and does
// the DFTs that this allows; between rounds values move through shared memory. An atom keeps its place when it is
// transformed: it was a digit of the input's index and becomes a digit of the output's. Every address is a sum over
// atoms of value times stride, so a thread computes one address and all its values are constant offsets from it.
#pragma once

#include <cstdint>
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

// A number made of atoms: sum of value * weight.
struct IndexTerm {
  int atom = 0;
  std::int64_t weight = 1;
  friend bool operator==(const IndexTerm&, const IndexTerm&) = default;
};
using Index = std::vector<IndexTerm>;

// A dimension of which the array holds only `kept` of n positions: zero padding on load, truncation on store.
struct Window {
  enum class Kind {
    head,     // positions 0..kept-1
    wrapped,  // frequencies -kept/2..(kept-1)/2, in FFT order on both sides
    centred   // the same frequencies, the array holds them in ascending order
  };
  Kind kind = Kind::head;
  Index index;              // position in the transform
  std::int64_t n = 1;       // length of the dimension
  std::int64_t kept = 1;    // positions in the array
  std::int64_t stride = 1;  // of the array
};
// Multiply by table[index], an argument of the kernel.
struct Factor {
  Index index;
  int table = 0;         // which extra argument
  bool complex = false;  // else real values
};
// Values whose index is not below the limit are not there: a load gives 0, a store does nothing.
struct Bound {
  Index index;
  std::int64_t limit = 0;
};
enum class Values {
  complex,
  real,      // load: imaginary part 0; store: real part only
  hermitian  // load only: the array holds index 0..n/2 of `mirror`, the rest are conjugates
};
// One side of a kernel.
struct Port {
  Index address;  // in elements (complex, or real for Values::real); atoms of windowed dimensions are not in it
  std::vector<Window> windows;
  std::vector<Factor> factors;
  std::vector<Bound> bounds;
  double scale = 1;
  Values values = Values::complex;
  Window mirror;  // hermitian: its dimension (kind unused)
};

enum class Twiddles {
  table,     // every factor from a constant array
  powers,    // the first from the array, its powers by multiplication
  computed,  // the first by sincospi, its powers by multiplication
  fast       // the first by fast intrinsics (f32)
};

// DFT over `digits` (fastest first), then value k times exp(sign 2 pi i k index / period) if period > 1.
struct Transform {
  std::vector<Factor> before;  // products ahead of the DFT
  std::vector<int> digits;
  std::int64_t period = 1;
  Index index;
  int table = 0;  // which twiddle table (table and powers)
  int sign = 0;   // 0: the pass's own
};
struct Round {
  std::vector<int> registers;  // tile atoms, fastest first
  std::vector<int> threads;    // the other tile atoms, fastest first
  std::vector<int> blocks;     // tile atoms spread over the blocks of a cluster, fastest first
  std::vector<Transform> transforms;
};

struct PassSpec {
  std::string name;   // of the kernel's entry, without prefix
  std::string title;  // one line for the comment above it
  Precision precision = Precision::f32;
  int sign = -1;
  int threads = 256;
  int cluster = 1;  // blocks that share a tile; values cross blocks between the first two rounds
  std::vector<Atom> atoms;
  std::vector<int> grid_order;  // grid atoms, fastest first
  Port load, store;
  std::vector<Round> rounds;
  Twiddles twiddles = Twiddles::powers;
  std::vector<std::int64_t> tables;      // lengths of the twiddle tables
  int extra_tables = 0;                  // further table arguments (factors)
  Exchange exchange = Exchange::shared;  // shuffle: no value changes its warp
  Banks banks = Banks::pad;              // of the exchange buffer
  bool apart = false;                    // real and imaginary parts exchanged one after the other
  // The tile lies in shared memory, each value at one place from the first round to the last, and a thread holds the
  // values of one DFT at a time: one barrier a round, few registers. Plain loads, together, no cluster.
  bool resident = false;
  Load load_by = Load::plain;         // async, bulk: into landing buffers, by persistent blocks
  int pipeline = 1;                   // landing buffers
  bool wide = false;                  // 64-bit element offsets
  int max_registers = 0;              // 0: the compiler's choice
  int blocks_per_multiprocessor = 1;  // promise to the compiler
  // Values that the arrays have of what the kernel loads and stores (less than its tiles where these stick out); 0: all
  // of its tiles.
  std::int64_t loaded = 0, stored = 0;
};

// Tiles of the grid, and values of one tile.
std::int64_t tile_count(const PassSpec& pass);
std::int64_t tile_values(const PassSpec& pass);

}  // namespace fourtune::generator::fft
