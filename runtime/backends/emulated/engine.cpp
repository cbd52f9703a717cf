#include "runtime/backends/emulated/engine.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <bit>
#include <boost/context/detail/fcontext.hpp>
#include <numeric>

#include "runtime/backends/emulated/fault_signals.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace fourtune::runtime::emulated {
namespace {

namespace context = boost::context::detail;
thread_local Engine* current_engine = nullptr;

StackPool& stack_pool() {
  thread_local StackPool pool;
  return pool;
}

Index3 index_in(std::uint32_t linear, const generator::Extent3& extent) {
  return {linear % extent[0], linear / extent[0] % extent[1], linear / extent[0] / extent[1]};
}

std::uint32_t volume(const generator::Extent3& extent) { return extent[0] * extent[1] * extent[2]; }

// Tells the address sanitizer which stack is in use.
struct SanitizerSwitch {
#if defined(__SANITIZE_ADDRESS__)
  static inline thread_local const void* scheduler_bottom = nullptr;
  static inline thread_local std::size_t scheduler_size = 0;
  static void to_fiber(void** keep, const void* bottom) {
    __sanitizer_start_switch_fiber(keep, bottom, StackPool::kStackBytes);
  }
  static void to_scheduler(void** keep) { __sanitizer_start_switch_fiber(keep, scheduler_bottom, scheduler_size); }
  static void arrived(void* keep) { __sanitizer_finish_switch_fiber(keep, nullptr, nullptr); }
  static void arrived_in_fiber(void* keep) {
    __sanitizer_finish_switch_fiber(keep, &scheduler_bottom, &scheduler_size);
  }
#else
  static void to_fiber(void**, const void*) {}
  static void to_scheduler(void**) {}
  static void arrived(void*) {}
  static void arrived_in_fiber(void*) {}
#endif
};

}  // namespace

Engine* Engine::current() { return current_engine; }

Engine::Engine(const RunOptions& options) : options_(options), random_(options.seed) {
  if (options.instrumented) shadow_ = std::make_unique<Shadow>();
  copies_.on_finish = [this](const Copy& copy) {
    if (!shadow_) return;
    shadow_->finish_copy(copy.thread, copy.target, copy.bytes, copy.barrier);
  };
  copies_.on_phase = [this](void* barrier) {
    if (shadow_) shadow_->complete_phase(barrier);
  };
}

Engine::~Engine() = default;

void Engine::attach(const GuardedMemory& buffer, bool initialised) {
  buffers_.push_back(&buffer);
  if (shadow_) shadow_->attach(buffer, initialised);
}

Index3 Engine::block_of(std::uint32_t linear) const { return index_in(linear, grid_); }

