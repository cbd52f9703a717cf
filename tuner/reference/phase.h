// Phases for direct sums: exp(2 pi i t) for turns t known to about 106 bits, so that the sums stay accurate to a few
// 1e-16 whatever the coordinates and frequencies are. The loops are blocked, vectorised and dispatched on the
// instruction set.
#pragma once

#include <complex>
#include <cstdint>

namespace fourtune::tuner {

// A number of turns (phase / 2 pi) as an unevaluated sum, |lo| <= ulp(hi).
struct Turns {
  double hi = 0, lo = 0;
};
inline Turns signed_turns(Turns turns, int sign) { return {sign * turns.hi, sign * turns.lo}; }
// x / 2 pi reduced to [-1/2, 1/2], exact to 2^-106 for every finite x (Payne and Hanek's reduction, 1983).
Turns fold_turns(double x);
// x / 2 pi, not reduced, with a relative error below 2^-103.
Turns to_turns(double x);
// k / n, not reduced.
Turns ratio_turns(std::int64_t k, std::int64_t n);

// The longest block that the kernels below accept. Sums within a block are plain; sums of blocks should be compensated.
inline constexpr int kPhaseBlock = 256;

// t[j] += a[j] * b and t[j] += a * b[j], modulo whole turns. Requires |a b| < 2^50. t = thi + tlo starts at 0 or at the
// result of an earlier call.
void add_turns(int count, const double* a, Turns b, double* thi, double* tlo);
void add_turns(int count, double a, const double* bhi, const double* blo, double* thi, double* tlo);
// re + i im = exp(2 pi i (thi + tlo)), with an absolute error of about 1e-16.
void unit_phases(int count, const double* thi, const double* tlo, double* re, double* im);
// (ore, oim) = (are, aim) * (bre, bim), elementwise; the output may be an input.
void multiply(int count, const double* are, const double* aim, const double* bre, const double* bim, double* ore,
              double* oim);
// Sum of the elementwise products.
std::complex<double> dot(int count, const double* are, const double* aim, const double* bre, const double* bim);

// A complex sum with Neumaier's compensation: its error is near one rounding, whatever the number of terms.
class CompensatedSum {
 public:
  void add(std::complex<double> v) {
    add(re_, re_low_, v.real());
    add(im_, im_low_, v.imag());
  }
  void add(const CompensatedSum& other) {
    add({other.re_, other.im_});
    re_low_ += other.re_low_;
    im_low_ += other.im_low_;
  }
  std::complex<double> value() const { return {re_ + re_low_, im_ + im_low_}; }

 private:
  static void add(double& sum, double& low, double v) {
    const double next = sum + v, part = next - sum;
    low += (sum - (next - part)) + (v - part);
    sum = next;
  }
  double re_ = 0, im_ = 0, re_low_ = 0, im_low_ = 0;
};

}  // namespace fourtune::tuner
