// One-dimensional FFTs of a few lines at a time in a small private buffer: the building block of the rows and pruned
// families. Lines are loaded from anywhere with any strides, transformed while they are in cache, and stored.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <string>

#include "generator/plan.h"

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

// n-point complex FFTs of lines() lines. Immutable: threads share one, each with a work buffer of its own.
// The layout of a work buffer is private; load, transform, store in this order. Positions that are neither loaded nor
// zeroed hold whatever was there. Lines beyond places.count are undefined, and never stored.
template <class T>
class LineFft {
 public:
  virtual ~LineFft() = default;
  std::int64_t n() const { return n_; }
  int lines() const { return lines_; }
  virtual std::int64_t work_bytes() const = 0;  // of one buffer, aligned to 64 bytes
  // factor: one real number per position of the range, or null.
  virtual void load(void* work, const std::complex<T>* from, LinePlaces places, LineRange range, const T* factor,
                    bool conjugate = false) const = 0;
  virtual void zero(void* work, LineRange range) const = 0;
  // Transforms the first `count` complex lines; returns where the result is (inside work), to be given to store.
  virtual const void* transform(void* work, int count) const = 0;
  virtual void store(const void* result, std::complex<T>* to, LinePlaces places, LineRange range,
                     const T* factor) const = 0;
  // Real transforms of 2 lines() real lines, lines 2l and 2l+1 as real and imaginary part of complex line l; so the two
  // must be of like magnitude (lines of one multidimensional transform). places count real lines.
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

// lines: wished for; the result may have more or fewer. n * lines must be small (a cache's worth).
template <class T>
std::unique_ptr<LineFft<T>> make_line_fft(std::int64_t n, int lines, int sign, generator::Rigor rigor,
                                          const std::string& wisdom);

}  // namespace fourtune::runtime::cpu
