// `fourtune plan`: GPU FFT plans without a GPU. Checks a plan, prints what it does and draws it; or lists the
// candidates for a problem on a device, with the number that each rule left.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "fourtune/problem.h"
#include "generator/candidates.h"
#include "generator/plan/fft/geometry.h"
#include "generator/planner/gpu_fft/draw.h"
#include "generator/planner/gpu_fft/enumerate.h"
#include "generator/planner/gpu_fft/plan_cost.h"
#include "generator/planner/gpu_fft/planner.h"
#include "tools/cli/commands.h"
#include "tools/cli/fft_plan_argument.h"
#include "tools/common/errors.h"
#include "tools/common/gpu_argument.h"
#include "tools/common/numbers.h"
#include "tools/common/output.h"
#include "tuner/report/table.h"

namespace fourtune::tools {
namespace {

namespace fft = generator::fft;

struct PlanArguments {
  std::string plan;
  std::string lengths;
  std::string svg;
  std::string device;
  std::string list;
  std::string order = "natural";
  int count = 10;
  bool wide = false;
};

// Parses "256x256x64"; missing lengths are 1.
fft::Lengths lengths_from(const std::string& text) {
  const auto parts = text::split(text, 'x');
  fft::Lengths out;
  bool right = parts.size() <= out.size();
  for (std::size_t d = 0; right && d < parts.size(); ++d) {
    const auto value = text::number<std::int64_t>(parts[d]);
    right = value && *value >= 1;
    if (right) out[d] = *value;
  }
  if (!right)
    throw UsageError(fmt::format("--n {}: one to four lengths from 1, joined by x", text), "as --n 256x256x64");
  return out;
}

// A problem has many plans, and the plan of one was not given.
void refuse_token(const std::string& text) {
  if (!text.starts_with("fft:") && !text.starts_with("nufft:")) return;
  const Problem problem = parse_typed_problem(text);
  throw UsageError(fmt::format("{}: this is a problem, and a plan in braces is needed", text::shown(text)),
                   problem.kind == Kind::fft ? fmt::format("fourtune plan --list {}", to_token(problem))
                                             : fmt::format("fourtune explain {}", to_token(problem)));
}

void show_plan(const PlanArguments& arguments) {
  refuse_token(arguments.plan);
  fft::FftPlan plan =
      fft_plan_argument(arguments.plan, arguments.lengths.empty() ? fft::any_lengths : lengths_from(arguments.lengths));
  std::optional<DeviceTraits> device;
  if (!arguments.device.empty()) device = gpu_traits(arguments.device);
  if (device) plan = fft::bind(plan, *device);
  fmt::print("{}", fft::report(plan, device ? &*device : nullptr));
  if (arguments.svg.empty()) return;
  std::ofstream file(arguments.svg, std::ios::binary);
  file << fft::to_svg(plan, device ? &*device : nullptr);
  if (!file.flush()) throw cannot_write(arguments.svg);
}

// Prints small whole numbers exactly, large ones with three digits: "4.51e8".
std::string amount(double value) {
  if (value < 1e7) return fmt::format("{:.0f}", value);
  const double power = std::pow(10, std::floor(std::log10(value)) - 2);
  return text::scientific(std::round(value / power) * power);
}

fft::DigitOrder order_from(const std::string& name) {
  if (name == "natural") return fft::DigitOrder::natural;
  return name == "grouped" ? fft::DigitOrder::grouped : fft::DigitOrder::reversed;
}

void print_list(const std::string& title, const std::vector<fft::RuleCount>& counts,
                const std::vector<std::vector<std::string>>& plans, const tuner::Screen& screen) {
  std::vector<std::vector<std::string>> rows{{"step", "before", "after", "rule"}};
  for (const auto& row : counts) rows.push_back({row.step, amount(row.before), amount(row.after), row.rule});
  fmt::print("{}\n", title);
  if (rows.size() > 1) fmt::print("{}\n", tuner::table_text(rows, {{1, 2}, -1, 3}, screen));
  if (plans.size() > 1) fmt::print("{}", tuner::table_text(plans, {{0, 1}, -1, 2}, screen));
}

std::string microseconds(double seconds) { return fmt::format("{:.1f} us", seconds * 1e6); }

// The candidates of the tuner: plan texts of the whole transform, the best estimate first.
void list_whole_plans(const Problem& problem, const DeviceTraits& device, const PlanArguments& arguments) {
  auto found = generator::gpu_fft_candidates(problem, device);
  auto& list = found.space.candidates;
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.estimate < b.estimate; });
  std::vector<std::vector<std::string>> rows{{"estimate", "floor", "plan"}};
  for (const auto& candidate : list) {
    if (static_cast<int>(rows.size()) > arguments.count) break;
    rows.push_back({microseconds(candidate.estimate),
                    microseconds(generator::floor_seconds(candidate.plan, problem, device)),
                    generator::to_text(candidate.plan, problem)});
  }
  print_list(fmt::format("{} on {}: {} candidates\nuntuned:\n  {}", to_token(problem), device.name, list.size(),
                         generator::to_text(generator::default_plan(problem, device), problem)),
             found.counts, rows, tuner::screen_of(stdout, arguments.wide));
}

