// Nonuniform points that move to the rank of their cell once, and their values that follow in every transform.
//
// Arriving points are in the order of their ranks, and those of one rank in that rank's order. So points that are cut
// into consecutive pieces, one per rank, arrive in the order of the whole list, however many ranks there are.
//
// Where the ranks of a machine share memory, it has a section for each of them, in which the others put what it gets
// and find what they get back: nothing is sent. Values are read and written point by point in the order of tiles, which
// needs huge pages to be fast, and shared memory mostly has small ones; so what arrives is copied once, in order.
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
  void bind(std::int64_t at_once, bool by_memory, int threads) {
    at_once_ = at_once, by_memory_ = by_memory, threads_ = threads;
  }
  // Point j of `dim` coordinates goes to rank owner[j]; the list stays as it is until the next call. `counts`: of the
  // points of each thread (cpu::share_of), how many go to each rank. Collective; throws the same Error on every rank.
  void plan(const Communicator& ranks, int dim, const cpu::Buffer<std::int32_t>& owner,
            std::vector<std::int64_t> counts);
  // Moves coordinates; the arrays of the result live until the next call, or are the caller's where nothing moves.
  // Collective.
  std::array<const T*, 3> move(const Communicator& ranks, const std::array<const T*, 3>& own);
  // Frees the coordinates.
  void release();

  std::int64_t arrived() const { return arrived_; }
  // True where no point of this rank moves and none arrives: values stay in the caller's arrays.
  bool stays() const { return stays_; }
  // Values of `count` transforms follow their points, and come back. Between the two they are at moved(), those of the
  // next transform arrived() places behind; where nothing moves they stay in the caller's arrays. Collective.
  void follow(const Communicator& ranks, const Complex* own, std::int64_t count);
  void come_back(const Communicator& ranks, Complex* own, std::int64_t count);
  Complex* moved() { return moved_.data(); }
  std::int64_t bytes() const;

 private:
  // Where what goes to one rank begins, or is found when it comes back; the next coordinate is `distance` behind.
  template <class E>
  struct Place {
    E* at;
    std::int64_t distance;
  };
  void plan_sections(const Communicator& ranks);
  template <class E>
  E* shared(std::int64_t number) const {
    return reinterpret_cast<E*>(memory_.data()) + number * all_;
  }
  template <class E>
  void find_places(E* arrived, E* leaving, std::vector<Place<E>>& places) const;
  template <class F>
  void for_each_point(F f);
  template <class F>
  void for_each_arrived_run(F f) const;
  template <class E>
  void exchange(const Communicator& ranks, E* leaving, E* arrived, bool out, std::int64_t element) const;
  void meet_sharing(const Communicator& ranks) const {
    if (by_memory_) meet(ranks);
  }

  int dim_ = 0, threads_ = 1;
  std::size_t self_ = 0;
  std::int64_t own_ = 0, arrived_ = 0, at_once_ = 1;
  bool stays_ = true, by_memory_ = false;
  const std::int32_t* owner_ = nullptr;
  std::vector<std::int64_t> sent_;       // of what leaves, first place of each rank, and the end
  std::vector<std::int64_t> received_;   // first place of each rank among the arrived, and the end
  std::vector<std::int64_t> before_;     // of each thread, by rank: points of earlier threads that go there
  std::vector<std::int64_t> next_;       // the same while points are passed
  cpu::Buffer<T> coordinates_, packed_;  // each coordinate behind the one before
  cpu::Buffer<Complex> values_, moved_;
  std::vector<Place<Complex>> value_places_;
  MachineMemory memory_;
  std::int64_t all_ = 0, section_ = 0;  // points of all ranks; where this rank's section begins
  std::vector<std::int64_t> sections_;  // where this rank's points for each rank begin
};

}  // namespace fourtune::runtime::distributed
