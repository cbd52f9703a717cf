#include "runtime/batch_shares.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fourtune::runtime {

std::vector<std::int64_t> batch_shares(std::int64_t batch, const std::vector<double>& speeds) {
  const double all = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  std::vector<std::int64_t> shares;
  std::vector<double> lacking;  // of what would be proportional
  std::int64_t left = batch;
  for (const double speed : speeds) {
    const double wanted = static_cast<double>(batch) * speed / all;
    shares.push_back(std::min(left, static_cast<std::int64_t>(std::floor(wanted))));
    lacking.push_back(wanted - static_cast<double>(shares.back()));
    left -= shares.back();
  }
  for (; left > 0; --left) {  // to those that lack most, the first of equal ones
    const auto most = std::max_element(lacking.begin(), lacking.end());
    ++shares[static_cast<std::size_t>(most - lacking.begin())];
    *most -= 1;
  }
  return shares;
}

std::int64_t batch_pieces(std::int64_t share, std::int64_t bytes) {
  constexpr std::int64_t kMost = 8, kLeastBytes = 16 << 20;  // a copy of 16 MB hides what starting a piece costs
  const double pieces = static_cast<double>(share) * static_cast<double>(bytes) / kLeastBytes;
  const auto most = static_cast<std::int64_t>(std::min(pieces, static_cast<double>(std::min(kMost, share))));
  for (std::int64_t count = most; count > 1; --count)
    if (share % count == 0) return count;
  return 1;
}

}  // namespace fourtune::runtime
