#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json_text.h"
#include "base/text.h"
#include "fourtune/fourtune.h"
#include "tools/cli/commands.h"
#include "tools/cli/machine.h"
#include "tools/cli/machine_proof.h"
#include "tools/common/database_option.h"
#include "tools/common/errors.h"
#include "tools/common/gpu_backends.h"
#include "tools/common/numbers.h"
#include "tools/common/output.h"
#include "tools/common/stop_on_signal.h"

namespace fourtune::tools {
namespace {

constexpr std::size_t kStateWidth = 8;

std::string state_text(State state, const tuner::Screen& screen) {
  const auto paint = state == State::ok     ? tuner::Paint::good
                     : state == State::note ? tuner::Paint::warning
                                            : tuner::Paint::bad;
  const std::string word = to_string(state);
  return tuner::painted(word, paint, screen) + std::string(kStateWidth - word.size(), ' ');
}

void print_text(const std::vector<Finding>& findings, const tuner::Screen& screen) {
  constexpr std::size_t kLongest = 2000;
  std::size_t names = 0;
  for (const Finding& finding : findings) names = std::max(names, finding.name.size());
  const std::size_t indent = kStateWidth + 1 + names + 2;
  fmt::print("fourtune {}\n", fourtune_version());
  for (const Finding& finding : findings) {
    fmt::print("{} {:<{}}  {}\n", state_text(finding.state, screen), finding.name, names,
               tuner::wrapped(text::shown(finding.found, kLongest), indent, screen, indent));
    if (!finding.cost.empty())
      fmt::print("{:{}}  -> {}\n", "", indent,
                 tuner::wrapped(text::shown(finding.cost, kLongest), indent + 5, screen, indent + 5));
  }
  const auto missing = std::count_if(findings.begin(), findings.end(),
                                     [](const Finding& finding) { return finding.state == State::missing; });
  fmt::print("{} checks, {} missing\n", findings.size(), missing);
}

void print_json(const std::vector<Finding>& findings) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"name", finding.name},
                    {"state", to_string(finding.state)},
                    {"found", finding.found},
                    {"cost", finding.cost}});
    if (!finding.values.empty()) list.back()["values"] = parse_json(finding.values);
  }
  const nlohmann::ordered_json all{{"version", fourtune_version()}, {"findings", list}};
  fmt::print("{}", json_text(all));
}

}  // namespace

void add_doctor(CLI::App& app) {
  CLI::App* command = app.add_subcommand("doctor", "What this machine has, what is missing and what that costs");
  const auto db = add_database_option(*command);
  auto output = std::make_shared<Output>();
  auto device = std::make_shared<int>(-1);
  command->add_option("--device", *device, "This GPU alone, by its number from 0 (default: all)")
      ->check(between(0, 4095))
      ->type_name("N");
  add_output_options(*command, *output);
  auto seconds = std::make_shared<double>(60);
  auto prove = std::make_shared<bool>(false);
  command->add_flag("--prove", *prove, "Run drawn problems on every device here and say whether it computes right");
  command->add_option("--seconds", *seconds, "Time for --prove, for all devices together")
      ->transform(duration(1e-3, 1e7))
      ->capture_default_str()
      ->type_name("S");
  command->footer("Example:\n  fourtune doctor\n  fourtune doctor --json\n  fourtune doctor --prove --seconds 30");
  command->callback([db, device, output, prove, seconds] {
    if (*device >= 0) checked_backend("cuda", *device);
    auto findings = examine_machine(database_path(*db), *device < 0 ? std::nullopt : std::optional<int>(*device));
    if (*prove) {
      const StopOnSignal signals;
      for (Finding& finding : prove_devices(*seconds, signals.raised())) findings.push_back(std::move(finding));
    }
    output->json() ? print_json(findings) : print_text(findings, output->screen());
    if (std::any_of(findings.begin(), findings.end(), [](const Finding& one) { return one.state == State::wrong; }))
      throw Failure("a device goes wrong",
                    "the line of its proof ends with a command that repeats it; please report it");
  });
}

}  // namespace fourtune::tools
