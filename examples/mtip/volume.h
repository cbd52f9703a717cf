// The grid, cut over the ranks. Arrays in space lie by columns (parts of y) and arrays in reciprocal space by planes
// (parts of z): that is how the transforms between them leave and take them, and how those at images' points do.
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "examples/mtip/geometry.h"
#include "fourtune/distributed.h"

namespace mtip {

using Complex = std::complex<double>;
using Values = std::vector<Complex>;

// Points of reciprocal space of this rank.
struct Samples {
  std::vector<double> x, y, z;
  void add(const Vector& q) { x.push_back(q[0]), y.push_back(q[1]), z.push_back(q[2]); }
  std::int64_t count() const { return static_cast<std::int64_t>(x.size()); }
};

// Where and how exactly ranks compute.
struct Computing {
  std::string backend;  // empty: cpu; "cuda": the GPUs of a machine in turn
  double tol = 1e-6;    // of nonuniform transforms
};

class Volume {
 public:
  // n^3 cells; positions are in the order of FFTs. Collective, as all members that transform.
  Volume(std::int64_t n, int communicator, const Computing& computing);

  std::int64_t n() const { return n_; }
  std::size_t space_count() const { return static_cast<std::size_t>(to_reciprocal_.first_part().count()); }
  std::size_t reciprocal_count() const { return static_cast<std::size_t>(to_reciprocal_.second_part().count()); }
  // Calls f(element, position as signed cells, or as radians per cell) for this rank's part.
  template <class F>
  void for_each_cell(F f) const {
    each(to_reciprocal_.first_part(), 1, f);
  }
  template <class F>
  void for_each_frequency(F f) const {
    each(to_reciprocal_.second_part(), 6.283185307179586 / static_cast<double>(n_), f);
  }

  // F(q) = sum over cells of f(x) exp(i q.x), and its inverse.
  Values to_reciprocal(Values f);
  Values to_space(Values f);

  // Sets this rank's sample points, and adds up what they have, by parts of the array in space (type 1).
  void set_samples(const Samples& samples);
  Values merge(Values values);
  // The Fourier transform, at these samples of this rank, of an array in space that is zero beyond half the cells of
  // each side (type 2).
  Values slice(const Values& f, const Samples& samples);

 private:
  template <class F>
  void each(const fourtune::Part& part, double unit, F f) const {
    std::size_t at = 0;
    const auto place = [&](std::int64_t p) { return unit * static_cast<double>(p < n_ - n_ / 2 ? p : p - n_); };
    for (std::int64_t z = 0; z < part.size[2]; ++z)
      for (std::int64_t y = 0; y < part.size[1]; ++y)
        for (std::int64_t x = 0; x < part.size[0]; ++x)
          f(at++, Vector{place(part.first[0] + x), place(part.first[1] + y), place(part.first[2] + z)});
  }

  std::int64_t n_, half_;
  // c2c with sign +1 takes columns and leaves planes; with sign -1 it goes back.
  fourtune::DistributedTransform to_reciprocal_, to_space_, merge_, slice_;
};

}  // namespace mtip
