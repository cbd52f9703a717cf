// Transforms over the ranks of an MPI communicator, in C++: link libfourtune_mpi instead of libfourtune.
// docs/distributed.md has an example, docs/design/distributed.md how it works. fourtune.h has the formulas, the order
// of modes and the element types, which are the same here.
//
// Every rank makes the transform with the same problem, options (except for threads, backend and device) and
// communicator, and all ranks make the same calls in the same order: all members that are marked collective wait for
// the other ranks.
//
// Parts. A rank holds any number of nonuniform points, also none. Of each uniform array it holds one box, which
// modes(), first_part() and second_part() return; x is the fastest dimension, boxes are dense, and the transforms of a
// batch follow each other. With more ranks than rows some boxes are empty.
//
// Memory. Arrays are in host memory, whatever the backend; a rank with a GPU copies what the GPU needs. Arrays of
// transforms by slabs on GPUs, and of types 1 and 2 where the plan has exchange=nccl, may also be in the memory of the
// rank's GPU. What writes these must be finished, or on the default stream, when execute is called; execute returns
// when its work is done.
//
// Errors. When a collective call fails on one rank, it throws the same Error on every rank, with the number of the
// lowest rank that failed in its message. When some ranks execute and others execute the adjoint or set points, all of
// them throw Error{contradiction}. Where MPI itself fails or a rank dies, MPI's rules apply: most programs end.
// Error{communication} has MPI's words where it returns.
//
// Threads. A transform serves one thread at a time, and the ranks' calls must be in the same order; MPI must have been
// initialised with a level that allows the calling thread (MPI_THREAD_FUNNELED for the main one).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fourtune/export.h"
#include "fourtune/transform.h"

namespace fourtune {

// The part of a uniform array that a rank holds: positions first[d] .. first[d] + size[d] - 1 of each dimension x, y,
// z, counted from 0 in the order in which the array stores them (mode_order). A size is 1 beyond the problem's
// dimension; an empty part has a size of 0.
struct Part {
  std::array<std::int64_t, 3> first{0, 0, 0};
  std::array<std::int64_t, 3> size{1, 1, 1};
  std::int64_t count() const noexcept { return size[0] * size[1] * size[2]; }
};

class FOURTUNE_API DistributedTransform {
 public:
  // Collective. `communicator` is the Fortran handle of an MPI communicator, MPI_Comm_c2f(comm), which is duplicated.
  // The problem has 2 or 3 dimensions. Its m (and k), where it has any, count the points of all ranks. Options:
  //   plan           a text of docs/design/distributed.md: "ranks=slabs", "ranks=pencils(grid=2x4)",
  //                  "ranks=replicated", each with or without the plan of a rank behind it, or such a plan alone
  //   deterministic  the same bits in every run and on any number of ranks, when the ranks' points one after the other
  //                  are the same list
  //   threads        of this rank; 0: this rank's share of its machine's cores
  //   backend        the same on all ranks for an fft
  //   device         -1: the devices of a machine in turn
  // Options for which Error{invalid_option} is thrown: stream, only, distinct_points. Throws Error{contradiction} when
  // the ranks' problems or options differ, and otherwise as Transform does.
  DistributedTransform(std::string_view problem, int communicator, const Options& options = {});
  // Collective, unless MPI has ended.
  ~DistributedTransform();
  DistributedTransform(DistributedTransform&&) noexcept;
  DistributedTransform& operator=(DistributedTransform&&) noexcept;

  // Collective. This rank's points (and, of a type 3, its targets). Throws as Transform::set_points does; a count in
  // the problem is that of all ranks together.
  void set_points(const Points& points);
  // Collective. Like Transform's, with this rank's parts: values of its points, and the box of modes(); for an fft the
  // boxes of first_part() and second_part(). Empty arrays may be null. Throws Error{invalid_argument} for an array in a
  // GPU's memory where the plan takes host arrays only.
  void execute(void* point_values, void* mode_values);
  void execute_adjoint(void* point_values, void* mode_values);

  // This rank's part of the modes of types 1 and 2: all of x (in 2D a part of it), a part of y, all of z. Throws
  // Error{invalid_argument} for a type 3 or an fft.
  Part modes() const;
  // This rank's parts of the arrays that execute takes for an fft. They depend on its plan:
  //
  //            slabs (in 2D)            pencils on a grid of A x B ranks, 3D; rank r = i + A j
  //   space    a part of z (of y)       all of x, part i of A of y, part j of B of z
  //   spectrum a part of y (of x)       part i of A of x, part j of B of y, all of z
  //
  // Parts differ in size by one at most, the larger ones first. Slabs are a grid of 1 x ranks, and their spectra are
  // split like modes(). The first array is the spatial one for c2c with sign -1 and r2c, and the second one for c2c
  // with sign +1 and c2r. A transform and its inverse (the same sizes, precision and batch, the other sign) have
  // matching parts, also where the library chooses their plans. Transforms that differ in more are certain to have them
  // only where the option plan says so: "ranks=slabs", or "ranks=pencils(grid=AxB)". Throws Error{invalid_argument} for
  // other problems.
  Part first_part() const;
  Part second_part() const;

  int rank() const noexcept;
  int ranks() const noexcept;
  const Problem& problem() const noexcept;  // set_points fills in m and k, those of all ranks together
  MemoryUse memory() const;                 // of this rank
  const std::string& plan() const noexcept;
  const std::string& explain() const noexcept;
  std::vector<StageTime> stage_times() const;  // of this rank

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fourtune
