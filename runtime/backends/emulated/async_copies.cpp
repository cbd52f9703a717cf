#include "runtime/backends/emulated/async_copies.h"

#include <algorithm>
#include <cstring>

namespace fourtune::runtime::emulated {

void AsyncCopies::begin(std::uint32_t threads) {
  copies_.clear();
  groups_.assign(threads, 0);
  barriers_.clear();
}

void AsyncCopies::issue(const Copy& copy) {
  copies_.push_back(copy);
  copies_.back().group = groups_[copy.thread];
  std::memset(copy.target, 0xff, copy.bytes);
}

void AsyncCopies::land(Copy& copy) {
  if (copy.landed) return;
  std::memcpy(copy.target, copy.source, copy.bytes);
  copy.landed = true;
}

void AsyncCopies::finish(const Copy& copy) {
  if (on_finish) on_finish(copy);
}

void AsyncCopies::wait(std::uint32_t thread, int left) {
  const std::uint32_t open = groups_[thread];
  for (std::size_t i = 0; i < copies_.size();) {
    Copy& copy = copies_[i];
    if (copy.barrier || copy.thread != thread || copy.group + static_cast<std::uint32_t>(left) >= open) {
      ++i;
      continue;
    }
    land(copy);
    finish(copy);
    copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void AsyncCopies::land_some(double probability, const std::function<double()>& draw) {
  for (std::size_t i = 0; i < copies_.size(); ++i) {
    if (copies_[i].landed || draw() >= probability) continue;
    land(copies_[i]);
    if (!copies_[i].barrier) continue;
    const Copy copy = copies_[i];
    copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(i--));
    finish(copy);
    Barrier& barrier = barriers_[copy.barrier];
    barrier.bytes -= static_cast<std::int64_t>(copy.bytes);
    advance(copy.barrier, barrier);
  }
}

bool AsyncCopies::land_for_barriers() {
  const auto count = std::count_if(copies_.begin(), copies_.end(), [](const Copy& copy) { return copy.barrier; });
  if (count == 0) return false;
  // Only copies with a barrier land here; those of a group land at its wait.
  std::vector<Copy> groups;
  std::vector<Copy> bulk;
  for (const Copy& copy : copies_) (copy.barrier ? bulk : groups).push_back(copy);
  copies_ = std::move(groups);
  for (Copy& copy : bulk) {
    land(copy);
    finish(copy);
    Barrier& barrier = barriers_[copy.barrier];
    barrier.bytes -= static_cast<std::int64_t>(copy.bytes);
    advance(copy.barrier, barrier);
  }
  return true;
}

const Copy* AsyncCopies::first_of(std::uint32_t thread) const {
  for (const Copy& copy : copies_)
    if (!copy.barrier && copy.thread == thread) return &copy;
  return nullptr;
}

void AsyncCopies::init(void* barrier, int count) { barriers_[barrier] = {count, count, 0, 0}; }

bool AsyncCopies::arrive(void* at, std::int64_t expected_bytes) {
  const auto found = barriers_.find(at);
  if (found == barriers_.end() || found->second.pending == 0) return false;
  found->second.bytes += expected_bytes;
  --found->second.pending;
  advance(at, found->second);
  return true;
}

void AsyncCopies::advance(void* at, Barrier& barrier) {
  if (barrier.pending > 0 || barrier.bytes != 0) return;
  barrier.pending = barrier.count;
  ++barrier.phase;
  if (on_phase) on_phase(at);
}

bool AsyncCopies::complete(void* barrier, int parity) const {
  const auto found = barriers_.find(barrier);
  return found != barriers_.end() && static_cast<int>(found->second.phase & 1) != parity;
}

}  // namespace fourtune::runtime::emulated
