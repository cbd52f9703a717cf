#include "runtime/backends/emulated/shadow.h"

#include <algorithm>

namespace fourtune::runtime::emulated {
namespace {

std::size_t words(std::size_t bytes) { return (bytes + 3) / 4 + 1; }

}  // namespace

void Shadow::attach(const GuardedMemory& buffer, bool initialised) {
  regions_.resize(buffers_);
  regions_.push_back({&buffer, initialised, false, std::vector<Cell>(words(buffer.size()))});
  buffers_ = regions_.size();
}

void Shadow::begin_cluster(std::uint32_t first_serial, std::uint32_t blocks, std::uint32_t threads,
                           const std::vector<GuardedMemory>& shared) {
  cluster_first_ = first_serial;
  blocks_ = blocks;
  threads_ = threads;
  if (threads_total_ != blocks * threads || known_.empty()) {
    threads_total_ = blocks * threads;
    clock_.assign(threads_total_, 1);
    known_.assign(std::size_t{threads_total_} * threads_total_, 0);
  }
  for (std::uint32_t& clock : clock_) ++clock;  // knowledge from earlier clusters is older than everything to come
  interval_.assign(blocks, 1);
  joined_.assign(blocks, 0);
  barriers_.clear();
  // Cells of shared memory keep stamps of earlier blocks; the serial numbers show that they are old.
  while (regions_.size() < buffers_ + blocks) regions_.emplace_back();
  regions_.resize(buffers_ + blocks);
  for (std::uint32_t rank = 0; rank < blocks; ++rank) {
    Region& region = regions_[buffers_ + rank];
    region.memory = &shared[rank];
    region.shared = true;
    if (region.cells.size() != words(shared[rank].size())) region.cells.assign(words(shared[rank].size()), {});
  }
}

Shadow::Region* Shadow::find(const void* address) const {
  auto* regions = const_cast<Region*>(regions_.data());
  if (last_ < regions_.size() && regions[last_].memory->near(address)) return &regions[last_];
  for (std::size_t i = 0; i < regions_.size(); ++i)
    if (regions[i].memory->near(address)) return last_ = i, &regions[i];
  return nullptr;
}

bool Shadow::ordered(const Region& region, const Stamp& stamp, std::uint32_t thread) const {
  // Never accessed, accessed by an earlier launch, or shared memory of an earlier block.
  if (stamp.block < (region.shared ? cluster_first_ : launch_first_)) return true;
  if (stamp.block < cluster_first_ || stamp.block >= cluster_first_ + blocks_) return false;
  const std::uint32_t rank = stamp.block - cluster_first_, other = rank * threads_ + stamp.thread;
  if (other == thread) return true;
  if (rank == thread / threads_ ? stamp.interval < interval_[rank] : stamp.interval <= joined_[rank]) return true;
  return known(thread, other) >= stamp.clock;
}

Shadow::Stamp Shadow::stamp_of(std::uint32_t thread, AccessKind kind, const void* where, const void* base) const {
  Stamp stamp;
  stamp.block = cluster_first_ + thread / threads_;
  stamp.interval = interval_[thread / threads_];
  stamp.clock = clock_[thread];
  stamp.where =
      where ? static_cast<std::uint32_t>(static_cast<const char*>(where) - static_cast<const char*>(base)) : 0;
  stamp.thread = static_cast<std::uint16_t>(thread % threads_);
  stamp.kind = kind;
  return stamp;
}

AccessTrouble Shadow::race(const Region& region, const Stamp& other, const void* base) const {
  AccessTrouble trouble;
  trouble.kind = other.pending ? FaultKind::early_read : FaultKind::race;
  trouble.memory = region.memory;
  trouble.other_known = true;
  trouble.other_block = other.block;
  trouble.other_thread = other.thread;
  trouble.other_kind = other.kind;
  trouble.other_where = other.where ? static_cast<const char*>(base) + other.where : nullptr;
  return trouble;
}

std::optional<AccessTrouble> Shadow::access(std::uint32_t thread, const void* address, std::size_t bytes,
                                            AccessKind kind, const void* where, const void* base) {
  Region* region = find(address);
  if (!region) return AccessTrouble{FaultKind::out_of_bounds};
  const std::ptrdiff_t offset = static_cast<const std::byte*>(address) - region->memory->data();
  const auto plain = [&](FaultKind fault) {
    AccessTrouble trouble;
    trouble.kind = fault;
    trouble.memory = region->memory;
    return trouble;
  };
  if (!region->memory->holds(address, bytes)) return plain(FaultKind::out_of_bounds);
  if (bytes <= kAlignment && (bytes & (bytes - 1)) == 0 && reinterpret_cast<std::uintptr_t>(address) % bytes != 0)
    return plain(FaultKind::misaligned);
  const Stamp now = stamp_of(thread, kind, where, base);
  for (std::size_t at = static_cast<std::size_t>(offset) / 4, last = (static_cast<std::size_t>(offset) + bytes - 1) / 4;
       at <= last; ++at) {
    Cell& cell = region->cells[at];
    if (cell.write.pending && cell.write.block >= cluster_first_) return race(*region, cell.write, base);
    const bool written = region->shared ? cell.write.block >= cluster_first_ : cell.write.block > 0;
    if (kind != AccessKind::write && !written && !region->initialised) return plain(FaultKind::uninitialised);
    const bool narrow = bytes < 4;
    if (!narrow && !ordered(*region, cell.write, thread) && !(kind == AccessKind::atomic && cell.write.kind == kind))
      return race(*region, cell.write, base);
    if (kind == AccessKind::read) {
      if (ordered(*region, cell.read, thread)) {
        cell.read = now;
      } else {
        cell.other_read = now;
      }
      continue;
    }
    if (!narrow) {
      if (!ordered(*region, cell.read, thread)) return race(*region, cell.read, base);
      if (!ordered(*region, cell.other_read, thread)) return race(*region, cell.other_read, base);
    }
    cell.write = now;
  }
  return std::nullopt;
}

bool Shadow::belongs_behind_earlier(const void* address, std::size_t bytes, AccessKind kind) const {
  const Region* region = find(address);
  if (!region || region->shared) return false;
  if (kind != AccessKind::read) return true;
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(address) - region->memory->data());
  for (std::size_t at = offset / 4; at <= (offset + bytes - 1) / 4; ++at) {
    const std::uint32_t writer = region->cells[at].write.block;
    if (writer >= ahead_first_ && writer < launch_first_) return true;
  }
  return false;
}

