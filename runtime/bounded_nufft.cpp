#include "runtime/bounded_nufft.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/layout.h"
#include "runtime/backend_table.h"
#include "runtime/backends/gpu/listing_queue.h"
#include "runtime/backends/gpu/nufft_executor.h"
#include "runtime/batch_shares.h"
#include "runtime/device_part.h"
#include "runtime/plan_sources.h"
#include "runtime/resolve.h"
#include "runtime/streamed_nufft.h"

namespace fourtune::runtime {
namespace {

// The most that an executor of these transforms holds on the device, in both directions, wherever the points are.
std::int64_t executor_bytes(const Problem& problem, const generator::Plan& plan, const Options& options,
                            const DeviceTraits& device) {
  std::vector<generator::KernelSource> kernels;
  ExecutorOptions own;
  own.deterministic = options.deterministic;
  own.trust_points = true;  // with room for points that crowd
  own.exact_points = options.exact_points;
  own.mode_order = options.mode_order;
  Problem one = problem;
  if (options.distinct_points) one.batch = 1;
  const auto executor = gpu::make_gpu_type12_executor(one, plan, own, gpu::make_listing_queue(device, kernels));
  PointSet points;
  points.m = *problem.m;
  executor->set_points(points);
  for (const bool adjoint : {false, true}) executor->execute(nullptr, nullptr, adjoint);
  std::int64_t bytes = executor->memory().held;
  if (plan.gpu().fft.family == generator::GpuFftFamily::cufft)  // its work area is no larger than the grids
    bytes += std::clamp<std::int64_t>(plan.chunk, 1, one.batch) * element_count(plan.window.fine) * 2 *
             real_bytes(problem.precision);
  return options.distinct_points ? checked_multiply(bytes, problem.batch, "distinct points") : bytes;
}

class BoundedNufft final : public TransformCore {
 public:
  BoundedNufft(const Problem& problem, const Options& options, std::int64_t bytes)
      : asked_(problem),
        problem_(problem),
        options_(options),
        allowed_(bytes),
        backend_(find_backend(options.backend)) {
    if (problem_.m) choose();
    if (problem_.m) return;
    explain_ =
        fmt::format("problem: {}\nplan: chosen in set_points, when the points are known, to need at most {} bytes\n",
                    to_token(problem_), bytes);
  }

  void set_points(const Points& points) override {
    if (asked_.m && *asked_.m != points.m)
      throw Error(Status::contradiction,
                  fmt::format("set_points: {} points are given, but the problem says m={}", points.m, *asked_.m));
    if (points.m != problem_.m || (!whole_ && !slabs_)) {
      Problem now = asked_;
      now.m = points.m;
      validate(now);
      problem_ = now;
      choose();
    }
    slabs_ ? slabs_->set_points(points) : whole_->set_points(points);
  }
  void set_bounds(const Bounds&) override {}
  void execute(void* first, void* second, bool adjoint) override {
    if (slabs_) return slabs_->execute(first, second, adjoint);
    whole_->execute({static_cast<char*>(first), value_bytes()}, {static_cast<char*>(second), mode_bytes()},
                    (problem_.type == 1) != adjoint, adjoint);
  }
  void set_stream(void*) override {}  // it has other streams, and is done when it returns

  const Problem& problem() const override { return problem_; }
  MemoryUse memory() const override {
    if (slabs_) return slabs_->memory();
    MemoryUse use;
    use.needed = whole_ ? needed_ : allowed_;
    if (whole_) use.held = whole_->memory().held;
    return use;
  }
  const std::string& plan() const override { return core() ? core()->plan() : none_; }
  const std::string& explain() const override {
    if (slabs_) return slabs_->explain();
    if (whole_) explain_ = head_ + whole_->core().explain();
    return explain_;
  }
  const std::string& warnings() const override { return core() ? core()->warnings() : none_; }
  std::vector<StageTime> stage_times() const override {
    return core() ? core()->stage_times() : std::vector<StageTime>{};
  }

 private:
  const TransformCore* core() const { return slabs_ ? slabs_.get() : whole_ ? &whole_->core() : nullptr; }
  std::int64_t value_bytes() const { return 2 * real_bytes(problem_.precision) * *problem_.m; }
  std::int64_t mode_bytes() const { return 2 * real_bytes(problem_.precision) * mode_count(problem_); }

  Resolution resolve_for(std::int64_t batch) const {
    Problem piece = problem_;
    piece.batch = options_.distinct_points ? 1 : batch;
    const auto lookup = options_.plan.empty() ? shared_lookup(options_) : nullptr;
    DeviceTraits traits = backend_.traits(options_.device);
    if (options_.threads > 0) traits.cores = std::min(options_.threads, traits.cores);
    return resolve(piece, traits, lookup.get(), options_.plan);
  }
  // Of a share in pieces: the executor, copies of two pieces, and of the points.
  std::int64_t whole_bytes(const DeviceShare& share) const {
    const Problem piece = DevicePart::piece_of(problem_, share);
    const std::int64_t copies = std::min<std::int64_t>(2, share.pieces) * share.per_piece * share.bytes;
    const std::int64_t points = problem_.dim * value_bytes() / 2 * (options_.distinct_points ? piece.batch : 1);
    return executor_bytes(piece, resolve_for(piece.batch).plan, options_, backend_.traits(options_.device)) + copies +
           points;
  }
  void choose() {
    whole_.reset(), slabs_.reset();
    const std::int64_t batch = problem_.batch;
    DeviceShare share{options_.device, 0, 1, batch, value_bytes() + mode_bytes()};
    if (!options_.distinct_points)
      share.pieces = batch_pieces(batch, share.bytes), share.per_piece = batch / share.pieces;
    for (;;) {
      needed_ = whole_bytes(share);
      if (needed_ <= allowed_) break;
      if (share.per_piece == 1 || options_.distinct_points) {
        slabs_ = on_streamed_grid(problem_, options_, resolve_for(1), allowed_);
        return;
      }
      do --share.per_piece;
      while (batch % share.per_piece != 0);
      share.pieces = batch / share.per_piece;
    }
    whole_ = std::make_unique<DevicePart>(problem_, options_, share);
    head_ = fmt::format("within {} of {} bytes of device memory: in {} piece{}\n", needed_, allowed_, share.pieces,
                        share.pieces == 1 ? "" : "s");
  }

  Problem asked_;    // as passed to the constructor
  Problem problem_;  // with m
  Options options_;
  std::int64_t allowed_, needed_ = 0;
  const Backend& backend_;
  std::unique_ptr<DevicePart> whole_;
  std::unique_ptr<TransformCore> slabs_;
  std::string head_, none_;
  mutable std::string explain_;
};

}  // namespace

std::unique_ptr<TransformCore> on_bounded_device(const Problem& problem, const Options& options, std::int64_t bytes) {
  return std::make_unique<BoundedNufft>(problem, options, bytes);
}

}  // namespace fourtune::runtime
