// The functions that kernels call: each finds the running engine and thread.
#include <fmt/format.h>

#include "runtime/backends/emulated/engine.h"

namespace fourtune::runtime::emulated {

struct HostCalls {
  static Engine& engine() { return *Engine::current(); }
  static Engine::Fiber& fiber(Engine& e) { return e.fibers_[e.running_]; }

  static void* shared() {
    Engine& e = engine();
    return e.shared_[fiber(e).rank].data();
  }
  static void barrier(int line) {
    Engine& e = engine();
    Engine::Fiber& f = fiber(e);
    f.state = Engine::State::barrier;
    f.line = line;
    e.arrive_at_barrier(f);
    e.suspend_as_is();
  }
  static void cluster_arrive(int line) {
    Engine& e = engine();
    Engine::Fiber& f = fiber(e);
    if (f.cluster_arrivals > f.cluster_waits)
      e.fail(trouble(FaultKind::divergent_barrier, line, "arrives at the cluster's barrier twice without a wait"));
    ++f.cluster_arrivals;
    e.arrive_at_cluster();
  }
  static void cluster_wait(int line) {
    Engine& e = engine();
    Engine::Fiber& f = fiber(e);
    if (f.cluster_arrivals == f.cluster_waits)
      e.fail(trouble(FaultKind::divergent_barrier, line, "waits at the cluster's barrier without having arrived"));
    f.line = line;
    f.state = Engine::State::cluster_barrier;
    if (e.cluster_phases_ > f.cluster_waits) e.wake(e.running_);
    e.suspend_as_is();
    ++fiber(e).cluster_waits;
  }
  static unsigned long long warp(unsigned mask, int kind, int line, unsigned long long value, int source) {
    Engine& e = engine();
    Engine::Fiber& f = fiber(e);
    f.state = Engine::State::warp;
    f.line = line, f.mask = mask, f.kind = kind, f.value = value, f.source = source;
    e.arrive_at_warp(f);
    e.suspend_as_is();
    return fiber(e).result;
  }
  static void pause(int line) {
    Engine& e = engine();
    fiber(e).line = line;
    e.wake(e.running_);
    e.suspend_as_is();
  }
  static unsigned cluster_rank() {
    Engine& e = engine();
    return fiber(e).rank;
  }
  static void* cluster_map(void* local, unsigned rank, int line) {
    Engine& e = engine();
    const auto offset = static_cast<std::byte*>(local) - e.shared_[fiber(e).rank].data();
    if (rank >= e.cluster_)
      e.fail(trouble(FaultKind::out_of_bounds, line, fmt::format("block {} of a cluster of {}", rank, e.cluster_)));
    if (rank != fiber(e).rank && fiber(e).cluster_waits == 0)
      e.fail(trouble(FaultKind::out_of_bounds, line,
                     fmt::format("memory of block {} of the cluster, before a barrier says that it runs", rank)));
    return e.shared_[rank].data() + offset;
  }

  // ---- asynchronous copies ----
  static void begin_copy(Engine& e, const Copy& copy) {
    e.check_bounds(copy.source, copy.bytes, false, copy.line);
    e.check_bounds(copy.target, copy.bytes, true, copy.line);
    if (e.shadow_)
      if (const auto found = e.shadow_->issue_copy(e.running_, copy.target, copy.bytes, e.module_->begin()))
        e.fail(access_trouble(*found, copy.target, copy.bytes, true, copy.line));
    e.copies_.issue(copy);
  }
  static void async_copy(void* target, const void* source, unsigned long bytes, int line) {
    Engine& e = engine();
    begin_copy(e, {target, source, bytes, nullptr, e.running_, 0, line, false});
  }
  static void async_commit() {
    Engine& e = engine();
    e.copies_.commit(e.running_);
  }
  static void async_wait(int groups_left) {
    Engine& e = engine();
    e.copies_.wait(e.running_, groups_left);
  }
  static void bulk_copy(void* target, const void* source, unsigned long bytes, void* barrier, int line) {
    Engine& e = engine();
    if (!e.copies_.known(barrier)) bad_mbarrier(e, line);
    begin_copy(e, {target, source, bytes, barrier, e.running_, 0, line, false});
  }

