#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "fourtune/fourtune.h"
#include "tools/cli/commands.h"
#include "tools/cli/machine.h"
#include "tools/cli/machine_proof.h"
#include "tools/common/database_option.h"
#include "tools/common/errors.h"
#include "tools/common/gpu_backends.h"
#include "tools/common/numbers.h"
#include "tools/common/stop_on_signal.h"

namespace fourtune::tools {
namespace {

void print_text(const std::vector<Finding>& findings) {
  constexpr std::size_t kLongest = 2000;
  std::size_t width = 0;
  for (const Finding& finding : findings) width = std::max(width, finding.name.size());
  fmt::print("fourtune {}\n", fourtune_version());
  for (const Finding& finding : findings) {
    fmt::print("{:<8} {:<{}}  {}\n", to_string(finding.state), finding.name, width,
               text::shown(finding.found, kLongest));
    if (!finding.cost.empty())
      fmt::print("{:<8} {:<{}}    -> {}\n", "", "", width, text::shown(finding.cost, kLongest));
  }
  const auto missing = std::count_if(findings.begin(), findings.end(),
                                     [](const Finding& finding) { return finding.state == State::missing; });
  fmt::print("{} checks, {} missing\n", findings.size(), missing);
}

void print_json(const std::vector<Finding>& findings) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Finding& finding : findings)
    list.push_back({{"name", finding.name},
                    {"state", to_string(finding.state)},
                    {"found", finding.found},
                    {"cost", finding.cost}});
  const nlohmann::ordered_json all{{"version", fourtune_version()}, {"findings", list}};
  fmt::print("{}\n", all.dump(2, ' ', true, nlohmann::json::error_handler_t::replace));
}

}  // namespace

void add_doctor(CLI::App& app) {
  CLI::App* command = app.add_subcommand("doctor", "What this machine has, what is missing and what that costs");
  const auto db = add_database_option(*command);
  auto json = std::make_shared<bool>(false);
  auto device = std::make_shared<int>(-1);
  command->add_option("--device", *device, "This GPU alone, by its number from 0 (default: all)")
      ->check(between(0, 4095))
      ->type_name("N");
  command->add_flag("--json", *json, "Print JSON");
  auto seconds = std::make_shared<double>(60);
  auto prove = std::make_shared<bool>(false);
  command->add_flag("--prove", *prove, "Run drawn problems on every device here and say whether it computes right");
  command->add_option("--seconds", *seconds, "Of --prove, for all devices together")
      ->transform(duration(1e-3, 1e7))
      ->capture_default_str()
      ->type_name("S");
  command->footer("Example:\n  fourtune doctor\n  fourtune doctor --json\n  fourtune doctor --prove --seconds 30");
  command->callback([db, device, json, prove, seconds] {
    if (*device >= 0) checked_backend("cuda", *device);
    auto findings = examine_machine(database_path(*db), *device < 0 ? std::nullopt : std::optional<int>(*device));
    if (*prove) {
      const StopOnSignal signals;
      for (Finding& finding : prove_devices(*seconds, signals.raised())) findings.push_back(std::move(finding));
    }
    *json ? print_json(findings) : print_text(findings);
    if (std::any_of(findings.begin(), findings.end(), [](const Finding& one) { return one.state == State::wrong; }))
      throw Failure("a device goes wrong",
                    "the line of its proof ends with a command that repeats it; please report it");
  });
}

}  // namespace fourtune::tools
