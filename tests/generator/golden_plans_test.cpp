// What the planners make of drawn problems: plans, costs, candidates. tests/golden/plans.txt has them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/known_devices.h"
#include "fourtune/problem.h"
#include "generator/candidates.h"
#include "generator/planner/gpu_fft/planner.h"
#include "runtime/backends/families.h"
#include "tests/support/golden.h"

namespace fourtune::generator {
namespace {

using test::Digest;

// A known GPU, or a processor: "cpu1" has one thread and small caches, "cpu24" has many and large ones.
DeviceTraits device(const std::string& name) {
  if (const auto gpu = known_device(name)) return *gpu;
  const bool large = name == "cpu24";
  DeviceTraits traits;
  traits.backend = "cpu";
  traits.isa = large ? "avx512" : "avx2";
  traits.cores = large ? 24 : 1;
  traits.l1_bytes = (large ? 48 : 32) << 10;
  traits.l2_bytes = (large ? 2048 : 512) << 10;
  traits.l3_bytes = (large ? 64 : 8) << 20;
  traits.memory_bytes = std::int64_t{large ? 256 : 16} << 30;
  return traits;
}

template <class Action>
std::string text_or_refusal(const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    return fmt::format("refused: {}", error.what());
  }
}

// Numbers with five digits: the last ones may differ between mathematical libraries.
std::string cost_text(const Plan& plan, const Problem& problem, const DeviceTraits& traits) {
  const Cost cost = estimate(plan, problem, traits);
  return fmt::format("execute {:.4e} s, set_points {:.4e} s, {:.4e} bytes, floor {:.4e} s", cost.execute,
                     cost.set_points, cost.bytes, floor_seconds(plan, problem, traits));
}

std::string candidates_text(const Problem& problem, const DeviceTraits& traits) {
  Digest digest;
  Space space;
  if (problem.kind == Kind::fft && traits.backend == "cuda") {  // with what every rule left
    GpuFftSpace found = gpu_fft_candidates(problem, traits);
    space = std::move(found.space);
    for (const fft::RuleCount& one : found.counts)
      digest.add(fmt::format("{} {} {:.6g} {:.6g}", one.step, one.rule, one.before, one.after));
  } else {
    space = candidates(problem, traits);
  }
  const Candidate* best = nullptr;
  for (const std::string& axis : space.axes) digest.add(axis);
  for (const Candidate& one : space.candidates) {
    digest.add(fmt::format("{} {:.4e} {}", to_text(one.plan, problem), one.estimate, fmt::join(one.coordinates, " ")));
    if (!best || one.estimate < best->estimate) best = &one;
  }
  // Of at most a hundred candidates, the other numbers, and what becomes of the plan where the problem is another one.
  Digest costs, adapted;
  Problem near = problem;
  for (int d = 0; d < near.dim; ++d) near.n[d] += near.n[d] / 3 + 1;
  if (near.kind == Kind::nufft) near.tol *= 0.2, near.batch += 2;
  if (near.m) *near.m *= 3;
  if (near.k) *near.k *= 2;
  for (std::size_t i = 0; i < space.candidates.size(); i += 1 + space.candidates.size() / 100) {
    const Plan& plan = space.candidates[i].plan;
    costs.add(cost_text(plan, problem, traits));
    adapted.add(text_or_refusal([&] { return to_text(adapt(plan, near, traits), near); }));
  }
  return fmt::format("{} candidates {}, costs {}, adapted {}\n  best {}", space.candidates.size(), digest.text(),
                     costs.text(), adapted.text(), best ? to_text(best->plan, problem) : "none");
}

// header: "device token".
std::string planned(const std::string& header) {
  const auto space = header.find(' ');
  const DeviceTraits traits = device(header.substr(0, space));
  const Problem problem = parse_problem(header.substr(space + 1));
  std::string text = header + "\n";
  text += "  " + text_or_refusal([&] {
            std::string why;
            const Plan plan = default_plan(problem, traits, &why);
            return fmt::format("default {}\n  {}\n  {}", to_text(plan, problem), why, cost_text(plan, problem, traits));
          });
  text += "\n  " + text_or_refusal([&] { return candidates_text(problem, traits); }) + "\n";
  return text;
}

class GoldenPlans : public ::testing::TestWithParam<int> {
 public:
  static constexpr int kParts = 4;
};

TEST_P(GoldenPlans, AreAsRecorded) {
  if (!runtime::has_fftw()) GTEST_SKIP() << "recorded by a build with FFTW, whose estimate may run untuned";
  test::GoldenFile("plans.txt", planned).compare(GetParam(), kParts);
}

INSTANTIATE_TEST_SUITE_P(Parts, GoldenPlans, ::testing::Range(0, GoldenPlans::kParts));

}  // namespace
}  // namespace fourtune::generator
