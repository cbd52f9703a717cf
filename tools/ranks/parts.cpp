#include "tools/ranks/parts.h"

#include <algorithm>
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

// A message of any length, in pieces that MPI can count.
constexpr std::size_t kPiece = std::size_t{1} << 30;
constexpr int kTag = 2;
void send(const Bytes& bytes, int to, MPI_Comm comm) {
  for (std::size_t at = 0; at < bytes.size(); at += kPiece)
    MPI_Send(bytes.data() + at, static_cast<int>(std::min(kPiece, bytes.size() - at)), MPI_BYTE, to, kTag, comm);
}
Bytes received(std::size_t count, int from, MPI_Comm comm) {
  Bytes bytes(count);
  for (std::size_t at = 0; at < count; at += kPiece)
    MPI_Recv(bytes.data() + at, static_cast<int>(std::min(kPiece, count - at)), MPI_BYTE, from, kTag, comm,
             MPI_STATUS_IGNORE);
  return bytes;
}

// The boxes of all ranks on rank 0, elsewhere nothing.
std::vector<RankBox> boxes_on_first(const RankBox& own, MPI_Comm comm) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  std::vector<Part> parts(rank == 0 ? static_cast<std::size_t>(ranks) : 0);
  MPI_Gather(&own.part, sizeof(Part), MPI_BYTE, parts.data(), sizeof(Part), MPI_BYTE, 0, comm);
  std::vector<RankBox> boxes(parts.size(), own);
  for (std::size_t r = 0; r < parts.size(); ++r) boxes[r].part = parts[r];
  return boxes;
}

Bytes cut(const std::byte* whole, const RankBox& box) {
  Bytes own(part_bytes(box));
  for_each_row(box,
               [&](std::int64_t to, std::int64_t from) { std::memcpy(own.data() + to, whole + from, row_bytes(box)); });
  return own;
}

RankBox listed(const PointShare& share, std::int64_t count, const Problem& problem) {
  RankBox box;
  box.sizes = {count, 1, 1};
  box.part = {{share.begin, 0, 0}, {share.count, 1, 1}};
  box.batch = problem.batch;
  box.element = 2 * real_bytes(problem.precision);
  return box;
}

}  // namespace

PointShare share_of(Deal deal, std::int64_t count, int rank, int ranks) {
  if (deal == Deal::last) return {0, rank + 1 == ranks ? count : 0};
  if (deal == Deal::halves) {
    std::int64_t begin = 0;
    for (int r = 0; r < rank; ++r) begin += (count - begin) / 2;
    return {begin, rank + 1 == ranks ? count - begin : (count - begin) / 2};
  }
  const std::int64_t begin = count * rank / ranks;
  return {begin, count * (rank + 1) / ranks - begin};
}

bool operator==(const RankBox& a, const RankBox& b) {
  return a.sizes == b.sizes && a.part.first == b.part.first && a.part.size == b.part.size && a.batch == b.batch &&
         a.element == b.element;
}

std::array<RankBox, 2> boxes_of(const DistributedTransform& transform, const Problem& problem,
                                const PointShare& sources, const PointShare& targets) {
  if (problem.kind == Kind::nufft) {
    RankBox second = listed(targets, problem.k.value_or(0), problem);
    if (problem.type != 3) second.sizes = problem.n, second.part = transform.modes();
    return {listed(sources, problem.m.value_or(0), problem), second};
  }
  const std::int64_t real = real_bytes(problem.precision);
  return {RankBox{input_sizes(problem), transform.first_part(), problem.batch,
                  problem.fft_type == FftType::r2c ? real : 2 * real},
          RankBox{output_sizes(problem), transform.second_part(), problem.batch,
                  problem.fft_type == FftType::c2r ? real : 2 * real}};
}

Bytes cut(const Bytes& whole, const RankBox& box) { return cut(whole.data(), box); }

Bytes gather(const Bytes& own, const RankBox& box, MPI_Comm comm) {
  const std::vector<RankBox> boxes = boxes_on_first(box, comm);
  if (boxes.empty()) {
    send(own, 0, comm);
    return {};
  }
  Bytes whole(static_cast<std::size_t>(box.sizes[0] * box.sizes[1] * box.sizes[2] * box.batch * box.element),
              kUnwritten);
  for (std::size_t r = 0; r < boxes.size(); ++r) {
    const Bytes part = r == 0 ? own : received(part_bytes(boxes[r]), static_cast<int>(r), comm);
    for_each_row(boxes[r], [&](std::int64_t from, std::int64_t to) {
      std::memcpy(whole.data() + to, part.data() + from, row_bytes(boxes[r]));
    });
  }
  return whole;
}

Bytes scatter(const std::byte* whole, const RankBox& box, MPI_Comm comm) {
  const std::vector<RankBox> boxes = boxes_on_first(box, comm);
  if (boxes.empty()) return received(part_bytes(box), 0, comm);
  for (std::size_t r = 1; r < boxes.size(); ++r) send(cut(whole, boxes[r]), static_cast<int>(r), comm);
  return cut(whole, box);
}

}  // namespace fourtune::tools
