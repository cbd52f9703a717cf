// Everything that follows from a plan: where data lie between kernels, what a tile holds, and what a kernel moves and
// needs. The emitter, the reference, the cost estimate and the drawing all use these functions, so they cannot
// disagree.
//
// Digits. A dimension of length N = r0 r1 ... rm-1 (the radices of its sub-FFTs in order) is indexed by digits
// d0..dm-1, one per sub-FFT. The input's index is j = sum di N/(r0..ri). Sub-FFT i replaces the digit ji by ki, and the
// result's index is k = sum ki r0..ri-1. A layout says where the digits lie: the position along the dimension is sum di
// stride_i. Orders by prime factors reverse the digits of the primes within such a digit too: it keeps its stride and
// its extent, and value v of it lies at the reversed v.
//
// geometry.cpp implements this file, except check_device, which is in device_rules.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fourtune/device_traits.h"
#include "generator/plan/fft/notation.h"

namespace fourtune::generator::fft {

// [dimension][i]: stride of the digit of the dimension's i-th sub-FFT, in positions along that dimension. The vector is
// empty for a dimension that the plan does not have.
using Layout = std::array<std::vector<std::int64_t>, most_dimensions>;

// The layout before kernels[after], which is also the layout after kernels[after - 1]. layout(p, 0) is the natural
// input, layout(p, size) the output.
Layout layout(const FftPlan& plan, int after);

// One digit, or several adjacent digits that move together, with the strides at which one kernel reads and writes them.
struct Axis {
  std::int64_t extent = 1;
  std::int64_t read_stride = 1;   // in positions along the dimension
  std::int64_t write_stride = 1;  // the same, after the kernel
  friend bool operator==(const Axis&, const Axis&) = default;
};

// One dimension from the point of view of one kernel.
struct DimGeometry {
  std::int64_t length = 1;
  std::vector<int> subs;         // indices into kernel.subs, in order; empty: the dimension is only carried
  std::vector<Axis> own;         // one per entry of subs
  std::vector<Axis> free;        // the other digits, by increasing read_stride, merged where possible; at least one
  std::int64_t transformed = 1;  // product of the extents in own
  std::int64_t free_count = 1;   // product of the extents in free
  std::int64_t carried = 1;      // with.tile: number of adjacent free indices in a tile (1 if not bound)
  std::int64_t tiles = 1;        // ceil(free_count / carried)
  // A free index f (0 .. free_count-1) has the mixed-radix digits of free[0] (fastest), free[1], ...; its read position
  // is the sum of digit * read_stride. Tile t carries the free indices t*carried .. t*carried+carried-1.
};

struct KernelGeometry {
  std::array<DimGeometry, most_dimensions> dims;  // x, y, z, w
  std::int64_t batch_carried = 1;                 // transforms per tile
  std::int64_t tile_elements = 1;                 // complex numbers per tile
  std::int64_t block_elements = 1;                // complex numbers per block: tile_elements / cluster
  std::int64_t tiles = 1;                         // tiles per transform, not counting the batch
  int elements_per_thread = 0;  // complex values that a thread holds in registers, at least; 0: threads not bound
  double read_run = 1;          // mean length of a tile's contiguous runs in memory, in complex numbers
  double write_run = 1;
  Target from = Target::out;  // the array that the kernel reads, if first_array is false
  bool first_array = false;   // the kernel reads the first array of execute
  bool in_place = false;      // the kernel writes the array that it reads (with place=in also the first one)
};

// Geometry of kernels[kernel] of a plan without violations.
KernelGeometry geometry(const FftPlan& plan, int kernel);
// Updates g after a change of that kernel's tile, cluster or number of threads; everything else must be unchanged.
void carry(KernelGeometry& g, const FftPlan& plan, int kernel);
// The same for a kernel in that one's place, in a plan of so many dimensions.
void carry(KernelGeometry& g, const Kernel& kernel, int dims);

// Whether a tile may carry this many neighbours along the dimension. The limit is all neighbours there are; if the
// dimension has sub-FFTs in the kernel, the number must divide the distance between their values, or be a multiple of
// that distance that divides free_count.
bool may_carry(const DimGeometry& dim, std::int64_t carried);

// Number of values that a thread holds: the DFTs of every sub-FFT are distributed over `threads` threads, each DFT to
// one thread.
int elements_per_thread(const std::vector<SubFft>& subs, std::int64_t block_elements, int threads);
// Number of sub-FFTs, counted from `first`, that a thread computes on the values it holds before values move between
// threads: as many as fit side by side. 0 at the end.
std::size_t round_size(const std::vector<SubFft>& subs, std::size_t first, int elements_per_thread);
// Dynamic shared memory per block in bytes: the padded exchange buffer and the landing buffers.
std::int64_t shared_bytes(const KernelParameters& with, std::int64_t block_elements, Precision precision);
std::int64_t shared_bytes(const FftPlan& plan, int kernel);
// Estimated registers per thread (f32: about 3 per complex value held, plus 16; the two-pass prototype with 32 values
// compiled to 113-118). 0: threads not bound.
int registers_estimate(int elements_per_thread, Precision precision);
int registers_estimate(const FftPlan& plan, int kernel);
// Number of resident blocks of one kernel per multiprocessor, limited by threads, registers and shared memory.
int resident_blocks(int threads, int registers, std::int64_t shared, const DeviceTraits& device);
int resident_blocks(const FftPlan& plan, int kernel, const DeviceTraits& device);

// Lower bounds for one transform (without the batch).
std::int64_t kernel_bytes(const FftPlan& plan);        // global memory traffic of one kernel: reads plus writes
double kernel_flops(const FftPlan& plan, int kernel);  // additions and multiplications, including twiddle factors
double codelet_flops(int radix);                       // for one DFT of complex values (an estimate)
bool uses_workspace(const FftPlan& plan);
std::int64_t elements(const FftPlan& plan);  // complex numbers per transform

// Checks the device's rules: shared memory, registers, at least one resident block, and the features of its sm_XX. The
// plan must be bound and without violations.
std::vector<Violation> check_device(const FftPlan& plan, const DeviceTraits& device);

}  // namespace fourtune::generator::fft
