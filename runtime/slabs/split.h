// How a row of items is cut into consecutive parts: one per rank, or per slab of one device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace fourtune::runtime {

// Part r is [begin(r), end(r)), and may be empty.
class Split {
 public:
  Split() : starts_{0, 0} {}
  explicit Split(std::vector<std::int64_t> starts) : starts_(std::move(starts)) {}
  // Parts of n items whose sizes differ by at most one, the larger ones first.
  static Split even(std::int64_t n, int parts) {
    std::vector<std::int64_t> starts(static_cast<std::size_t>(parts) + 1);
    for (int r = 0; r <= parts; ++r)
      starts[static_cast<std::size_t>(r)] = n / parts * r + (r < n % parts ? r : n % parts);
    return Split(std::move(starts));
  }
  int parts() const { return static_cast<int>(starts_.size()) - 1; }
  std::int64_t begin(int r) const { return starts_[static_cast<std::size_t>(r)]; }
  std::int64_t end(int r) const { return starts_[static_cast<std::size_t>(r) + 1]; }
  std::int64_t size(int r) const { return end(r) - begin(r); }
  std::int64_t items() const { return starts_.back(); }
  friend bool operator==(const Split&, const Split&) = default;

 private:
  std::vector<std::int64_t> starts_;  // starts_[r] .. starts_[r + 1]; the first is 0
};

}  // namespace fourtune::runtime
