// What the ranks do for the tuner: one problem, transforms of it by several plans, and their times and errors. Every
// member is collective: all ranks call the same ones in the same order. What one throws, it throws on every rank.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/backends/device_copy.h"
#include "runtime/distributed/communicator.h"
#include "runtime/distributed/tuned_plan.h"
#include "tools/ranks/parts.h"
#include "tuner/measure/validate.h"

namespace fourtune::tools {

// Where a rank computes.
struct RankHardware {
  std::string backend;  // empty: cpu
  int device = -1;      // of a GPU backend; -1: the devices of a machine in turn
  int threads = 0;      // on the processor; 0: this rank's share of its machine's cores
};

class RankBench {
 public:
  RankBench(MPI_Comm comm, const RankHardware& hardware);
  const runtime::distributed::Communicator& ranks() const { return ranks_; }
  // All ranks, and what moves data between their GPUs.
  runtime::distributed::Crew crew() const { return {ranks_.size(), ranks_.machines(), means_}; }
  // The device of this rank: its GPU, or its processor with its share of the cores.
  DeviceTraits traits() const;

  // Makes points, input and reference on rank 0 and distributes them evenly. Ends all transforms.
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
  // Arrays of the sizes that this transform's parts have; plans may differ in them. What was in arrays with other parts
  // is spoilt.
  void fit(const DistributedTransform& transform);
  // The input that goes with the parts.
  void deal_input();
  void execute(DistributedTransform& transform, bool adjoint);
  double mismatch(DistributedTransform& transform);
  double sum_of_products(const Bytes& a, const Bytes& b) const;
  bool first() const { return ranks_.rank() == 0; }

  int device() const;
  void load_device();
  // Whether a plan's arrays are in the GPU's memory: where ranks have GPUs, all but those of replicated plans that
  // exchange by the host. The plan is known once points are set.
  bool on_device(const DistributedTransform& transform) const;
  // These copy all arrays there, or back.
  void upload();
  void download();

  MPI_Comm comm_;
  RankHardware hardware_;
  const runtime::Backend& backend_;
  runtime::distributed::Communicator ranks_;
  Problem problem_;
  bool reads_first_ = true;
  std::unique_ptr<tuner::ProblemData> data_;  // of rank 0
  std::array<Bytes, 6> coordinates_;          // of this rank
  PointShare sources_, targets_;
  std::array<RankBox, 2> boxes_;
  bool input_dealt_ = false;     // as boxes_ says
  std::array<Bytes, 2> arrays_;  // execute's arguments, or what is in them
  runtime::distributed::ExchangeMeans means_;
  std::unique_ptr<runtime::DeviceCopy> memory_;  // null: arrays are on the host
  std::array<runtime::DeviceArray, 2> device_arrays_;
  std::vector<std::unique_ptr<DistributedTransform>> transforms_;
};

}  // namespace fourtune::tools
