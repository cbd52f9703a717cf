// Helpers shared by the files that emit launches.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fourtune/status.h"
#include "generator/codegen/nufft/kernels.h"

namespace fourtune::generator::nufft {

// Throws Error{invalid_plan} naming the rule (generator/plan/nufft/rules.h), unless it is empty. In kernels.cpp.
void require(const std::string& broken_rule);

// Bytes of a workspace, which is never empty.
inline std::int64_t padded(std::int64_t bytes) { return (std::max<std::int64_t>(bytes, 16) + 15) / 16 * 16; }

inline std::uint32_t blocks(std::int64_t work, std::int64_t per_block) {
  const std::int64_t n = std::max<std::int64_t>(1, (work + per_block - 1) / per_block);
  if (n >= std::int64_t{1} << 31)
    throw Error(Status::unsupported, fmt::format("nufft kernels: {} blocks in a launch", n));
  return static_cast<std::uint32_t>(n);
}

// Transforms of a launch, along y.
inline std::uint32_t transforms_of(std::int64_t transforms) {
  if (transforms < 1 || transforms > 65535)
    throw Error(Status::unsupported,
                fmt::format("nufft kernels: {} transforms in a launch, allowed are 1 to 65535", transforms));
  return static_cast<std::uint32_t>(transforms);
}

// Index of the kernel in the program; adds the kernel if it is new.
inline int add(GpuProgram& program, KernelSource source) {
  const auto found = std::find(program.kernels.begin(), program.kernels.end(), source);
  if (found != program.kernels.end()) return static_cast<int>(found - program.kernels.begin());
  program.kernels.push_back(std::move(source));
  return static_cast<int>(program.kernels.size()) - 1;
}

// The block of a kernel whose size follows from nothing but these.
inline Block plain_block(int threads, std::int64_t shared_bytes) { return {threads / 32, 0, shared_bytes}; }

// Distances of templates/nufft_common.cuh.
inline ArgumentStruct distances(std::int64_t values, std::int64_t grid) { return {{values, grid}}; }

inline BufferRef work(const Arrays& arrays, Workspace which, std::int64_t byte_offset = 0) {
  return {BufferRef::Where::workspace, arrays.workspace + which, byte_offset};
}

}  // namespace fourtune::generator::nufft
