// GPU FFT plans: the X/Y/Z notation of the paper fft3d-interleaved-plans, with W for a fourth dimension, with kernel
// parameters, and its canonical
// text. docs/design/fft-plans.md explains the notation by examples; geometry.h derives everything that follows from a
// plan. notation.cpp prints plans, notation_parse.cpp parses them, and rules.cpp and parameter_rules.cpp check them.
//
//   {X(32,8,32,256,tw),X(64,4,8,32,tw),X(32,8,1,8,no-tw),Y(32,8,32,256,tw),Y(32,8,4,32,tw)}[threads=512,tile=1]
//   {Y(64,4,1,4,no-tw),Z(16,16,16,256,tw),Z(16,16,1,16,no-tw)}[threads=512,tile=16,parts=apart]      (on one line)
//
//   plan    = kernel { kernel } [ ":" key "=" value { "," key "=" value } ]
//   kernel  = "{" sub { "," sub } "}" [ "[" key "=" value { "," key "=" value } "]" ]
//   sub     = ("X"|"Y"|"Z"|"W") "(" count "," radix "," stride "," n "," ("tw"|"no-tw") ")"
//
// The parser also accepts the notation as printed in the paper: blanks, bullets, a minus sign for the hyphen, ";"
// between kernels, and sub-FFTs without braces (each is then a separate kernel). In canonical text, keys have a fixed
// order and defaults are never printed. No canonical text contains a blank, ";" or "=" outside a parameter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fourtune/problem.h"
#include "fourtune/status.h"

