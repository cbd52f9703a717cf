#include "runtime/distributed/shared_array.h"

#include <algorithm>

namespace fourtune::runtime::distributed {

template <class T>
void SharedArray<T>::bind(const Communicator& ranks, std::int64_t rows, const Split& columns) {
  rows_ = rows;
  columns_ = columns;
  const auto element = static_cast<std::int64_t>(sizeof(Complex));
  slices_.clear();
  for (int r = 0; r < ranks.size(); ++r)
    slices_.push_back(rows_type(rows, columns.size(r) * element, columns.items() * element));
  row_ = run_type(columns.size(ranks.rank()) * element);
  arrived_.resize(checked_multiply(part(ranks.rank()), ranks.size() - 1, "parts of a sum"));
}

template <class T>
void SharedArray<T>::copy_own(const Communicator& ranks, const Complex* from, std::int64_t from_row, Complex* to,
                              std::int64_t to_row) const {
  for (std::int64_t i = 0; i < rows_; ++i)
    std::copy_n(from + i * from_row, columns_.size(ranks.rank()), to + i * to_row);
}

template <class T>
void SharedArray<T>::gather(const Communicator& ranks, const Complex* own, Complex* whole) const {
  const int self = ranks.rank();
  std::vector<Message> send, receive;
  for (int step = 1; step < ranks.size(); ++step) {
    const int to = (self + step) % ranks.size(), from = (self + ranks.size() - step) % ranks.size();
    if (part(self) > 0) send.push_back({to, const_cast<Complex*>(own), rows_, *row_});
    if (part(from) > 0)
      receive.push_back({from, whole + columns_.begin(from), 1, *slices_[static_cast<std::size_t>(from)]});
  }
  ranks.exchange(send, receive,
                 [&] { copy_own(ranks, own, columns_.size(self), whole + columns_.begin(self), columns_.items()); });
}

template <class T>
void SharedArray<T>::reduce(const Communicator& ranks, const Complex* whole, Complex* own) {
  const int self = ranks.rank();
  const std::int64_t mine = part(self);
  const auto place = [&](int rank) { return arrived_.data() + (rank < self ? rank : rank - 1) * mine; };
  std::vector<Message> send, receive;
  for (int step = 1; step < ranks.size(); ++step) {
    const int to = (self + step) % ranks.size(), from = (self + ranks.size() - step) % ranks.size();
    if (part(to) > 0)
      send.push_back({to, const_cast<Complex*>(whole) + columns_.begin(to), 1, *slices_[static_cast<std::size_t>(to)]});
    if (mine > 0) receive.push_back({from, place(from), rows_, *row_});
  }
  ranks.exchange(send, receive,
                 [&] { copy_own(ranks, whole + columns_.begin(self), columns_.items(), own, columns_.size(self)); });
  // Rank 0's part comes first, so that every run adds in the same order.
  for (std::int64_t i = 0; i < mine; ++i) {
    Complex sum{};
    for (int r = 0; r < ranks.size(); ++r) sum += r == self ? own[i] : place(r)[i];
    own[i] = sum;
  }
}

template class SharedArray<float>;
template class SharedArray<double>;

}  // namespace fourtune::runtime::distributed
