// FFT between a few modes and an oversampled grid, of which only the cells about position 0 may be held, skipping lines
// that are zero or unwanted, with the deconvolution factors applied on the way. truncate and pad with conjugated sign
// are adjoint.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "generator/plan/plan.h"
#include "runtime/backends/backend.h"
#include "runtime/backends/cpu/gridder/gridder.h"

namespace fourtune::runtime::cpu {

struct PrunedFftSpec {
  GridShape grid;  // fine grid, FFT order, rows maybe padded
  // Where not 0, the transform's length along a dimension, of which the grid holds only the fine[d] cells about
  // position 0: cell c is position c - fine[d]/2, and the others are neither computed (pad) nor counted (truncate).
  // Between its passes the transform keeps modes in the grid: rows (and planes) must have room for modes[d] too.
  std::array<std::int64_t, 3> length{0, 0, 0};
  std::array<std::int64_t, 3> modes{1, 1, 1};        // kept per dimension, modes[d] <= length
  std::array<std::int64_t, 3> mode_stride{0, 0, 0};  // elements from row to row [1] and plane to plane [2]; 0: dense
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
  // modes_b[k] = factor(k) * sum_cells exp(sign i 2pi k.cell/fine) grid_b[cell]. Destroys the grids. Modes are
  // dense but for mode_stride, x fastest, mode_distance elements from one transform to the next.
  virtual void truncate(std::complex<T>* grids, std::int64_t grid_distance, std::complex<T>* modes,
                        std::int64_t mode_distance, std::int64_t count) = 0;
  // grid_b[cell] = sum_k exp(sign i 2pi k.cell/fine) factor(k) modes_b[k]. Overwrites every cell.
  virtual void pad(const std::complex<T>* modes, std::int64_t mode_distance, std::complex<T>* grids,
                   std::int64_t grid_distance, std::int64_t count) = 0;
  virtual std::int64_t bytes() const = 0;  // workspace held
  virtual std::string wisdom() const = 0;
};

// direction_is_truncate: which of the two members will be called; both may be, and need nothing more.
// spec.fft.block: lines moved together along y and z; 64 walks memory in longer runs than 16 and is the better start.
template <class T>
std::unique_ptr<PrunedFft<T>> make_pruned_fft(const PrunedFftSpec& spec, bool direction_is_truncate);

}  // namespace fourtune::runtime::cpu
