// Which results count as right, tested with the CPU backend's transforms and with corrupted ones.
#include "tuner/measure/validate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "generator/candidates.h"
#include "runtime/backend_table.h"
#include "runtime/backends/backend.h"

namespace fourtune::tuner {
namespace {

const runtime::Backend& cpu() { return runtime::find_backend("cpu"); }

std::unique_ptr<runtime::Executor> executor_for(const Problem& problem, ProblemData& data) {
  auto traits = cpu().traits();
  traits.cores = 2;
  auto executor = cpu().bind(problem, generator::default_plan(problem, traits), {});
  if (problem.kind == Kind::nufft) executor->set_points(data.points());
  return executor;
}

// Calls another executor and then corrupts the result.
class Spoilt : public runtime::Executor {
 public:
  Spoilt(runtime::Executor& inner, std::function<void(void* first, void* second, bool adjoint)> spoil)
      : inner_(inner), spoil_(std::move(spoil)) {}
  void set_points(const runtime::PointSet& points) override { inner_.set_points(points); }
  void execute(void* first, void* second, bool adjoint) override {
    inner_.execute(first, second, adjoint);
    spoil_(first, second, adjoint);
  }
  MemoryUse memory() const override { return inner_.memory(); }
  std::span<const StageTime> stage_times() const override { return inner_.stage_times(); }
  const generator::Plan& plan() const override { return inner_.plan(); }

