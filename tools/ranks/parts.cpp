#include "tools/ranks/parts.h"

#include <cstring>
#include <vector>

namespace fourtune::tools {
namespace {

// Calls f(byte in the part, byte in the whole array) for every row of the box.
template <class F>
void for_each_row(const RankBox& box, F f) {
  const auto& n = box.sizes;
  std::int64_t own = 0;
  for (std::int64_t b = 0; b < box.batch; ++b)
    for (std::int64_t z = 0; z < box.part.size[2]; ++z)
      for (std::int64_t y = 0; y < box.part.size[1]; ++y, own += box.part.size[0])
        f(own * box.element,
          (((b * n[2] + box.part.first[2] + z) * n[1] + box.part.first[1] + y) * n[0] + box.part.first[0]) *
              box.element);
}

std::size_t row_bytes(const RankBox& box) { return static_cast<std::size_t>(box.part.size[0] * box.element); }
std::size_t part_bytes(const RankBox& box) {
  return static_cast<std::size_t>(box.part.count() * box.batch * box.element);
}

}  // namespace

Share share_of(Deal deal, std::int64_t count, int rank, int ranks) {
  if (deal == Deal::last) return {0, rank + 1 == ranks ? count : 0};
  if (deal == Deal::halves) {
    std::int64_t begin = 0;
    for (int r = 0; r < rank; ++r) begin += (count - begin) / 2;
    return {begin, rank + 1 == ranks ? count - begin : (count - begin) / 2};
  }
  const std::int64_t begin = count * rank / ranks;
  return {begin, count * (rank + 1) / ranks - begin};
}

Bytes cut(const Bytes& whole, const RankBox& box) {
  Bytes own(part_bytes(box));
  for_each_row(box, [&](std::int64_t to, std::int64_t from) {
    std::memcpy(own.data() + to, whole.data() + from, row_bytes(box));
  });
  return own;
}

Bytes gather(const Bytes& own, const RankBox& box, MPI_Comm comm) {
  constexpr int kTag = 2;
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  std::array<std::int64_t, 6> place{};
  for (std::size_t d = 0; d < 3; ++d) place[d] = box.part.first[d], place[3 + d] = box.part.size[d];
  if (rank != 0) {
    MPI_Send(place.data(), 6, MPI_INT64_T, 0, kTag, comm);
    MPI_Send(own.data(), static_cast<int>(own.size()), MPI_BYTE, 0, kTag, comm);
    return {};
  }
  Bytes whole(static_cast<std::size_t>(box.sizes[0] * box.sizes[1] * box.sizes[2] * box.batch * box.element),
              kUnwritten);
  for (int r = 0; r < ranks; ++r) {
    RankBox other = box;
    Bytes bytes = own;
    if (r > 0) {
      MPI_Recv(place.data(), 6, MPI_INT64_T, r, kTag, comm, MPI_STATUS_IGNORE);
      for (std::size_t d = 0; d < 3; ++d) other.part.first[d] = place[d], other.part.size[d] = place[3 + d];
      bytes.resize(part_bytes(other));
      MPI_Recv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, r, kTag, comm, MPI_STATUS_IGNORE);
    }
    for_each_row(other, [&](std::int64_t from, std::int64_t to) {
      std::memcpy(whole.data() + to, bytes.data() + from, row_bytes(other));
    });
  }
  return whole;
}

}  // namespace fourtune::tools
