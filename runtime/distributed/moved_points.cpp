#include "runtime/distributed/moved_points.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "fourtune/problem.h"
#include "fourtune/status.h"
#include "runtime/backends/cpu/base/team.h"
#include "runtime/backends/cpu/gridder/share.h"

namespace fourtune::runtime::distributed {
namespace {

std::vector<std::int64_t> starts_of(const std::vector<std::int64_t>& counts) {
  std::vector<std::int64_t> starts(counts.size() + 1, 0);
  std::partial_sum(counts.begin(), counts.end(), starts.begin() + 1);
  return starts;
}

}  // namespace

template <class T>
void MovedPoints<T>::plan(const Communicator& ranks, int dim, const cpu::Buffer<std::int32_t>& owner,
                          std::vector<std::int64_t> of_threads) {
  own_ = owner.size();
  owner_ = owner.data();
  dim_ = dim;
  self_ = static_cast<std::size_t>(ranks.rank());
  before_ = std::move(of_threads);
  const auto size = static_cast<std::size_t>(ranks.size());
  std::vector<std::int64_t> counts(size, 0);
  for (std::size_t i = 0; i < before_.size(); ++i) {
    std::int64_t& all = counts[i % size];
    all += std::exchange(before_[i], all);
  }
  const std::vector<std::int64_t> arriving = ranks.swap(counts);
  ranks.together([&] {
    const std::int64_t most = *std::max_element(counts.begin(), counts.end());
    if (most > std::numeric_limits<int>::max())
      throw Error(Status::size_overflow, "more than 2147483647 points move to one rank; use more ranks");
    received_ = starts_of(arriving);
    arrived_ = received_.back();
    stays_ = counts[self_] == own_ && arriving[self_] == arrived_;
    counts[self_] = 0;
    sent_ = starts_of(counts);
    const bool sends = !stays_ && !by_memory_;
    packed_.resize(sends ? checked_multiply(sent_.back(), dim, "points") : 0);
    coordinates_.resize(sends ? checked_multiply(arrived_, dim, "points") : 0);
    values_.resize(sends ? sent_.back() : 0);
    moved_.resize(stays_ ? 0 : checked_multiply(arrived_, at_once_, "values"));
  });
  if (by_memory_) plan_sections(ranks);
}

// Sections follow each other by rank, and so does what a section gets. Values that stay on their rank leave theirs
// unused.
template <class T>
void MovedPoints<T>::plan_sections(const Communicator& ranks) {
  const std::vector<std::int64_t> begins = starts_of(ranks.of_all(arrived_));
  all_ = begins.back();
  section_ = begins[self_];
  sections_ = ranks.swap({received_.begin(), received_.end() - 1});
  for (std::size_t r = 0; r < sections_.size(); ++r) sections_[r] += begins[r];
  std::int64_t bytes = 0;
  ranks.together([&] {
    const std::int64_t real = static_cast<std::int64_t>(sizeof(T));
    bytes = checked_multiply(std::max<std::int64_t>(1, all_), std::max(dim_ * real, 2 * real * at_once_), "values");
  });
  memory_.resize(ranks, bytes);
}

// What stays goes straight to its place among the arrived; `leaving` is packed, or the shared array.
template <class T>
template <class E>
void MovedPoints<T>::find_places(E* arrived, E* leaving, std::vector<Place<E>>& places) const {
  places.clear();
  for (std::size_t r = 0; r + 1 < sent_.size(); ++r)
    places.push_back(by_memory_ ? Place<E>{leaving + sections_[r], all_} : Place<E>{leaving + sent_[r], sent_.back()});
  if (arrived != nullptr) places[self_] = {arrived + received_[self_], arrived_};
}

// Calls f(j, its rank, its number among the points that go there) for each of this rank's points.
template <class T>
template <class F>
void MovedPoints<T>::for_each_point(F f) {
  next_ = before_;
  cpu::parallel_for(threads_, threads_, [&](std::int64_t p) {
    const cpu::Share piece = cpu::share_of(own_, p, threads_);
    std::int64_t* const next = next_.data() + p * static_cast<std::int64_t>(sent_.size() - 1);
    for (std::int64_t j = piece.begin; j < piece.end; ++j) {
      const auto r = static_cast<std::size_t>(owner_[j]);
      f(j, r, next[r]++);
    }
  });
}

// Calls f(place, count) for the points that arrived from other ranks, in pieces and on all threads.
template <class T>
template <class F>
void MovedPoints<T>::for_each_arrived_run(F f) const {
  const std::int64_t before = received_[self_], after = received_[self_ + 1];
  cpu::parallel_for(threads_, 2 * threads_, [&](std::int64_t p) {
    const bool first = p < threads_;
    const std::int64_t begin = first ? 0 : after, count = first ? before : arrived_ - after;
    const cpu::Share piece = cpu::share_of(count, first ? p : p - threads_, threads_);
    if (piece.end > piece.begin) f(begin + piece.begin, piece.end - piece.begin);
  });
}

template <class T>
template <class E>
void MovedPoints<T>::exchange(const Communicator& ranks, E* leaving, E* arrived, bool out, std::int64_t element) const {
  const DataType type = run_type(element);
  std::vector<Message> here, there;
  for (int step = 1; step < ranks.size(); ++step) {
    const int other = (ranks.rank() + step) % ranks.size();
    const auto r = static_cast<std::size_t>(other);
    if (sent_[r + 1] > sent_[r]) here.push_back({other, leaving + sent_[r], sent_[r + 1] - sent_[r], *type});
    if (received_[r + 1] > received_[r])
      there.push_back({other, arrived + received_[r], received_[r + 1] - received_[r], *type});
  }
  out ? ranks.exchange(here, there) : ranks.exchange(there, here);
}

template <class T>
std::array<const T*, 3> MovedPoints<T>::move(const Communicator& ranks, const std::array<const T*, 3>& own) {
  meet_sharing(ranks);
  std::array<const T*, 3> result = own;
  if (!stays_) {
    std::vector<Place<T>> places;
    by_memory_ ? find_places<T>(nullptr, shared<T>(0), places)
               : find_places<T>(coordinates_.data(), packed_.data(), places);
    for_each_point([&](std::int64_t j, std::size_t r, std::int64_t k) {
      T* to = places[r].at + k;
      for (std::size_t d = 0; d < static_cast<std::size_t>(dim_); ++d, to += places[r].distance) *to = own[d][j];
    });
    for (std::int64_t d = 0; d < dim_; ++d) {
      T* const arrived = by_memory_ ? shared<T>(d) + section_ : coordinates_.data() + d * arrived_;
      if (!by_memory_) exchange(ranks, packed_.data() + d * sent_.back(), arrived, true, sizeof(T));
      result[static_cast<std::size_t>(d)] = arrived;
    }
  }
  meet_sharing(ranks);
  return result;
}

template <class T>
void MovedPoints<T>::release() {
  coordinates_.release();
  packed_.release();
}

template <class T>
void MovedPoints<T>::follow(const Communicator& ranks, const Complex* own, std::int64_t count) {
  meet_sharing(ranks);
  for (std::int64_t b = 0; b < count && !stays_; ++b, own += own_) {
    Complex* const arrived = moved_.data() + b * arrived_;
    find_places(arrived, by_memory_ ? shared<Complex>(b) : values_.data(), value_places_);
    for_each_point([&, own](std::int64_t j, std::size_t r, std::int64_t k) { value_places_[r].at[k] = own[j]; });
    if (!by_memory_) exchange(ranks, values_.data(), arrived, true, sizeof(Complex));
  }
  meet_sharing(ranks);
  for (std::int64_t b = 0; b < count && by_memory_ && !stays_; ++b) {
    const Complex* const from = shared<Complex>(b) + section_;
    Complex* const arrived = moved_.data() + b * arrived_;
    for_each_arrived_run([&](std::int64_t i, std::int64_t points) { std::copy_n(from + i, points, arrived + i); });
  }
}

template <class T>
void MovedPoints<T>::come_back(const Communicator& ranks, Complex* own, std::int64_t count) {
  meet_sharing(ranks);  // all have read what came back before
  for (std::int64_t b = 0; b < count && by_memory_ && !stays_; ++b) {
    const Complex* const arrived = moved_.data() + b * arrived_;
    Complex* const to = shared<Complex>(b) + section_;
    for_each_arrived_run([&](std::int64_t i, std::int64_t points) { std::copy_n(arrived + i, points, to + i); });
  }
  meet_sharing(ranks);
  for (std::int64_t b = 0; b < count && !stays_; ++b, own += own_) {
    Complex* const arrived = moved_.data() + b * arrived_;
    if (!by_memory_) exchange(ranks, values_.data(), arrived, false, sizeof(Complex));
    find_places(arrived, by_memory_ ? shared<Complex>(b) : values_.data(), value_places_);
    for_each_point([&, own](std::int64_t j, std::size_t r, std::int64_t k) { own[j] = value_places_[r].at[k]; });
  }
}

template <class T>
std::int64_t MovedPoints<T>::bytes() const {
  std::int64_t sum = coordinates_.bytes() + packed_.bytes() + values_.bytes() + moved_.bytes();
  if (by_memory_ && !stays_) sum += arrived_ * at_once_ * static_cast<std::int64_t>(sizeof(Complex));
  return sum;
}

template class MovedPoints<float>;
template class MovedPoints<double>;

}  // namespace fourtune::runtime::distributed
