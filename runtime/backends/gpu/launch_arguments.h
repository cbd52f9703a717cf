// The arguments of a launch in the form that cuLaunchKernel and the emulator take: an array of pointers to the values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "generator/codegen/kernel_source.h"

namespace fourtune::runtime::gpu {

class LaunchArguments {
 public:
  // address: gives the addresses of workspace and constant buffers; set_arrays sets the arrays of execute.
  LaunchArguments(const generator::Launch& launch,
                  const std::function<std::byte*(const generator::BufferRef&)>& address);
  LaunchArguments(LaunchArguments&&) noexcept = default;
  LaunchArguments& operator=(LaunchArguments&&) noexcept = default;

  // Allocates nothing.
  void set_arrays(void* first, void* second) {
    for (const Patch& patch : patches_)
      values_[patch.index].pointer = static_cast<std::byte*>(patch.second ? second : first) + patch.offset;
  }
  std::span<void*> pointers() { return pointers_; }

 private:
  union Value {
    void* pointer;
    std::int64_t integer;
    float single;
    double real;
  };
  struct Patch {
    std::size_t index = 0;
    bool second = false;
    std::int64_t offset = 0;
  };
  std::vector<Value> values_;
  std::vector<void*> pointers_;
  std::vector<Patch> patches_;
};

// Throws Error{internal} when a launch refers to a kernel, workspace, constant or offset that is not in the program.
void check_program(const generator::GpuProgram& program);

}  // namespace fourtune::runtime::gpu
