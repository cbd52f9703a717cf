// Tunes a nonuniform transform on the emulated GPU: interrupted, resumed, and its winner run by an application.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <complex>
#include <set>

#include "fourtune/transform.h"
#include "runtime/backend_table.h"
#include "runtime/backends/emulated/emulated_backend.h"
#include "runtime/environment.h"
#include "tests/support/program.h"
#include "tuner/measure/evaluate.h"
#include "tuner/measure/validate.h"
#include "tuner/reference/check.h"
#include "tuner/reference/synthetic.h"
#include "tuner/session/session.h"

namespace fourtune::tuner {
namespace {

constexpr const char* kNonuniform = "nufft:type=1,n=12,m=40,prec=f64,tol=1e-2";

// The emulated GPU, on which an execute takes a fixed time by its timer, so that other load changes nothing. Plans of
// one window are the fastest by far, and their adjoints are wrong.
class Crooked final : public runtime::Backend {
 public:
  std::string_view name() const override { return "emulated"; }
  runtime::Capabilities capabilities() const override { return inner_.capabilities(); }
  std::unique_ptr<runtime::Executor> bind(const Problem& problem, const generator::Plan& plan,
                                          const runtime::ExecutorOptions& options) const override {
    return std::make_unique<Wrapped>(inner_.bind(problem, plan, options), crooked_ && is_crooked(plan));
  }
  static bool is_crooked(const generator::Plan& plan) {
    return plan.window.kind == generator::WindowKind::kaiser_bessel;
  }
  mutable std::atomic<bool> crooked_{false};
  std::unique_ptr<runtime::StreamTimer> timer(int) const override {
    struct Timer final : runtime::StreamTimer {
      void start() override { from = device_seconds; }
      void stop() override { to = device_seconds; }
      double seconds() override { return to - from; }
      double from = 0, to = 0;
    };
    return std::make_unique<Timer>();
  }

 protected:
  DeviceTraits traits_of(int device) const override { return inner_.traits(device); }

 private:
  inline static double device_seconds = 0;  // of all executes so far
  class Wrapped final : public runtime::Executor {
   public:
    Wrapped(std::unique_ptr<runtime::Executor> inner, bool crooked) : inner_(std::move(inner)), crooked_(crooked) {}
    void set_points(const runtime::PointSet& points) override { inner_->set_points(points); }
    void execute(void* first, void* second, bool adjoint) override {
      inner_->execute(first, second, adjoint);
      device_seconds += crooked_ ? 1e-3 : 2e-2;
      if (crooked_ && adjoint) static_cast<double*>(first)[0] += 1000;
    }
    MemoryUse memory() const override { return inner_->memory(); }
    std::span<const StageTime> stage_times() const override { return inner_->stage_times(); }
    const generator::Plan& plan() const override { return inner_->plan(); }

