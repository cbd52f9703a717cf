// GPU FFT plans: the X/Y/Z notation of the paper fft3d-interleaved-plans with kernel parameters, and its one canonical
// text. Read docs/fft-plans.md for the notation by examples; geometry.h has everything that follows from a plan.
//
//   {X(32,8,32,256,tw),X(64,4,8,32,tw),X(32,8,1,8,no-tw),Y(32,8,32,256,tw),Y(32,8,4,32,tw)}[threads=512,tile=1]
//   {Y(64,4,1,4,no-tw),Z(16,16,16,256,tw),Z(16,16,1,16,no-tw)}[threads=512,tile=16,parts=apart]      (on one line)
//
//   plan    = kernel { kernel } [ ":" key "=" value { "," key "=" value } ]
//   kernel  = "{" sub { "," sub } "}" [ "[" key "=" value { "," key "=" value } "]" ]
//   sub     = ("X"|"Y"|"Z") "(" count "," radix "," stride "," n "," ("tw"|"no-tw") ")"
//
// The parser also takes the notation as the paper sets it: blanks, bullets, a minus sign for the hyphen, ";" between
// kernels, and sub-FFTs without braces (each is a kernel of its own). Keys have a fixed order in canonical text and a
// default is never printed. No canonical text holds a blank, ";" or "=" outside a parameter.
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

enum class Dim : int { x = 0, y = 1, z = 2 };  // x is contiguous in memory, then y, then z, then the batch
inline constexpr int index(Dim dim) { return static_cast<int>(dim); }

// D(count,radix,stride,n,tw). Along D, of length N = count * radix: in every block of n neighbouring positions, for
// every offset j < stride, a DFT of `radix` values that lie `stride` apart; value k of the result takes the place of
// value k of the input and, with tw, is multiplied by exp(sign 2 pi i k j / n). n = radix * stride.
// "Position" is the one of the notation (digits stay where they are); where the data lie in memory is Store's matter.
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
  none,    // they do not: allowed (and the default) for a kernel of one sub-FFT
  shared,  // the tile through shared memory (the default for more than one)
  shuffle  // warp shuffles; every exchange stays inside one warp
};
enum class Parts { together, apart };  // real and imaginary: one exchange of complex, or two of half the bytes
enum class Banks {                     // how the shared tile avoids bank conflicts
  plain,                               // it does not: dense
  pad,                                 // rows are padded where that helps, as a search says (default)
  swizzle                              // exclusive-or addresses, dense; powers of two only
};
enum class TwiddleForm {
  table,     // a thread's first factor from a constant array, correctly rounded, its powers by products (default);
             // computed where n is above 65536
  computed,  // in the kernel to full precision
  fast       // fast intrinsics, as the paper does; f32 only, loses digits
};
// Where a kernel puts a dimension that it works on and does not finish. (The last sub-FFT of a dimension puts it as
// the plan's order says.) Each says where all digits of the dimension are; geometry.h has the strides.
enum class Store {
  place,    // every value at the position of the notation: the kernel may run in place
  grouped,  // as place, but digits made by one kernel are in natural order among themselves: may run in place too
  sorted  // all digits made so far in natural order at the low end (Stockham): the last kernel can be natural in place
};
enum class Load { plain, async, bulk };  // plain loads; cp.async (sm_80); bulk tensor copies (sm_90)
enum class Target { out, work };         // the array that the kernel writes; it reads what the kernel before wrote
enum class Order {
  reversed,  // as the sub-FFTs leave it in place: digit-reversed (default)
  grouped,   // digits of one kernel in natural order among themselves, kernels reversed
  natural
};

inline constexpr int most_radix = 64;      // of one sub-FFT: the largest codelet
inline constexpr int most_threads = 1024;  // of a block

