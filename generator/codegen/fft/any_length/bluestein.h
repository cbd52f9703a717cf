// Bluestein's algorithm: DFTs of any length as convolutions (any_size.h has the formula), in one kernel where a block
// holds whole lines, else in three: the first digits of the forward DFT; its last digits, the product with the filter
// and the inverse over the same digits; the first digits back. The inverse runs through the digits backwards, so that
// it finds its values where the forward DFT leaves them.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <optional>
#include <vector>

#include "generator/codegen/fft/emit/emit.h"

namespace fourtune::generator::fft {

// exp(sign pi i j^2 / n), j < n.
std::vector<std::complex<long double>> chirps(std::int64_t n, int sign);
// DFT over m of the conjugate chirp, over m, so that an unscaled inverse DFT follows.
std::vector<std::complex<long double>> filter(std::int64_t n, std::int64_t m, int sign);

// All lines along one dimension: lengths and strides of x, y, z and the batch.
struct Lines {
  std::array<std::int64_t, 4> n{1, 1, 1, 1}, load{}, store{};
  Values loaded = Values::complex, stored = Values::complex;  // along the dimension
  std::int64_t kept = 0;                                      // results of a line that are stored, from the first on
};

// What decides the shape of a convolution: how its lines lie in the arrays.
struct ConvolutionArrays {
  Precision precision = Precision::f32;
  bool contiguous = false;      // a line's values are neighbours, else those of neighbouring lines are
  std::int64_t neighbours = 1;  // lines that lie at a constant distance
  std::int64_t others = 1;      // groups of those
};
ConvolutionArrays convolution_arrays(const Lines& lines, int d, Precision precision);

// How a convolution is dealt to kernels: its length is the product of all radices.
struct ConvolutionShape {
  struct Tile {
    int lines = 1;  // neighbouring lines
    int along = 1;  // neighbours on the line, of the digits that the kernel does not transform; divides these
    int threads = 32;
    int blocks = 1;         // resident at once, a promise to the compiler
    bool resident = false;  // PassSpec's
  };
  std::int64_t length = 0;
  std::vector<int> first, second;  // radices of the first and last kernel, and of the middle one; none: one kernel
  Tile ends, middle;
};
// The shape of least estimated time for one kernel; nothing where a block of the device does not hold a line.
std::optional<ConvolutionShape> shape_in_one(std::int64_t n, const ConvolutionArrays& arrays,
                                             const DeviceTraits& device);
// The least length with two kernels' worth of radices; nothing where it needs more, or a block has no room for them.
std::optional<ConvolutionShape> shape_in_three(std::int64_t n, const ConvolutionArrays& arrays,
                                               const DeviceTraits& device);

// The kernels for the DFTs along dimension d, one or three; three write a workspace, in place, and the last one the
// second array. options gives precision, sign and the dimension's real factors. work_values: of that workspace.
struct Convolution {
  std::vector<PlannedPass> passes;
  std::int64_t work_values = 0;
};
Convolution convolution(const EmitOptions& options, int d, const Lines& lines, const ConvolutionShape& shape);

}  // namespace fourtune::generator::fft
