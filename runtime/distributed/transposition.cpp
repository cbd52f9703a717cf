#include "runtime/distributed/transposition.h"

#include <cstring>

#include "fourtune/problem.h"
#include "runtime/backends/cpu/base/team.h"

namespace fourtune::runtime::distributed {

Transposition::Transposition(const Communicator& ranks, const Split& planes, const Split& columns, std::int64_t run,
                             std::int64_t element, int threads)
    : ranks_(&ranks), planes_(planes), columns_(columns), row_(run * element), run_(run), threads_(threads) {
  const int own = ranks.rank();
  const std::int64_t plane = checked_multiply(columns.items(), row_, "a plane"), mine = columns.size(own) * row_;
  column_row_ = run_type(mine);
  for (int step = 1; step < ranks.size(); ++step) {
    // Ranks begin with different partners, so that no one is everybody's first.
    const int other = (own + step) % ranks.size();
    Pair pair;
    pair.rank = other;
    pair.mine_at = columns.begin(other) * row_;
    pair.mine_count = columns.size(other) > 0 ? planes.size(own) : 0;
    if (pair.mine_count > 0) pair.mine = rows_type(pair.mine_count, columns.size(other) * row_, plane);
    pair.theirs_at = planes.begin(other) * mine;
    pair.theirs_count = mine > 0 ? planes.size(other) : 0;
    pairs_.push_back(pair);
  }
}

void Transposition::to_columns(const void* by_planes, void* by_columns) const {
  move(static_cast<char*>(const_cast<void*>(by_planes)), static_cast<char*>(by_columns), true);
}
void Transposition::to_planes(const void* by_columns, void* by_planes) const {
  move(static_cast<char*>(by_planes), static_cast<char*>(const_cast<void*>(by_columns)), false);
}

std::int64_t Transposition::planes_elements() const { return planes_.size(ranks_->rank()) * columns_.items() * run_; }
std::int64_t Transposition::columns_elements() const { return planes_.items() * columns_.size(ranks_->rank()) * run_; }

void Transposition::copy_own(char* planes, char* columns, bool to_columns) const {
  const int own = ranks_->rank();
  const std::int64_t bytes = columns_.size(own) * row_, plane = columns_.items() * row_;
  if (bytes == 0) return;
  cpu::parallel_for(threads_, planes_.size(own), [&](std::int64_t p) {
    char* const in_planes = planes + p * plane + columns_.begin(own) * row_;
    char* const in_columns = columns + (planes_.begin(own) + p) * bytes;
    std::memcpy(to_columns ? in_columns : in_planes, to_columns ? in_planes : in_columns,
                static_cast<std::size_t>(bytes));
  });
}

void Transposition::move(char* planes, char* columns, bool to_columns) const {
  std::vector<Message> by_planes, by_columns;
  for (const Pair& pair : pairs_) {
    if (pair.mine_count > 0) by_planes.push_back({pair.rank, planes + pair.mine_at, 1, *pair.mine});
    if (pair.theirs_count > 0)
      by_columns.push_back({pair.rank, columns + pair.theirs_at, pair.theirs_count, *column_row_});
  }
  const auto meanwhile = [&] { copy_own(planes, columns, to_columns); };
  to_columns ? ranks_->exchange(by_planes, by_columns, meanwhile) : ranks_->exchange(by_columns, by_planes, meanwhile);
}

}  // namespace fourtune::runtime::distributed