 private:
  runtime::Executor& inner_;
  std::function<void(void*, void*, bool)> spoil_;
};

class EveryKind : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(
    Problems, EveryKind,
    ::testing::Values("fft:type=c2c,n=20x9,prec=f32", "fft:type=c2c,n=16x6,prec=f64,batch=3,place=in",
                      "fft:type=r2c,n=15x8,prec=f64", "fft:type=c2r,n=16x8,prec=f64",
                      "fft:type=r2c,n=12x5,prec=f32,place=in", "fft:type=c2r,n=9x4,prec=f64,batch=2,place=in",
                      "nufft:type=1,n=12x10,m=300,prec=f32,tol=1e-3",
                      "nufft:type=2,n=12x10,m=300,prec=f64,tol=1e-9,batch=4,points=radial",
                      "nufft:type=1,n=8x6x5,m=500,prec=f64,tol=1e-6,points=cluster",
                      "nufft:type=3,dim=2,m=200,k=150,prec=f64,tol=1e-6", "nufft:type=1,n=50,m=1,prec=f64,tol=1e-4"));

TEST_P(EveryKind, TheBackendsResultIsRight) {
  const Problem problem = bound_problem(parse_problem(GetParam()));
  ProblemData data(problem, 5);
  const auto executor = executor_for(problem, data);
  const Validation validation = data.validate(*executor);
  EXPECT_TRUE(validation.right) << validation.message;
  EXPECT_GT(validation.error, 0);
  EXPECT_LE(validation.error, allowed_error(problem));
  // Validates again on the same data, which the first validation must have left intact. Threads add in a different
  // order each time, which changes last bits.
  const double last_bit = problem.precision == Precision::f32 ? 1.2e-7 : 2e-15;
  EXPECT_NEAR(data.validate(*executor).error, validation.error, last_bit);
}

TEST_P(EveryKind, AResultThatIsNotWrittenIsWrong) {
  const Problem problem = bound_problem(parse_problem(GetParam()));
  ProblemData data(problem, 5);
  const auto executor = executor_for(problem, data);
  class Idle : public Spoilt {
   public:
    using Spoilt::Spoilt;
    void execute(void*, void*, bool) override {}
  } idle(*executor, nullptr);
  const Validation validation = data.validate(idle);
  EXPECT_FALSE(validation.right);
  EXPECT_FALSE(validation.message.empty());
}

// The output of an earlier right plan must not let a plan pass that writes nothing, or only a part.
TEST_P(EveryKind, AResultThatIsNotWrittenAfterARightOneIsWrong) {
  const Problem problem = bound_problem(parse_problem(GetParam()));
  ProblemData data(problem, 5);
  const auto executor = executor_for(problem, data);
  ASSERT_TRUE(data.validate(*executor).right);
  class Idle : public Spoilt {
   public:
    using Spoilt::Spoilt;
    void execute(void*, void*, bool) override {}
  } idle(*executor, nullptr);
  const Validation after = data.validate(idle);
  EXPECT_FALSE(after.right);
  EXPECT_EQ(after.message.rfind("relative error ", 0), 0u) << after.message << ": the output itself has to be noticed";
  EXPECT_TRUE(data.validate(*executor).right) << "and a right one is right again";
}

TEST(Validate, AnErrorJustAboveTheAllowedOneIsWrong) {
  const Problem problem = parse_problem("nufft:type=1,n=12x10,m=300,prec=f64,tol=1e-5");
  ProblemData data(problem, 5);
  const auto executor = executor_for(problem, data);
  for (const double factor : {1e-7, 4e-5}) {  // 3e-5 is allowed
    Spoilt scaled(*executor, [&](void*, void* second, bool adjoint) {
      auto* modes = static_cast<std::complex<double>*>(second);
      if (!adjoint)
        for (std::int64_t i = 0; i < 120; ++i) modes[i] *= 1 + factor;
    });
    EXPECT_EQ(data.validate(scaled).right, factor < 3e-5) << factor;
  }
}

TEST(Validate, OneNanAmongTheOutputsIsWrong) {
  const Problem problem = parse_problem("nufft:type=2,n=12x10,m=200,prec=f32,tol=1e-3");
  ProblemData data(problem, 5);
  const auto executor = executor_for(problem, data);
  Spoilt spoilt(*executor, [](void* first, void*, bool adjoint) {
    if (!adjoint) static_cast<std::complex<float>*>(first)[117] = NAN;
  });
  EXPECT_FALSE(data.validate(spoilt).right);
}

// There are too many outputs for the reference to see all of them, but the adjoint test sees every one.
TEST(Validate, AnErrorThatTheSampleMissesShowsInTheAdjoint) {
  const Problem problem = parse_problem("fft:type=c2c,n=128x128,prec=f64");
  ProblemData data(problem, 5);
  const auto executor = executor_for(problem, data);
  int caught = 0;
  for (int at = 0; at < 20; ++at) {
    Spoilt spoilt(*executor, [&](void*, void* second, bool adjoint) {
      if (!adjoint) static_cast<std::complex<double>*>(second)[5000 + 37 * at] *= 5.0;
    });
    caught += !data.validate(spoilt).right;
  }
  EXPECT_EQ(caught, 20);
}

TEST(Validate, AWrongAdjointIsWrong) {
  const Problem problem = parse_problem("nufft:type=1,n=12x10,m=300,prec=f64,tol=1e-6");
  ProblemData data(problem, 5);
  const auto executor = executor_for(problem, data);
  Spoilt spoilt(*executor, [](void* first, void*, bool adjoint) {
    if (adjoint)
      for (std::int64_t i = 0; i < 300; ++i) static_cast<std::complex<double>*>(first)[i] *= 1.001;
  });
  const Validation validation = data.validate(spoilt);
  EXPECT_FALSE(validation.right);
  EXPECT_NE(validation.message.find("adjoint"), std::string::npos);
}

TEST(Validate, UnknownCountsAreRefusedUntilTheyAreBound) {
  const Problem open = parse_problem("nufft:type=1,n=12x10,prec=f64,tol=1e-6");
  EXPECT_THROW(ProblemData(open, 1), Error);
  EXPECT_EQ(bound_problem(open).m, 120);
  const Problem third = bound_problem(parse_problem("nufft:type=3,dim=2,m=77,prec=f64,tol=1e-6"));
  EXPECT_EQ(third.k, 77);
  EXPECT_EQ(to_token(bound_problem(third)), to_token(third));
  const Problem targets = bound_problem(parse_problem("nufft:type=3,dim=2,k=55,prec=f64,tol=1e-6"));
  EXPECT_EQ(targets.m, 55);
  EXPECT_EQ(targets.k, 55);
  const Problem neither = bound_problem(parse_problem("nufft:type=3,dim=1,prec=f64,tol=1e-6"));
  EXPECT_EQ(neither.m, 65536);
  EXPECT_EQ(neither.k, 65536);
  EXPECT_EQ(bound_problem(parse_problem("nufft:type=2,n=4x5x6,prec=f64,tol=1e-6")).m, 120);
  const Problem uniform = parse_problem("fft:type=c2c,n=8,prec=f64");
  EXPECT_EQ(bound_problem(uniform), uniform);
}

}  // namespace
}  // namespace fourtune::tuner
