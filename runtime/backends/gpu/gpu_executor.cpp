#include "runtime/backends/gpu/gpu_executor.h"

#include <algorithm>
#include <utility>

#include "base/layout.h"
#include "runtime/backends/gpu/alignment.h"

namespace fourtune::runtime::gpu {
namespace {

std::size_t span_bytes(const ArrayLayout& layout, const Sizes& sizes, const Problem& problem, bool real) {
  return static_cast<std::size_t>(checked_multiply(layout_span(layout, sizes, problem.batch, "the array"),
                                                   (real ? 1 : 2) * real_bytes(problem.precision), "the array"));
}

class GpuFftExecutor final : public Executor {
 public:
  GpuFftExecutor(const Problem& problem, const generator::Plan& plan, const ExecutorOptions& options,
                 BindTransform bind)
      : problem_(problem),
        plan_(plan),
        stream_(options.stream),
        bind_(std::move(bind)),
        forward_(bind_(problem, false)) {}

  void set_points(const PointSet&) override {
    throw Error(Status::invalid_argument, "an fft has no points: set_points belongs to a nufft");
  }
  void set_stream(void* stream) override { stream_ = stream; }

  void execute(void* first, void* second, bool adjoint) override {
    check(first, second);
    if (adjoint) {
      if (!adjoint_) {
        require_adjoint(problem_);
        adjoint_ = bind_(adjoint_problem(problem_), problem_.fft_type != FftType::c2c);
      }
      run(*adjoint_, second, first);
    } else {
      run(*forward_, first, second);
    }
  }

  MemoryUse memory() const override {
    const std::int64_t held = forward_->bytes() + (adjoint_ ? adjoint_->bytes() : 0);
    return {held, held};
  }
  std::span<const StageTime> stage_times() const override {
    if (last_) times_ = last_->stage_times();
    return times_;
  }
  const generator::Plan& plan() const override { return plan_; }
  std::vector<KernelReport> kernels() const override { return forward_->kernels(); }
  std::vector<LaunchTime> launch_times() const override {
    return last_ ? last_->launch_times() : std::vector<LaunchTime>();
  }

 private:
  void run(GpuTransform& transform, void* in, void* out) {
    const bool forward = &transform == forward_.get();
    const std::array<int, 2> needed = transform.alignment();
    check_alignment(in, std::max<std::int64_t>(needed[0], element_bytes(forward)), "execute: the array that is read");
    check_alignment(out, std::max<std::int64_t>(needed[1], element_bytes(!forward)),
                    "execute: the array that is written");
    transform.run(in, out, stream_);
    last_ = &transform;
  }
  // Element size of the first or the second array.
  std::int64_t element_bytes(bool first) const {
    const bool real = problem_.fft_type == (first ? FftType::r2c : FftType::c2r);
    return (real ? 1 : 2) * real_bytes(problem_.precision);
  }
  void check(const void* first, const void* second) const {
    if (first == nullptr || second == nullptr)
      throw Error(Status::invalid_argument, "execute: an array is null; both are needed");
    if (problem_.place == Place::in && first != second)
      throw Error(Status::invalid_argument, "execute: place=in needs the same pointer twice");
    if (problem_.place == Place::out && first == second)
      throw Error(Status::invalid_argument, "execute: equal pointers need place=in in the problem");
  }

  Problem problem_;
  generator::Plan plan_;
  void* stream_ = nullptr;
  BindTransform bind_;
  std::unique_ptr<GpuTransform> forward_, adjoint_;
  GpuTransform* last_ = nullptr;
  mutable std::vector<StageTime> times_;
};

}  // namespace

std::size_t input_bytes(const Problem& problem) {
  return span_bytes(resolved_input_layout(problem), input_sizes(problem), problem, problem.fft_type == FftType::r2c);
}
std::size_t output_bytes(const Problem& problem) {
  return span_bytes(resolved_output_layout(problem), output_sizes(problem), problem, problem.fft_type == FftType::c2r);
}

Problem adjoint_problem(const Problem& problem) {
  Problem adjoint = problem;
  if (problem.fft_type != FftType::c2c)
    adjoint.fft_type = problem.fft_type == FftType::r2c ? FftType::c2r : FftType::r2c;
  adjoint.sign = -problem.sign;
  std::swap(adjoint.input_layout, adjoint.output_layout);
  adjoint.order = adjoint_order(problem.order);
  return adjoint;
}

std::unique_ptr<Executor> make_gpu_fft_executor(const Problem& problem, const generator::Plan& plan,
                                                const ExecutorOptions& options, BindTransform bind) {
  if (problem.kind != Kind::fft) throw Error(Status::unsupported, "this backend runs uniform transforms only");
  validate(problem);
  return std::make_unique<GpuFftExecutor>(problem, plan, options, std::move(bind));
}

}  // namespace fourtune::runtime::gpu
