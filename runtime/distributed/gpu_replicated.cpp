// Types 1 and 2 whose points stay on their ranks, with arrays in the memory of GPUs and an exchange by NCCL: the steps
// of replicated.cpp. Modes of a rank's part are rows with gaps in an array of all modes, so they are packed on the
// device.
//
//   to modes   transform of this rank's points -> pack by ranks -> NCCL adds up every part on its rank
//   to points  every rank gets all parts -> unpack -> transform at this rank's points
#include <array>
#include <complex>

#include "fourtune/transform.h"
#include "runtime/backends/cpu/base/stage_clock.h"
#include "runtime/backends/device_copy.h"
#include "runtime/distributed/nccl.h"
#include "runtime/distributed/passed_array.h"
#include "runtime/distributed/rank_executor.h"
#include "runtime/distributed/transposition_pieces.h"

namespace fourtune::runtime::distributed {
namespace {

using Lane = DeviceStreams::Lane;

class GpuReplicated final : public RankExecutor {
 public:
  GpuReplicated(const Communicator& ranks, const Problem& problem, const Options& options, const RankDevice& device)
      : ranks_(ranks),
        problem_(problem),
        streams_(*device.streams),
        nccl_(*device.nccl),
        memory_(*device.backend, device.number),
        columns_(mode_columns(problem, ranks.size())),
        rows_(problem.n[problem.dim - 1]),
        column_((problem.dim == 3 ? problem.n[0] : 1) * 2 * real_bytes(problem.precision)) {
    Problem own = problem;  // a rank's plan depends on its points
    own.m = std::nullopt;
    Options local = options;
    local.stream = streams_.stream(Lane::work);
    transform_ = std::make_unique<Transform>(to_token(own), local);
    whole_bytes_ = checked_multiply(rows_ * columns_.items(), column_, "modes");
    memory_.resize(whole_, checked_multiply(whole_bytes_, problem.batch, "modes"));
    memory_.resize(packed_, whole_bytes_);
  }

  void set_points(const PointSet& points) override {
    clock_.begin_set_points();
    clock_.time("set_points", [&] {
      ranks_.together([&] {
        std::array<PassedArray, 3> copies;
        PointSet there = points;
        const std::array<const void**, 3> coordinates{&there.x, &there.y, &there.z};
        memory_.wait();  // for what the application has put on the default stream
        for (std::size_t d = 0; d < static_cast<std::size_t>(problem_.dim); ++d) {
          const std::int64_t bytes = points.m * real_bytes(problem_.precision);
          *coordinates[d] = copies[d].bind(const_cast<void*>(*coordinates[d]), bytes, streams_, memory_);
          copies[d].upload(memory_);
        }
        transform_->set_points(there);
        streams_.wait(Lane::work);
      });
    });
    count_ = points.m;
    clock_.end_set_points();
  }

  void execute(void* first, void* second, bool adjoint) override {
    clock_.begin_execute();
    const bool to_modes = (problem_.type == 1) != adjoint;
    LocalWork local;
    void* values = nullptr;
    char* modes = nullptr;
    // Memory is allocated for host arrays alone; without it there would be nothing for NCCL to work on.
    ranks_.together([&] {
      clock_.time("upload", [&] {
        values = values_.bind(first, count_ * problem_.batch * 2 * real_bytes(problem_.precision), streams_, memory_);
        modes = modes_.bind(second, part(ranks_.rank()) * problem_.batch, streams_, memory_);
        memory_.wait();  // for what the application has put on the default stream
        (to_modes ? values_ : modes_).upload(memory_);
      });
    });
    if (!to_modes) clock_.time("gather", [&] { gather(modes); });
    clock_.time("transform", [&] {
      local.run([&] {
        adjoint ? transform_->execute_adjoint(values, whole_.data()) : transform_->execute(values, whole_.data());
      });
    });
    if (to_modes) clock_.time("reduce", [&] { reduce(modes); });
    local.run([&] {
      clock_.time("wait", [&] { streams_.wait(Lane::work); });
      clock_.time("download", [&] { (to_modes ? modes_ : values_).download(memory_); });
    });
    ranks_.together([&] { local.rethrow(); });
  }

