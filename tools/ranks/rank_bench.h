// What the ranks do for the tuner: one problem, transforms of it by several plans, and their times and errors. Every
// member is collective: all ranks call the same ones in the same order. What one throws, it throws on every rank.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/distributed/communicator.h"
#include "tools/ranks/parts.h"
#include "tuner/measure/validate.h"

namespace fourtune::tools {

class RankBench {
 public:
  // threads: of each rank; 0: its share of its machine's cores.
  RankBench(MPI_Comm comm, int threads);
  const runtime::distributed::Communicator& ranks() const { return ranks_; }
  // The device of this rank: its processor with its share of the cores.
  DeviceTraits traits() const;

  // Makes points, input and reference on rank 0 and deals them evenly. Ends all transforms.
  void load(const std::string& token, std::uint64_t seed);
  // Adds a transform with this plan, whose number is the count of those before it; returns the seconds of the slowest
  // rank. set_points is repeated when it is short, as the first call also allocates.
  double bind(const std::string& plan);
  double set_points(std::size_t transform);
  // Executes once, compares with direct sums on rank 0, and (complex transforms) tests the adjoint with every output.
  tuner::Validation check(std::size_t transform);
  // The seconds of the slowest rank for so many executes, which begin together.
  double run(std::size_t transform, int count);
  void release();
  // Of rank 0.
  const DistributedTransform& transform(std::size_t i) const { return *transforms_[i]; }

 private:
  void execute(DistributedTransform& transform, bool adjoint);
  double mismatch(DistributedTransform& transform);
  double sum_of_products(const Bytes& a, const Bytes& b) const;
  bool first() const { return ranks_.rank() == 0; }

  MPI_Comm comm_;
  int threads_;
  runtime::distributed::Communicator ranks_;
  Problem problem_;
  bool reads_first_ = true;
  std::unique_ptr<tuner::ProblemData> data_;  // of rank 0
  std::array<Bytes, 6> coordinates_;          // of this rank
  Share sources_, targets_;
  std::array<RankBox, 2> boxes_;
  std::array<Bytes, 2> arrays_;  // execute's arguments
  std::vector<std::unique_ptr<DistributedTransform>> transforms_;
};

}  // namespace fourtune::tools
