// FFT between a few modes and an oversampled grid, of which only the cells around position 0 may be stored. It skips
// lines that are zero or not needed and applies the deconvolution factors on the way. truncate and pad with conjugated
// sign are adjoint.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "generator/plan/plan.h"
#include "runtime/backends/backend.h"
#include "runtime/backends/cpu/gridder/gridder.h"

namespace fourtune::runtime::cpu {

struct PrunedFftSpec {
  GridShape grid;  // fine grid in FFT order; rows may be padded
  // A value other than 0 is the transform's length along a dimension of which the grid holds only the fine[d] cells
  // around position 0: cell c is position c - fine[d]/2, and the others are neither computed (pad) nor counted
  // (truncate). Between its passes the transform keeps modes in the grid, so rows (and planes) must have room for
  // modes[d] too.
  std::array<std::int64_t, 3> length{0, 0, 0};
  std::array<std::int64_t, 3> modes{1, 1, 1};        // kept per dimension, modes[d] <= length
  std::array<std::int64_t, 3> mode_stride{0, 0, 0};  // elements between rows [1] and planes [2]; 0 means dense
  int sign = -1;
  ModeOrder order = ModeOrder::centred;
  // factors[d][j], j = 0 .. modes[d]/2, multiplies the mode |k| = j along d (windows are even). Empty means all one.
  std::array<std::vector<double>, 3> factors;
  generator::FftChoice fft;
  int threads = 1;
  // The most transforms that a call will have. In one dimension their lines share vectors; fewer go one by one.
  std::int64_t together = std::numeric_limits<int>::max();
  std::string wisdom;
};

template <class T>
class PrunedFft {
 public:
  virtual ~PrunedFft() = default;
  // modes_b[k] = factor(k) * sum_cells exp(sign i 2pi k.cell/fine) grid_b[cell]. Destroys the grids. Modes are dense
  // except for mode_stride, x fastest, with mode_distance elements between transforms.
  virtual void truncate(std::complex<T>* grids, std::int64_t grid_distance, std::complex<T>* modes,
                        std::int64_t mode_distance, std::int64_t count) = 0;
  // grid_b[cell] = sum_k exp(sign i 2pi k.cell/fine) factor(k) modes_b[k]. Overwrites every cell.
  virtual void pad(const std::complex<T>* modes, std::int64_t mode_distance, std::complex<T>* grids,
                   std::int64_t grid_distance, std::int64_t count) = 0;
  virtual std::int64_t bytes() const = 0;       // workspace and tables held
  virtual std::int64_t more_bytes() const = 0;  // what a call takes beyond them and gives back
  virtual std::string wisdom() const = 0;
};

// direction_is_truncate says which of the two members will be called; both may be called, which needs nothing more.
// spec.fft.block is the number of lines moved together along y and z; 64 reads memory in longer runs than 16 and is the
// better starting value.
template <class T>
std::unique_ptr<PrunedFft<T>> make_pruned_fft(const PrunedFftSpec& spec, bool direction_is_truncate);

}  // namespace fourtune::runtime::cpu
