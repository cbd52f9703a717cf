// What the tuner changes in a nonuniform plan's sort and kernels, one parameter at a time.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/known_devices.h"
#include "generator/candidates.h"
#include "generator/planner/gpu_nufft/choices.h"

namespace fourtune::generator {
namespace {

DeviceTraits varied_device() {
  DeviceTraits traits = *known_device("h200");
  traits.backend = "cuda";
  return traits;
}

nufft::Shape varied_shape(const Problem& problem, const Plan& plan) {
  return nufft::shape_on(varied_device(), problem, plan.window.fine, plan.window.width);
}

TEST(GpuNufftVariations, SlicesAreTakenUpDoubledAndGivenUpInBothKernels) {
  const Problem problem = parse_problem("nufft:type=2,n=2048x2048,m=16777216,prec=f32,tol=1e-2");
  Plan plan = default_plan(problem, varied_device());
  const nufft::Shape shape = varied_shape(problem, plan);
  for (const auto lead : {gpu_nufft::Lead::spread, gpu_nufft::Lead::interpolate})
    for (const auto& [from, expected] :
         {std::pair<int, std::set<int>>{0, {1 << 21, 1 << 22}}, std::pair<int, std::set<int>>{1 << 20, {0, 1 << 21}}}) {
      GpuPointsChoice choice = plan.gpu().points;
      choice.spread_with.slice = choice.interp_with.slice = from;
      std::set<int> slices;
      for (const GpuPointsChoice& one : gpu_nufft::variations(choice, shape, lead)) {
        EXPECT_EQ(one.spread_with.slice, one.interp_with.slice);
        if (one.interp_with.slice != from) slices.insert(static_cast<int>(one.interp_with.slice));
      }
      EXPECT_EQ(slices, expected) << from;
    }
  std::set<std::int64_t> listed;
  for (const Candidate& candidate : candidates(problem, varied_device()).candidates)
    listed.insert(candidate.plan.gpu().points.interp_with.slice);
  EXPECT_GE(listed.size(), 3u) << "the tuner gets them";
}

// The least and the greatest cap are not left.
TEST(GpuNufftVariations, CapsStayInsideThePlanLanguage) {
  const Problem problem = parse_problem("nufft:type=1,n=2876x36,m=38007,prec=f64,tol=7.3e-04,batch=32");
  Plan plan = default_plan(problem, varied_device());
  const nufft::Shape shape = varied_shape(problem, plan);
  for (const int cap : {nufft::kLeastCap, nufft::kMostCap}) {
    plan.gpu().points.spread_with.cap = plan.gpu().points.interp_with.cap = cap;
    const auto all = gpu_nufft::variations(plan.gpu().points, shape, gpu_nufft::Lead::spread);
    EXPECT_GT(all.size(), 5u);
    for (const GpuPointsChoice& one : all) {
      Plan varied = plan;
      varied.gpu().points = one;
      EXPECT_NO_THROW(parse_plan(to_text(varied, problem), problem));
    }
  }
}

TEST(GpuNufftVariations, EveryParameterOfSortAndLeadingKernelIsVariedAndTheSortIsShared) {
  std::set<std::string> changed;
  for (const char* token :
       {"nufft:type=1,n=64x64x64,m=2000000,prec=f32,tol=1e-3", "nufft:type=2,n=64x64x64,m=2000000,prec=f32,tol=1e-3",
        "nufft:type=1,n=512x512,m=5000,prec=f32,tol=1e-3", "nufft:type=2,n=512x512,m=1000000,prec=f32,tol=1e-3"}) {
    const Problem problem = parse_problem(token);
    const Plan plan = default_plan(problem, varied_device());
    const nufft::Shape shape = varied_shape(problem, plan);
    const auto lead = problem.type == 1 ? gpu_nufft::Lead::spread : gpu_nufft::Lead::interpolate;
    for (const GpuPointsChoice& one : gpu_nufft::variations(plan.gpu().points, shape, lead)) {
      const bool spreads = lead == gpu_nufft::Lead::spread;
      const nufft::Parameters &own = spreads ? one.spread_with : one.interp_with,
                              &other = spreads ? one.interp_with : one.spread_with,
                              &before = spreads ? plan.gpu().points.spread_with : plan.gpu().points.interp_with;
      const auto note = [&](const char* name, bool differs) {
        if (differs) changed.insert(name);
      };
      note("bin", own.bin != before.bin);
      note("cap", own.cap != before.cap);
      note("slice", own.slice != before.slice);
      note("placement", own.placement != before.placement);
      note("split", own.split != before.split);
      note("fold", own.fold != before.fold);
      note("warps", own.warps != before.warps);
      note("unroll", own.unroll != before.unroll);
      note("lanes", own.lanes != before.lanes);
      note("run", own.run != before.run);
      EXPECT_NE(one, plan.gpu().points) << token;
      EXPECT_EQ(gpu_nufft::why_not(one, shape), "") << token;
      EXPECT_EQ(std::tie(own.bin, own.cap, own.slice, own.placement),
                std::tie(other.bin, other.cap, other.slice, other.placement))
          << token;
    }
  }
  EXPECT_EQ(changed, (std::set<std::string>{"bin", "cap", "slice", "placement", "split", "fold", "warps", "unroll",
                                            "lanes", "run"}));
}

}  // namespace
}  // namespace fourtune::generator
