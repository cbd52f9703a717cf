#include "runtime/backends/emulated/emulator.h"

#include <fmt/format.h>

#include <cstring>

#include "runtime/backends/gpu/launch_arguments.h"

namespace fourtune::runtime::emulated {
namespace {

using generator::BufferRef;
using generator::Launch;

struct Buffers {
  GuardedMemory first, second;
  bool in_place = false;
  std::vector<GuardedMemory> workspace, constants;

  GuardedMemory& at(const BufferRef& ref) {
    return (ref.where == BufferRef::Where::workspace ? workspace : constants).at(static_cast<std::size_t>(ref.index));
  }
};

GuardedMemory filled(std::span<const std::byte> bytes, std::string name) {
  GuardedMemory memory(bytes.size(), std::move(name));
  if (!bytes.empty()) std::memcpy(memory.data(), bytes.data(), bytes.size());
  return memory;
}

std::vector<std::byte> bytes_of(const GuardedMemory& memory, std::size_t size) {
  return std::vector<std::byte>(memory.data(), memory.data() + size);
}

// Stores what has changed. Other bytes of the array may belong to others, who write them meanwhile: a rank writes
// between the rows of another rank that computes.
void store_changes(std::span<std::byte> array, const std::vector<std::byte>& before, const GuardedMemory& after) {
  for (std::size_t i = 0; i < array.size(); ++i)
    if (after.data()[i] != before[i]) array[i] = after.data()[i];
}

Buffers make_buffers(const generator::GpuProgram& program, std::span<std::byte> first, std::span<std::byte> second) {
  Buffers buffers;
  buffers.in_place = first.data() == second.data();
  buffers.first = filled(first, "the first array");
  if (!buffers.in_place) buffers.second = filled(second, "the second array");
  for (std::size_t i = 0; i < program.workspace_bytes.size(); ++i)
    buffers.workspace.emplace_back(static_cast<std::size_t>(program.workspace_bytes[i]),
                                   fmt::format("workspace {}", i));
  for (std::size_t i = 0; i < program.constants.size(); ++i)
    buffers.constants.push_back(filled(program.constants[i], fmt::format("constant {}", i)));
  return buffers;
}

}  // namespace

Program::Program(generator::GpuProgram program, const CompileOptions& options) : program_(std::move(program)) {
  gpu::check_program(program_);
  modules_ = compile_modules(program_.kernels, options);
}

void Program::run(std::span<std::byte> first, std::span<std::byte> second, const RunOptions& options,
                  bool second_is_input) {
  Buffers buffers = make_buffers(program_, first, second);
  const std::vector<std::byte> first_before = bytes_of(buffers.first, first.size());
  const std::vector<std::byte> second_before = bytes_of(buffers.second, buffers.in_place ? 0 : second.size());
  Engine engine(options);
  engine.attach(buffers.first, true);
  if (!buffers.in_place) engine.attach(buffers.second, second_is_input);
  for (const GuardedMemory& memory : buffers.workspace) engine.attach(memory, false);
  for (const GuardedMemory& memory : buffers.constants) engine.attach(memory, true);
  int number = 0;
  for (const Launch& launch : program_.launches) {
    if (number++ == options.second_call) engine.begin_call();
    Module& module = *modules_.at(static_cast<std::size_t>(launch.kernel));
    if (module.options().instrumented != options.instrumented || module.options().undefined != options.undefined)
      throw Error(Status::invalid_argument, "the program was compiled for other checks than the run asks for");
    if (module.parameters() != static_cast<int>(launch.arguments.size()))
      throw Error(Status::internal, fmt::format("kernel {} has {} parameters and the launch {} arguments",
                                                module.entry(), module.parameters(), launch.arguments.size()));
    gpu::LaunchArguments arguments(launch, [&](const BufferRef& ref) { return buffers.at(ref).data(); });
    arguments.set_arrays(buffers.first.data(), (buffers.in_place ? buffers.first : buffers.second).data());
    engine.launch(module, program_.kernels[static_cast<std::size_t>(launch.kernel)], launch.grid,
                  arguments.pointers().data());
  }
  store_changes(first, first_before, buffers.first);
  if (!buffers.in_place) store_changes(second, second_before, buffers.second);
}

void run_program(const generator::GpuProgram& program, std::span<std::byte> first, std::span<std::byte> second,
                 const RunOptions& options, bool second_is_input) {
  Program(program, {options.instrumented, options.undefined}).run(first, second, options, second_is_input);
}

int run_all_ways(const generator::GpuProgram& program, std::span<const std::byte> first,
                 std::span<const std::byte> second,
                 const std::function<std::string(std::span<const std::byte>, std::span<const std::byte>)>& check,
                 bool second_is_input) {
  struct Way {
    const char* name;
    RunOptions options;
  };
  const auto way = [](const char* name, ExecutionOrder order, CopyTiming copies, std::uint64_t seed,
                      bool instrumented) {
    RunOptions options;
    options.threads = options.blocks = order;
    options.copies = copies;
    options.seed = seed;
    options.instrumented = instrumented;
    return Way{name, options};
  };
  const Way ways[] = {
      way("forward, copies late", ExecutionOrder::forward, CopyTiming::late, 1, false),
      way("reverse, copies late", ExecutionOrder::reverse, CopyTiming::late, 1, false),
      way("random 1", ExecutionOrder::random, CopyTiming::random, 1, false),
      way("random 2", ExecutionOrder::random, CopyTiming::random, 2, false),
      way("instrumented, random", ExecutionOrder::random, CopyTiming::random, 3, true),
      way("instrumented, copies late", ExecutionOrder::forward, CopyTiming::late, 1, true),
  };
  const bool in_place = first.data() == second.data();
  std::unique_ptr<Program> plain, checked;
  for (const Way& each : ways) {
    std::unique_ptr<Program>& compiled = each.options.instrumented ? checked : plain;
    if (!compiled) {
      const bool instrumented = each.options.instrumented;  // optimised, with products and sums contracted
      compiled = std::make_unique<Program>(program, CompileOptions{instrumented, false, !instrumented});
    }
    std::vector<std::byte> a(first.begin(), first.end()), b;
    if (!in_place) b.assign(second.begin(), second.end());
    compiled->run(a, in_place ? std::span<std::byte>(a) : std::span<std::byte>(b), each.options, second_is_input);
    const std::string wrong = check(a, in_place ? a : b);
    if (!wrong.empty())
      throw Error(Status::internal, fmt::format("wrong result with threads and blocks {}: {}", each.name, wrong));
  }
  return static_cast<int>(std::size(ways));
}

}  // namespace fourtune::runtime::emulated
