// Builds the DAG of a DFT by a given algorithm; private to codelets, codelet.cpp chooses the algorithms. Those for
// sizes with factors are in composite.cpp, those for primes and 9 in prime.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "generator/codegen/fft/codelet/codelet.h"
#include "generator/codegen/fft/codelet/dag.h"

namespace fourtune::generator::fft {

struct Complex {
  NodeId re = -1, im = -1;
};
using Values = std::vector<Complex>;

enum class Method { trivial, split_radix, tangent, cooley_tukey, prime_factor, direct, rader, winograd };
struct Choice {
  Method method = Method::trivial;
  int radix = 1;  // for cooley_tukey (first factor) and prime_factor
};

// cos and sin of 2 pi k / n. Values at the octants' corners are exact, and angles that mirror each other give equal
// bits up to the sign.
std::pair<double, double> unit(std::int64_t k, std::int64_t n);

// Adds the operations of DFTs to `dag`. `choices` has the algorithm of every smaller size that is needed, by size.
class Builder {
 public:
  Builder(Dag& dag, CodeletCost cost, const std::vector<Choice>& choices) : dag_(dag), cost_(cost), choices_(choices) {}

  Values dft(const Values& x) { return run(choices_[x.size()], x); }
  Values run(Choice choice, const Values& x);

 private:
  Complex add(Complex a, Complex b) { return {dag_.add(a.re, b.re), dag_.add(a.im, b.im)}; }
  Complex sub(Complex a, Complex b) { return {dag_.sub(a.re, b.re), dag_.sub(a.im, b.im)}; }
  Complex swapped(Complex a) { return {a.im, a.re}; }
  Complex times_minus_i(Complex a) { return {a.im, dag_.neg(a.re)}; }
  Complex scale(double c, Complex a) { return {dag_.mul(c, a.re), dag_.mul(c, a.im)}; }
  // a * (c + i s). The larger part is factored out for fused multiply-adds: c (a.re - t a.im), so that two of the four
  // products merge into the additions that follow.
  Complex times(Complex a, double c, double s);
  // a * exp(-2 pi i k / n)
  Complex twiddle(Complex a, std::int64_t k, std::int64_t n);

  // ---- sizes with factors (composite.cpp)
  // n = 4 m: one DFT of the even values and two of a quarter of the values each, x[4j+1] and, as the conjugate pair,
  // x[4j-1]. The twiddle factors of the last two are conjugates of each other, so their common factor leaves sums and
  // differences of the two.
  Values split_radix(const Values& x);
  Values tangent(const Values& x);
  // n = radix * m: `m` DFTs of `radix` values that lie m apart, twiddle factors, then `radix` DFTs of m adjacent
  // values.
  Values cooley_tukey(const Values& x, int radix);
  // n = p q without a common factor: the index maps of Good and of the Chinese remainder theorem need no twiddle
  // factors.
  Values prime_factor(const Values& x, int radix);

  // ---- primes and 9 (prime.cpp)
  // Sum of coefficient * value. For fused multiply-adds, the largest coefficient is factored out and returned
  // separately.
  std::pair<double, NodeId> combination(const std::vector<double>& coefficients, const std::vector<NodeId>& values);
  // out[k], out[n-k] = even -+ i factor odd
  void finish_pair(Values& out, std::size_t k, const NodeId even[2], const NodeId odd[2], double factor);
  // Odd n: x[j] + x[n-j] is multiplied by cosines, x[j] - x[n-j] by sines.
  Values direct(const Values& x);
  // n = 3 and 5: the mean of the cosines is -1/(n-1), which saves products.
  Values direct_small(const Values& x, Values out, const std::vector<NodeId> plus[2],
                      const std::vector<NodeId> minus[2], const NodeId total[2]);
  // 1, g, g^2, ... mod p for the smallest generator g.
  static std::vector<int> unit_powers(int p);
  // Rader's algorithm in halves. With a generator g of the units mod p and h = (p-1)/2, g^h = -1, so
  //   X[g^-k], X[g^-(k+h)] = x0 + C_k -+ i D_k,   C_k = sum_j (x[g^j] + x[g^(j+h)]) cos(2 pi g^(j-k) / p),
  //   D_k = sum_j (x[g^j] - x[g^(j+h)]) sin(2 pi g^(j-k) / p):
  // C is a cyclic and D a negacyclic correlation of length h. Both use DFTs of length h, with constants that are known
  // when the code is generated.
  Values rader(const Values& x);
  // y_k = sum_j x_j c_(j-k), where c has period h or, if negacyclic, changes sign after h. `plus` is added to every
  // y_k, and `total` receives sum x_j.
  Values correlate(Values x, const std::vector<double>& c, bool negacyclic, const Complex* plus, Complex* total);
  // Rader's algorithm in halves for 7, 11 and 13, whose correlations of length 3, 5 and 6 need few products (Winograd),
  // and a similar form for 9. Real and imaginary parts of x are transformed separately.
  Values winograd(const Values& x);
  Values winograd_9(const Values& x);

  Dag& dag_;
  CodeletCost cost_;
  const std::vector<Choice>& choices_;
};

}  // namespace fourtune::generator::fft
