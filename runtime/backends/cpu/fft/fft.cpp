#include "runtime/backends/cpu/fft/fft.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "base/layout.h"
#include "fourtune/status.h"
#include "generator/plan/along.h"
#include "runtime/backends/cpu/fft/library.h"
#include "runtime/backends/cpu/fft/operation.h"
#include "runtime/backends/families.h"

namespace fourtune::runtime::cpu {
namespace {

FftOperation forward_operation(const Problem& problem, const generator::Plan& plan, const ExecutorOptions& options) {
  FftOperation op;
  op.type = problem.fft_type;
  op.sign = problem.sign;
  op.dim = problem.dim;
  op.n = problem.n;
  op.batch = problem.batch;
  op.in = resolved_input_layout(problem);
  op.out = resolved_output_layout(problem);
  op.in_place = problem.place == Place::in;
  op.reversed = problem.order == SpectrumOrder::reversed     ? Reversed::output
                : problem.order == SpectrumOrder::unreversed ? Reversed::input
                                                             : Reversed::none;
  op.choice = plan.cpu().fft;
  op.threads = plan.cpu().threads;
  op.wisdom = options.wisdom;
  op.deterministic = options.deterministic;
  if (op.deterministic) op.choice.rigor = generator::Rigor::estimate, op.wisdom.clear();
  // Strides of dimensions of size 1 are never multiplied by anything and may hold any value; treat them as dense ones.
  for (ArrayLayout* layout : {&op.in, &op.out}) {
    for (std::size_t d = 0; d < problem.n.size(); ++d)
      if (problem.n[d] == 1) layout->stride[d] = 1;
    if (problem.batch == 1) layout->distance = 1;
  }
  return op;
}

// FFTW rounds differently with other strides. The lines of family rows do not, so that with `deterministic` the order
// of axes in memory changes no bit of f32 either, whose last bits show in sums.
generator::Plan reproducible(generator::Plan plan, const Problem& problem, const ExecutorOptions& options) {
  if (options.deterministic && problem.dim > 1 && problem.precision == Precision::f32 &&
      plan.cpu().fft.family == generator::FftFamily::fftw)
    plan.cpu().fft = {generator::FftFamily::rows, generator::Rigor::estimate, 64};
  return plan;
}

// The adjoint for the real inner product Re sum conj(u) v on the arrays as stored. With D for the weights c(k) of
// FftOperation: (r2c, sign)* = (c2r, -sign) after 1/D, and (c2r, sign)* = D after (r2c, -sign).
FftOperation adjoint_operation(FftOperation op) {
  op.sign = -op.sign;
  std::swap(op.in, op.out);
  if (op.reversed != Reversed::none) op.reversed = op.reversed == Reversed::input ? Reversed::output : Reversed::input;
  if (op.type == FftType::r2c) {
    op.type = FftType::c2r;
    op.interior = 0.5;
  } else if (op.type == FftType::c2r) {
    op.type = FftType::r2c;
    op.interior = 2;
  }
  return op;
}

template <class T>
class FftExecutor final : public Executor {
 public:
  FftExecutor(const Problem& problem, const generator::Plan& plan, const ExecutorOptions& options)
      : problem_(problem),
        plan_(reproducible(plan, problem, options)),
        operation_(forward_operation(problem, plan_, options)),
        forward_(make(operation_)) {
    times_.push_back({"fft", 0});
  }

  void set_points(const PointSet&) override {
    throw Error(Status::invalid_argument, "an fft has no points: set_points belongs to a nufft");
  }

  void execute(void* first, void* second, bool adjoint) override {
    check(first, second);
    const auto start = std::chrono::steady_clock::now();
    if (adjoint) {
      if (!adjoint_) {
        require_adjoint(problem_);
        adjoint_ = make(adjoint_operation(operation_));
      }
      adjoint_->run(second, first);
    } else {
      forward_->run(first, second);
    }
    times_[0].seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  MemoryUse memory() const override {
    const std::int64_t held = forward_->bytes() + (adjoint_ ? adjoint_->bytes() : 0);
    return {held, held + std::max(forward_->more_bytes(), adjoint_ ? adjoint_->more_bytes() : 0)};
  }
  std::span<const StageTime> stage_times() const override { return times_; }
  const generator::Plan& plan() const override { return plan_; }
  std::string wisdom() const override {
    const std::string texts[] = {forward_->wisdom(), adjoint_ ? adjoint_->wisdom() : std::string()};
    return texts[1].empty() ? texts[0] : merged_wisdom<T>(texts);
  }

 private:
  static std::unique_ptr<FftRunner> make(const FftOperation& op) {
    if (op.reversed != Reversed::none) return make_reordered_fft<T>(op, make);
    switch (op.choice.family) {
      case generator::FftFamily::fftw:
        return fft_library<T>()->make_fft(op);
      case generator::FftFamily::along:
        return make_along_fft<T>(op);
      case generator::FftFamily::rows:
      case generator::FftFamily::pruned:  // of nufft, which make_fft_executor refuses
        return make_rows_fft<T>(op);
    }
    throw Error(Status::internal, "no runner for this family of FFTs");
  }
  void check(const void* first, const void* second) const {
    if (first == nullptr || second == nullptr)
      throw Error(Status::invalid_argument, "execute: an array is null; both are needed");
    if (operation_.in_place && first != second)
      throw Error(Status::invalid_argument, "execute: place=in needs the same pointer twice");
    if (!operation_.in_place && first == second)
      throw Error(Status::invalid_argument, "execute: equal pointers need place=in in the problem");
  }

  Problem problem_;
  generator::Plan plan_;
  FftOperation operation_;
  std::unique_ptr<FftRunner> forward_, adjoint_;  // the adjoint is planned on first use
  std::vector<StageTime> times_;
};

}  // namespace

std::unique_ptr<Executor> make_fft_executor(const Problem& problem, const generator::Plan& plan,
                                            const ExecutorOptions& options) {
  if (problem.kind != Kind::fft) throw Error(Status::invalid_problem, "make_fft_executor: the problem is not an fft");
  validate(problem);
  if (plan.cpu().fft.family == generator::FftFamily::pruned)
    throw Error(Status::invalid_plan, "fft=pruned belongs to a nufft; an fft has fftw, rows and along");
  if (plan.cpu().fft.family == generator::FftFamily::along && generator::along_length(problem) == 0)
    throw Error(Status::invalid_plan, "fft=along: not for this problem's lines (generator/plan/along.h)");
  require_families(plan);
  if (plan.cpu().threads < 1)
    throw Error(Status::invalid_plan, "threads is " + std::to_string(plan.cpu().threads) + ", at least 1");
  if (problem.precision == Precision::f32) return std::make_unique<FftExecutor<float>>(problem, plan, options);
  return std::make_unique<FftExecutor<double>>(problem, plan, options);
}

}  // namespace fourtune::runtime::cpu