// ---- a launch ----
void Engine::launch(Module& module, const generator::KernelSource& source, const generator::Extent3& grid,
                    void** arguments) {
  module_ = &module;
  source_ = &source;
  grid_ = grid;
  arguments_ = arguments;
  threads_ = volume(source.block);
  warps_ = (threads_ + 31) / 32;
  cluster_ = volume(source.cluster);
  for (int d = 0; d < 3; ++d)
    if (source.cluster[d] == 0 || grid[d] % source.cluster[d] != 0)
      throw Error(Status::internal, fmt::format("kernel {}: the grid is no multiple of the cluster", source.entry));
  if (threads_ == 0 || threads_ > 1024 || volume(grid) == 0)
    throw Error(Status::internal, fmt::format("kernel {}: blocks of {} threads in a grid of {} blocks; 1 to 1024 "
                                              "threads and a block at least are possible",
                                              source.entry, threads_, volume(grid)));
  while (shared_.size() < cluster_) shared_.emplace_back();
  for (GuardedMemory& memory : shared_)
    if (memory.size() != source.shared_bytes || !memory.data())
      memory = GuardedMemory(source.shared_bytes, "shared memory");
  stack_pool().reserve(std::size_t{threads_} * cluster_);
  *module.block_dim = source.block;
  *module.grid_dim = grid;
  overlaps_ = serial_ > call_first_ && generator::waits_for_earlier(source);
  if (shadow_) shadow_->begin_launch(serial_);
  launch_serial_ = serial_;

  // Clusters in the requested order; each is given by the linear index of its first block.
  std::vector<std::uint32_t> order;
  for (std::uint32_t z = 0; z < grid[2]; z += source.cluster[2])
    for (std::uint32_t y = 0; y < grid[1]; y += source.cluster[1])
      for (std::uint32_t x = 0; x < grid[0]; x += source.cluster[0]) order.push_back(x + grid[0] * (y + grid[1] * z));
  if (options_.blocks == ExecutionOrder::reverse) std::reverse(order.begin(), order.end());
  if (options_.blocks == ExecutionOrder::random) std::shuffle(order.begin(), order.end(), random_);

  const auto ours = [](const SignalFault& fault) {
    Engine* engine = current_engine;
    if (!engine || !engine->in_fiber_) return false;
    // The time limit may stop only a kernel's code, never the engine's in the middle of an operation.
    if (fault.signal == kTimeSignal) return engine->module_->holds(fault.where);
    return true;
  };
  const auto handler = [](const SignalFault& fault) {
    Trouble trouble;
    trouble.where = static_cast<const char*>(fault.where) + 1;  // line_of looks up the preceding instruction
    trouble.address = fault.address;
    trouble.kind = fault.signal == kTimeSignal                         ? FaultKind::endless
                   : fault.signal == SIGSEGV || fault.signal == SIGBUS ? FaultKind::out_of_bounds
                                                                       : FaultKind::undefined;
    if (trouble.kind == FaultKind::out_of_bounds && stack_pool().in_guard(fault.address))
      trouble.kind = FaultKind::stack_overflow;
    current_engine->fail(trouble);
  };
  const FaultSignals signals(ours, handler, options_.seconds);
  struct Running {
    explicit Running(Engine* engine) { current_engine = engine; }
    ~Running() { current_engine = nullptr; }
  } const running(this);
  for (const std::uint32_t first : order) run_cluster(first);
}

void Engine::run_cluster(std::uint32_t first_block) {
  const Index3 base = block_of(first_block);
  cluster_blocks_.clear();
  block_indices_.clear();
  for (std::uint32_t rank = 0; rank < cluster_; ++rank) {
    const Index3 at = index_in(rank, source_->cluster);
    block_indices_.push_back({base[0] + at[0], base[1] + at[1], base[2] + at[2]});
    cluster_blocks_.push_back(base[0] + at[0] + grid_[0] * (base[1] + at[1] + grid_[1] * (base[2] + at[2])));
    shared_[rank].poison();
  }
  const std::uint32_t total = threads_ * cluster_;
  copies_.begin(total);
  if (shadow_) shadow_->begin_cluster(serial_, cluster_, threads_, shared_);
  serial_ += cluster_;
  start_fibers();
  const auto draw = [this] { return std::uniform_real_distribution<double>()(random_); };
  std::vector<std::uint32_t> round;
  while (left_ < total) {
    if (options_.copies == CopyTiming::random) {
      copies_.land_some(0.25, draw);
      wake_mbarrier_waiters();
    }
    if (ready_.empty()) {
      if (copies_.land_for_barriers() && wake_mbarrier_waiters()) continue;
      raise_stuck();
    }
    round.swap(ready_);
    ready_.clear();
    sort_round(round);
    for (const std::uint32_t id : round) {
      resume(id);
      if (failed_) raise(trouble_);
    }
  }
  if (const Copy* copy = copies_.any()) {
    Trouble trouble;
    trouble.kind = FaultKind::never_waited;
    trouble.fiber = copy->thread;
    trouble.line = copy->line;
    trouble.text =
        fmt::format("{} bytes copied asynchronously from this line; the block ended before they arrived", copy->bytes);
    raise(trouble);
  }
  check_guards();
}

