// One direction of a uniform FFT problem, as the CPU families (library, rows, along; reordered.cpp) compute it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "fourtune/problem.h"
#include "generator/plan/plan.h"

namespace fourtune::runtime::cpu {

// What to compute. Real types store half of the spectrum: n[0]/2+1 positions along x.
//   c2c: out[k] = sum_j exp(sign i 2pi k.j/n) in[j]
//   r2c: out[k] = w(k) sum_j exp(sign i 2pi k.j/n) in[j]                                for stored k
//   c2r: out[j] = Re sum over stored k of c(k) w(k) exp(sign i 2pi k.j/n) in[k]
// where c(k) is 1 for k_x = 0 and k_x = n_x/2 (n_x even) and 2 elsewhere, and w(k) is 1 for those and `interior`
// elsewhere.
enum class Reversed { none, input, output };  // the array of a c2c that is in digit-reversed order (problem.h)
struct FftOperation {
  FftType type = FftType::c2c;
  int sign = -1;
  int dim = 1;
  Sizes n;
  std::int64_t batch = 1;
  ArrayLayout in, out;  // strides in elements of each side's type
  Reversed reversed = Reversed::none;
  bool in_place = false;
  double interior = 1;
  generator::FftChoice choice;
  int threads = 1;
  std::string wisdom;
  // Gives the same bits for any alignment, any number of threads and in every process: nothing is measured.
  bool deterministic = false;
};

// Positions along x on the complex side (n for c2c), and the sizes there.
inline std::int64_t spectrum_size(const FftOperation& op) {
  return op.type == FftType::c2c ? op.n[0] : op.n[0] / 2 + 1;
}
inline Sizes spectrum_sizes(const FftOperation& op) {
  Sizes sizes = op.n;
  sizes[0] = spectrum_size(op);
  return sizes;
}

// A bound operation. run may be called by one thread at a time; it preserves `in` unless in_place (then in == out).
class FftRunner {
 public:
  virtual ~FftRunner() = default;
  virtual void run(const void* in, void* out) = 0;
  virtual std::int64_t bytes() const = 0;  // workspace and tables held
  // The most that run takes beyond them: buffers that FFTW gives back, and its plan for arrays of another alignment.
  virtual std::int64_t more_bytes() const { return 0; }
  virtual std::string wisdom() const = 0;
};

// Family rows (rows.cpp). Family fftw is in fft/library.h.
template <class T>
std::unique_ptr<FftRunner> make_rows_fft(const FftOperation& op);

// Family along (along.cpp), of what generator::along_length takes.
template <class T>
std::unique_ptr<FftRunner> make_along_fft(const FftOperation& op);

// One long real dimension of even length, as a complex one of half the length; null for others (long_real.cpp).
template <class T>
std::unique_ptr<FftRunner> make_long_real_fft(const FftOperation& op);

// One long real dimension of odd length, as a complex one; null for others (odd_real.cpp).
template <class T>
std::unique_ptr<FftRunner> make_odd_real_fft(const FftOperation& op);

// True when an in-place operation moves every row within the row's memory: same strides on both sides (twice as large
// on the real side), unit stride along x for real types. Other operations need a copy of the input (staged.cpp).
bool rows_stay_in_place(const FftOperation& op);
// Runs an in-place operation by copying the input to a dense work array and running make(out-of-place version) on it.
template <class T>
std::unique_ptr<FftRunner> make_staged_fft(const FftOperation& op,
                                           std::unique_ptr<FftRunner> (*make)(const FftOperation&));
// Runs an operation with a reversed array by making(the natural version between that array's work copy and the other
// one).
template <class T>
std::unique_ptr<FftRunner> make_reordered_fft(const FftOperation& op,
                                              std::unique_ptr<FftRunner> (*make)(const FftOperation&));

}  // namespace fourtune::runtime::cpu
