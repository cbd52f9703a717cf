// The arrays of a case, cut for the ranks and put together again.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>

#include "fourtune/distributed.h"
#include "tools/soak/data.h"

namespace fourtune::tools {

// How a list of points is distributed over the ranks.
enum class Deal { even, halves, last };  // halves: each rank has half of what is left; last: one rank has all
struct PointShare {
  std::int64_t begin = 0, count = 0;
};
PointShare share_of(Deal deal, std::int64_t count, int rank, int ranks);

// What one rank has of an array without gaps: a box of each transform.
struct RankBox {
  Sizes sizes;  // of one whole transform
  Part part;
  std::int64_t batch = 1;
  std::int64_t element = 16;  // bytes
};
bool operator==(const RankBox& a, const RankBox& b);
// Of execute's two arguments.
std::array<RankBox, 2> boxes_of(const DistributedTransform& transform, const Problem& problem,
                                const PointShare& sources, const PointShare& targets);
Bytes cut(const Bytes& whole, const RankBox& box);
// On rank 0 the whole array, elsewhere nothing. Collective.
Bytes gather(const Bytes& own, const RankBox& box, MPI_Comm comm);
// This rank's part of an array that rank 0 has; elsewhere `whole` is not looked at. Collective.
Bytes scatter(const std::byte* whole, const RankBox& box, MPI_Comm comm);

}  // namespace fourtune::tools