namespace fourtune::generator::fft {

// Memory order: x is contiguous, then y, z and w, then the batch.
enum class Dim : int { x = 0, y = 1, z = 2, w = 3 };
inline constexpr int index(Dim dim) { return static_cast<int>(dim); }

// D(count,radix,stride,n,tw) describes DFTs along D, whose length is N = count * radix. In every block of n adjacent
// positions, and for every offset j < stride, it is a DFT of `radix` values that lie `stride` apart. Value k of the
// result replaces value k of the input and, with tw, is multiplied by exp(sign 2 pi i k j / n). n = radix * stride.
// "Position" means the position in the notation, where digits never move; Store says where the data lie in memory.
struct SubFft {
  Dim dim = Dim::x;
  std::int64_t count = 1;
  int radix = 1;
  std::int64_t stride = 1;
  std::int64_t n = 1;
  bool twiddle = false;
  friend bool operator==(const SubFft&, const SubFft&) = default;
};

// How values move between threads from one sub-FFT of a kernel to the next.
enum class Exchange {
  none,    // values do not move: allowed (and the default) for a kernel of one sub-FFT
  shared,  // the tile moves through shared memory (the default for more than one sub-FFT)
  shuffle  // warp shuffles; every exchange stays inside one warp
};
enum class Parts { together, apart };  // one exchange of complex numbers, or two (re, im) of half the bytes
enum class Banks {                     // how the tile in shared memory avoids bank conflicts
  plain,                               // no measure: dense
  pad,                                 // rows are padded where a search finds that it helps (default)
  swizzle                              // exclusive-or addresses, dense; only for powers of two
};
enum class TwiddleForm {
  table,     // a thread's first factor from a correctly rounded constant array, its powers by multiplication (default);
             // computed where n is above 65536
  computed,  // computed in the kernel to full precision
  fast       // fast intrinsics, as in the paper; f32 only, loses digits
};
// Where a kernel puts a dimension that it transforms but does not finish. (The last sub-FFT of a dimension puts it
// where the plan's order says.) Each value defines the place of all digits of the dimension; geometry.h has strides.
enum class Store {
  place,    // every value at its position in the notation: the kernel may run in place
  grouped,  // as place, but digits made by one kernel are in natural order among themselves; may run in place too
  sorted  // all digits made so far in natural order at the low end (Stockham); the last kernel can be natural in place
};
enum class Load { plain, async, bulk };  // plain loads; cp.async (sm_80); bulk tensor copies (sm_90)
// Which caches keep what a kernel loads and stores with plain loads and stores; copies ahead of time choose themselves.
enum class Cache {
  all,    // the device's default: L1 and L2 for loads, L2 for stores
  l2,     // L2 only (ld.cg, st.cg)
  stream  // as values that are used once, which both caches give up first (ld.cs, st.cs)
};
// Where neighbouring threads access neighbours in memory although one thread transforms these: by a round without DFTs
// before the first or after the last one, from which values go through shared memory.
enum class Coalesce { none, load, store, both };
enum class Target { out, work };  // the array the kernel writes; it reads what the previous kernel wrote
enum class DigitOrder {
  reversed,  // as the sub-FFTs leave it in place: digit-reversed (default)
  grouped,   // digits made by one kernel in natural order among themselves, kernels reversed
  natural,
  primes  // digit-reversed by prime factors, whatever the radices: what a problem with order=reversed asks for
};

inline constexpr int most_radix = 64;      // radix of one sub-FFT: the largest codelet
inline constexpr int most_threads = 1024;  // threads per block

// Numbers along the dimensions of a plan and, after the last of them, along its batch. Those that are not given are 1.
struct Tile : std::array<int, most_dimensions + 1> {
  constexpr Tile(int first = 0, int second = 1, int third = 1, int fourth = 1, int fifth = 1) noexcept
      : std::array<int, most_dimensions + 1>{first, second, third, fourth, fifth} {}
};

// An order of the dimensions, the first one fastest.
using BlockOrder = std::array<Dim, most_dimensions>;
inline constexpr BlockOrder memory_order{Dim::x, Dim::y, Dim::z, Dim::w};

struct KernelParameters {
  int threads = 0;  // threads per block, a multiple of 32; 0: not bound yet (the paper's text does not give it)
  // What a tile carries. Along each dimension, a tile has all positions of the kernel's sub-FFTs of that dimension (the
  // product of their radices), times this many neighbours: adjacent transforms for a dimension with sub-FFTs, and
  // adjacent positions for one without. The entry [rank] is for the batch; later entries are not used. 0 at first: not
  // bound yet. A tile may extend beyond the end of the batch, or of a dimension that has no sub-FFT here.
  Tile tile;
  Exchange exchange = Exchange::none;
  Parts parts = Parts::together;
  Banks banks = Banks::pad;
  TwiddleForm twiddle = TwiddleForm::table;
  Store store = Store::place;
  Target to = Target::out;
  Load load = Load::plain;
  int pipeline = 0;  // landing buffers for async and bulk loads; blocks then persist
  Cache cache = Cache::all;
  Coalesce coalesce = Coalesce::none;
  int cluster = 1;                   // blocks that share one tile (distributed shared memory)
  BlockOrder blocks = memory_order;  // tiles run along blocks[0] fastest; the batch is slowest
  int registers = 0;                 // compiler's register limit per thread; 0: none
  friend bool operator==(const KernelParameters&, const KernelParameters&) = default;
};

struct Kernel {
  std::vector<SubFft> subs;  // in the order of execution
  KernelParameters with;
  friend bool operator==(const Kernel&, const Kernel&) = default;
};

struct FftPlan {
  std::vector<Kernel> kernels;
  DigitOrder order = DigitOrder::reversed;
  // The order of the input: natural, or primes. Then every value stays in its place, and the result is natural.
  DigitOrder from = DigitOrder::natural;
  Precision precision = Precision::f32;
  Place place = Place::out;  // in: the first and the second array of execute are the same
  friend bool operator==(const FftPlan&, const FftPlan&) = default;
};

// ---- text ---------------------------------------------------------------------------------------------------------
std::string to_text(const SubFft& sub);
std::string to_text(const Kernel& kernel);
std::string to_text(const FftPlan& plan);  // parse_fft_plan(to_text(p)) == p for every p that check() accepts

// Checks only the grammar: the plan may break rules. Throws Error{invalid_plan} with a message that begins with
// "syntax".
FftPlan parse_notation(std::string_view text);
// Checks the grammar and all rules (check below). Throws Error{invalid_plan} with the first violation.
FftPlan parse_fft_plan(std::string_view text);

// ---- rules --------------------------------------------------------------------------------------------------------
enum class Rule {
  // rules of the notation
  dimensions,  // X, then Y, then Z, then W: no dimension is skipped
  radix,       // 2 to 64
  first_n,     // n of a dimension's first sub-FFT is the dimension's length
  product,     // the product of the radices is the length
  stride,      // stride = n / radix
  chain,       // n of the next sub-FFT of the dimension is the stride of the previous one
  last,        // the last sub-FFT of a dimension, and only that one, has stride 1 and no-tw
  finished,    // no sub-FFT of a dimension follows its last one
  count,       // count * radix = the length
  length,      // the length is the one that the problem asks for
  order,       // where an order is by prime factors, the radices have them in its order
  problem,     // precision, place and order are the problem's
  // rules of the kernel parameters
  threads,
  tile,
  exchange,
  parts,
  banks,
  twiddle,
  load,
  coalesce,
  cluster,
  blocks,
  registers,
  target,  // the last kernel writes out; a kernel that writes the array it reads must keep every tile in place
  // rules of the device
  shared_memory,
  register_file,
  resident,
  capability
};
const char* rule_name(Rule rule) noexcept;  // "first-n"
const char* rule_text(Rule rule) noexcept;  // one sentence

struct Violation {
  Rule rule;
  int kernel;           // index, from 0
  int sub;              // index into kernels[kernel].subs; -1: the whole kernel, or the plan
  std::string message;  // names the kernel and the sub-FFT, what is wrong, and what would be right
};

using Lengths = Sizes;                             // 1 for a dimension that the plan does not have
inline constexpr Lengths any_lengths{0, 0, 0, 0};  // lengths that are not known

// Returns all violations in the plan's order; empty: the plan is right. Parameters that are not bound are not checked.
std::vector<Violation> check(const FftPlan& plan);
// The same, with known lengths (0: not known).
std::vector<Violation> check(const FftPlan& plan, const Lengths& lengths);

// The same against a complex FFT problem: checks the lengths (leaving out those of 1), precision and place. Plans from
// a database go through parse_notation and this function.
std::vector<Violation> check(const FftPlan& plan, const Problem& problem);

// The plan that undoes a plan of order=primes, from=primes, or the other way round: kernels and sub-FFTs run in the
// opposite order. Every kernel has the same tiles of the same arrays.
FftPlan mirrored(const FftPlan& plan);
// The plan itself, or the mirrored one if that is the one for a problem of this order.
FftPlan facing(const FftPlan& plan, SpectrumOrder order);
// Whether the prime factors of the radices, one radix after the other and each one's ascending, ascend.
bool primes_ascend(const std::vector<int>& radices);

// Number of dimensions, and the length of each, for a plan without violations.
int rank(const FftPlan& plan);
Lengths lengths(const FftPlan& plan);
bool bound(const FftPlan& plan);  // whether every kernel has threads and a tile

}  // namespace fourtune::generator::fft
