// Transforms of finished calls, kept for the next call of the same kind, as python/fourtune/_kept.py does for Python.
//
// 1. A transform that runs has been taken out, so threads never share one.
// 2. Those kept are at most `most` and hold at most `most_bytes`; the least recently used goes first.
//
// Threads: any may call any method.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "fourtune/fourtune.h"

namespace fourtune::jax {

struct Destroy {
  void operator()(fourtune_transform* transform) const { fourtune_destroy(transform); }
};
using Plan = std::unique_ptr<fourtune_transform, Destroy>;

class KeptPlans {
 public:
  KeptPlans(std::int64_t most, std::int64_t most_bytes) : most_(most), most_bytes_(most_bytes) {}
  // The plan that was last kept for this key; null if there is none.
  Plan take(const std::string& key);
  void keep(std::string key, Plan plan);
  // Bounds what is kept, now and later; 0 keeps nothing.
  void limit(std::int64_t most, std::int64_t most_bytes);
  void clear();
  std::int64_t count() const;
  std::int64_t bytes() const;

 private:
  struct Kept {
    std::string key;
    Plan plan;
    std::int64_t bytes;
  };
  std::list<Kept> beyond_bounds();

  mutable std::mutex mutex_;
  std::list<Kept> kept_;  // the most recently used comes first
  std::int64_t most_, most_bytes_, bytes_ = 0;
};

}  // namespace fourtune::jax