  MemoryUse memory() const override {
    MemoryUse use = transform_->memory();
    const std::int64_t own = whole_bytes_ * (problem_.batch + 1) + values_.bytes() + modes_.bytes();
    return {use.held + own, use.needed + own};
  }
  std::span<const StageTime> stage_times() const override { return clock_.times(); }

 private:
  std::int64_t part(int rank) const { return rows_ * columns_.size(rank) * column_; }  // bytes of one transform
  char* packed(int rank) const { return static_cast<char*>(packed_.data()) + rows_ * columns_.begin(rank) * column_; }
  // A rank's part among the modes of transform b, and the same rows without gaps.
  DeviceStreams::Rows among_all(std::int64_t b, int rank) const {
    return {static_cast<char*>(whole_.data()) + b * whole_bytes_ + columns_.begin(rank) * column_,
            columns_.items() * column_};
  }
  DeviceStreams::Rows alone(char* at, int rank) const { return {at, columns_.size(rank) * column_}; }
  void copy(const DeviceStreams::Rows& to, const DeviceStreams::Rows& from, int rank) {
    if (columns_.size(rank) > 0) streams_.copy(Lane::copies, to, from, columns_.size(rank) * column_, rows_);
  }

  void reduce(char* modes) {
    streams_.follow(Lane::copies, Lane::work);
    for (std::int64_t b = 0; b < problem_.batch; ++b) {
      messages_.clear();
      for (int r = 0; r < ranks_.size(); ++r) {
        copy(alone(packed(r), r), among_all(b, r), r);
        if (part(r) > 0) messages_.push_back({r, packed(r), part(r)});
      }
      streams_.follow(Lane::exchange, Lane::copies);
      nccl_.add_up(messages_, modes + b * part(ranks_.rank()), problem_.precision, Lane::exchange);
      streams_.follow(Lane::copies, Lane::exchange);  // the next transform is packed where this one was
    }
    streams_.follow(Lane::work, Lane::exchange);
  }

  void gather(char* modes) {
    const int self = ranks_.rank();
    for (std::int64_t b = 0; b < problem_.batch; ++b) {
      char* const own = modes + b * part(self);
      messages_.clear(), arriving_.clear();
      for (int step = 1; step < ranks_.size(); ++step) {
        const int to = (self + step) % ranks_.size(), from = (self + ranks_.size() - step) % ranks_.size();
        if (part(self) > 0) messages_.push_back({to, own, part(self)});
        if (part(from) > 0) arriving_.push_back({from, packed(from), part(from)});
      }
      nccl_.begin(messages_, arriving_, Lane::exchange);
      copy(among_all(b, self), alone(own, self), self);
      streams_.follow(Lane::copies, Lane::exchange);
      for (int r = 0; r < ranks_.size(); ++r)
        if (r != self) copy(among_all(b, r), alone(packed(r), r), r);
      streams_.follow(Lane::exchange, Lane::copies);  // the next transform arrives where this one was
    }
    streams_.follow(Lane::work, Lane::copies);
  }

  const Communicator& ranks_;
  Problem problem_;
  DeviceStreams& streams_;
  const NcclRanks& nccl_;
  DeviceCopy memory_;
  Split columns_;
  std::int64_t rows_, column_;  // of an array of modes; bytes of a column of a row
  std::int64_t whole_bytes_ = 0, count_ = 0;
  std::unique_ptr<Transform> transform_;
  DeviceArray whole_, packed_;
  PassedArray values_, modes_;
  std::vector<DeviceMessage> messages_, arriving_;
  cpu::StageClock clock_;
};

}  // namespace

std::unique_ptr<RankExecutor> make_gpu_replicated(const Communicator& ranks, const Problem& problem,
                                                  const Options& options, const RankDevice& device) {
  return std::make_unique<GpuReplicated>(ranks, problem, options, device);
}

}  // namespace fourtune::runtime::distributed