struct KernelParameters {
  int threads = 0;  // of a block, a multiple of 32; 0: not bound yet (the paper's text has none)
  // What a tile carries. A tile has, along each dimension, all positions of the kernel's sub-FFTs of that dimension
  // (the product of their radices) times this many neighbours: for a dimension with sub-FFTs, neighbouring transforms;
  // for another one, neighbouring positions. Entries past the plan's rank: the batch (only [rank] is used).
  // {0,...}: not bound yet. A tile may stick out of a dimension that has no sub-FFT here and out of the batch.
  std::array<int, 4> tile{0, 0, 0, 0};
  Exchange exchange = Exchange::none;
  Parts parts = Parts::together;
  Banks banks = Banks::pad;
  TwiddleForm twiddle = TwiddleForm::table;
  Store store = Store::place;
  Target to = Target::out;
  Load load = Load::plain;
  int pipeline = 0;                                   // landing buffers of async and bulk loads; blocks then persist
  int cluster = 1;                                    // blocks that share one tile (distributed shared memory)
  std::array<Dim, 3> blocks{Dim::x, Dim::y, Dim::z};  // tiles run along blocks[0] fastest; the batch is slowest
  int registers = 0;                                  // most per thread, told to the compiler; 0: its choice
  friend bool operator==(const KernelParameters&, const KernelParameters&) = default;
};

struct Kernel {
  std::vector<SubFft> subs;  // in the order of execution
  KernelParameters with;
  friend bool operator==(const Kernel&, const Kernel&) = default;
};

struct FftPlan {
  std::vector<Kernel> kernels;
  Order order = Order::reversed;
  Precision precision = Precision::f32;
  Place place = Place::out;  // in: the first and the second array of execute are one
  friend bool operator==(const FftPlan&, const FftPlan&) = default;
};

// ---- text ---------------------------------------------------------------------------------------------------------
std::string to_text(const SubFft& sub);
std::string to_text(const Kernel& kernel);
std::string to_text(const FftPlan& plan);  // canonical: parse_fft_plan(to_text(p)) == p for every p that check() passes

// Only the grammar: the plan may break rules. Throws Error{invalid_plan}, the message begins with "syntax".
FftPlan parse_notation(std::string_view text);
// Grammar and all rules (check below). Throws Error{invalid_plan} with the first violation.
FftPlan parse_fft_plan(std::string_view text);

// ---- rules --------------------------------------------------------------------------------------------------------
enum class Rule {
  // of the notation
  dimensions,  // X, then Y, then Z: no dimension is skipped
  radix,       // 2 to 64
  first_n,     // n of a dimension's first sub-FFT is its length
  product,     // the radices multiply to the length
  stride,      // stride = n / radix
  chain,       // n of the next sub-FFT of the dimension is the stride before it
  last,        // the last sub-FFT of a dimension has stride 1 and no-tw, and no other one has
  finished,    // nothing follows the last sub-FFT of a dimension
  count,       // count * radix = the length
  length,      // the length is the one the problem asks for
  problem,     // precision and place are the problem's
  // of kernel parameters
  threads,
  tile,
  exchange,
  parts,
  banks,
  twiddle,
  load,
  cluster,
  blocks,
  registers,
  target,  // the last kernel writes out; a kernel that writes what it reads must keep every tile in its place
  // of a device
  shared_memory,
  register_file,
  resident,
  capability
};
const char* rule_name(Rule rule) noexcept;  // "first-n"
const char* rule_text(Rule rule) noexcept;  // one sentence

struct Violation {
  Rule rule;
  int kernel;           // from 0
  int sub;              // of kernels[kernel].subs; -1: the kernel as a whole, or the plan
  std::string message;  // names kernel and sub-FFT, what is wrong, and what would be right
};

using Lengths = std::array<std::int64_t, 3>;  // x, y, z; 1 for a dimension that the plan does not have

// All violations, in the plan's order; empty: the plan is right. Parameters that are not bound are not checked.
std::vector<Violation> check(const FftPlan& plan);
// The same with known lengths (0: unknown).
std::vector<Violation> check(const FftPlan& plan, const Lengths& lengths);

// The same against a complex FFT problem: lengths (those of 1 left out), precision and place. What a plan database
// holds goes through parse_notation and this.
std::vector<Violation> check(const FftPlan& plan, const Problem& problem);

// Of a plan without violations: dimensions, and the length of each.
int rank(const FftPlan& plan);
Lengths lengths(const FftPlan& plan);
bool bound(const FftPlan& plan);  // every kernel has threads and a tile

}  // namespace fourtune::generator::fft
