#include "runtime/distributed/moved_points.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "fourtune/problem.h"
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
    const bool sends = !stays_ && !by_memory_;
    packed_.resize(sends ? own_ : 0);
    values_.resize(sends ? own_ : 0);
    moved_.resize(sends ? checked_multiply(arrived_, at_once_, "values") : 0);
    for (int d = 0; d < dim; ++d) coordinates_[static_cast<std::size_t>(d)].resize(sends ? arrived_ : 0);
    if (stays_) return;
    std::vector<std::int64_t> next(sent_.begin(), sent_.end() - 1);
    for (std::int64_t j = 0; j < own_; ++j)
      order_[next[static_cast<std::size_t>(owner[static_cast<std::size_t>(j)])]++] = j;
  });
  if (by_memory_) plan_sections(ranks);
}

// Sections follow each other by rank, and so does what a section gets.
template <class T>
void MovedPoints<T>::plan_sections(const Communicator& ranks) {
  const std::vector<std::int64_t> sections = starts_of(ranks.of_all(arrived_));
  all_ = sections.back();
  section_ = sections[static_cast<std::size_t>(ranks.rank())];
  places_ = ranks.swap({received_.begin(), received_.end() - 1});
  for (std::size_t r = 0; r < places_.size(); ++r) places_[r] += sections[r];
  std::int64_t bytes = 0;
  ranks.together([&] {
    const std::int64_t real = static_cast<std::int64_t>(sizeof(T));
    bytes = checked_multiply(std::max<std::int64_t>(1, all_), std::max(dim_ * real, 2 * real * at_once_), "values");
  });
  memory_.resize(ranks, bytes);
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
  if (by_memory_) {
    meet(ranks);
    for (std::int64_t d = 0; d < dim_ && !stays_; ++d) {
      const T* const from = own[static_cast<std::size_t>(d)];
      for_each_rank([&](std::int64_t place, std::int64_t first, std::int64_t count) {
        T* const to = shared<T>(d) + place;
        for (std::int64_t i = 0; i < count; ++i) to[i] = from[order_[first + i]];
      });
      result[static_cast<std::size_t>(d)] = section<T>(d);
    }
    meet(ranks);
    return result;
  }
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
void MovedPoints<T>::follow(const Communicator& ranks, const Complex* own, std::int64_t count) {
  meet_sharing(ranks);
  for (std::int64_t b = 0; b < count && !stays_; ++b, own += own_) {
    if (by_memory_) {
      for_each_rank([&](std::int64_t place, std::int64_t first, std::int64_t points) {
        Complex* const to = shared<Complex>(b) + place;
        for (std::int64_t i = 0; i < points; ++i) to[i] = own[order_[first + i]];
      });
      continue;
    }
    for (std::int64_t i = 0; i < own_; ++i) values_[i] = own[order_[i]];
    exchange(ranks, values_.data(), moved_.data() + b * arrived_, true, sizeof(Complex));
  }
  meet_sharing(ranks);
}

template <class T>
void MovedPoints<T>::come_back(const Communicator& ranks, Complex* own, std::int64_t count) {
  meet_sharing(ranks);
  for (std::int64_t b = 0; b < count && !stays_; ++b, own += own_) {
    if (by_memory_) {
      for_each_rank([&](std::int64_t place, std::int64_t first, std::int64_t points) {
        const Complex* const from = shared<Complex>(b) + place;
        for (std::int64_t i = 0; i < points; ++i) own[order_[first + i]] = from[i];
      });
      continue;
    }
    exchange(ranks, values_.data(), moved_.data() + b * arrived_, false, sizeof(Complex));
    for (std::int64_t i = 0; i < own_; ++i) own[order_[i]] = values_[i];
  }
}

template <class T>
std::int64_t MovedPoints<T>::bytes() const {
  std::int64_t sum = order_.bytes() + packed_.bytes() + values_.bytes() + moved_.bytes();
  if (by_memory_ && !stays_) sum += arrived_ * at_once_ * static_cast<std::int64_t>(sizeof(Complex));
  for (const auto& coordinate : coordinates_) sum += coordinate.bytes();
  return sum;
}

template class MovedPoints<float>;
template class MovedPoints<double>;

}  // namespace fourtune::runtime::distributed
