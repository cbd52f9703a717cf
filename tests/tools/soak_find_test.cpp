// The faults that a hunt detects: writes outside arrays, and every fault that a backend can be made to have.
#include <gtest/gtest.h>

#include <string>

#include "runtime/backend_table.h"
#include "runtime/backends/backend.h"
#include "tools/soak/arrays.h"
#include "tools/soak/run.h"
#include "tools/soak/shrink.h"

namespace fourtune::tools {
namespace {

using tuner::Guard;

const Bytes kSome(24, std::byte{1});

TEST(SoakArraysDeathTest, OneElementTooFarEndsTheProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto behind = make_host_array(24, Guard::behind, 8), before = make_host_array(24, Guard::before, 8);
  EXPECT_EXIT(static_cast<volatile double*>(behind->data())[3] = 0, testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(static_cast<volatile double*>(before->data())[-1] = 0, testing::KilledBySignal(SIGSEGV), "");
}

TEST(SoakArrays, TheOpenSideIsWatchedByPattern) {
  for (const Guard guard : {Guard::behind, Guard::before})
    for (const std::size_t alignment : {8, 256}) {
      const auto array = make_host_array(24, guard, alignment);
      array->write(kSome);
      EXPECT_FALSE(array->touched_outside());
      if (guard == Guard::behind && alignment == 8)
        static_cast<char*>(array->data())[-1] = 0;
      else
        static_cast<char*>(array->data())[24] = 0;
      EXPECT_TRUE(array->touched_outside());
    }
}

TEST(SoakArrays, CanariesSeeOneElementOnEitherSide) {
  const auto memory = runtime::find_backend("cpu").memory(0);  // stands in for a device: kernels can write anywhere
  for (const std::ptrdiff_t at : {-8, 24, -60000, 60000}) {
    const auto array = make_device_array(*memory, 24);
    array->write(kSome);
    Bytes back(24);
    array->read(back);
    EXPECT_EQ(back, kSome);
    EXPECT_FALSE(array->touched_outside());
    static_cast<char*>(array->data())[at] = 0;
    EXPECT_TRUE(array->touched_outside()) << at;
    array->write(kSome);
    EXPECT_FALSE(array->touched_outside());
  }
}

std::string failure_of(const std::string& text) {
  SoakSetup setup;
  setup.backend = &runtime::find_backend("cpu");
  const SoakOutcome outcome = try_case(CaseData(parse_case(text)), setup);
  return outcome.failure.empty() ? "" : outcome.failure + ": " + outcome.message;
}

TEST(SoakRun, ASoundBackendHasNoFailures) {
  for (const char* text :
       {"fft:type=c2c,n=12x10,prec=f64,batch=3,layout=2x30+400/1x13+150 adjoint",
        "fft:type=r2c,n=15x4,prec=f32 adjoint", "fft:type=c2r,n=9x6x4,prec=f64,batch=2",
        "fft:type=r2c,n=12,prec=f64,batch=2,place=in",
        "nufft:type=1,n=20x14,m=300,prec=f64,tol=1e-9,batch=3 distinct order=fft at=borders",
        "nufft:type=2,n=20,m=300,prec=f32,tol=1e-4 at=far adjoint",
        "nufft:type=3,dim=2,m=100,k=120,prec=f64,tol=1e-7,batch=2 distinct at=far",
        "nufft:type=1,n=36x40,m=200,prec=f64,tol=1e-6,batch=2 only=spread at=folded",
        // All points in one place, where strengths may cancel; points ten million periods away.
        "nufft:type=1,n=8x12,m=700,prec=f64,tol=1e-2,batch=12 adjoint distinct at=duplicated seed=3",
        "nufft:type=1,n=8192,m=90,prec=f64,tol=1e-12 adjoint only=spread at=far seed=635651",
        "nufft:type=2,n=36x32x34,m=90,prec=f32,tol=1e-3 only=interpolate deterministic at=duplicated",
        // Points at the edge of a window, and a single one, where the polynomial of a window is off more than on
        // average.
        "nufft:type=2,n=61x63,m=443,prec=f64,tol=6.6e-10,points=cluster only=interpolate at=borders seed=553788",
        "nufft:type=1,n=37x41,m=300,prec=f32,tol=1e-4 only=spread_centred at=folded",
        "nufft:type=2,n=39,m=300,prec=f64,tol=1e-9 only=interpolate_centred at=borders",
        "nufft:type=2,n=14,m=1,prec=f64,tol=6.6e-10 only=interpolate threads=1"})
    EXPECT_EQ(failure_of(text), "") << text;
}

TEST(SoakShrink, ComesDownToTheLeastThatStillFails) {
  TriedCase trial;
  trial.one = parse_case(
      "nufft:type=1,n=60x70x40,m=5000,prec=f64,tol=3e-7,batch=12,points=radial adjoint order=fft deterministic "
      "at=far threads=3 seed=99");
  trial.kind = PlanKind::candidate;
  trial.plan = "some plan";
  trial.outcome.failure = "wrong";
  ShrinkTools tools;
  tools.try_case = [](const SoakCase& one, PlanKind, const std::string&) {
    SoakOutcome outcome;
    // Fails for at least 10 points and an odd length of at least 7, but only in single steps of the order.
    if (*one.problem.m >= 10 && one.problem.n[0] >= 7 && one.order == ModeOrder::fft) outcome.failure = "wrong";
    if (*one.problem.m < 10) outcome.failure = "another one";
    return outcome;
  };
  tools.adapt = [](const SoakCase&, const std::string& plan, const SoakCase&) { return plan; };
  const TriedCase small = made_small(trial, tools, {60, 100000, nullptr});
  EXPECT_EQ(to_text(small.one), "nufft:type=1,n=7,m=10,prec=f64,tol=1e-1 order=fft threads=1");
  EXPECT_EQ(small.kind, PlanKind::untuned);
  EXPECT_EQ(small.plan, "");
}

TEST(SoakShrink, KeepsThePlanThatItNeedsAndItsTries) {
  TriedCase trial;
  trial.one = parse_case("fft:type=c2c,n=64,prec=f64,batch=4");
  trial.kind = PlanKind::candidate;
  trial.plan = "bad";
  trial.outcome.failure = "wrong";
  int tries = 0;
  ShrinkTools tools;
  tools.try_case = [&](const SoakCase&, PlanKind, const std::string& plan) {
    ++tries;
    SoakOutcome outcome;
    if (plan.starts_with("bad, adapted")) outcome.failure = "wrong";
    return outcome;
  };
  tools.adapt = [](const SoakCase&, const std::string&, const SoakCase&) { return std::string("bad, adapted"); };
  const TriedCase small = made_small(trial, tools, {60, 12, nullptr});
  EXPECT_EQ(small.plan, "bad, adapted");
  EXPECT_EQ(small.one.problem.batch, 1);
  EXPECT_LE(tries, 13);
}

TEST(SoakShrink, SimplerCasesAreValidAndOthers) {
  for (const char* text :
       {"fft:type=r2c,n=12x10,prec=f64,batch=3,sign=1 deterministic",
        "nufft:type=3,dim=3,m=100,k=120,prec=f64,tol=1e-7", "nufft:type=2,n=1,m=1,prec=f32,tol=1e-1 threads=1"}) {
    const SoakCase one = parse_case(text);
    for (const SoakCase& next : simpler_cases(one)) {
      EXPECT_NE(next, one);
      EXPECT_EQ(parse_case(to_text(next)), next);
    }
  }
}

}  // namespace
}  // namespace fourtune::tools
