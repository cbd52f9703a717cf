#include "runtime/backends/distinct_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "fourtune/status.h"

namespace fourtune::runtime {
namespace {

std::int64_t volume(const Problem& problem) { return problem.n[0] * problem.n[1] * problem.n[2]; }

class DistinctPoints final : public Executor {
 public:
  DistinctPoints(const Problem& problem, const std::function<std::unique_ptr<Executor>(const Problem& one)>& make,
                 std::function<std::int64_t()> shared_twice)
      : problem_(problem), shared_twice_(std::move(shared_twice)), real_(real_bytes(problem.precision)) {
    Problem one = problem;
    one.batch = 1;
    each_.reserve(static_cast<std::size_t>(problem.batch));
    for (std::int64_t b = 0; b < problem.batch; ++b) each_.push_back(make(one));
  }

  void set_points(const PointSet& points) override {
    if (points.m > 0) checked_multiply(checked_multiply(points.m, problem_.batch, "points"), 2 * real_, "points");
    if (points.k > 0) checked_multiply(checked_multiply(points.k, problem_.batch, "targets"), 2 * real_, "targets");
    points_ = points;
    for (std::size_t b = 0; b < each_.size(); ++b) {
      const auto from = [&](const void* array, std::int64_t count) {
        return array ? static_cast<const std::byte*>(array) + static_cast<std::int64_t>(b) * count * real_ : nullptr;
      };
      PointSet own = points;
      own.x = from(points.x, points.m), own.y = from(points.y, points.m), own.z = from(points.z, points.m);
      own.s = from(points.s, points.k), own.t = from(points.t, points.k), own.u = from(points.u, points.k);
      try {
        each_[b]->set_points(own);
      } catch (const Error& error) {
        throw Error(error.status(), fmt::format("transform {} of the batch: {}", b, error.what()));
      }
    }
  }
  void set_bounds(const Bounds& bounds) override {
    for (const auto& one : each_) one->set_bounds(bounds);
  }
  void execute(void* first, void* second, bool adjoint) override {
    const std::int64_t values = points_.m * 2 * real_;
    const std::int64_t modes = (problem_.type == 3 ? points_.k : volume(problem_)) * 2 * real_;
    for (std::size_t b = 0; b < each_.size(); ++b) {
      const auto at = static_cast<std::int64_t>(b);
      each_[b]->execute(first ? static_cast<std::byte*>(first) + at * values : nullptr,
                        second ? static_cast<std::byte*>(second) + at * modes : nullptr, adjoint);
    }
  }
  MemoryUse memory() const override {
    MemoryUse sum;
    for (const auto& one : each_) {
      const MemoryUse use = one->memory();
      sum.held += use.held;
      sum.needed += use.needed;
    }
    const std::int64_t twice = shared_twice_ ? shared_twice_() : 0;
    sum.held -= twice;
    sum.needed -= twice;
    return sum;
  }
  std::span<const StageTime> stage_times() const override {
    times_.clear();
    for (const auto& one : each_)
      for (const StageTime& stage : one->stage_times()) {
        const auto found = std::find_if(times_.begin(), times_.end(),
                                        [&](const StageTime& known) { return known.stage == stage.stage; });
        if (found == times_.end())
          times_.push_back(stage);
        else
          found->seconds += stage.seconds;
      }
    return times_;
  }
  const generator::Plan& plan() const override { return each_.front()->plan(); }
  std::string wisdom() const override { return each_.front()->wisdom(); }
  std::vector<KernelReport> kernels() const override { return each_.front()->kernels(); }
  std::vector<LaunchTime> launch_times() const override {
    std::vector<LaunchTime> all;
    for (const auto& one : each_)
      for (LaunchTime& launch : one->launch_times()) all.push_back(std::move(launch));
    return all;
  }
  void set_stream(void* stream) override {
    for (const auto& one : each_) one->set_stream(stream);
  }

 private:
  Problem problem_;
  std::function<std::int64_t()> shared_twice_;
  std::int64_t real_;
  PointSet points_;
  std::vector<std::unique_ptr<Executor>> each_;
  mutable std::vector<StageTime> times_;
};

}  // namespace

std::unique_ptr<Executor> make_distinct_points_executor(
    const Problem& problem, const std::function<std::unique_ptr<Executor>(const Problem& one)>& make,
    std::function<std::int64_t()> shared_twice) {
  return std::make_unique<DistinctPoints>(problem, make, std::move(shared_twice));
}

}  // namespace fourtune::runtime
