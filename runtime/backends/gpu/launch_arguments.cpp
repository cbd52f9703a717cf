#include "runtime/backends/gpu/launch_arguments.h"

#include <fmt/format.h>

#include <bit>
#include <type_traits>
#include <variant>

#include "fourtune/status.h"

namespace fourtune::runtime::gpu {

using generator::BufferRef;

LaunchArguments::LaunchArguments(const generator::Launch& launch, const Address& address) {
  const auto add_value = [&](const auto& value) {
    using T = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<T, BufferRef>)
      add(value, address);
    else if constexpr (std::is_same_v<T, float>)
      words_.push_back(std::bit_cast<std::uint32_t>(value));
    else
      words_.push_back(std::bit_cast<std::uint64_t>(value));
  };
  const auto add_parameter = [&](const auto& argument) {
    if constexpr (std::is_same_v<std::decay_t<decltype(argument)>, generator::ArgumentStruct>)
      for (const auto& member : argument.members) std::visit(add_value, member);
    else
      add_value(argument);
  };
  for (const generator::LaunchArgument& argument : launch.arguments) {
    starts_.push_back(words_.size());
    std::visit(add_parameter, argument);
  }
  for (const std::size_t start : starts_) pointers_.push_back(&words_[start]);
}

void LaunchArguments::add(const BufferRef& ref, const Address& address) {
  const bool second = ref.where == BufferRef::Where::second;
  const bool of_caller = second || ref.where == BufferRef::Where::first;
  if (of_caller) patches_.push_back({words_.size(), second, ref.byte_offset});
  words_.push_back(of_caller ? 0 : word(address(ref) + ref.byte_offset));
}

void check_program(const generator::GpuProgram& program) {
  const auto wrong = [](const std::string& what) { throw Error(Status::internal, "GPU program: " + what); };
  const auto in = [](std::int64_t index, std::size_t count) {
    return index >= 0 && index < static_cast<std::int64_t>(count);
  };
  for (const generator::Launch& launch : program.launches) {
    if (!in(launch.kernel, program.kernels.size())) wrong(fmt::format("there is no kernel {}", launch.kernel));
    const auto check = [&](const BufferRef& ref) {
      std::int64_t bytes = ref.byte_offset;  // only the caller knows the size of these arrays
      if (ref.where == BufferRef::Where::workspace) {
        if (!in(ref.index, program.workspace_bytes.size())) wrong(fmt::format("there is no workspace {}", ref.index));
        bytes = program.workspace_bytes[static_cast<std::size_t>(ref.index)];
      } else if (ref.where == BufferRef::Where::constant) {
        if (!in(ref.index, program.constants.size())) wrong(fmt::format("there is no constant {}", ref.index));
        bytes = static_cast<std::int64_t>(program.constants[static_cast<std::size_t>(ref.index)].size());
      }
      if (ref.byte_offset < 0 || ref.byte_offset > bytes)
        wrong(fmt::format("offset {} is outside its buffer of {} bytes", ref.byte_offset, bytes));
    };
    for (const auto& argument : launch.arguments) generator::for_each_pointer(argument, check);
  }
  for (const std::int64_t bytes : program.workspace_bytes)
    if (bytes < 0) wrong("a workspace has a negative size");
}

}  // namespace fourtune::runtime::gpu