void Engine::start_fibers() {
  const std::uint32_t total = threads_ * cluster_;
  fibers_.assign(total, {});
  at_barrier_.assign(cluster_, 0);
  in_warp_.assign(std::size_t{warps_} * cluster_, 0);
  ready_.clear();
  left_ = 0;
  cluster_phases_ = 0;
  failed_ = false;
  StackPool& stacks = stack_pool();
  for (std::uint32_t id = 0; id < total; ++id) {
    Fiber& fiber = fibers_[id];
    fiber.rank = id / threads_;
    fiber.linear = id % threads_;
    fiber.index = index_in(fiber.linear, source_->block);
    fiber.context = context::make_fcontext(stacks.top(id), StackPool::kStackBytes, [](context::transfer_t transfer) {
      Engine* engine = current_engine;
      SanitizerSwitch::arrived_in_fiber(nullptr);
      engine->scheduler_ = transfer.fctx;
      engine->module_->call(engine->arguments_);
      engine->leave(engine->fibers_[engine->running_]);
      engine->fibers_[engine->running_].state = State::left;
      engine->suspend_as_is();
    });
    ready_.push_back(id);
  }
}

void Engine::sort_round(std::vector<std::uint32_t>& round) {
  if (!std::is_sorted(round.begin(), round.end())) std::sort(round.begin(), round.end());
  if (options_.threads == ExecutionOrder::reverse) std::reverse(round.begin(), round.end());
  if (options_.threads == ExecutionOrder::random) std::shuffle(round.begin(), round.end(), random_);
}

// ---- switching ----
void Engine::resume(std::uint32_t id) {
  Fiber& fiber = fibers_[id];
  running_ = id;
  *module_->thread_index = fiber.index;
  *module_->block_index = block_indices_[fiber.rank];
  in_fiber_ = true;
  void* keep = nullptr;
  SanitizerSwitch::to_fiber(&keep, stack_pool().bottom(id));
  const context::transfer_t back = context::jump_fcontext(fiber.context, nullptr);
  SanitizerSwitch::arrived(keep);
  in_fiber_ = false;
  fibers_[id].context = back.fctx;
}

void Engine::suspend_as_is() {
  void* keep = nullptr;
  SanitizerSwitch::to_scheduler(fibers_[running_].state == State::left ? nullptr : &keep);
  const context::transfer_t back = context::jump_fcontext(scheduler_, nullptr);
  SanitizerSwitch::arrived_in_fiber(keep);
  scheduler_ = back.fctx;
}

bool Engine::on_stack(const void* address) const { return stack_pool().holds(address); }

void Engine::wake(std::uint32_t id) {
  fibers_[id].state = State::ready;
  ready_.push_back(id);
}

// Leaves a fiber for good; the scheduler then throws.
void Engine::fail(Trouble trouble) {
  trouble.fiber = running_;
  trouble_ = std::move(trouble);
  failed_ = true;
  SanitizerSwitch::to_scheduler(nullptr);
  context::jump_fcontext(scheduler_, nullptr);
  __builtin_unreachable();
}

// ---- waiting ----
void Engine::arrive_at_barrier(Fiber& fiber) {
  if (++at_barrier_[fiber.rank] < threads_) return;
  at_barrier_[fiber.rank] = 0;
  const std::uint32_t first = fiber.rank * threads_, end = first + threads_;
  for (std::uint32_t id = first; id < end; ++id)
    if (fibers_[id].line != fiber.line) {
      Trouble trouble;
      trouble.kind = FaultKind::divergent_barrier;
      trouble.line = fiber.line;
      trouble.text = "threads of one block wait at different barriers: " + describe_waits();
      fail(std::move(trouble));
    }
  if (shadow_) shadow_->block_barrier(fiber.rank);
  for (std::uint32_t id = first; id < end; ++id) wake(id);
}

void Engine::arrive_at_cluster() {
  for (const Fiber& fiber : fibers_)
    if (fiber.cluster_arrivals == cluster_phases_) return;
  ++cluster_phases_;
  if (shadow_) shadow_->cluster_barrier();
  for (std::uint32_t id = 0; id < fibers_.size(); ++id)
    if (fibers_[id].state == State::cluster_barrier) wake(id);
}

