// Untuned plans are right for the problem, and the device can run them.
#include <gtest/gtest.h>

#include "base/known_devices.h"
#include "generator/codegen/fft/any_length/any_size.h"
#include "generator/plan/fft/geometry.h"
#include "generator/planner/gpu_fft/known_plans.h"

namespace fourtune::generator::fft {
namespace {

EmitOptions cube(std::int64_t n, Precision precision, bool in_place = false) {
  EmitOptions o;
  o.n = {n, n, n};
  o.precision = precision;
  o.in_place = in_place;
  return o;
}

TEST(FftKnownPlans, FitEveryDeviceAndEmit) {
  for (const auto& name : known_device_names()) {
    const DeviceTraits device = *known_device(name);
    for (const std::int64_t n : {100, 128, 256, 512, 1024})
      for (const Precision precision : {Precision::f32, Precision::f64})
        for (const bool in_place : {false, true}) {
          const EmitOptions o = cube(n, precision, in_place);
          const FftPlan plan = known_plan(o, device);
          SCOPED_TRACE(name + " " + to_text(plan));
          EXPECT_TRUE(check(plan, o.n).empty());
          EXPECT_EQ(plan.precision, precision);
          EXPECT_EQ(plan.place, in_place ? Place::in : Place::out);
          EXPECT_EQ(plan.order, Order::natural);
          const GpuProgram program = emit_program(plan, o);
          for (const auto& kernel : program.kernels) EXPECT_LE(kernel.shared_bytes, device.shared_per_block);
        }
  }
}

TEST(FftKnownPlans, WinnersWhereTheyWereMeasured) {
  const DeviceTraits h200 = *known_device("h200"), a100 = *known_device("a100");
  const auto kernels = [&](std::int64_t n, Precision precision, const DeviceTraits& device) {
    return known_plan(cube(n, precision), device).kernels.size();
  };
  for (const std::int64_t n : {128, 256, 512}) EXPECT_EQ(kernels(n, Precision::f32, h200), 2u);
  EXPECT_EQ(kernels(1024, Precision::f32, h200), 3u);
  EXPECT_EQ(kernels(256, Precision::f64, h200), 2u);
  EXPECT_EQ(kernels(512, Precision::f32, a100), 3u);  // this device has no clusters
  EXPECT_EQ(kernels(256, Precision::f32, a100), 2u);  // with plain loads
  EXPECT_EQ(known_plan(cube(256, Precision::f32), a100).kernels[0].with.load, Load::plain);
}

// Sizes that are not cubes of powers of two, and real arrays.
TEST(FftKnownPlans, OtherSizesHaveWinners) {
  const DeviceTraits h200 = *known_device("h200");
  struct Size {
    Lengths n;
    Precision precision = Precision::f32;
    FftType type = FftType::c2c;
    std::int64_t batch = 1;
  };
  for (const Size& size :
       {Size{{1024, 256, 256}}, Size{{128, 1024, 1024}}, Size{{128, 512, 1024}}, Size{{128, 512, 512}},
        Size{{256, 128, 128}}, Size{{256, 512, 512}}, Size{{256, 512, 1024}}, Size{{128, 8192, 4}},
        Size{{1920, 1080, 1}}, Size{{4096, 4096, 1}}, Size{{8192, 8192, 1}},
        Size{{1048576, 1, 1}, Precision::f32, FftType::c2c, 64}, Size{{96, 96, 96}, Precision::f64},
        Size{{243, 243, 243}, Precision::f64}, Size{{320, 320, 320}, Precision::f64},
        Size{{256, 256, 256}, Precision::f32, FftType::r2c}, Size{{256, 256, 256}, Precision::f32, FftType::c2r}})
    for (const bool in_place : {false, true}) {
      EmitOptions o;
      o.n = size.n, o.precision = size.precision, o.type = size.type, o.batch = size.batch;
      o.in_place = in_place;
      o.device = h200;
      const FftPlan plan = known_plan(o, h200);
      SCOPED_TRACE(to_text(plan));
      EXPECT_NE(plan.kernels, plain_plan(o).kernels);
      EXPECT_TRUE(check(plan, o.n).empty());
      EXPECT_NO_THROW(emit_program(plan, o));
    }
  EmitOptions one;
  one.n = {1048576, 1, 1};
  EXPECT_EQ(known_plan(one, h200).kernels, plain_plan(one).kernels);
}

TEST(FftKnownPlans, WinnersInPlaceGoThroughAWorkspace) {
  const DeviceTraits h200 = *known_device("h200");
  for (const Precision precision : {Precision::f32, Precision::f64})
    for (const std::int64_t n : {128, 256, 512}) {
      const FftPlan out = known_plan(cube(n, precision), h200), in = known_plan(cube(n, precision, true), h200);
      SCOPED_TRACE(to_text(in));
      ASSERT_EQ(in.kernels.size(), 2u);
      EXPECT_EQ(in.kernels[0].with.to, Target::work);
      for (std::size_t k = 0; k < 2; ++k) EXPECT_EQ(in.kernels[k].subs, out.kernels[k].subs);
    }
  EmitOptions strided = cube(256, Precision::f32);
  strided.output = ArrayLayout{{2, 512, 512 * 256}, 512 * 256 * 256};
  EXPECT_EQ(known_plan(strided, h200).kernels[0].with.to, Target::work);
}

TEST(FftKnownPlans, HooksAndStridesAreTakenIntoAccount) {
  const DeviceTraits h200 = *known_device("h200");
  for (const bool input : {true, false}) {
    EmitOptions o = cube(256, Precision::f32);
    for (auto& hook : o.hooks) {
      Window w;
      w.kind = Window::Kind::wrapped;
      w.kept = 128;
      (input ? hook.input : hook.output) = w;
    }
    const FftPlan plan = known_plan(o, h200);
    EXPECT_EQ(plan.kernels.front().subs.front().dim, input ? Dim::z : Dim::x);
    EXPECT_NO_THROW(emit_program(plan, o));
  }
  EmitOptions strided = cube(256, Precision::f32);
  strided.input = ArrayLayout{{2, 512, 512 * 256}, 512 * 256 * 256};
  EXPECT_EQ(known_plan(strided, h200).kernels[0].with.load, Load::plain);
  EXPECT_NO_THROW(emit_program(known_plan(strided, h200), strided));
  EmitOptions real = cube(200, Precision::f32);
  real.type = FftType::r2c;
  EXPECT_EQ(to_text(known_plan(real, h200)), to_text(plain_plan(real)));
}

TEST(FftPlainPlans, AShortLastDimensionRidesOnTheOneBeforeIt) {
  EmitOptions o;
  o.n = {128, 8192, 4};
  const FftPlan joined = plain_plan(o);
  ASSERT_EQ(joined.kernels.size(), 3u);
  EXPECT_EQ(joined.kernels.back().subs.back().dim, Dim::z);
  EXPECT_TRUE(check(joined, o.n).empty());
  o.hooks[2].output = Window{};
  o.hooks[2].output->kept = 2;
  EXPECT_EQ(plain_plan(o).kernels.size(), 4u);
}

TEST(FftPlainPlans, TilesOfShortLinesHoldManyOfThem) {
  EmitOptions o;
  o.n = {40, 40, 5};
  for (const Kernel& kernel : plain_plan(o).kernels) {
    std::int64_t values = 1;
    for (const SubFft& sub : kernel.subs) values *= sub.radix;
    for (const int carried : kernel.with.tile) values *= carried;
    EXPECT_GE(values, 512) << to_text(kernel);
    EXPECT_LE(values, 8192) << to_text(kernel);
  }
}

TEST(FftKnownPlans, LengthsWithoutCodeletsAreRefused) {
  EmitOptions o = cube(67, Precision::f32);
  EXPECT_THROW(known_plan(o, *known_device("h200")), Error);
}

}  // namespace
}  // namespace fourtune::generator::fft
