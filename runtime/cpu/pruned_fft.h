// FFT between a few modes and an oversampled grid, skipping lines that are zero or unwanted, with the deconvolution
// factors applied on the way. truncate and pad with conjugated sign are adjoint.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "generator/plan.h"
#include "runtime/backend.h"
#include "runtime/cpu/gridder.h"

namespace fourtune::runtime::cpu {

struct PrunedFftSpec {
  GridShape grid;                              // fine grid, FFT order, rows maybe padded
  std::array<std::int64_t, 3> modes{1, 1, 1};  // kept per dimension, modes[d] <= fine[d]
  int sign = -1;
  ModeOrder order = ModeOrder::centred;
  // factors[d][j], j = 0 .. modes[d]/2: multiplies the mode |k| = j along d (windows are even). Empty: all one.
  std::array<std::vector<double>, 3> factors;
  generator::FftChoice fft;
  int threads = 1;
  std::string wisdom;
};

template <class T>
class PrunedFft {
 public:
  virtual ~PrunedFft() = default;
  // modes_b[k] = factor(k) * sum_cells exp(sign i 2pi k.cell/fine) grid_b[cell]. Destroys the grids. Modes are dense,
  // x fastest, mode_distance elements from one transform to the next.
  virtual void truncate(std::complex<T>* grids, std::int64_t grid_distance, std::complex<T>* modes,
                        std::int64_t mode_distance, std::int64_t count) = 0;
  // grid_b[cell] = sum_k exp(sign i 2pi k.cell/fine) factor(k) modes_b[k]. Overwrites the grids wholly.
  virtual void pad(const std::complex<T>* modes, std::int64_t mode_distance, std::complex<T>* grids,
                   std::int64_t grid_distance, std::int64_t count) = 0;
  virtual std::int64_t bytes() const = 0;  // workspace held
  virtual std::string wisdom() const = 0;
};

// direction_is_truncate: which of the two members will be called; both may be, and need nothing more.
// spec.fft.block: lines moved together along y and z; 64 walks memory in longer runs than 16 and is the better start.
template <class T>
std::unique_ptr<PrunedFft<T>> make_pruned_fft(const PrunedFftSpec& spec, bool direction_is_truncate);

// Smallest size >= least with factors 2, 3, 5, 7 only; even above 2. Between such sizes the time per element varies by
// a quarter at most, and a larger grid costs every other stage more, so the smallest is taken.
std::int64_t good_fft_size(std::int64_t least);

}  // namespace fourtune::runtime::cpu
