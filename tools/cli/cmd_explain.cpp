#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include "base/calibration.h"
#include "base/text.h"
#include "db/lookup.h"
#include "db/pack.h"
#include "db/tuning_store.h"
#include "generator/candidates.h"
#include "generator/plan/plan.h"
#include "runtime/environment.h"
#include "runtime/plan_sources.h"
#include "runtime/resolve.h"
#include "tools/cli/commands.h"
#include "tools/common/database_option.h"
#include "tools/common/errors.h"
#include "tools/common/gpu_argument.h"
#include "tools/common/gpu_backends.h"
#include "tools/common/numbers.h"
#include "tools/common/output.h"
#include "tools/common/problem_list.h"
#include "tools/common/text.h"
#include "tuner/report/device_words.h"
#include "tuner/report/report.h"

namespace fourtune::tools {
namespace {

struct ExplainArguments {
  std::string token;
  std::string plan;
  std::string backend;
  std::string device;  // a device number of the backend, or a device that need not be present
  int threads = 0;
  std::shared_ptr<std::string> db;
  Output output;
};

struct ExplainedDevice {
  DeviceTraits traits;
  std::string calibrated;  // the date; empty: it is not
  std::string rates;       // where the cost model has its rates from, for people
};

ExplainedDevice device_of(const ExplainArguments& arguments) {
  if (!names_absent_device(arguments.device)) {
    const int number = gpu_number(arguments.device);
    const DeviceTraits traits = checked_backend(arguments.backend, number).traits(number);
    const std::string date = known_calibration(traits).date;
    return {traits, date, date.empty() ? "not calibrated" : "calibrated on " + date};
  }
  const Calibration named = absent_device(arguments.device);
  if (!arguments.backend.empty() && arguments.backend != named.traits.backend)
    throw UsageError(fmt::format("--device {}: this device runs plans of the {} backend, and --backend asks for those "
                                 "of {}",
                                 text::shown(arguments.device), named.traits.backend, arguments.backend),
                     "leave --backend out, or name a device of this machine by its number");
  return {named.traits, named.date, named.date.empty() ? "from its data sheet" : "calibrated on " + named.date};
}

// What the device said of itself when the plan that was found was measured here; null when nobody knows.
nlohmann::ordered_json measured_at(const Problem& problem, const runtime::Resolution& found,
                                   const std::filesystem::path& database, const DeviceTraits& traits) {
  std::error_code error;
  if (found.measured_seconds <= 0 || !std::filesystem::exists(database, error) || db::is_pack(database)) return {};
  try {
    const auto store = db::TuningStore::open_for_reading(database);
    const std::string plan = generator::to_text(found.plan, problem);
    for (const tuner::ShowRow& row : tuner::show_rows(store, {to_token(problem), 0, runtime::environment_here(traits)}))
      if (row.plan == plan) return tuner::device_values(row.state);
  } catch (const Error&) {  // the explanation says what is wrong with the database
  }
  return {};
}

void explain(const ExplainArguments& arguments) {
  const Problem problem = problem_from_argument(arguments.token);
  const ExplainedDevice device = device_of(arguments);
  DeviceTraits traits = device.traits;
  if (arguments.threads > 0) traits.cores = arguments.threads;
  require_database(*arguments.db);
  const std::filesystem::path database = database_path(*arguments.db);
  const db::Lookup lookup = runtime::lookup_beside(database);
  const runtime::Resolution found = runtime::resolve(problem, traits, &lookup, arguments.plan);
  const std::string plan = generator::to_text(found.plan, problem);
  const generator::Cost cost = generator::estimate(found.plan, problem, traits);
  const nlohmann::ordered_json state = measured_at(problem, found, database, traits);
  if (arguments.output.json()) {
    using Json = nlohmann::ordered_json;
    const Json measured = found.measured_seconds > 0 ? Json(found.measured_seconds) : Json();
    const nlohmann::ordered_json all{{"problem", to_token(problem)},
                                     {"plan", plan},
                                     {"source", runtime::to_string(found.source)},
                                     {"from", found.from},
                                     {"tuned_on", found.tuned_on.empty() ? Json() : Json(found.tuned_on)},
                                     {"objective", found.objective.empty() ? Json() : Json(found.objective)},
                                     {"explain", found.explain},
                                     {"measured_execute_seconds", measured},
                                     {"measured_at", state},
                                     {"estimated_execute_seconds", cost.execute},
                                     {"estimated_set_points_seconds", cost.set_points},
                                     {"estimated_memory_bytes", cost.bytes},
                                     {"calibrated", device.calibrated.empty() ? Json() : Json(device.calibrated)}};
    fmt::print("{}", json_text(all));
    return;
  }
  fmt::print("{}{}", tuner::wrapped(found.explain, 2, arguments.output.screen()),
             found.explain.ends_with('\n') ? "" : "\n");
  // The model counts arrays; what else a small transform holds is more than those.
  const std::string memory = cost.bytes < 4096 ? "a few KiB" : bytes_text(static_cast<std::int64_t>(cost.bytes));
  if (found.measured_seconds > 0)
    fmt::print("expected: execute {} (measured), memory {} (by the cost model)\n",
               tuner::format_seconds(found.measured_seconds), memory);
  else
    fmt::print("expected: execute {}, memory {} (by the cost model)\n", tuner::format_seconds(cost.execute), memory);
  if (!state.is_null()) fmt::print("measured at: {}\n", tuner::device_words(state));
  fmt::print("device: {}, {}\n", text::shown(traits.name), text::shown(device.rates));
  if (problem.kind == Kind::nufft && (!problem.m || (problem.type == 3 && !problem.k)))
    fmt::print("note: the point count is not known yet, so the plan is chosen again when the points are set\n");
}

}  // namespace

void add_explain(CLI::App& app) {
  auto arguments = std::make_shared<ExplainArguments>();
  CLI::App* command = app.add_subcommand("explain", "Which plan would run a problem, and why");
  command->add_option("PROBLEM", arguments->token, "Problem token")->required()->type_name("TOKEN");
  arguments->db = add_database_option(*command);
  command->add_option("--plan", arguments->plan, "Force this plan: checks its text")->type_name("TEXT");
  add_backend_option(*command, arguments->backend, "cpu; cuda where --device names a GPU");
  add_gpu_option(*command, arguments->device, "Device of the backend (default: 0)");
  command->add_option("--threads", arguments->threads, "Threads (default: all)")
      ->check(between(0, 4096))
      ->type_name("N");
  add_output_options(*command, arguments->output);
  command->footer(
      "Example:\n"
      "  fourtune explain nufft:type=1,n=128x128,m=200000,prec=f32,tol=1e-3,points=spiral\n"
      "  fourtune explain fft:type=c2c,n=256x256x256,prec=f32 --device h200");
  command->callback([arguments] { explain(*arguments); });
}

}  // namespace fourtune::tools
