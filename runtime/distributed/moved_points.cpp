#include "runtime/distributed/moved_points.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "fourtune/status.h"

namespace fourtune::runtime::distributed {
namespace {

std::vector<std::int64_t> starts_of(const std::vector<std::int64_t>& counts) {
  std::vector<std::int64_t> starts(counts.size() + 1, 0);
  std::partial_sum(counts.begin(), counts.end(), starts.begin() + 1);
  return starts;
}

}  // namespace

template <class T>
void MovedPoints<T>::plan(const Communicator& ranks, int dim, const std::vector<std::int32_t>& owner) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(ranks.size()), 0);
  for (const std::int32_t r : owner) ++counts[static_cast<std::size_t>(r)];
  const std::vector<std::int64_t> arriving = ranks.swap(counts);
  ranks.together([&] {
    const std::int64_t most = *std::max_element(counts.begin(), counts.end());
    if (most > std::numeric_limits<int>::max())
      throw Error(Status::size_overflow, "more than 2147483647 points move to one rank; use more ranks");
    own_ = static_cast<std::int64_t>(owner.size());
    dim_ = dim;
    sent_ = starts_of(counts);
    received_ = starts_of(arriving);
    arrived_ = received_.back();
    const auto self = static_cast<std::size_t>(ranks.rank());
    stays_ = counts[self] == own_ && arriving[self] == arrived_;
    order_.resize(stays_ ? 0 : own_);
    packed_.resize(stays_ ? 0 : own_);
    values_.resize(stays_ ? 0 : own_);
    for (int d = 0; d < dim; ++d) coordinates_[static_cast<std::size_t>(d)].resize(stays_ ? 0 : arrived_);
    if (stays_) return;
    std::vector<std::int64_t> next(sent_.begin(), sent_.end() - 1);
    for (std::int64_t j = 0; j < own_; ++j)
      order_[next[static_cast<std::size_t>(owner[static_cast<std::size_t>(j)])]++] = j;
  });
}

template <class T>
template <class E>
void MovedPoints<T>::exchange(const Communicator& ranks, E* sent_order, E* arrived_order, bool out,
                              std::int64_t element) const {
  const DataType type = run_type(element);
  std::vector<Message> here, there;
  for (int step = 1; step < ranks.size(); ++step) {
    const int other = (ranks.rank() + step) % ranks.size();
    const auto r = static_cast<std::size_t>(other);
    if (sent_[r + 1] > sent_[r]) here.push_back({other, sent_order + sent_[r], sent_[r + 1] - sent_[r], *type});
    if (received_[r + 1] > received_[r])
      there.push_back({other, arrived_order + received_[r], received_[r + 1] - received_[r], *type});
  }
  const auto self = static_cast<std::size_t>(ranks.rank());
  const std::int64_t count = sent_[self + 1] - sent_[self];
  const auto copy_own = [&] {
    E *from = sent_order + sent_[self], *to = arrived_order + received_[self];
    out ? std::copy_n(from, count, to) : std::copy_n(to, count, from);
  };
  out ? ranks.exchange(here, there, copy_own) : ranks.exchange(there, here, copy_own);
}

template <class T>
std::array<const T*, 3> MovedPoints<T>::move(const Communicator& ranks, const std::array<const T*, 3>& own) {
  std::array<const T*, 3> result = own;
  if (stays_) return result;  // no other rank sends this one a message either
  for (std::size_t at = 0; at < static_cast<std::size_t>(dim_); ++at) {
    for (std::int64_t i = 0; i < own_; ++i) packed_[i] = own[at][order_[i]];
    exchange(ranks, packed_.data(), coordinates_[at].data(), true, sizeof(T));
    result[at] = coordinates_[at].data();
  }
  return result;
}

template <class T>
void MovedPoints<T>::release() {
  for (auto& coordinate : coordinates_) coordinate.release();
}

template <class T>
void MovedPoints<T>::follow(const Communicator& ranks, const Complex* own, Complex* moved) {
  if (stays_) return;
  for (std::int64_t i = 0; i < own_; ++i) values_[i] = own[order_[i]];
  exchange(ranks, values_.data(), moved, true, sizeof(Complex));
}

template <class T>
void MovedPoints<T>::come_back(const Communicator& ranks, const Complex* moved, Complex* own) {
  if (stays_) return;
  exchange(ranks, values_.data(), const_cast<Complex*>(moved), false, sizeof(Complex));
  for (std::int64_t i = 0; i < own_; ++i) own[order_[i]] = values_[i];
}

template <class T>
std::int64_t MovedPoints<T>::bytes() const {
  std::int64_t sum = order_.bytes() + packed_.bytes() + values_.bytes();
  for (const auto& coordinate : coordinates_) sum += coordinate.bytes();
  return sum;
}

template class MovedPoints<float>;
template class MovedPoints<double>;

}  // namespace fourtune::runtime::distributed
