// One-dimensional FFTs of a few lines at a time in a small private buffer: the building block of the rows and pruned
// families. Lines are loaded from anywhere with any strides, transformed while they are in cache, and stored.
//
// Three implementations, the first that does what is asked for: our own of one line a vector lane (fft/simd.h; enough
// lines to fill vectors, lengths that keep them in cache); one FFTW plan for one line, in builds that link FFTW; the
// first one's operations on one line at a time. Only FFTW plans, and so needs rigor and wisdom.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <string>

#include "generator/plan/plan.h"

namespace fourtune::runtime::cpu {

// Where lines are in an array: position i of line l is at i * step + l * line (elements of the array's type).
struct LinePlaces {
  std::int64_t step = 1;
  std::int64_t line = 1;
  int count = 1;  // lines present, at most lines()
};
// Positions first .. first + count - 1 of each line.
struct LineRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

// n-point FFTs of up to lines() lines, complex or real as made. Immutable: threads share one, each with a work buffer
// of its own. The layout of a work buffer is private; load, transform, store in this order. Positions that are neither
// loaded nor zeroed hold whatever was there. Lines beyond places.count are undefined, and never stored.
template <class T>
class LineFft {
 public:
  virtual ~LineFft() = default;
  std::int64_t n() const { return n_; }
  int lines() const { return lines_; }
  virtual std::int64_t work_bytes() const = 0;  // of one buffer, aligned to 64 bytes
  // factor: one real number per position of the range, or null.
  virtual void load(void* work, const std::complex<T>* from, LinePlaces places, LineRange range,
                    const T* factor) const = 0;
  virtual void zero(void* work, LineRange range) const = 0;
  // Transforms the first `count` lines; returns where the result is (inside work), to be given to store.
  virtual const void* transform(void* work, int count) const = 0;
  virtual void store(const void* result, std::complex<T>* to, LinePlaces places, LineRange range,
                     const T* factor) const = 0;
  // Of real lines only.
  virtual void load_real(void* work, const T* from, LinePlaces places) const = 0;
  // Positions 0 .. n/2 of the transforms of the real lines; interior multiplies those with a mirror image, conjugate
  // conjugates.
  virtual void store_half(const void* result, std::complex<T>* to, LinePlaces places, T interior,
                          bool conjugate) const = 0;
  // The inverse pair: Hermitian extension of positions 0 .. n/2 (imaginary parts of positions 0 and n/2 are ignored).
  virtual void load_half(void* work, const std::complex<T>* from, LinePlaces places, T interior,
                         bool conjugate) const = 0;
  virtual void store_real(const void* result, T* to, LinePlaces places) const = 0;
  // FFTW wisdom of the plan inside; empty when there is none.
  virtual std::string wisdom() const { return {}; }

 protected:
  LineFft(std::int64_t n, int lines) : n_(n), lines_(lines) {}

 private:
  std::int64_t n_;
  int lines_;
};

// FFTW's rigor for one contiguous line of a plan's rigor. Measuring one costs 10 ms to seconds and gains about a tenth
// over the estimate (unlike for strided and multidimensional transforms), so only `patient` measures.
inline generator::Rigor line_rigor(generator::Rigor rigor) {
  return rigor == generator::Rigor::patient ? generator::Rigor::measure : generator::Rigor::estimate;
}

struct LineFftChoice {
  std::int64_t n = 1;
  int sign = -1;               // complex lines; real ones go -1 to the half spectrum, +1 back
  std::int64_t available = 1;  // lines that callers have at a time
  generator::FftChoice fft;    // block: lines wished for at a time; lines() may be more or fewer
  std::string wisdom;
  // Real lines of one transform: rounding errors of a line may be relative to its neighbours' size.
  bool together = false;
};
template <class T>
std::unique_ptr<LineFft<T>> make_line_fft(const LineFftChoice& choice);
template <class T>
std::unique_ptr<LineFft<T>> make_real_line_fft(const LineFftChoice& choice);

// Our implementations by name; FFTW's is in fft/library.h. make_simd_lines returns null for what it does not do well.
template <class T>
std::unique_ptr<LineFft<T>> make_simd_lines(const LineFftChoice& choice, bool real);
// One line at a time, any length. Throws Error{unsupported} beyond 2^29 points (2^30 of a real line).
template <class T>
std::unique_ptr<LineFft<T>> make_single_lines(const LineFftChoice& choice, bool real);

}  // namespace fourtune::runtime::cpu
