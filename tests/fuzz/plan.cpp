// Plan texts: the first line is the problem's token, the rest the plan of any backend. An accepted plan has one
// spelling, and the generator can work with it: it gives a cost, and for uniform transforms kernels or a refusal by
// name.
#include "generator/plan/plan.h"

#include "base/known_devices.h"
#include "generator/candidates.h"
#include "generator/planner/gpu_fft/program.h"
#include "tests/fuzz/fuzz.h"

using namespace fourtune;
using namespace fourtune::generator;
using fuzz::require;

namespace {

constexpr std::int64_t kSmall = 4096;  // above this, writing kernels takes too long here

DeviceTraits processor() {
  DeviceTraits traits;
  traits.backend = "cpu";
  traits.name = "processor";
  traits.isa = "avx2";
  traits.cores = 4;
  traits.l3_bytes = 32 << 20;
  traits.memory_bytes = std::int64_t{16} << 30;
  return traits;
}

void use(const Plan& plan, const Problem& problem) {
  static const DeviceTraits gpu = *known_device("h100");
  static const DeviceTraits cpu = processor();
  const DeviceTraits& traits = is_gpu(plan.backend) ? gpu : cpu;
  fuzz::accepted([&] {
    const Cost cost = estimate(plan, problem, traits);
    require(cost.execute >= 0 && cost.set_points >= 0 && cost.bytes >= 0, "no cost is negative or no number",
            to_text(plan, problem));
  });
  for (const DeviceTraits* any : {&cpu, &gpu}) {  // also the wrong kind of device
    fuzz::accepted([&] { estimate(plan, problem, *any); });
    fuzz::accepted([&] { floor_seconds(plan, problem, *any); });
    fuzz::accepted([&] { adapt(plan, problem, *any); });
  }
  fuzz::accepted([&] {
    const Plan adapted = adapt(plan, problem, traits);
    const std::string text = to_text(adapted, problem);
    require(to_text(parse_plan(text, problem), problem) == text, "an adapted plan is a valid one", text);
  });
  if (problem.kind == Kind::fft && mode_count(problem) <= kSmall)
    fuzz::accepted([&] { gpu_fft_program(problem, plan, traits); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  const std::size_t line = text.find('\n');
  if (line == text.npos) return 0;
  Problem problem;
  Plan plan;
  if (!fuzz::accepted([&] {
        problem = parse_problem(text.substr(0, line));
        validate(problem);
        plan = parse_plan(text.substr(line + 1), problem);
      }))
    return 0;
  const std::string printed = to_text(plan, problem);
  require(parse_plan(printed, problem) == plan, "parse(print(p)) == p", printed);
  require(to_text(parse_plan(printed, problem), problem) == printed, "the canonical text prints itself", printed);
  use(plan, problem);
  return 0;
}