void Shadow::cluster_barrier() {
  for (std::uint32_t rank = 0; rank < blocks_; ++rank) joined_[rank] = interval_[rank]++;
}

void Shadow::warp_sync(const std::vector<std::uint32_t>& lanes) {
  // Without mbarriers a thread knows nothing of other warps, so the columns of its warp suffice.
  const std::uint32_t first = barriers_.empty() ? lanes.front() : 0;
  const std::uint32_t end = barriers_.empty() ? lanes.back() + 1 : threads_total_;
  for (const std::uint32_t lane : lanes) known(lane, lane) = clock_[lane];
  for (std::uint32_t of = first; of < end; ++of) {
    std::uint32_t newest = 0;
    for (const std::uint32_t lane : lanes) newest = std::max(newest, known(lane, of));
    for (const std::uint32_t lane : lanes) known(lane, of) = newest;
  }
  for (const std::uint32_t lane : lanes) ++clock_[lane];
}

void Shadow::learn(std::vector<std::uint32_t>& into, std::uint32_t thread) const {
  into.resize(threads_total_, 0);
  for (std::uint32_t of = 0; of < threads_total_; ++of) into[of] = std::max(into[of], known(thread, of));
}

void Shadow::arrive(std::uint32_t thread, const void* barrier) {
  known(thread, thread) = clock_[thread];
  learn(barriers_[barrier].gathering, thread);
  ++clock_[thread];
}

void Shadow::complete_phase(const void* barrier) {
  Phases& phases = barriers_[barrier];
  phases.complete = std::move(phases.gathering);
  phases.gathering.clear();
}

void Shadow::wait(std::uint32_t thread, const void* barrier) {
  const std::vector<std::uint32_t>& learnt = barriers_[barrier].complete;
  for (std::uint32_t of = 0; of < learnt.size(); ++of) known(thread, of) = std::max(known(thread, of), learnt[of]);
}

std::optional<AccessTrouble> Shadow::issue_copy(std::uint32_t thread, void* target, std::size_t bytes,
                                                const void* base) {
  if (auto trouble = access(thread, target, bytes, AccessKind::write, nullptr, base)) return trouble;
  Region* region = find(target);
  const auto offset = static_cast<std::size_t>(static_cast<std::byte*>(target) - region->memory->data());
  for (std::size_t at = offset / 4; at <= (offset + bytes - 1) / 4; ++at) region->cells[at].write.pending = true;
  return std::nullopt;
}

void Shadow::finish_copy(std::uint32_t thread, void* target, std::size_t bytes, const void* barrier) {
  Region* region = find(target);
  if (!region) return;
  Stamp stamp = stamp_of(thread, AccessKind::write, nullptr, nullptr);
  // With a barrier, the write counts as the issuing thread's, as if it had arrived with it: a thread that waits learns
  // of the write, one that does not wait is unordered.
  if (barrier) {
    auto& gathering = barriers_[barrier].gathering;
    gathering.resize(threads_total_, 0);
    gathering[thread] = std::max(gathering[thread], clock_[thread]);
  }
  const auto offset = static_cast<std::size_t>(static_cast<std::byte*>(target) - region->memory->data());
  for (std::size_t at = offset / 4; at <= (offset + bytes - 1) / 4; ++at) region->cells[at].write = stamp;
  if (barrier) ++clock_[thread];
}

}  // namespace fourtune::runtime::emulated
