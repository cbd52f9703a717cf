#include "kept_plans.h"

#include <algorithm>
#include <utility>

namespace fourtune::jax {

// Plans are destroyed after the lock is given up, because freeing memory of a GPU waits for it.

Plan KeptPlans::take(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& one) { return one.key == key; });
  if (found == kept_.end()) return nullptr;
  Plan plan = std::move(found->plan);
  bytes_ -= found->bytes;
  kept_.erase(found);
  return plan;
}

void KeptPlans::keep(std::string key, Plan plan) {
  std::int64_t bytes = 0;
  if (fourtune_memory(plan.get(), &bytes, nullptr) != FOURTUNE_SUCCESS) return;
  std::list<Kept> dropped;
  const std::lock_guard lock(mutex_);
  kept_.push_front({std::move(key), std::move(plan), bytes});
  bytes_ += bytes;
  dropped = beyond_bounds();
}

void KeptPlans::limit(std::int64_t most, std::int64_t most_bytes) {
  std::list<Kept> dropped;
  const std::lock_guard lock(mutex_);
  most_ = most;
  most_bytes_ = most_bytes;
  dropped = beyond_bounds();
}

void KeptPlans::clear() {
  std::list<Kept> dropped;
  const std::lock_guard lock(mutex_);
  dropped.swap(kept_);
  bytes_ = 0;
}

std::int64_t KeptPlans::count() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::int64_t>(kept_.size());
}

std::int64_t KeptPlans::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

std::list<KeptPlans::Kept> KeptPlans::beyond_bounds() {
  std::list<Kept> dropped;
  while (!kept_.empty() && (static_cast<std::int64_t>(kept_.size()) > most_ || bytes_ > most_bytes_)) {
    bytes_ -= kept_.back().bytes;
    dropped.splice(dropped.end(), kept_, std::prev(kept_.end()));
  }
  return dropped;
}

}  // namespace fourtune::jax
