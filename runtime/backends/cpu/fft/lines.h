// One-dimensional FFTs of a few lines at a time in a small private buffer: the building block of the rows and pruned
// families. Lines are loaded from any place with any strides, transformed while they are in cache, and stored.
//
// There are three implementations, and lines.cpp uses the first one that supports the request: our own, with one line
// per vector lane (simd_lines.cpp on fft/simd.h; needs enough lines to fill vectors and lengths that stay in cache);
// one FFTW plan for one line, in builds that link FFTW (fftw/fftw_lines.cpp); the operations of the first one on one
// line at a time (simd_lines.cpp on single.cpp). Only FFTW makes plans, so only it needs rigor and wisdom.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <string>

#include "generator/plan/plan.h"

namespace fourtune::runtime::cpu {

// Where lines lie in an array: position i of line l is at i * step + l * line (in elements of the array's type).
struct LinePlaces {
  std::int64_t step = 1;
  std::int64_t line = 1;
  int count = 1;  // lines present, at most lines()
  // For an array that is stored: it is larger than the caches, which need not read what is overwritten, nor keep it.
  bool past_caches = false;
};
// Positions first .. first + count - 1 of each line.
struct LineRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

// n-point FFTs of up to lines() lines, complex or real as created. An object is immutable: threads share it, each with
// a separate work buffer. The layout of a work buffer is private; call load, transform and store in this order.
// Positions that are neither loaded nor zeroed keep their old values. Lines beyond places.count are undefined and never
// stored.
template <class T>
class LineFft {
 public:
  virtual ~LineFft() = default;
  std::int64_t n() const { return n_; }
  int lines() const { return lines_; }
  virtual std::int64_t work_bytes() const = 0;              // size of one buffer, which must be aligned to 64 bytes
  virtual std::int64_t table_bytes() const = 0;             // held by the object
  virtual std::int64_t scratch_bytes() const { return 0; }  // taken and given back by each transform
  // factor: one real number per position of the range, or null.
  virtual void load(void* work, const std::complex<T>* from, LinePlaces places, LineRange range,
                    const T* factor) const = 0;
  virtual void zero(void* work, LineRange range) const = 0;
  // Transforms the first `count` lines; returns the address of the result (inside work), which is passed to store.
  virtual const void* transform(void* work, int count) const = 0;
  virtual void store(const void* result, std::complex<T>* to, LinePlaces places, LineRange range,
                     const T* factor) const = 0;
  // load, transform and store of whole complex lines, which may move them together with levels of the transform.
  virtual void pass(void* work, const std::complex<T>* from, LinePlaces source, std::complex<T>* to,
                    LinePlaces target) const {
    const LineRange all{0, n_};
    load(work, from, source, all, nullptr);
    store(transform(work, source.count), to, target, all, nullptr);
  }
  // The next four are for real lines only.
  virtual void load_real(void* work, const T* from, LinePlaces places) const = 0;
  // Stores positions 0 .. n/2 of the transforms of the real lines. Entries that have a mirror image are multiplied by
  // interior; conjugate conjugates the result.
  virtual void store_half(const void* result, std::complex<T>* to, LinePlaces places, T interior,
                          bool conjugate) const = 0;
  // The inverse pair takes positions 0 .. n/2 and extends them Hermitian (imaginary parts at 0 and n/2 are ignored).
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

// FFTW's rigor for one contiguous line, given the rigor of the plan. Measuring one takes 10 ms to seconds and gains
// about a tenth over the estimate (unlike for strided and multidimensional transforms), so only `patient` measures.
inline generator::Rigor line_rigor(generator::Rigor rigor) {
  return rigor == generator::Rigor::patient ? generator::Rigor::measure : generator::Rigor::estimate;
}

struct LineFftChoice {
  std::int64_t n = 1;
  int sign = -1;               // for complex lines; real ones use -1 to the half spectrum, +1 back
  std::int64_t available = 1;  // number of lines that callers have at a time
  generator::FftChoice fft;    // block: requested lines at a time; lines() may be more or fewer
  std::string wisdom;
  // Real lines of the same transform: rounding errors of a line may be relative to the size of its neighbours.
  bool together = false;
};
template <class T>
std::unique_ptr<LineFft<T>> make_line_fft(const LineFftChoice& choice);
template <class T>
std::unique_ptr<LineFft<T>> make_real_line_fft(const LineFftChoice& choice);

// Our implementations by name; FFTW's is in fft/library.h. make_simd_lines returns null for what it does not do well.
template <class T>
std::unique_ptr<LineFft<T>> make_simd_lines(const LineFftChoice& choice, bool real);
// One line at a time, of any length. Throws Error{unsupported} beyond 2^29 points (2^30 for a real line).
template <class T>
std::unique_ptr<LineFft<T>> make_single_lines(const LineFftChoice& choice, bool real);

}  // namespace fourtune::runtime::cpu
