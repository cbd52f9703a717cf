// A stored type 3 verdict serves from half to twice its m, k and extent. It must be right at both ends of that range,
// also where few points remain and where many sources share few cells.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "db/lookup.h"
#include "db/tuning_store.h"
#include "fmt/format.h"
#include "generator/candidates.h"
#include "generator/plan/type3_windows.h"
#include "runtime/backend_table.h"
#include "runtime/backends/backend.h"
#include "runtime/environment.h"
#include "runtime/resolve.h"
#include "runtime/validity.h"
#include "tuner/measure/validate.h"

namespace fourtune {
namespace {

using generator::Plan;

struct Base {
  int dim;
  const char* precision;
  double tol;
  std::int64_t m, k;
  double extent;
};

Problem problem_of(const Base& base, double m, double k, double extent) {
  const double e = base.extent * extent;
  const std::string each = base.dim == 1   ? fmt::format("{}", e)
                           : base.dim == 2 ? fmt::format("{}x{}", e, e)
                                           : fmt::format("{}x{}x{}", e, e, e);
  return parse_problem(fmt::format("nufft:type=3,dim={},m={},k={},prec={},tol={},extent={}", base.dim,
                                   std::llround(static_cast<double>(base.m) * m),
                                   std::llround(static_cast<double>(base.k) * k), base.precision, base.tol, each));
}

class Type3Validity : public ::testing::TestWithParam<Base> {
 protected:
  Type3Validity() : traits_(backend_.traits()) {
    traits_.cores = 1;
    folder_ = std::filesystem::temp_directory_path() / fmt::format("fourtune-type3-{}", getpid());
    std::filesystem::create_directories(folder_);
  }
  ~Type3Validity() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  // Writes a database as a tuner leaves it.
  std::filesystem::path store(const Problem& problem, const Plan& plan, int number) const {
    auto path = folder_ / fmt::format("{}.db", number);
    auto store = db::TuningStore::open_for_writing(path);
    db::SessionStart start;
    start.environment = runtime::environment_here(traits_);
    const auto session = store.begin_session(start);
    db::Run run;
    run.problem = to_token(problem), run.plan = generator::to_text(plan, problem), run.samples_ns = {1000};
    store.record_run(session, run);
    db::Verdict verdict;
    verdict.problem = run.problem, verdict.plan = run.plan, verdict.winner_ns = 1000;
    verdict.validity = runtime::validity_of(problem);
    store.record_verdict(session, verdict);
    store.finish_session(session, db::SessionEnd::complete);
    return path;
  }

  // Error divided by the allowed error, including the adjoint's mismatch.
  double badness(const Problem& problem, const Plan& plan, tuner::ProblemData& data) const {
    const auto executor = backend_.bind(problem, plan, {});
    executor->set_points(data.points());
    const tuner::Validation result = data.validate(*executor);
    return std::max(result.error, result.adjoint_mismatch) / allowed_error(problem);
  }

  // Candidates with every pair of windows and the same cheap remaining parameters; returns those that are right.
  std::vector<Plan> proved_plans(const Problem& problem) const {
    std::map<std::string, Plan> plans;
    for (const generator::Candidate& candidate : generator::candidates(problem, traits_).candidates) {
      if (candidate.plan.type3 != generator::Type3Rule::compose) continue;
      Plan plan;
      plan.window = candidate.plan.window, plan.inner = candidate.plan.inner;
      plan.cpu().sort.tile = {16, 16, 16};
      plan.cpu().spread.family = generator::SpreadFamily::colour_index;
      plan.cpu().interp.family = generator::InterpFamily::direct;
      plan.cpu().fft = {generator::FftFamily::pruned, generator::Rigor::estimate, 8};
      plans.emplace(generator::to_text(plan, problem), plan);
    }
    tuner::ProblemData data(problem, 1);
    std::vector<Plan> right;
    for (const auto& [text, plan] : plans)
      if (badness(problem, plan, data) <= 1) right.push_back(plan);
    EXPECT_EQ(right.size(), plans.size()) << to_token(problem);
    return right;
  }

