// Functions that the nonuniform GPU executors share.
#pragma once

#include <array>
#include <cstdint>

#include "generator/codegen/nufft/fft.h"
#include "generator/codegen/nufft/kernels.h"
#include "runtime/backends/backend.h"
#include "runtime/backends/gpu/alignment.h"
#include "runtime/backends/gpu/nufft_runner.h"

namespace fourtune::runtime::gpu {

inline generator::BufferRef slot_ref(int slot, std::int64_t byte_offset = 0) {
  return {generator::BufferRef::Where::workspace, slot, byte_offset};
}
inline const generator::BufferRef kFirst{generator::BufferRef::Where::first, 0, 0};
inline const generator::BufferRef kSecond{generator::BufferRef::Where::second, 0, 0};

inline generator::fft::Pruning::Kind order_of(ModeOrder order) {
  return order == ModeOrder::centred ? generator::fft::Pruning::Kind::centred : generator::fft::Pruning::Kind::wrapped;
}

// The product of the sizes. Throws Error{size_overflow}, naming `what`.
std::int64_t volume(const std::array<std::int64_t, 3>& sizes, const char* what);

// Throws Error{invalid_plan} for plan choices for which there is no GPU kernel.
void check_supported(const generator::Plan& plan);
// The largest rounding error of points' positions, in cells, with which a transform is still accurate: half its
// tolerance, or its window's error. exact_points: at most what the coordinates themselves are rounded to.
double position_unit(const generator::nufft::Shape& shape, double sigma, double tol, double predicted_error,
                     bool exact_points);
// Reads the status of a sort and throws Error{invalid_point} that names the first bad point, of arrays that begin with
// point `first`. Returns what the status says about large coarse bins. Call it within a run.
generator::nufft::LargeBins check_status(Queue& queue, const std::byte* status,
                                         const std::array<const std::byte*, 3>& points, const Problem& problem,
                                         std::int64_t first = 0);
// Adds to an Error{out_of_memory} what the transform needs and what would need less.
[[noreturn]] void explain_memory(const Error& error, const Problem& problem, const generator::Plan& plan,
                                 std::int64_t grids, std::int64_t points);

}  // namespace fourtune::runtime::gpu