void list_candidates(const PlanArguments& arguments) {
  const Problem problem = parse_typed_problem(arguments.list);
  if (problem.kind != Kind::fft)
    throw UsageError(fmt::format("{}: these plans are of uniform transforms", arguments.list),
                     "a token as fft:type=c2c,n=256x256x256,prec=f32");
  const DeviceTraits device = gpu_traits(arguments.device.empty() ? "h200" : arguments.device);
  if (arguments.order == "natural") return list_whole_plans(problem, device, arguments);
  if (problem.fft_type != FftType::c2c)
    throw UsageError(fmt::format("{}: only complex transforms leave their results in another order", arguments.list),
                     "--order natural");
  fft::FftRequest request;
  request.lengths = problem.n;
  request.precision = problem.precision;
  request.place = problem.place;
  request.batch = problem.batch;
  request.order = order_from(arguments.order);
  const auto found = fft::fft_candidates(request, device);
  std::vector<std::vector<std::string>> rows{{"estimate", "floor", "plan"}};
  for (const auto& candidate : found.list) {
    if (static_cast<int>(rows.size()) > arguments.count) break;
    rows.push_back({microseconds(candidate.seconds),
                    microseconds(fft::floors(candidate.plan, device, request.batch).total),
                    fft::to_text(candidate.plan)});
  }
  print_list(fmt::format("{} on {}", to_token(problem), device.name), found.counts, rows,
             tuner::screen_of(stdout, arguments.wide));
}

void plan_command(const PlanArguments& arguments) {
  if (arguments.plan.empty() == arguments.list.empty())
    throw UsageError("a plan is needed, or --list with a problem", "`fourtune plan --help` has an example");
  if (arguments.plan.empty())
    list_candidates(arguments);
  else
    show_plan(arguments);
}

}  // namespace

void add_plan(CLI::App& app) {
  auto arguments = std::make_shared<PlanArguments>();
  CLI::App* command = app.add_subcommand("plan", "Check, print, draw or list plans of GPU FFT kernels");
  command->add_option("PLAN", arguments->plan, "A plan in the X/Y/Z/W notation")->type_name("TEXT");
  command->add_option("--n", arguments->lengths, "Check that the plan has these lengths")->type_name("NXxNYxNZ");
  command->add_option("--svg", arguments->svg, "Draw the plan")->type_name("FILE");
  add_gpu_option(*command, arguments->device, "Fill in parameters and give floors for this GPU (--list: default h200)");
  command->add_option("--list", arguments->list, "List candidates for an FFT problem")->type_name("TOKEN");
  command->add_option("--order", arguments->order, "Output order of the candidates")
      ->check(CLI::IsMember({"natural", "grouped", "reversed"}));
  command->add_option("--count", arguments->count, "Candidates to print")->check(between(0, 1'000'000))->type_name("N");
  add_wide_option(*command, arguments->wide);
  command->footer(
      "Example:\n"
      "  fourtune plan '{X(16,16,16,256,tw),X(16,16,1,16,no-tw)}' --device h200 --svg plan.svg\n"
      "  fourtune plan --list fft:type=c2c,n=256x256x256,prec=f32 --device rtx4090");
  command->callback([arguments] { plan_command(*arguments); });
}

}  // namespace fourtune::tools
