// The interface between the generator and a GPU backend: kernels as text with their launch geometry, and a program,
// which is the list of launches for one stage of a transform. Plain data: no CUDA types, no pointers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace fourtune::generator {

using Extent3 = std::array<std::uint32_t, 3>;  // x, y, z

// One `extern "C" __global__` function as a separate text without #include.
struct KernelSource {
  std::string entry;               // name of the function; identifies the variant
  std::string text;                // the whole translation unit, CUDA C++
  Extent3 block{1, 1, 1};          // threads
  Extent3 cluster{1, 1, 1};        // blocks; {1,1,1}: no cluster
  std::uint32_t shared_bytes = 0;  // bytes of dynamic shared memory: all that the kernel uses
  int max_registers = 0;           // per thread, promised to the compiler; 0: the compiler chooses
  friend bool operator==(const KernelSource&, const KernelSource&) = default;
};

// Whether a kernel may start before the one ahead of it in the same call has ended, as it waits for that kernel itself
// (templates/launch_order.cuh). Searches the kernel, not the text before it.
inline bool waits_for_earlier(const KernelSource& kernel) {
  const std::size_t body = kernel.text.find("extern \"C\" __global__");
  return body != std::string::npos && (kernel.text.find("dev_follow()", body) != std::string::npos ||
                                       kernel.text.find("dev_wait_earlier()", body) != std::string::npos);
}

// Where a pointer argument points.
struct BufferRef {
  enum class Where {
    first,      // the first array of execute
    second,     // the second array of execute
    workspace,  // GpuProgram::workspace_bytes[index]
    constant,   // GpuProgram::constants[index], read only
  };
  Where where = Where::first;
  int index = 0;
  std::int64_t byte_offset = 0;
  friend bool operator==(const BufferRef&, const BufferRef&) = default;
};

// A parameter that is a struct: its members in order, each of 8 bytes.
struct ArgumentStruct {
  std::vector<std::variant<BufferRef, std::int64_t, double>> members;
  friend bool operator==(const ArgumentStruct&, const ArgumentStruct&) = default;
};
using LaunchArgument = std::variant<BufferRef, std::int64_t, float, double, ArgumentStruct>;

// Calls visit(BufferRef&) for every pointer in an argument.
template <class Argument, class Visit>
void for_each_pointer(Argument& argument, const Visit& visit) {
  if (auto* ref = std::get_if<BufferRef>(&argument)) visit(*ref);
  if (auto* all = std::get_if<ArgumentStruct>(&argument))
    for (auto& member : all->members)
      if (auto* ref = std::get_if<BufferRef>(&member)) visit(*ref);
}

struct Launch {
  int kernel = 0;  // index into GpuProgram::kernels
  Extent3 grid{1, 1, 1};
  std::vector<LaunchArgument> arguments;  // in the order of the function's parameters
  std::string stage;                      // the timed stage to which it belongs: "fft", "spread", ...
  std::int64_t bytes = 0;                 // global memory traffic that is needed at least (the floor, for reports)
  double flops = 0;                       // floating-point operations
  // Distance in bytes between the first loads, or stores, of neighbouring blocks; 0: not constant, or not known.
  std::int64_t load_step = 0, store_step = 0;
  friend bool operator==(const Launch&, const Launch&) = default;
};

// Launches run in order on one stream.
struct GpuProgram {
  std::vector<KernelSource> kernels;  // each is compiled once
  std::vector<Launch> launches;
  std::vector<std::int64_t> workspace_bytes;
  std::vector<std::vector<std::byte>> constants;  // tables, copied to the device when the program is bound
  std::array<int, 2> alignment{1, 1};  // required alignment in bytes of the first and the second array of execute,
                                       // where it exceeds the size of their elements
  friend bool operator==(const GpuProgram&, const GpuProgram&) = default;
};

}  // namespace fourtune::generator
