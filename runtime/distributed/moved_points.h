// Nonuniform points that move to the rank of their cell once, and their values that follow in every transform.
//
// Arriving points are in the order of their ranks, and those of one rank in that rank's order. So points that are cut
// into consecutive pieces, one per rank, arrive in the order of the whole list, however many ranks there are.
//
// Where the ranks of a machine share memory, it has a section for each of them, in which the others put what it gets
// and find what they get back: nothing is sent, and nothing copied twice.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <vector>

#include "runtime/backends/cpu/base/buffer.h"
#include "runtime/distributed/communicator.h"
#include "runtime/distributed/machine_memory.h"

namespace fourtune::runtime::distributed {

template <class T>
class MovedPoints {
  using Complex = std::complex<T>;

 public:
  // at_once: transforms whose values move at a time; by_memory: through memory that the ranks share.
  void bind(std::int64_t at_once, bool by_memory) { at_once_ = at_once, by_memory_ = by_memory; }
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
  // Values of `count` transforms follow their points, and come back. Between the two they are at moved(), those of the
  // next transform distance() places behind; where nothing moves they stay in the caller's arrays. Collective.
  void follow(const Communicator& ranks, const Complex* own, std::int64_t count);
  void come_back(const Communicator& ranks, Complex* own, std::int64_t count);
  // Where ranks share memory: all are done with what is there. Before values are written that are to come back.
  // Collective.
  void meet_sharing(const Communicator& ranks) const {
    if (by_memory_) meet(ranks);
  }
  Complex* moved() { return by_memory_ ? section<Complex>(0) : moved_.data(); }
  std::int64_t distance() const { return by_memory_ ? all_ : arrived_; }
  std::int64_t bytes() const;

 private:
  void plan_sections(const Communicator& ranks);
  // This rank's section of array `number` in shared memory, and where in the whole array points for rank r begin.
  template <class E>
  E* section(std::int64_t number) const {
    return shared<E>(number) + section_;
  }
  template <class E>
  E* shared(std::int64_t number) const {
    return reinterpret_cast<E*>(memory_.data()) + number * all_;
  }
  // Calls f(place in the whole array, place in order_, how many) for what goes to each rank.
  template <class F>
  void for_each_rank(F f) const {
    for (std::size_t r = 0; r < places_.size(); ++r)
      if (sent_[r + 1] > sent_[r]) f(places_[r], sent_[r], sent_[r + 1] - sent_[r]);
  }
  template <class E>
  void exchange(const Communicator& ranks, E* sent_order, E* arrived_order, bool out, std::int64_t element) const;

  int dim_ = 0;
  std::int64_t own_ = 0, arrived_ = 0, at_once_ = 1;
  bool stays_ = true, by_memory_ = false;
  std::vector<std::int64_t> sent_;      // first place of each rank in `order_`, and the end
  std::vector<std::int64_t> received_;  // first place of each rank among the arrived, and the end
  cpu::Buffer<std::int64_t> order_;     // this rank's points by where they go
  std::array<cpu::Buffer<T>, 3> coordinates_;
  cpu::Buffer<T> packed_;
  cpu::Buffer<Complex> values_, moved_;
  MachineMemory memory_;
  std::int64_t all_ = 0, section_ = 0;  // points of all ranks; where this rank's section begins
  std::vector<std::int64_t> places_;    // where this rank's points for each rank begin
};

}  // namespace fourtune::runtime::distributed
