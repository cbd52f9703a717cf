// Codelets: straight-line complex DFTs of 2 to 64 points, in registers.
//
//   X[k] = sum_j x[j] exp(-2 pi i j k / n), in natural order on both sides.
//
// The unscaled inverse is the same code with real and imaginary parts exchanged on both sides, so only the forward DFT
// exists. A DFT is built from smaller ones by the cheapest algorithm: split radix (plain or scaled), Cooley-Tukey,
// prime factors (Good), for primes the symmetric direct form or Rader's convolution in halves, and Winograd's forms for
// 7, 9, 11 and 13. codelet.cpp chooses, builder.h has the algorithms (tangent.h, winograd.h), codelet_schedule.cpp the
// schedule and codelet_text.cpp the text.
#pragma once

#include <string>
#include <vector>

#include "fourtune/problem.h"
#include "generator/codegen/fft/codelet/dag.h"

namespace fourtune::generator::fft {

// The meaning of "cheapest" when algorithms are chosen.
enum class CodeletCost {
  operations,   // additions + multiplications, as in published counts
  instructions  // as above, but with every possible fused multiply-add counted once: the instructions that a GPU issues
};

struct Codelet {
  int n = 0;
  Dag dag;                      // input 2j is Re x[j], input 2j+1 is Im x[j]
  std::vector<NodeId> outputs;  // 2k is Re X[k], 2k+1 is Im X[k]
  std::string algorithm;        // "cooley-tukey 2 x split-radix 8", for the comment above the code
};

// Throws Error{invalid_argument} unless 1 <= n <= 64.
Codelet make_codelet(int n, CodeletCost cost = CodeletCost::instructions);

// One operation of the schedule: dst = a op b, or a fused multiply-add dst = ±factor * a ± b.
struct Instruction {
  enum class Kind { add, sub, mul, fma, fms, fnma };  // fma: c*a+b, fms: c*a-b, fnma: b-c*a
  Kind kind = Kind::add;
  NodeId dst = -1, a = -1, b = -1;
  double factor = 0;
};
// Operations in the order in which they are written. Multiply-adds are fused, signs are left to the outputs, and few
// values are alive at a time.
struct Schedule {
  std::vector<Instruction> instructions;
  int most_alive = 0;  // real values, including inputs and outputs
};
Schedule make_schedule(const Codelet& codelet);

// One device function
//   template <int S> FT_DEVICE void dft<n>(real* x, real* y)
// that replaces x[S * k] (real parts) and y[S * k] (imaginary parts), k < n, by their DFT. The arrays are in registers,
// so S must be a compile-time constant. The prelude defines `real` and ft_fma.
std::string codelet_text(const Codelet& codelet);

// Text of the previous step: the operations of the DAG that the outputs need, one per line, operands first ("t9 = t4 +
// t7", "X[1] = t9 + i t12", "x0r" and "x0i" for the parts of x[0]). Signs are not yet moved into fused operations.
std::string dag_text(const Codelet& codelet);

// Shortest text of a floating-point constant that reads back as the nearest value of the precision ("0.5f").
std::string literal(double value, Precision precision);

}  // namespace fourtune::generator::fft
