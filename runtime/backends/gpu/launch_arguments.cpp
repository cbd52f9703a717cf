#include "runtime/backends/gpu/launch_arguments.h"

#include <fmt/format.h>

#include <type_traits>
#include <variant>

#include "fourtune/status.h"

namespace fourtune::runtime::gpu {

using generator::BufferRef;

LaunchArguments::LaunchArguments(const generator::Launch& launch,
                                 const std::function<std::byte*(const BufferRef&)>& address)
    : values_(launch.arguments.size()) {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    pointers_.push_back(&values_[i]);
    std::visit(
        [&](const auto& argument) {
          using T = std::decay_t<decltype(argument)>;
          if constexpr (std::is_same_v<T, BufferRef>) {
            const bool second = argument.where == BufferRef::Where::second;
            if (second || argument.where == BufferRef::Where::first) {
              patches_.push_back({i, second, argument.byte_offset});
            } else {
              values_[i].pointer = address(argument) + argument.byte_offset;
            }
          } else if constexpr (std::is_same_v<T, float>) {
            values_[i].single = argument;
          } else if constexpr (std::is_same_v<T, double>) {
            values_[i].real = argument;
          } else {
            values_[i].integer = argument;
          }
        },
        launch.arguments[i]);
  }
}

void check_program(const generator::GpuProgram& program) {
  const auto wrong = [](const std::string& what) { throw Error(Status::internal, "GPU program: " + what); };
  const auto in = [](std::int64_t index, std::size_t count) {
    return index >= 0 && index < static_cast<std::int64_t>(count);
  };
  for (const generator::Launch& launch : program.launches) {
    if (!in(launch.kernel, program.kernels.size())) wrong(fmt::format("there is no kernel {}", launch.kernel));
    for (const auto& argument : launch.arguments) {
      const auto* ref = std::get_if<BufferRef>(&argument);
      if (!ref) continue;
      std::int64_t bytes = ref->byte_offset;  // only the caller knows the size of these arrays
      if (ref->where == BufferRef::Where::workspace) {
        if (!in(ref->index, program.workspace_bytes.size())) wrong(fmt::format("there is no workspace {}", ref->index));
        bytes = program.workspace_bytes[static_cast<std::size_t>(ref->index)];
      } else if (ref->where == BufferRef::Where::constant) {
        if (!in(ref->index, program.constants.size())) wrong(fmt::format("there is no constant {}", ref->index));
        bytes = static_cast<std::int64_t>(program.constants[static_cast<std::size_t>(ref->index)].size());
      }
      if (ref->byte_offset < 0 || ref->byte_offset > bytes)
        wrong(fmt::format("offset {} is outside its buffer of {} bytes", ref->byte_offset, bytes));
    }
  }
  for (const std::int64_t bytes : program.workspace_bytes)
    if (bytes < 0) wrong("a workspace has a negative size");
}

}  // namespace fourtune::runtime::gpu
