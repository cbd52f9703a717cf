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

std::vector<std::int64_t> shares_from_home(std::int64_t batch, std::size_t home, const std::vector<DeviceCost>& costs) {
  // The copy there of one piece, the work on another and the copy back of a third go on at once; what is first and what
  // is last has nothing beside it.
  constexpr int kPieces = 8;
  // On two H100 a third more of home's time than its share was seen, and two tenths of a millisecond for beginning and
  // ending; so what promised to save a tenth or two lost as often as it won.
  constexpr double kDisturbed = 1.2, kWorth = 0.75;
  std::vector<double> speeds;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    const auto& [compute, copies] = costs[i];
    const double longest = std::max(compute, copies);
    const double shared = ((kPieces - 1) * longest + compute + 2 * copies) / kPieces;
    speeds.push_back(1 / (i == home ? kDisturbed * compute : shared));
  }
  const double all = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  std::vector<std::int64_t> shares(costs.size());
  shares[home] = batch;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if (i == home) continue;
    // What is no whole transform, or makes no equal pieces, stays at home, where it is not copied; 1e-9 forgives
    // rounding.
    shares[i] = static_cast<std::int64_t>(std::floor(static_cast<double>(batch) * speeds[i] / all + 1e-9));
    if (shares[i] > kPieces) shares[i] -= shares[i] % kPieces;
    shares[home] -= shares[i];
  }
  // The others are done before `home` is.
  const double part = static_cast<double>(shares[home]) / static_cast<double>(batch);
  if (kDisturbed * part <= kWorth) return shares;
  std::fill(shares.begin(), shares.end(), 0);
  shares[home] = batch;
  return shares;
}

std::int64_t batch_pieces(std::int64_t share, std::int64_t bytes) {
  // A copy of 16 MB hides what starting a piece costs. The first piece's copy there and the last one's back have
  // nothing beside them: 32 coils of 256^3 from pinned host memory took 90.6 ms on an H100 in 8 pieces and 85.3 in 16,
  // and 49.8 and 47.6 on two. But small transforms are computed faster by more at a time: 32 of 512^2 took 3.75 and
  // 3.96.
  constexpr std::int64_t kMost = 8, kMostLarge = 16, kLeastBytes = 16 << 20, kLargeBytes = 128 << 20;
  const double all = static_cast<double>(share) * static_cast<double>(bytes);
  const std::int64_t allowed = all >= static_cast<double>(kMostLarge * kLargeBytes) ? kMostLarge : kMost;
  const auto most =
      static_cast<std::int64_t>(std::min(all / kLeastBytes, static_cast<double>(std::min(allowed, share))));
  for (std::int64_t count = most; count > 1; --count)
    if (share % count == 0) return count;
  return 1;
}

}  // namespace fourtune::runtime
