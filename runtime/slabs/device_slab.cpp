#include "runtime/slabs/device_slab.h"

#include <algorithm>

namespace fourtune::runtime {
namespace {

constexpr std::int64_t kThinRow = 16;  // thinner ones cut no better
std::int64_t up_to(std::int64_t n, std::int64_t multiple) { return (n + multiple - 1) / multiple * multiple; }

}  // namespace

DeviceSlab::DeviceSlab(const generator::Plan& plan, const Problem& problem, int of_a_slab) : parts(of_a_slab) {
  const auto last = static_cast<std::size_t>(problem.dim - 1);
  const std::int64_t bin = std::max(1, plan.gpu().points.spread_with.bin[last]);
  cells = plan.window.fine[last];
  shared = plan.window.width - 1;
  row = up_to(std::max(shared, kThinRow), bin);
  rows = std::max<std::int64_t>(1, cells / row);
  before = up_to(shared, bin);
}

void DeviceSlab::cut(const Split& rows_of_parts) {
  const auto cell = [&](std::int64_t of_row) { return of_row == rows ? cells : of_row * row; };
  std::vector<std::int64_t> of_slabs, of_all;
  for (int p = 0; p < rows_of_parts.parts(); p += parts) of_slabs.push_back(cell(rows_of_parts.begin(p)));
  of_slabs.push_back(cells);
  of_ranks = Split(std::move(of_slabs));
  for (int r = 0; r < of_ranks.parts(); ++r) {
    of_all.push_back(of_ranks.begin(r));
    for (int p = r * parts + 1; p < (r + 1) * parts && !whole(r); ++p)
      if (const std::int64_t begin = cell(rows_of_parts.begin(p)); begin > of_all.back() && begin < of_ranks.end(r))
        of_all.push_back(begin);
    of_all.resize(static_cast<std::size_t>((r + 1) * parts), of_ranks.end(r));
  }
  of_all.push_back(cells);
  of_parts = Split(std::move(of_all));
}

DeviceSlab::Planes DeviceSlab::planes_of(int rank, int part) const {
  const int at = rank * parts + part;
  const std::int64_t own = of_parts.begin(at) - of_ranks.begin(rank), size = of_parts.size(at);
  if (size == 0) return {};
  const bool first = own == 0, last = own + size == of_ranks.size(rank);
  const std::int64_t begin = first ? 0 : before + own;
  const std::int64_t end = last ? stored(rank) : std::min(stored(rank), before + own + up_to(size + shared, row));
  return {begin, end - begin, first ? start(rank) : of_parts.begin(at), first ? before : 0};
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
  for (int p = 0; p < of_parts.parts(); ++p) of.insert(of.end(), static_cast<std::size_t>(of_parts.size(p)), p);
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
