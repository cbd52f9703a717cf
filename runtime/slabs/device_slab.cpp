#include "runtime/slabs/device_slab.h"

#include <algorithm>

namespace fourtune::runtime {
namespace {

constexpr std::int64_t kThinRow = 16;  // thinner ones cut no better
std::int64_t up_to(std::int64_t n, std::int64_t multiple) { return (n + multiple - 1) / multiple * multiple; }

}  // namespace

DeviceSlab::DeviceSlab(const generator::Plan& plan, const Problem& problem) {
  const auto last = static_cast<std::size_t>(problem.dim - 1);
  const std::int64_t bin = std::max(1, plan.gpu().points.spread_with.bin[last]);
  cells = plan.window.fine[last];
  shared = plan.window.width - 1;
  row = up_to(std::max(shared, kThinRow), bin);
  rows = std::max<std::int64_t>(1, cells / row);
  before = up_to(shared, bin);
}

void DeviceSlab::cut(const Split& rows_of_ranks) {
  std::vector<std::int64_t> starts;
  for (int r = 0; r < rows_of_ranks.parts(); ++r)
    starts.push_back(rows_of_ranks.begin(r) == rows ? cells : rows_of_ranks.begin(r) * row);
  starts.push_back(cells);
  of_ranks = Split(std::move(starts));
}

int DeviceSlab::next(int rank, int step) const {
  const int ranks = of_ranks.parts();
  int at = rank;
  do at = (at + step) % ranks;
  while (at != rank && of_ranks.size(at) == 0);
  return at;
}

std::vector<std::int32_t> DeviceSlab::owners() const {
  std::vector<std::int32_t> of;
  for (int r = 0; r < of_ranks.parts(); ++r) of.insert(of.end(), static_cast<std::size_t>(of_ranks.size(r)), r);
  return of;
}

std::vector<std::int32_t> DeviceSlab::neighbours() const {
  std::vector<std::int32_t> of(static_cast<std::size_t>(cells), -1);
  for (int r = 0; r < of_ranks.parts(); ++r)
    if (of_ranks.size(r) > 0 && after(r) != r)
      std::fill(of.begin() + (of_ranks.end(r) - shared), of.begin() + of_ranks.end(r), after(r));
  return of;
}

}  // namespace fourtune::runtime