  const runtime::Backend& backend_ = runtime::find_backend("cpu");
  DeviceTraits traits_;
  std::filesystem::path folder_;
};

TEST_P(Type3Validity, AVerdictIsRightAtBothEndsOfWhatItServes) {
  const Base& base = GetParam();
  const Problem stored = problem_of(base, 1, 1, 1);
  std::vector<Plan> plans = proved_plans(stored);
  // The plans with the largest predicted error would fail first; of the others every fifth is tried.
  const auto predicted = [&](const Plan& plan) {
    return generator::predicted_error(plan.window.kind, plan.window.width, plan.window.sigma, stored.dim, 2) +
           generator::predicted_error(plan.inner.kind, plan.inner.width, plan.inner.sigma, stored.dim, 2);
  };
  std::sort(plans.begin(), plans.end(), [&](const Plan& a, const Plan& b) { return predicted(a) > predicted(b); });
  std::vector<std::filesystem::path> databases;
  for (std::size_t p = 0; p < plans.size(); p += p < 3 ? 1 : 5)
    databases.push_back(store(stored, plans[p], static_cast<int>(p)));
  ASSERT_FALSE(databases.empty());
  const double ends[][3] = {{0.5, 1, 1}, {2, 1, 1},     {1, 0.5, 1}, {1, 2, 1},     {1, 1, 0.5},
                            {1, 1, 2},   {2, 0.5, 0.5}, {0.5, 2, 2}, {0.5, 0.5, 2}, {2, 2, 2}};
  for (const auto& [m, k, extent] : ends) {
    const Problem problem = problem_of(base, m, k, extent);
    tuner::ProblemData data(problem, 7);
    for (const auto& path : databases) {
      const auto lookup = db::Lookup::load(path);
      const runtime::Resolution found = runtime::resolve(problem, traits_, &lookup, "");
      EXPECT_LE(badness(problem, found.plan, data), 1) << to_token(problem) << "\n" << found.explain;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Problems, Type3Validity,
                         ::testing::Values(Base{1, "f64", 1e-6, 200, 200, 314}, Base{2, "f64", 1e-9, 220, 210, 22},
                                           Base{2, "f64", 1e-12, 399, 399, 31}, Base{2, "f32", 1e-6, 1500, 1500, 61},
                                           Base{2, "f32", 1e-2, 300, 300, 27}, Base{3, "f64", 1e-12, 800, 600, 14},
                                           Base{3, "f32", 1e-4, 1500, 1500, 18}, Base{3, "f32", 1e-6, 1000, 1000, 16}),
                         [](const auto& base) {
                           return fmt::format("{}D_{}_1em{}", base.param.dim, base.param.precision,
                                              static_cast<int>(std::lround(-std::log10(base.param.tol))));
                         });

// Also tests the untuned plan, with many sources and a small or a large grid.
TEST(Type3Rounding, ManySourcesOnFewCellsAreAsRightAsFewOnMany) {
  const auto& backend = runtime::find_backend("cpu");
  for (const double extent : {2.0, 9.0, 36.0})
    for (const char* rest :
         {"m=20000,k=300,prec=f32,tol=1e-4", "m=300,k=3000,prec=f32,tol=1e-5", "m=6000,k=300,prec=f64,tol=1e-12"}) {
      const Problem problem =
          parse_problem(fmt::format("nufft:type=3,dim=3,{},extent={}x{}x{}", rest, extent, extent, extent));
      tuner::ProblemData data(problem, 5);
      const auto executor = backend.bind(problem, generator::default_plan(problem, backend.traits()), {});
      executor->set_points(data.points());
      const tuner::Validation result = data.validate(*executor);
      EXPECT_TRUE(result.right) << to_token(problem) << ": " << result.message;
    }
}

TEST(Type3Rounding, TheOversamplingRisesWithTheSourcesOfACellAndNeverFalls) {
  const Problem problem = parse_problem("nufft:type=3,dim=3,m=1000,k=1000,prec=f32,tol=1e-4");
  const generator::WindowChoice window{generator::WindowKind::pswf, 1.25, 8, {0, 0, 0}, 0};
  generator::Type3Sigma kept(problem, window);
  double previous = 0;
  for (const std::int64_t m : {1, 1000, 100000, 10000000}) {
    const double sigma = kept(m, {10, 10, 10});
    EXPECT_EQ(sigma, generator::Type3Sigma(problem, window)(m, {10, 10, 10})) << "points before made a difference";
    EXPECT_GE(sigma, std::max(1.25, previous)) << m;
    EXPECT_LE(sigma, 3) << m;
    EXPECT_LE(kept(m, {100, 100, 100}), sigma) << m;
    previous = sigma;
  }
  EXPECT_EQ(kept(1, {10, 10, 10}), 1.25);
  EXPECT_GT(previous, 1.5);
}

}  // namespace
}  // namespace fourtune