   private:
    std::unique_ptr<runtime::Executor> inner_;
    bool crooked_;
  };
  runtime::emulated::EmulatedBackend inner_{runtime::gpu::generated_programs()};
};

SessionOptions options_of(std::size_t evaluations) {
  SessionOptions options;
  options.problems = {parse_problem(kNonuniform)};
  options.seconds = 0;
  options.max_evaluations = evaluations;
  options.strategy = "random";
  return options;
}

std::size_t right_plans(const db::TuningStore& store) {
  std::set<std::string> plans;
  for (const db::StoredRun& run : store.runs(kNonuniform))
    if (run.status == db::RunStatus::ok) plans.insert(run.plan);
  return plans.size();
}

// Runs the problem as an application does, by what the database serves. Returns the plan, and checks the result.
std::string run_by(const std::filesystem::path& database) {
  Options options;
  options.backend = "emulated";
  options.default_databases = false;
  options.databases = {database.string()};
  Transform transform(kNonuniform, options);
  const Problem problem = parse_problem(kNonuniform);
  const PointSet<double> points = make_points<double>(problem, 9);
  std::vector<std::complex<double>> strengths(40), modes(12);
  fill_random<double>(std::span<std::complex<double>>(strengths), 4);
  fourtune::Points given;
  given.m = 40, given.x = points.data(0);
  transform.set_points(given);
  transform.execute(strengths.data(), modes.data());
  EXPECT_LT(nufft_error<double>(problem, view(points), {}, strengths.data(), modes.data()).relative, 3e-2);
  EXPECT_NE(transform.explain().find("verdict"), std::string::npos) << transform.explain();
  return std::string(transform.plan());
}

// Goes on where an interrupted session stopped, which had measured so many plans. Returns the winner.
std::string resume(LocalEvaluator& evaluator, db::TuningStore& store, std::size_t kept) {
  std::set<std::string> measured;
  SessionOptions options = options_of(4);
  options.trace = [&](const Trace& step) {
    if (step.step == Step::untuned || step.step == Step::search) measured.insert(step.plan);
  };
  std::set<std::string> before;
  for (const db::StoredRun& run : store.runs(kNonuniform)) before.insert(run.plan);
  const ProblemReport found = run_session(options, store, evaluator).problems.at(0);
  EXPECT_EQ(found.reused, kept);
  EXPECT_EQ(found.evaluations, 4u);
  for (const std::string& plan : measured) EXPECT_FALSE(before.contains(plan)) << "measured twice: " << plan;
  EXPECT_FALSE(found.winner.empty()) << found.note;
  EXPECT_TRUE(found.new_verdict);
  EXPECT_LT(found.error.value_or(1), allowed_error(options.problems[0]));
  return found.winner;
}

TEST(EmulatedNufftTuning, IsInterruptedAndResumedAndItsWinnerRuns) {
  static const Crooked backend;
  runtime::add_backend(backend);
  const test::ScratchFolder folder;
  const auto path = folder / "tuning.db";
  std::size_t kept = 0;
  {
    auto store = db::TuningStore::open_for_writing(path);
    LocalEvaluator evaluator(backend);
    std::atomic<bool> stop{false};
    SessionOptions options = options_of(8);
    options.stop = &stop;
    options.progress = [&](const Progress& progress) { stop = progress.evaluations >= 3; };
    const Report report = run_session(options, store, evaluator);
    EXPECT_TRUE(report.interrupted);
    EXPECT_FALSE(store.winner(kNonuniform, runtime::environment_here(backend.traits()))) << "no finals, no verdict";
    kept = right_plans(store);
    EXPECT_GE(kept, 2u);
  }
  std::string winner;
  {
    auto store = db::TuningStore::open_for_writing(path);
    LocalEvaluator evaluator(backend);
    winner = resume(evaluator, store, kept);
  }
  EXPECT_EQ(run_by(path), winner);
}

TEST(EmulatedNufftTuning, AFastPlanWithAWrongAdjointDoesNotWin) {
  static const Crooked backend;
  backend.crooked_ = true;
  const test::ScratchFolder folder;
  auto store = db::TuningStore::open_for_writing(folder / "tuning.db");
  LocalEvaluator evaluator(backend);
  const Problem problem = parse_problem(kNonuniform);
  SessionOptions options = options_of(8);
  // The first right result is that of the untuned plan, whose adjoint is right.
  options.untuned_plan = [](const Problem& one, const DeviceTraits& traits) {
    for (const generator::Candidate& candidate : generator::candidates(one, traits).candidates)
      if (!Crooked::is_crooked(candidate.plan)) return candidate.plan;
    throw Error(Status::internal, "all candidates have one window");
  };
  const ProblemReport found = run_session(options, store, evaluator).problems.at(0);
  ASSERT_FALSE(found.winner.empty()) << found.note;
  EXPECT_FALSE(Crooked::is_crooked(generator::parse_plan(found.winner, problem))) << found.winner;
  int fast = 0, caught = 0;
  for (const db::StoredRun& run : store.runs(kNonuniform)) {
    const bool crooked = Crooked::is_crooked(generator::parse_plan(run.plan, problem));
    fast += crooked && run.status == db::RunStatus::ok;
    caught += crooked && run.status == db::RunStatus::wrong_result;
  }
  EXPECT_GT(fast, 0) << "none was measured: choose another seed";
  EXPECT_GT(caught, 0);
}

}  // namespace
}  // namespace fourtune::tuner