void Engine::find_lanes(const Fiber& fiber, unsigned mask) {
  lanes_.clear();
  const std::uint32_t first = fiber.linear / 32 * 32;
  for (std::uint32_t lane = 0; lane < 32 && first + lane < threads_; ++lane)
    if (mask >> lane & 1) lanes_.push_back(fiber.rank * threads_ + first + lane);
}

void Engine::arrive_at_warp(Fiber& fiber) {
  if (!(fiber.mask >> (fiber.linear % 32) & 1)) {
    Trouble trouble;
    trouble.kind = FaultKind::bad_warp_mask;
    trouble.line = fiber.line;
    trouble.text = fmt::format("the mask 0x{:08x} does not contain the calling lane {}", fiber.mask, fiber.linear % 32);
    fail(std::move(trouble));
  }
  const std::uint32_t lanes = std::min<std::uint32_t>(32, threads_ - fiber.linear / 32 * 32);
  const unsigned present = lanes == 32 ? fiber.mask : fiber.mask & ((1u << lanes) - 1);
  if (++waiting_in_warp(fiber) < static_cast<std::uint32_t>(std::popcount(present))) return;
  find_lanes(fiber, fiber.mask);
  for (const std::uint32_t id : lanes_) {
    const Fiber& other = fibers_[id];
    if (other.state != State::warp || other.mask != fiber.mask || other.kind != fiber.kind) return;
  }
  release_warp();
}

void Engine::release_warp() {
  unsigned long long votes = 0;
  for (const std::uint32_t id : lanes_)
    if (fibers_[id].value != 0) votes |= 1ull << (fibers_[id].linear % 32);
  for (const std::uint32_t id : lanes_) {
    Fiber& fiber = fibers_[id];
    if (fiber.kind == 2) fiber.result = votes;
    if (fiber.kind == 3) {
      fiber.result = 0;
      for (const std::uint32_t other : lanes_)
        if (fibers_[other].value == fiber.value) fiber.result |= 1ull << (fibers_[other].linear % 32);
    }
    if (fiber.kind != 1) continue;
    const auto source = std::find_if(lanes_.begin(), lanes_.end(), [&](std::uint32_t other) {
      return fibers_[other].linear % 32 == static_cast<std::uint32_t>(fiber.source);
    });
    if (source == lanes_.end()) {
      Trouble trouble;
      trouble.kind = FaultKind::bad_warp_mask;
      trouble.line = fiber.line;
      trouble.text = fmt::format("lane {} reads lane {}, which the mask 0x{:08x} does not contain", fiber.linear % 32,
                                 fiber.source, fiber.mask);
      fail(std::move(trouble));
    }
    fiber.result = fibers_[*source].value;
  }
  // Only __syncwarp orders memory; shuffles and votes do not.
  if (shadow_ && fibers_[lanes_.front()].kind == 0) shadow_->warp_sync(lanes_);
  waiting_in_warp(fibers_[lanes_.front()]) -= static_cast<std::uint32_t>(lanes_.size());
  for (const std::uint32_t id : lanes_) wake(id);
}

bool Engine::wake_mbarrier_waiters() {
  bool any = false;
  for (std::uint32_t id = 0; id < fibers_.size(); ++id) {
    const Fiber& fiber = fibers_[id];
    if (fiber.state != State::mbarrier || !copies_.complete(fiber.mbarrier, fiber.parity)) continue;
    wake(id);
    any = true;
  }
  return any;
}

void Engine::leave(Fiber& fiber) {
  if (overlaps_ && !fiber.waited) {
    Trouble trouble;
    trouble.kind = FaultKind::overtakes;
    trouble.text = "the thread left without having waited for the kernel ahead, so the next kernel may overtake both";
    fail(std::move(trouble));
  }
  if (const Copy* copy = copies_.first_of(running_)) {
    Trouble trouble;
    trouble.kind = FaultKind::never_waited;
    trouble.line = copy->line;
    trouble.text = fmt::format("the thread left with {} bytes of this line's copy not waited for", copy->bytes);
    fail(std::move(trouble));
  }
  ++left_;
}

}  // namespace fourtune::runtime::emulated
