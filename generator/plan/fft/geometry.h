// What follows from a plan: where data lie between kernels, what a tile holds, what a kernel moves and needs. The
// emitter, the reference, the cost estimate and the drawing all read these, so they cannot disagree.
//
// Digits. A dimension of length N = r0 r1 ... rm-1 (radices of its sub-FFTs in order) is indexed by digits d0..dm-1,
// one for each sub-FFT. The input's index is j = sum di N/(r0..ri); sub-FFT i replaces the digit ji by ki; the result's
// index is k = sum ki r0..ri-1. A layout says where the digits lie: position along the dimension = sum di stride_i.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fourtune/device_traits.h"
#include "generator/plan/fft/notation.h"

namespace fourtune::generator::fft {

// [dimension][i]: stride of the digit of the dimension's i-th sub-FFT, in positions along that dimension. A dimension
// that the plan does not have is empty.
using Layout = std::array<std::vector<std::int64_t>, 3>;

// Before kernels[after] and behind kernels[after - 1]. layout(p, 0) is the natural input, layout(p, size) the output.
Layout layout(const FftPlan& plan, int after);

// One digit, or several neighbouring ones that move together: where it is read and where written by one kernel.
struct Axis {
  std::int64_t extent = 1;
  std::int64_t read_stride = 1;   // positions along the dimension
  std::int64_t write_stride = 1;  // the same after the kernel
  friend bool operator==(const Axis&, const Axis&) = default;
};

// One dimension as one kernel sees it.
struct DimGeometry {
  std::int64_t length = 1;
  std::vector<int> subs;         // of kernel.subs, in order; empty: only carried
  std::vector<Axis> own;         // one for each of subs
  std::vector<Axis> free;        // the other digits, by rising read_stride, merged where possible; at least one
  std::int64_t transformed = 1;  // product of own extents
  std::int64_t free_count = 1;   // product of free extents
  std::int64_t carried = 1;      // with.tile: neighbouring free indices in a tile (1 where not bound)
  std::int64_t tiles = 1;        // ceil(free_count / carried)
  // Free index f (0 .. free_count-1) has the mixed-radix digits of free[0] (fastest), free[1], ...; its read position
  // is the sum of digit * read_stride. Tile t carries the free indices t*carried .. t*carried+carried-1.
};

struct KernelGeometry {
  std::array<DimGeometry, 3> dims;  // x, y, z
  std::int64_t batch_carried = 1;   // transforms in a tile
  std::int64_t tile_elements = 1;   // complex numbers in a tile
  std::int64_t block_elements = 1;  // of one block: tile_elements / cluster
  std::int64_t tiles = 1;           // of one transform, before the batch
  int elements_per_thread = 0;      // registers hold this many at least; 0: threads not bound
  double read_run = 1;              // mean length of a contiguous run of a tile in memory, complex numbers
  double write_run = 1;
  Target from = Target::out;  // the array it reads, where first_array is false
  bool first_array = false;   // it reads the first array of execute
  bool in_place = false;      // it writes the array that it reads (with place=in also the first one)
};

// Of kernels[kernel] of a plan without violations.
KernelGeometry geometry(const FftPlan& plan, int kernel);
// The same with another tile, cluster or number of threads of that kernel, all else as it was.
void carry(KernelGeometry& g, const FftPlan& plan, int kernel);

// Whether a tile may carry this many neighbours along the dimension: all it has at most, and where the dimension has
// sub-FFTs in the kernel a divisor of the distance of their values, or a multiple of it that divides free_count.
bool may_carry(const DimGeometry& dim, std::int64_t carried);

// Values that a thread holds: every sub-FFT's DFTs are dealt to `threads` threads in whole DFTs.
int elements_per_thread(const std::vector<SubFft>& subs, std::int64_t block_elements, int threads);
// How many of the sub-FFTs, from `first` on, a thread does on the values it holds before values move: as many as fit
// side by side. 0 at the end.
std::size_t round_size(const std::vector<SubFft>& subs, std::size_t first, int elements_per_thread);
// Dynamic shared memory of a block: exchange buffer with padding, and the landing buffers.
std::int64_t shared_bytes(const KernelParameters& with, std::int64_t block_elements, Precision precision);
std::int64_t shared_bytes(const FftPlan& plan, int kernel);
// Estimate of registers per thread (f32: about 3 per complex value held and 16; the two-pass prototype with 32 values
// compiled to 113-118). 0: threads not bound.
int registers_estimate(int elements_per_thread, Precision precision);
int registers_estimate(const FftPlan& plan, int kernel);
// Blocks of one kernel on one multiprocessor at once, by threads, registers and shared memory.
int resident_blocks(int threads, int registers, std::int64_t shared, const DeviceTraits& device);
int resident_blocks(const FftPlan& plan, int kernel, const DeviceTraits& device);

// Floors of one transform (no batch).
std::int64_t kernel_bytes(const FftPlan& plan);        // global memory that one kernel moves: reads plus writes
double kernel_flops(const FftPlan& plan, int kernel);  // additions and multiplications, with twiddles
double codelet_flops(int radix);                       // of one DFT of complex values (an estimate)
bool uses_workspace(const FftPlan& plan);
std::int64_t elements(const FftPlan& plan);  // of one transform

// Rules of the device: shared memory, registers, at least one resident block, what sm_XX can do. Needs a bound plan
// without violations.
std::vector<Violation> check_device(const FftPlan& plan, const DeviceTraits& device);

}  // namespace fourtune::generator::fft
