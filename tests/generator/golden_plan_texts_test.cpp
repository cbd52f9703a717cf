// What is made of plan texts with one number or word changed: the canonical text, what rule they break, what they cost.
// tests/golden/plan_texts.txt has it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "base/known_devices.h"
#include "generator/candidates.h"
#include "generator/plan/accuracy.h"
#include "tests/support/golden.h"

namespace fourtune::generator {
namespace {

DeviceTraits processor() {
  DeviceTraits traits;
  traits.backend = "cpu";
  traits.isa = "avx2";
  traits.cores = 4;
  traits.l1_bytes = 32 << 10, traits.l2_bytes = 1 << 20, traits.l3_bytes = 32 << 20;
  traits.memory_bytes = std::int64_t{16} << 30;
  return traits;
}

template <class Action>
std::string said(const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    return fmt::format("refused: {}", error.what());
  }
}

// header: "token plan".
std::string judged(const std::string& header) {
  const auto space = header.find(' ');
  const Problem problem = parse_problem(header.substr(0, space));
  const std::string text = header.substr(space + 1);
  Plan plan;
  const std::string parsed = said([&] {
    plan = parse_plan(text, problem);
    const std::string canonical = to_text(plan, problem);
    return canonical == text ? std::string("canonical") : canonical;
  });
  std::string out = fmt::format("{}\n  {}\n", header, parsed);
  if (parsed.starts_with("refused")) return out;
  const DeviceTraits traits = plan.backend == "cpu" ? processor() : *known_device("h100");
  if (const std::string fault = said([&] { return accuracy_fault(plan, problem); }); !fault.empty())
    out += "  accuracy: " + fault + "\n";
  out += "  " + said([&] {
           const Cost cost = estimate(plan, problem, traits);
           return fmt::format("execute {:.4e} s, set_points {:.4e} s, {:.4e} bytes", cost.execute, cost.set_points,
                              cost.bytes);
         }) +
         "\n";
  return out;
}

TEST(GoldenPlanTexts, AreAsRecorded) { test::GoldenFile("plan_texts.txt", judged).compare(0, 1); }

}  // namespace
}  // namespace fourtune::generator
