#include "tools/soak/shrink.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "tools/common/stopwatch.h"

namespace fourtune::tools {
namespace {

class Simpler {
 public:
  explicit Simpler(const SoakCase& one) : one_(one) {}

  std::vector<SoakCase> all() {
    const Problem& problem = one_.problem;
    for (const std::int64_t batch : {std::int64_t{1}, std::int64_t{2}, problem.batch / 2})
      if (batch >= 1 && batch < problem.batch) add([&](SoakCase& c) { c.problem.batch = batch; });
    for (const std::int64_t divisor : {64, 8, 2}) {
      counts([&](std::int64_t n) { return n / divisor; });
      sizes([&](std::int64_t n) { return n / divisor; });
    }
    fewer_dimensions();
    options();
    tolerances();
    counts([](std::int64_t n) { return n - 1; });
    sizes([](std::int64_t n) { return n - 1; });
    return std::move(list_);
  }

 private:
  template <class Change>
  void add(Change change) {
    SoakCase next = one_;
    change(next);
    try {
      next.problem = parse_problem(to_token(next.problem));
    } catch (const Error&) {
      return;
    }
    if (!(next == one_) && seen_.insert(to_text(next)).second) list_.push_back(next);
  }

  // Reduces the points, then the targets.
  template <class Less>
  void counts(Less less) {
    for (auto count : {&Problem::m, &Problem::k})
      if (const auto now = one_.problem.*count; now && less(*now) >= 1 && less(*now) < *now)
        add([&](SoakCase& c) { c.problem.*count = less(*now); });
  }

  // Reduces all lengths together, then each one.
  template <class Less>
  void sizes(Less less) {
    const Problem& problem = one_.problem;
    if (problem.kind == Kind::nufft && problem.type == 3) return;
    add([&](SoakCase& c) {
      for (int d = 0; d < problem.dim; ++d)
        c.problem.n[static_cast<std::size_t>(d)] =
            std::max<std::int64_t>(1, less(problem.n[static_cast<std::size_t>(d)]));
    });
    for (std::size_t d = 0; d < static_cast<std::size_t>(problem.dim); ++d)
      if (less(problem.n[d]) >= 1) add([&](SoakCase& c) { c.problem.n[d] = less(problem.n[d]); });
  }

  void fewer_dimensions() {
    if (one_.problem.dim == 1) return;
    add([](SoakCase& c) {
      Problem& problem = c.problem;
      --problem.dim;
      problem.n[static_cast<std::size_t>(problem.dim)] = 1;
      problem.input_layout.reset(), problem.output_layout.reset(), problem.extent.reset();
    });
  }

  void options() {
    const SoakCase plain{parse_problem("fft:type=c2c,n=2,prec=f32")};
    add([&](SoakCase& c) { c.problem.input_layout.reset(), c.problem.output_layout.reset(); });
    add([&](SoakCase& c) { c.problem.output_layout.reset(); });
    add([&](SoakCase& c) { c.problem.order = SpectrumOrder::natural; });
    add([&](SoakCase& c) { c.problem.place = Place::out; });
    add([&](SoakCase& c) { c.problem.extent.reset(); });
    add([&](SoakCase& c) { c.problem.points.reset(); });
    add([&](SoakCase& c) { c.problem.sign = c.problem.kind == Kind::nufft && c.problem.type == 2 ? 1 : -1; });
    add([&](SoakCase& c) { c.adjoint = plain.adjoint; });
    add([&](SoakCase& c) { c.order = plain.order; });
    add([&](SoakCase& c) { c.only = plain.only; });
    add([&](SoakCase& c) { c.distinct = plain.distinct; });
    add([&](SoakCase& c) { c.shared = plain.shared; });
    add([&](SoakCase& c) { c.streamed = plain.streamed; });
    add([&](SoakCase& c) { c.deterministic = plain.deterministic; });
    add([&](SoakCase& c) { c.trust = plain.trust; });
    add([&](SoakCase& c) { c.scatter = plain.scatter; });
    add([&](SoakCase& c) { c.seed = plain.seed; });
    if (one_.threads != 1) add([&](SoakCase& c) { c.threads = 1; });
  }

  void tolerances() {
    if (one_.problem.kind == Kind::fft) return;
    for (const double tol : {1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10})
      if (tol > one_.problem.tol) add([&](SoakCase& c) { c.problem.tol = tol; });
  }

  const SoakCase& one_;
  std::vector<SoakCase> list_;
  std::set<std::string> seen_;
};

class Shrinker {
 public:
  Shrinker(TriedCase trial, const ShrinkTools& tools, const ShrinkLimits& limits)
      : now_(std::move(trial)), tools_(tools), limits_(limits) {}

  // Returns the smallest case found so far, even when the user stops it.
  TriedCase run() {
    try {
      shrink();
    } catch (const Error& error) {
      if (error.status() != Status::interrupted) throw;
    }
    return std::move(now_);
  }

 private:
  void shrink() {
    if (now_.kind != PlanKind::untuned) takes(now_.one, PlanKind::untuned, {});
    for (bool smaller = true; smaller && !spent();) {
      smaller = false;
      for (const SoakCase& next : simpler_cases(now_.one)) {
        if (spent()) break;
        if (!(smaller = accepts(next))) continue;
        break;
      }
    }
  }
  bool spent() const {
    return tries_ >= limits_.tries || watch_.seconds() > limits_.seconds || (limits_.stop && *limits_.stop);
  }
  // Tries the unchanged text of the plan, else the adapted plan.
  bool accepts(const SoakCase& next) {
    if (takes(next, now_.kind, now_.plan)) return true;
    if (now_.kind == PlanKind::untuned || spent()) return false;
    const std::string adapted = tools_.adapt(now_.one, now_.plan, next);
    return !adapted.empty() && adapted != now_.plan && takes(next, now_.kind, adapted);
  }
  bool takes(const SoakCase& next, PlanKind kind, const std::string& plan) {
    ++tries_;
    const SoakOutcome outcome = tools_.try_case(next, kind, plan);
    if (outcome.failure != now_.outcome.failure) return false;
    now_ = {next, kind, plan, outcome};
    return true;
  }

  TriedCase now_;
  const ShrinkTools& tools_;
  const ShrinkLimits& limits_;
  Stopwatch watch_;
  int tries_ = 0;
};

}  // namespace

std::vector<SoakCase> simpler_cases(const SoakCase& one) { return Simpler(one).all(); }

TriedCase made_small(TriedCase trial, const ShrinkTools& tools, const ShrinkLimits& limits) {
  return Shrinker(std::move(trial), tools, limits).run();
}

}  // namespace fourtune::tools