  // ---- mbarriers ----
  static void bad_mbarrier(Engine& e, int line) {
    e.fail(trouble(FaultKind::bad_mbarrier, line, "not initialised, or more arrivals than it counts"));
  }
  static void mbarrier_init(void* barrier, int count, int line) {
    Engine& e = engine();
    e.check_bounds(barrier, 8, true, line);
    e.copies_.init(barrier, count);
    // A thread that finds the barrier later must be ordered after this write.
    if (e.shadow_) touch(e, barrier, true, line);
  }
  static void mbarrier_arrive(void* barrier, long expected_bytes, int line) {
    Engine& e = engine();
    if (e.shadow_) {
      touch(e, barrier, false, line);
      e.shadow_->arrive(e.running_, barrier);
    }
    if (!e.copies_.arrive(barrier, expected_bytes)) bad_mbarrier(e, line);
    e.wake_mbarrier_waiters();
  }
  static void mbarrier_wait(void* barrier, int parity, int line) {
    Engine& e = engine();
    if (!e.copies_.known(barrier)) bad_mbarrier(e, line);
    if (e.shadow_) touch(e, barrier, false, line);
    Engine::Fiber& f = fiber(e);
    f.state = Engine::State::mbarrier;
    f.line = line, f.mbarrier = barrier, f.parity = parity;
    if (e.copies_.complete(barrier, parity)) e.wake(e.running_);
    e.suspend_as_is();
    if (e.shadow_) e.shadow_->wait(e.running_, barrier);
  }

  static void wait_earlier() {
    Engine& e = engine();
    fiber(e).waited = true;
  }

  // ---- checked accesses ----
  static void touch(Engine& e, void* address, bool write, int line) {
    const auto kind = write ? AccessKind::write : AccessKind::read;
    if (const auto found = e.shadow_->access(e.running_, address, 8, kind, nullptr, e.module_->begin()))
      e.fail(access_trouble(*found, address, 8, write, line));
  }
  static void atomic(void* address, unsigned long bytes, void* where) {
    Engine& e = engine();
    e.access(address, bytes, AccessKind::atomic, where);
  }
  static void read(void* address, unsigned long bytes, void* where) {
    Engine& e = engine();
    e.access(address, bytes, AccessKind::read, where);
  }
  static void write(void* address, unsigned long bytes, void* where) {
    Engine& e = engine();
    e.access(address, bytes, AccessKind::write, where);
  }

  static Engine::Trouble trouble(FaultKind kind, int line, std::string text) {
    Engine::Trouble made;
    made.kind = kind;
    made.line = line;
    made.text = std::move(text);
    return made;
  }
  static Engine::Trouble access_trouble(const AccessTrouble& found, const void* address, std::size_t bytes, bool write,
                                        int line) {
    Engine::Trouble made = trouble(found.kind, line, "");
    made.address = address;
    made.bytes = bytes;
    made.is_write = write;
    made.access = found;
    return made;
  }
};

const FourtuneEmulatedHost Engine::host_table{
    HostCalls::shared,          HostCalls::barrier,       HostCalls::warp,         HostCalls::pause,
    HostCalls::cluster_arrive,  HostCalls::cluster_wait,  HostCalls::cluster_rank, HostCalls::cluster_map,
    HostCalls::async_copy,      HostCalls::async_commit,  HostCalls::async_wait,   HostCalls::mbarrier_init,
    HostCalls::mbarrier_arrive, HostCalls::mbarrier_wait, HostCalls::bulk_copy,    HostCalls::wait_earlier,
    HostCalls::atomic,          HostCalls::read,          HostCalls::write,
};

void Engine::check_bounds(const void* address, std::size_t bytes, bool is_write, int line) {
  const auto inside = [&](const GuardedMemory& memory) { return memory.holds(address, bytes); };
  for (std::uint32_t rank = 0; rank < cluster_; ++rank)
    if (inside(shared_[rank])) return;
  for (const GuardedMemory* memory : buffers_)
    if (inside(*memory)) return;
  AccessTrouble found;
  found.kind = FaultKind::out_of_bounds;
  fail(HostCalls::access_trouble(found, address, bytes, is_write, line));
}

void Engine::access(void* address, std::size_t bytes, AccessKind kind, void* where) {
  // Skips local variables and the module's tables and built-in variables.
  if (!shadow_ || !in_fiber_) return;
  if (module_->holds(address) || on_stack(address)) return;
  auto found = shadow_->access(running_, address, bytes, kind, where, module_->begin());
  if (!found && overlaps_ && !fibers_[running_].waited && shadow_->belongs_behind_earlier(address, bytes, kind))
    found = AccessTrouble{FaultKind::overtakes};
  if (!found) return;
  Trouble trouble = HostCalls::access_trouble(*found, address, bytes, kind != AccessKind::read, 0);
  trouble.where = where;
  fail(std::move(trouble));
}

}  // namespace fourtune::runtime::emulated
