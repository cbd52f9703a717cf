// The FFT of a nonuniform transform on a GPU: between an array of modes and a fine grid, with zero padding, truncation
// and deconvolution inside its first and last kernels, or as kernels of their own around the device's library.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "fourtune/problem.h"
#include "generator/codegen/fft/lower/pass.h"
#include "generator/codegen/kernel_source.h"
#include "generator/plan/gpu_plan.h"
#include "generator/window/window.h"

namespace fourtune::generator::gpu_nufft {

// Arrays are dense, complex, x fastest, one transform of the batch after the other.
struct GridFft {
  int dim = 3;
  Precision precision = Precision::f32;
  int sign = -1;
  std::int64_t batch = 1;
  std::array<std::int64_t, 3> modes{1, 1, 1};            // kept frequencies
  std::array<std::int64_t, 3> fine{1, 1, 1};             // length of the transform
  fft::Window::Kind order = fft::Window::Kind::centred;  // of the modes: centred or wrapped
  // Cells of the grid that the array holds, about position 0, which is cell held/2; 0: all of them, position 0 first.
  std::array<std::int64_t, 3> held{0, 0, 0};
  std::array<std::vector<double>, 3> factors;  // of every mode, in the order of the array
  // Kernels of `plain` in an order that share_grid can do without a workspace; else x first.
  bool save_memory = false;
  bool interleaved = false;  // the grids of the batch, transform fastest; the modes are not
  std::int64_t groups = 1;   // so many batches one after the other; 1D and 2D, interleaved
};

// Deconvolution factors 1 / phihat(2 pi k / fine) of all modes in the order of their array.
std::vector<double> deconvolution_factors(const Window& window, std::int64_t fine, std::int64_t modes,
                                          fft::Window::Kind order);

// Grid -> modes (to_modes) or modes -> grid: first -> second array of the program. The family must not be cufft. The
// notation of an interleaved plan is that of the fine grid; its kernels but the last go through workspaces. Throws
// Error{invalid_plan | unsupported}.
GpuProgram grid_fft(const GridFft& spec, const GpuFftChoice& choice, bool to_modes);
// The launch that stands around a library's in-place transform of the grid: modes -> grid (pads) or grid -> modes.
GpuProgram grid_copy(const GridFft& spec, bool to_modes);

// The program with its arrays at other places; workspace i becomes workspace first_work + i.
GpuProgram placed(GpuProgram program, const BufferRef& first, const BufferRef& second, int first_work);
// Lets the program's workspaces from first_work on lie in the grid's memory (workspace `grid` of `bytes`), where that
// is possible: those that are used only after the grid is read or before it is written, and all where the kernel that
// reads or writes the grid can work in place. The grid starts at `offset`. What is left has more than 0 bytes in
// workspace_bytes.
void share_grid(GpuProgram& program, int grid, std::int64_t bytes, int first_work, std::int64_t offset = 0,
                bool interleaved = false);

}  // namespace fourtune::generator::gpu_nufft
