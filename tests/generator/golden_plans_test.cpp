// What the planners make of drawn problems: plans, costs, candidates. tests/golden/plans.txt has them; every line that
// a change moves is then seen in its diff. FOURTUNE_UPDATE_GOLDEN=1 writes the file anew, for the problems it lists.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "base/known_devices.h"
#include "fourtune/problem.h"
#include "generator/candidates.h"

namespace fourtune::generator {
namespace {

const std::string kPath = std::string(FOURTUNE_SOURCE_DIR) + "/tests/golden/plans.txt";

// FNV-1a of many texts.
class Digest {
 public:
  void add(const std::string& text) {
    for (const char c : text + "\n") sum_ = (sum_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  std::string text() const { return fmt::format("{:016x}", sum_); }

 private:
  std::uint64_t sum_ = 0xcbf29ce484222325u;
};

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
  const Space space = candidates(problem, traits);
  Digest digest;
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

// Blocks of lines; the first line of each is not indented.
std::vector<std::string> recorded() {
  std::ifstream file(kPath);
  std::vector<std::string> blocks;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line[0] != ' ') blocks.emplace_back();
    blocks.back() += line + "\n";
  }
  return blocks;
}

std::string header_of(const std::string& block) { return block.substr(0, block.find('\n')); }

void write_anew() {
  std::string text =
      "# What the planners make of drawn problems. Written by FOURTUNE_UPDATE_GOLDEN=1 generator_golden_plans_test\n";
  for (const std::string& block : recorded()) text += planned(header_of(block));
  std::ofstream(kPath) << text;
}

class GoldenPlans : public ::testing::TestWithParam<int> {
 public:
  static constexpr int kParts = 4;  // run side by side
};

TEST_P(GoldenPlans, AreAsRecorded) {
  if (GetParam() == 0 && std::getenv("FOURTUNE_UPDATE_GOLDEN")) write_anew();
  const std::vector<std::string> blocks = recorded();
  ASSERT_GT(blocks.size(), 100u) << kPath;
  int differ = 0;
  for (std::size_t i = GetParam(); i < blocks.size() && differ < 3; i += kParts) {
    const std::string now = planned(header_of(blocks[i]));
    EXPECT_EQ(now, blocks[i]) << "if the change is meant: FOURTUNE_UPDATE_GOLDEN=1 "
                              << ::testing::internal::GetArgvs()[0];
    differ += now != blocks[i] ? 1 : 0;
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, GoldenPlans, ::testing::Range(0, GoldenPlans::kParts));

}  // namespace
}  // namespace fourtune::generator
