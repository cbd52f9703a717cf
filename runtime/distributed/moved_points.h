// Nonuniform points that move to the rank of their cell once, and their values that follow in every transform.
//
// Arriving points are in the order of their ranks, and those of one rank in that rank's order. So points that are cut
// into consecutive pieces, one per rank, arrive in the order of the whole list, however many ranks there are.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <vector>

#include "runtime/backends/cpu/base/buffer.h"
#include "runtime/distributed/communicator.h"

namespace fourtune::runtime::distributed {

template <class T>
class MovedPoints {
  using Complex = std::complex<T>;

 public:
  // Point j of `dim` coordinates goes to rank owner[j]. Collective; throws the same Error on every rank.
  void plan(const Communicator& ranks, int dim, const std::vector<std::int32_t>& owner);
  // Moves coordinates; the arrays of the result live until the next call, or are the caller's where nothing moves.
  // Collective.
  std::array<const T*, 3> move(const Communicator& ranks, const std::array<const T*, 3>& own);
  // Frees the coordinates.
  void release();

  std::int64_t arrived() const { return arrived_; }
  // True where no point of this rank moves and none arrives: values stay in the caller's arrays.
  bool stays() const { return stays_; }
  // Values follow their points, and come back. `moved` has arrived() places per transform. Collective.
  void follow(const Communicator& ranks, const Complex* own, Complex* moved);
  void come_back(const Communicator& ranks, const Complex* moved, Complex* own);
  std::int64_t bytes() const;

 private:
  template <class E>
  void exchange(const Communicator& ranks, E* sent_order, E* arrived_order, bool out, std::int64_t element) const;

  int dim_ = 0;
  std::int64_t own_ = 0, arrived_ = 0;
  bool stays_ = true;
  std::vector<std::int64_t> sent_;      // first place of each rank in `order_`, and the end
  std::vector<std::int64_t> received_;  // first place of each rank among the arrived, and the end
  cpu::Buffer<std::int64_t> order_;     // this rank's points by where they go
  std::array<cpu::Buffer<T>, 3> coordinates_;
  cpu::Buffer<T> packed_;
  cpu::Buffer<Complex> values_;
};

}  // namespace fourtune::runtime::distributed
