// The engine's error messages.
#include <fmt/format.h>

#include <map>

#include "runtime/backends/emulated/engine.h"

namespace fourtune::runtime::emulated {
namespace {

// Formats numbers as in "0-31, 40".
std::string ranges(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t j = i;
    while (j + 1 < numbers.size() && numbers[j + 1] == numbers[j] + 1) ++j;
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", numbers[i], j > i ? fmt::format("-{}", numbers[j]) : "");
    i = j + 1;
  }
  return text;
}

}  // namespace

std::string Engine::describe_waits() const {
  std::map<std::string, std::vector<std::uint32_t>> groups;
  for (const Fiber& fiber : fibers_) {
    std::string what;
    switch (fiber.state) {
      case State::ready:
        what = "can go on";
        break;
      case State::paused:
        what = fmt::format("paused at line {}", fiber.line);
        break;
      case State::barrier:
        what = fmt::format("at the barrier of line {}", fiber.line);
        break;
      case State::cluster_barrier:
        what = fmt::format("at the cluster barrier of line {}", fiber.line);
        break;
      case State::warp:
        what = fmt::format("at the warp operation of line {}, mask 0x{:08x}", fiber.line, fiber.mask);
        break;
      case State::mbarrier:
        what = fmt::format("at the mbarrier wait of line {}, parity {}", fiber.line, fiber.parity);
        break;
      case State::left:
        what = "left the kernel";
        break;
    }
    if (cluster_ > 1) what += fmt::format(" (block {} of the cluster)", fiber.rank);
    groups[what].push_back(fiber.linear);
  }
  std::string text;
  for (const auto& [what, threads] : groups)
    text += fmt::format("{}threads {} {}", text.empty() ? "" : "; ", ranges(threads), what);
  return text;
}

void Engine::raise_stuck() {
  Trouble trouble;
  bool barrier = false, other = false;
  for (std::uint32_t id = 0; id < fibers_.size(); ++id) {
    const Fiber& fiber = fibers_[id];
    const bool waits_at_barrier = fiber.state == State::barrier || fiber.state == State::cluster_barrier;
    if (waits_at_barrier) barrier = true;
    if (!waits_at_barrier && fiber.state != State::left) other = true;
    if (fiber.state != State::left && trouble.line == 0) trouble.fiber = id, trouble.line = fiber.line;
  }
  trouble.kind = barrier && !other ? FaultKind::divergent_barrier : FaultKind::deadlock;
  trouble.text = describe_waits();
  raise(trouble);
}

std::string Engine::describe_address(const void* address, std::size_t bytes) const {
  const auto say = [&](const GuardedMemory& memory) {
    const auto offset = static_cast<const std::byte*>(address) - memory.data();
    const auto size = static_cast<std::ptrdiff_t>(memory.size());
    const std::string where = offset < 0       ? fmt::format("{} bytes before the start", -offset)
                              : offset >= size ? fmt::format("{} bytes past the end", offset - size)
                                               : fmt::format("byte {}", offset);
    const std::string width = bytes > 0 ? fmt::format("{} bytes at ", bytes) : "";
    return fmt::format("{}{} of {} ({} bytes)", width, where, memory.name(), size);
  };
  for (std::uint32_t rank = 0; rank < cluster_; ++rank)
    if (shared_[rank].near(address)) return say(shared_[rank]);
  for (const GuardedMemory* memory : buffers_)
    if (memory->near(address)) return say(*memory);
  return fmt::format("address {}, near no buffer", address);
}

std::string Engine::describe_access(const Trouble& trouble) const {
  const AccessTrouble& access = trouble.access;
  std::string text =
      fmt::format("{} {}", trouble.is_write ? "writes" : "reads", describe_address(trouble.address, trouble.bytes));
  if (!access.other_known) return text;
  const char* what = access.other_kind == AccessKind::read    ? "read"
                     : access.other_kind == AccessKind::write ? "wrote"
                                                              : "changed atomically";
  const int line = module_->line_of(access.other_where);
  std::string who = fmt::format("thread {}", access.other_thread);
  const std::uint32_t first = serial_ - cluster_;
  if (access.other_block != first + fibers_[trouble.fiber].rank) who += " of another block";
  text += fmt::format(", which {} {}{}, and nothing orders the two", who, what,
                      line > 0 ? fmt::format(" at line {}", line) : " by an asynchronous copy");
  return text;
}

void Engine::raise(const Trouble& trouble) {
  failed_ = false;
  const Fiber& fiber = fibers_[trouble.fiber];
  FaultPlace place{source_->entry, trouble.line, block_of(cluster_blocks_[fiber.rank]), fiber.index};
  if (place.line == 0 && trouble.where) place.line = module_->line_of(trouble.where);
  std::string text = trouble.text;
  switch (trouble.kind) {
    case FaultKind::out_of_bounds:
    case FaultKind::misaligned:
    case FaultKind::uninitialised:
    case FaultKind::race:
    case FaultKind::early_read:
    case FaultKind::overtakes:
      if (text.empty())
        text = trouble.bytes > 0 ? describe_access(trouble) : "touches " + describe_address(trouble.address, 0);
      break;
    case FaultKind::stack_overflow:
      text = fmt::format("its local variables need more than {} bytes", StackPool::kStackBytes);
      break;
    case FaultKind::undefined:
      text = "an operation without a defined result, or a trap";
      break;
    case FaultKind::endless:
      text = fmt::format("the launch did not end within {} s of processor time", options_.seconds);
      break;
    default:
      break;
  }
  throw KernelFault(trouble.kind, std::move(place), text);
}

void Engine::check_guards() {
  const auto check = [&](const GuardedMemory& memory, std::uint32_t rank) {
    const auto touched = memory.touched_outside();
    if (!touched) return;
    Trouble trouble;
    trouble.kind = FaultKind::out_of_bounds;
    trouble.fiber = rank * threads_;
    trouble.text = "somebody in this block wrote " + describe_address(memory.data() + *touched, 0);
    raise(trouble);
  };
  for (std::uint32_t rank = 0; rank < cluster_; ++rank) check(shared_[rank], rank);
  for (const GuardedMemory* memory : buffers_) check(*memory, 0);
}

}  // namespace fourtune::runtime::emulated
