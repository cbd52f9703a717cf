// The FFT of a nonuniform transform on a GPU, between an array of modes and a fine grid. Zero padding, truncation and
// deconvolution are fused into its first and last kernels, or are separate kernels around the device's library.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/known_devices.h"
#include "fourtune/device_traits.h"
#include "fourtune/problem.h"
#include "generator/codegen/fft/lower/pass.h"
#include "generator/codegen/kernel_source.h"
#include "generator/plan/gpu_plan.h"
#include "generator/window/window.h"

namespace fourtune::generator::gpu_nufft {

// Arrays are dense and complex, x fastest, with the transforms of the batch one after the other.
struct GridFft {
  int dim = 3;
  Precision precision = Precision::f32;
  int sign = -1;
  std::int64_t batch = 1;
  std::array<std::int64_t, 3> modes{1, 1, 1};              // frequencies that are kept
  std::array<std::int64_t, 3> fine{1, 1, 1};               // length of the transform
  fft::Pruning::Kind order = fft::Pruning::Kind::centred;  // order of the modes: centred or wrapped
  // Cells that the array holds around position 0, which is cell held/2; 0 or as many as fine: all cells, position 0
  // first.
  std::array<std::int64_t, 3> held{0, 0, 0};
  std::array<std::vector<double>, 3> factors;  // one per mode, in the order of the array
  // Orders the kernels of `plain` so that share_grid can avoid a workspace; false: x first.
  bool save_memory = false;
  // Uses the memory of the grid between the kernels of `plain` where each dimension has one kernel: no workspace is
  // left.
  bool inside_grid = false;
  bool interleaved = false;  // the grids of the batch are interleaved, transform fastest; the modes are not
  DeviceTraits device = *known_device("h200");
  std::optional<fft::RankArrays> ranks;  // the array of modes is one of several ranks
  std::int64_t groups = 1;               // number of such batches, one after the other; 1D and 2D, interleaved
};

// Lines along one dimension of such transforms, side by side, of which the other dimensions are done elsewhere: the
// last step of a transform by slabs, and the first one back.
struct SlabLines {
  Precision precision = Precision::f32;
  int sign = -1;
  std::int64_t count = 1;                                  // lines of a launch
  std::int64_t modes = 1, fine = 1;                        // positions that are kept, and those of the transform
  std::int64_t held = 0;                                   // as GridFft::held; 0: all of `fine`
  std::int64_t modes_stride = 1, fine_stride = 1;          // elements from a position to the next
  fft::Pruning::Kind order = fft::Pruning::Kind::centred;  // of the modes
  std::vector<double> factors;                             // one per mode
  std::optional<fft::RankArrays> ranks;                    // the array of cells is one of several ranks
  DeviceTraits device = *known_device("h200");
};
// From the first to the second array: grid -> modes (to_modes) or modes -> grid. Throws Error{unsupported}.
GpuProgram slab_lines(const SlabLines& spec, bool to_modes);

// Deconvolution factors 1 / phihat(2 pi k / fine) of all modes, in the order of their array.
std::vector<double> deconvolution_factors(const Window& window, std::int64_t fine, std::int64_t modes,
                                          fft::Pruning::Kind order);

// Returns the program grid -> modes (to_modes) or modes -> grid, from the first to the second array. The family must
// not be cufft. The notation of an interleaved plan describes the fine grid; all its kernels except the last write
// workspaces. Throws Error{invalid_plan | unsupported}.
GpuProgram grid_fft(const GridFft& spec, const GpuFftChoice& choice, bool to_modes);
// Returns the launch that accompanies a library's in-place transform of the grid: modes -> grid (pads) or grid ->
// modes.
GpuProgram grid_copy(const GridFft& spec, bool to_modes);

// Moves the program's arrays to other places; workspace i becomes workspace first_work + i.
GpuProgram placed(GpuProgram program, const BufferRef& first, const BufferRef& second, int first_work);
// Places the program's workspaces from first_work on in the grid's memory (workspace `grid` of `bytes`) where possible:
// those that are used only after the grid is read or before it is written, or all of them if the kernel that reads or
// writes the grid can work in place. The grid starts at `offset`. Workspaces that could not be placed keep more than 0
// bytes in workspace_bytes.
void share_grid(GpuProgram& program, int grid, std::int64_t bytes, int first_work, std::int64_t offset = 0,
                bool interleaved = false);

}  // namespace fourtune::generator::gpu_nufft
