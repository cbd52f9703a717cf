#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "fourtune/transform.h"
#include "generator/plan/plan.h"
#include "runtime/backends/backend.h"
#include "tools/cli/commands.h"
#include "tools/cli/run_arrays.h"
#include "tools/cli/run_memory.h"
#include "tools/common/database_option.h"
#include "tools/common/device_arrays.h"
#include "tools/common/errors.h"
#include "tools/common/gpu_backends.h"
#include "tools/common/numbers.h"
#include "tools/common/output.h"
#include "tools/common/problem_list.h"
#include "tools/common/say.h"
#include "tools/common/start_ranks.h"
#include "tools/common/stopwatch.h"
#include "tools/common/text.h"
#include "tuner/measure/usage.h"
#include "tuner/report/report.h"
#include "tuner/session/session.h"

namespace fourtune::tools {
namespace {

struct RunArguments {
  std::string token;
  RunRequest request;
  Options options;
  std::shared_ptr<std::string> db;
  std::string output;
  int repeat = 5;
  int ranks = 0;  // 0: this process alone
  bool unchecked = false;
  Output output_form;
};

struct Outcome {
  Problem problem;  // including what set_points filled in
  std::string plan, explain;
  double create = 0, set_points = 0;
  std::vector<double> execute;  // ascending; without disturbed ones (tuner/measure/usage.h) where there are others
  tuner::BusyCount busy;
  std::vector<StageTime> stages;
  std::size_t point_stages = 0;               // so many of them, the first, belong to set_points
  std::vector<runtime::LaunchTime> launches;  // on a GPU
  std::optional<double> error;
  bool by_device = false;  // a device computed the direct sums
  std::int64_t memory = 0;
  double median() const {
    const std::size_t n = execute.size();
    return n % 2 == 1 ? execute[n / 2] : (execute[n / 2 - 1] + execute[n / 2]) / 2;
  }
};

// Runs a second instance that times its stages and launches, which itself takes time.
void look_inside(const RunArguments& arguments, const Transform& transform, const runtime::Backend& backend,
                 RunMemory& arrays, Outcome& outcome) {
  runtime::ExecutorOptions options;
  options.time_stages = true;
  options.deterministic = arguments.options.deterministic;
  options.device = arguments.options.device;
  const Problem& problem = transform.problem();
  const auto executor = backend.bind(problem, generator::parse_plan(transform.plan(), problem), options);
  if (problem.kind == Kind::nufft) executor->set_points(arrays.points());
  outcome.point_stages = executor->stage_times().size();
  for (int i = 0; i < 2; ++i) {  // the first warms up
    arrays.restore_input();
    executor->execute(arrays.first(), arrays.second(), arguments.request.adjoint);
    arrays.wait();
  }
  const auto stages = executor->stage_times();
  outcome.stages.assign(stages.begin(), stages.end());
  outcome.launches = executor->launch_times();
}

// Compares the output with direct sums, by the device that has the arrays or by the host.
void check(const RunArguments& arguments, const runtime::Backend& backend, RunArrays& host, RunMemory& arrays,
           Outcome& outcome) {
  std::unique_ptr<tuner::DeviceSums> sums;
  tuner::DeviceInput there;
  const Problem& problem = outcome.problem;
  if (problem.kind == Kind::nufft && arguments.options.devices.empty() &&
      (sums = tuner::DeviceSums::make(backend, arguments.options.device))) {
    const bool adjoint = arguments.request.adjoint;
    const Points points = arrays.points();
    there.x = {points.x, points.y, points.z};
    if (problem.type == 3 && adjoint) there.x = {points.s, points.t, points.u};
    there.values = (problem.type != 2) != adjoint ? arrays.first() : arrays.second();
  }
  const RunArrays::Checked found = host.checked(sums.get(), there);
  outcome.error = found.error;
  outcome.by_device = found.by_device;
  if (sums && !sums->why().empty())
    say("fourtune: note: the host makes the direct sums, not the device: {}\n", text::shown(sums->why(), 2000));
}

// The numbered steps of an application, timed.
Outcome carry_out(const RunArguments& arguments, const Problem& problem, RunArrays& host) {
  Outcome outcome;
  const runtime::Backend& backend = bench_backend(arguments.options.backend);
  const bool on_host = takes_host_arrays(backend) || !arguments.options.devices.empty();  // its work ends with the call
  const auto memory = make_run_memory(problem, arguments.request.adjoint, host, backend, arguments.options);
  RunMemory& arrays = *memory;
  const Stopwatch create;
  Transform transform(to_token(problem), arguments.options);
  outcome.create = create.seconds();
  if (problem.kind == Kind::nufft) {
    const Stopwatch set_points;
    transform.set_points(arrays.points());
    arrays.wait();
    outcome.set_points = set_points.seconds();
    if (arguments.options.devices.empty()) outcome.point_stages = transform.stage_times().size();
  }
  // Runs before the runs that count, because it restores the input, which in place is also the output.
  if (!on_host) look_inside(arguments, transform, backend, arrays, outcome);
  const tuner::Probe probe = takes_host_arrays(backend) ? tuner::usage_probe() : tuner::usage_ignored;
  std::vector<double> disturbed;
  // The first warms up. Disturbed ones are repeated, as many as were asked for.
  for (int i = 0; i <= arguments.repeat + std::min<int>(arguments.repeat, static_cast<int>(disturbed.size())); ++i) {
    arrays.restore_input();
    const tuner::Usage before = probe();
    arrays.timer().start();
    if (arguments.request.adjoint)
      transform.execute_adjoint(arrays.first(), arrays.second());
    else
      transform.execute(arrays.first(), arrays.second());
    arrays.timer().stop();
    const double seconds = arrays.timer().seconds();
    const bool was_disturbed = (probe() - before).disturbed();
    if (i == 0) continue;
    outcome.busy.add(was_disturbed);
    (was_disturbed ? disturbed : outcome.execute).push_back(seconds);
  }
  if (outcome.execute.empty()) outcome.execute = disturbed;
  std::sort(outcome.execute.begin(), outcome.execute.end());
  if (on_host) outcome.stages = transform.stage_times();
  arrays.fetch_output();
  outcome.memory = transform.memory().held;
  outcome.problem = transform.problem();
  outcome.plan = transform.plan();
  outcome.explain = transform.explain();
  if (!arguments.unchecked) check(arguments, backend, host, arrays, outcome);
  return outcome;
}

bool is_right(const Outcome& outcome) { return !outcome.error || *outcome.error <= allowed_error(outcome.problem); }

// In units of 10^9 per second.
double rate(double amount, const runtime::LaunchTime& launch) {
  return launch.seconds > 0 ? 1e-9 * amount / launch.seconds : 0;
}

void print_text(const Outcome& outcome) {
  const Problem& problem = outcome.problem;
  fmt::print("problem     {}\nplan        {}\n", to_token(problem), outcome.plan);
  fmt::print("create      {}\n", tuner::format_seconds(outcome.create));
  const std::size_t of_points = std::min(outcome.point_stages, outcome.stages.size());
  const auto print_stages = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
      fmt::print("  {:<12} {}\n", outcome.stages[i].stage, tuner::format_seconds(outcome.stages[i].seconds));
  };
  if (problem.kind == Kind::nufft) fmt::print("set_points  {}\n", tuner::format_seconds(outcome.set_points));
  print_stages(0, of_points);
  fmt::print("execute     {}  (median of {}, least {})  {:.3g} {}\n", tuner::format_seconds(outcome.median()),
             outcome.execute.size(), tuner::format_seconds(outcome.execute.front()),
             tuner::speed_of(problem, outcome.median()), tuner::speed_unit_of(problem));
  print_stages(of_points, outcome.stages.size());
  for (const runtime::LaunchTime& launch : outcome.launches)
    fmt::print("    {}  {}  {:.0f} GB/s  {:.0f} GFLOP/s  {}\n", launch.stage, tuner::format_seconds(launch.seconds),
               rate(static_cast<double>(launch.bytes), launch), rate(launch.flops, launch), launch.entry);
  fmt::print("memory      {}\n", bytes_text(outcome.memory));
  if (outcome.error)
    fmt::print("error       {:.2e}  ({}; up to {:.1e} is right)\n", *outcome.error,
               is_right(outcome) ? "right" : "WRONG", allowed_error(problem));
  else
    fmt::print("error       not checked\n");
}

void print_json(const Outcome& outcome) {
  nlohmann::ordered_json stages = nlohmann::ordered_json::array();
  for (const StageTime& stage : outcome.stages)
    stages.push_back({{"stage", stage.stage},
                      {"call", stages.size() < outcome.point_stages ? "set_points" : "execute"},
                      {"seconds", stage.seconds}});
  nlohmann::ordered_json launches = nlohmann::ordered_json::array();
  for (const runtime::LaunchTime& launch : outcome.launches)
    launches.push_back({{"stage", launch.stage},
                        {"kernel", launch.entry},
                        {"seconds", launch.seconds},
                        {"bytes", launch.bytes},
                        {"flops", launch.flops}});
  nlohmann::ordered_json all{{"problem", to_token(outcome.problem)},
                             {"plan", outcome.plan},
                             {"explain", outcome.explain},
                             {"create_seconds", outcome.create},
                             {"set_points_seconds", outcome.set_points},
                             {"execute_seconds", outcome.execute},
                             {"execute_median_seconds", outcome.median()},
                             {"speed", tuner::speed_of(outcome.problem, outcome.median())},
                             {"speed_unit", tuner::speed_unit_of(outcome.problem)},
                             {"stages", stages},
                             {"samples", outcome.busy.samples},
                             {"busy_samples", outcome.busy.disturbed},
                             {"memory_bytes", outcome.memory},
                             {"allowed_error", allowed_error(outcome.problem)}};
  if (!outcome.launches.empty()) all["launches"] = launches;
  if (outcome.error) {
    all["error"] = *outcome.error;
    all["right"] = is_right(outcome);
    all["references"] = outcome.by_device ? "device" : "host";
  }
  fmt::print("{}", json_text(all));
}

// The same problem on the ranks of an mpirun.
[[noreturn]] void run_on_ranks(const RunArguments& arguments, const Problem& problem) {
  const RunRequest& request = arguments.request;
  if (!request.points.empty() || !request.targets.empty() || !request.values.empty() || !arguments.output.empty() ||
      !arguments.db->empty() || arguments.output_form.json() || !arguments.options.devices.empty())
    throw UsageError("--ranks: not with files, --db, --devices or --json", "the arrays are made from --seed");
  std::string text = fmt::format("{} seed={}", to_token(problem), request.seed);
  if (request.adjoint) text += " adjoint";
  if (arguments.options.deterministic) text += " deterministic";
  std::vector<std::string> words{"run",       text,
                                 "--repeat",  std::to_string(arguments.repeat),
                                 "--threads", std::to_string(arguments.options.threads)};
  if (!arguments.options.plan.empty()) words.insert(words.end(), {"--plan", arguments.options.plan});
  if (!arguments.options.backend.empty()) words.insert(words.end(), {"--backend", arguments.options.backend});
  if (arguments.unchecked) words.emplace_back("--no-check");
  start_ranks(arguments.ranks, words);
}

void run(RunArguments arguments) {
  Problem problem = problem_from_argument(arguments.token);
  if (arguments.ranks > 0) run_on_ranks(arguments, problem);
  require_database(*arguments.db);
  if (!arguments.db->empty()) {
    arguments.options.default_databases = false;
    arguments.options.databases = {*arguments.db};
  }
  checked_backend(arguments.options.backend, arguments.options.device);  // checked before arrays are made
  const bool m_is_open = problem.kind == Kind::nufft && !problem.m && arguments.request.points.empty();
  const auto arrays = make_run_arrays(problem, arguments.request);
  if (m_is_open) say("fourtune: note: the problem does not say m; {}, one point per mode, is taken\n", *problem.m);
  const Outcome outcome = carry_out(arguments, problem, *arrays);
  if (outcome.busy.matters())
    say("fourtune: note: {}{}\n", outcome.busy.text(),
        outcome.busy.disturbed == outcome.busy.samples ? ", too busy to judge" : "; these are left out");
  arguments.output_form.json() ? print_json(outcome) : print_text(outcome);
  if (!arguments.output.empty()) arrays->write_output(arguments.output);
  if (!is_right(outcome))
    throw Failure(fmt::format("the result is wrong: its relative l2 error is {:.2e} and {:.1e} is allowed",
                              *outcome.error, allowed_error(outcome.problem)),
                  "please report it with this command line");
}

void add_run_options(CLI::App& command, RunArguments& arguments) {
  RunRequest& request = arguments.request;
  command.add_option("PROBLEM", arguments.token, "Problem token")->required()->type_name("TOKEN");
  command.add_option("--points", request.points, "Coordinates of the points in radians, shape (m, dim) or (dim, m)")
      ->type_name("FILE.npy");
  command.add_option("--targets", request.targets, "Type 3: the targets, shape (k, dim) or (dim, k)")
      ->type_name("FILE.npy");
  command.add_option("--values", request.values, "What the transform reads, shape (batch, m) or (batch, ..., ny, nx)")
      ->type_name("FILE.npy");
  command.add_option("--output", arguments.output, "Write the result there")->type_name("FILE.npy");
  command.add_option("--plan", arguments.options.plan, "Force this plan (see `fourtune explain`)")->type_name("TEXT");
  add_backend_option(command, arguments.options.backend);
  add_device_option(command, arguments.options.device);
  command
      .add_option(
          "--devices", arguments.options.devices,
          "GPUs that share the batch: all, or numbers such as 0,1. 0:20e9 allocates at most 20e9 bytes on GPU 0, "
          "with the arrays in host memory")
      ->type_name("all|N,N");
  command.add_option("--repeat", arguments.repeat, "Executions to time, after one that warms up")
      ->check(between(1, 1000000))
      ->capture_default_str()
      ->type_name("N");
  command.add_option("--threads", arguments.options.threads, "Threads (default: all)")
      ->check(between(0, 4096))
      ->type_name("N");
  command.add_option("--seed", request.seed, "Seed of the synthetic arrays")
      ->check(any_seed())
      ->capture_default_str()
      ->type_name("N");
  command.add_flag("--adjoint", request.adjoint, "Run the conjugate transpose");
  command.add_flag("--deterministic", arguments.options.deterministic, "Bit-identical results from run to run");
  command.add_flag("--no-check", arguments.unchecked, "Do not compare with direct sums");
  command.add_option("--ranks", arguments.ranks, "Run on N MPI ranks, which mpirun starts")
      ->check(between(1, 1000000))
      ->type_name("N");
  add_output_options(command, arguments.output_form);
  arguments.db = add_database_option(command);
}

}  // namespace

void add_run(CLI::App& app) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* command = app.add_subcommand("run", "Time and check one problem, stage by stage");
  add_run_options(*command, *arguments);
  command->footer(
      "Arrays that are not given are made from the seed. The result is checked against direct sums at sampled\n"
      "outputs; a wrong one ends with exit code 1.\n\n"
      "Example:\n"
      "  fourtune run nufft:type=1,n=128x128,m=200000,prec=f32,tol=1e-3,points=spiral\n"
      "  fourtune run nufft:type=2,n=64x64,prec=f64,tol=1e-9 --points xy.npy --values image.npy --output samples.npy");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace fourtune::tools
