// How threads share a number of things: each takes one range of them, and ranges differ by one at most.
#pragma once

#include <algorithm>
#include <cstdint>

namespace fourtune::runtime::cpu {

struct Share {
  std::int64_t begin, end;
};

inline Share share_of(std::int64_t count, std::int64_t share, std::int64_t shares) {
  return {count / shares * share + std::min(share, count % shares),
          count / shares * (share + 1) + std::min(share + 1, count % shares)};
}

}  // namespace fourtune::runtime::cpu
