// Bluestein's algorithm: n-point DFTs as convolutions,
//   X[k] = c_k sum_j (x_j c_j) conj(c_(k-j)),  c_j = exp(sign pi i j^2 / n).
// If a block can hold whole lines, one kernel does the convolution, else three kernels: the first digits of the forward
// DFT; its last digits, the product with the filter, and the inverse over the same digits; the first digits of the
// inverse. The inverse processes the digits in reverse order, so it finds its values where the forward DFT leaves them.
// A length that is too large for these takes two plans of length convolution_length(n) (by_dimension.cpp).
//
// Tables and shapes are in bluestein.cpp, the kernels in bluestein_passes.cpp.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <optional>
#include <vector>

#include "generator/codegen/fft/emit/emit.h"
#include "generator/codegen/fft/lower/split_stride.h"

namespace fourtune::generator::fft {

// The smallest multiple of 16 that is at least 2n - 1 and has no prime factors above 7.
std::int64_t convolution_length(std::int64_t n);

// exp(sign pi i j^2 / n), j < n.
std::vector<std::complex<long double>> chirps(std::int64_t n, int sign);
// DFT over m of the conjugate chirp, divided by m, so that an unscaled inverse DFT can follow.
std::vector<std::complex<long double>> filter(std::int64_t n, std::int64_t m, int sign);

// All lines along one dimension: lengths and strides of all axes.
struct Lines {
  AxisNumbers n{1, 1, 1, 1, 1}, load{}, store{};
  Values loaded = Values::complex, stored = Values::complex;  // kinds of values along the dimension
  std::int64_t pair = 1;                                      // distance of two real values (Values::pairs)
  std::int64_t kept = 0;                                      // results per line that are stored, from the first on
};

// The properties of the arrays that determine the shape of a convolution.
struct ConvolutionArrays {
  Precision precision = Precision::f32;
  bool contiguous = false;      // a line's values are adjacent in memory; else the values of neighbouring lines are
  std::int64_t neighbours = 1;  // number of lines at a constant distance
  std::int64_t others = 1;      // number of groups of such lines
};
ConvolutionArrays convolution_arrays(const Lines& lines, int d, Precision precision);

// The distribution of a convolution over kernels. Its length is the product of all radices.
struct ConvolutionShape {
  struct Tile {
    int lines = 1;  // neighbouring lines
    int along = 1;  // neighbours on the line, among the digits that the kernel does not transform; divides these
    int threads = 32;
    int blocks = 1;         // resident blocks, promised to the compiler
    bool resident = false;  // as in PassSpec
  };
  std::int64_t length = 0;
  std::vector<int> first, second;  // radices of the first and last kernel, and of the middle kernel; empty: one kernel
  Tile ends, middle;
};
// The shape with the shortest estimated time for one kernel; nothing if a block of the device cannot hold a line.
std::optional<ConvolutionShape> shape_in_one(std::int64_t n, const ConvolutionArrays& arrays,
                                             const DeviceTraits& device);
// The shape with the shortest length that two kernels' radices can form; nothing if more are needed, or if a block has
// no room for them.
std::optional<ConvolutionShape> shape_in_three(std::int64_t n, const ConvolutionArrays& arrays,
                                               const DeviceTraits& device);

// The kernels for the DFTs along dimension d: one or three. Three kernels write a workspace, in place, and the last of
// them writes the second array. options gives the precision, the sign and the dimension's real factors. work_values:
// size of that workspace.
struct Convolution {
  std::vector<PlannedPass> passes;
  std::int64_t work_values = 0;
};
Convolution convolution(const EmitOptions& options, int d, const Lines& lines, const ConvolutionShape& shape);

}  // namespace fourtune::generator::fft
