// Follows the recipe for a backend in docs/design/recipes.md, step by step. When a step has to change, so has the page.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "fourtune/transform.h"
#include "generator/candidates.h"
#include "runtime/backend_table.h"
#include "runtime/environment.h"
#include "tuner/measure/evaluate.h"

namespace fourtune {
namespace {

using Complex = std::complex<double>;

// Step 1: the executor, one bound transform. This one does complex FFTs along one dimension, by direct sums.
class SumsExecutor final : public runtime::Executor {
 public:
  SumsExecutor(const Problem& problem, const generator::Plan& plan) : problem_(problem), plan_(plan) {}

  void set_points(const runtime::PointSet&) override {}
  void execute(void* first, void* second, bool adjoint) override {
    const auto* in = static_cast<const Complex*>(adjoint ? second : first);
    auto* out = static_cast<Complex*>(adjoint ? first : second);
    const std::int64_t n = problem_.n[0];
    const double step = (adjoint ? -1 : 1) * problem_.sign * 2 * M_PI / static_cast<double>(n);
    for (std::int64_t k = 0; k < n; ++k) {
      out[k] = 0;
      for (std::int64_t j = 0; j < n; ++j) out[k] += in[j] * std::polar(1.0, step * static_cast<double>(j * k % n));
    }
  }
  MemoryUse memory() const override { return {}; }
  std::span<const StageTime> stage_times() const override { return {}; }
  const generator::Plan& plan() const override { return plan_; }

 private:
  Problem problem_;
  generator::Plan plan_;
};

// Step 2: the backend, with what it can do where that differs from the processor.
class SumsBackend final : public runtime::Backend {
 public:
  std::string_view name() const override { return "sums"; }
  int device_count() const override { return 2; }
  std::unique_ptr<runtime::Executor> bind(const Problem& problem, const generator::Plan& plan,
                                          const runtime::ExecutorOptions&) const override {
    if (problem.kind != Kind::fft || problem.fft_type != FftType::c2c || problem.dim != 1 || problem.batch != 1 ||
        problem.precision != Precision::f64)
      throw Error(Status::unsupported, "sums: one complex transform along one dimension in f64");
    return std::make_unique<SumsExecutor>(problem, plan);
  }

 protected:
  // Its plans are those of the processor, and its tuning results are its own, by the device's name.
  DeviceTraits traits_of(int) const override {
    DeviceTraits traits = cpu_traits();
    traits.name = "sums";
    return traits;
  }
};

// Step 3: the line in the table. A backend of the library has its line in runtime/backend_table.cpp.
const runtime::Backend& added() {
  static const SumsBackend backend;
  static const bool once = (runtime::add_backend(backend), true);
  (void)once;
  return backend;
}

class BackendRecipe : public testing::Test {
 protected:
  void SetUp() override {
    added();
    for (std::size_t j = 0; j < in_.size(); ++j)
      in_[j] = {std::cos(static_cast<double>(3 * j)), std::sin(static_cast<double>(j * j))};
    options_.default_databases = false;
    options_.backend = "sums";
  }

  std::vector<Complex> in_ = std::vector<Complex>(24), out_ = std::vector<Complex>(24);
  Options options_;
};

TEST_F(BackendRecipe, TheBackendIsListedAndFoundByItsName) {
  const auto all = runtime::backends();
  EXPECT_EQ(std::count(all.begin(), all.end(), &added()), 1);
  EXPECT_EQ(&runtime::find_backend("sums"), &added());
  EXPECT_EQ(runtime::known_backend("summs"), nullptr);
  try {
    runtime::find_backend("summs");
    FAIL() << "it was found";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("sums"), std::string::npos) << error.what();
  }
}

TEST_F(BackendRecipe, AnApplicationRunsOnIt) {
  Options processor = options_;
  processor.backend = "cpu";
  Transform ours("fft:type=c2c,n=24,prec=f64", options_), theirs("fft:type=c2c,n=24,prec=f64", processor);
  std::vector<Complex> expected(24), back(24);
  ours.execute(in_.data(), out_.data());
  theirs.execute(in_.data(), expected.data());
  for (std::size_t k = 0; k < 24; ++k) EXPECT_LT(std::abs(out_[k] - expected[k]), 1e-12) << k;
  ours.execute_adjoint(back.data(), out_.data());
  for (std::size_t j = 0; j < 24; ++j) EXPECT_LT(std::abs(back[j] / 24.0 - in_[j]), 1e-13) << j;
}

TEST_F(BackendRecipe, WhatItCannotDoIsRefusedInItsName) {
  const auto refusal = [](const Options& options, const char* token) -> std::string {
    try {
      const Transform transform(token, options);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(refusal(options_, "fft:type=c2c,n=24,prec=f64"), "");
  EXPECT_NE(refusal(options_, "fft:type=c2c,n=4x6,prec=f64").find("sums: one complex"), std::string::npos);
  Options options = options_;
  int stream = 0;
  options.stream = &stream;
  EXPECT_EQ(refusal(options, "fft:type=c2c,n=24,prec=f64"), "stream: the sums backend has no streams; pass none");
  options = options_;
  options.device = 2;
  EXPECT_NE(refusal(options, "fft:type=c2c,n=24,prec=f64").find("the sums backend has 2 devices"), std::string::npos);
}

TEST_F(BackendRecipe, TheTunerTimesAPlanOnItAndFindsTheResultRight) {
  const Problem problem = parse_problem("fft:type=c2c,n=24,prec=f64");
  tuner::LocalEvaluator evaluator(added());
  evaluator.load(problem, 1);
  tuner::EvaluationRequest request;
  request.plan = generator::to_text(generator::default_plan(problem, added().traits()), problem);
  const tuner::Evaluation result = evaluator.evaluate(request);
  EXPECT_EQ(result.status, db::RunStatus::ok) << result.message;
  EXPECT_LT(result.error.value_or(1), 1e-14);
  EXPECT_FALSE(result.samples_ns.empty());
}

TEST_F(BackendRecipe, MeasurementsOnItAreItsOwn) {
  const db::Environment here = runtime::environment_here(added().traits());
  EXPECT_EQ(here.device, "sums");
  EXPECT_NE(here.device, runtime::environment_here(runtime::find_backend("cpu").traits()).device);
}

}  // namespace
}  // namespace fourtune
