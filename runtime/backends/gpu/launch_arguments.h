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
  using Address = std::function<std::byte*(const generator::BufferRef&)>;
  LaunchArguments(const generator::Launch& launch, const Address& address);
  LaunchArguments(LaunchArguments&&) noexcept = default;
  LaunchArguments& operator=(LaunchArguments&&) noexcept = default;

  // Allocates nothing.
  void set_arrays(void* first, void* second) {
    for (const Patch& patch : patches_)
      words_[patch.word] = word(static_cast<std::byte*>(patch.second ? second : first) + patch.offset);
  }
  std::span<void*> pointers() { return pointers_; }  // one per parameter
  // All values, parameter after parameter, a word each; a struct has one per member. starts()[i]: the first of
  // parameter i.
  std::span<const std::uint64_t> words() const { return words_; }
  std::span<const std::size_t> starts() const { return starts_; }

 private:
  struct Patch {
    std::size_t word = 0;
    bool second = false;
    std::int64_t offset = 0;
  };
  static std::uint64_t word(const std::byte* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }
  void add(const generator::BufferRef& ref, const Address& address);

  std::vector<std::uint64_t> words_;
  std::vector<std::size_t> starts_;
  std::vector<void*> pointers_;
  std::vector<Patch> patches_;
};

// Throws Error{internal} when a launch refers to a kernel, workspace, constant or offset that is not in the program.
void check_program(const generator::GpuProgram& program);

}  // namespace fourtune::runtime::gpu
