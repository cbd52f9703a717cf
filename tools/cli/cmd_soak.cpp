#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fourtune/device_traits.h"
#include "tools/cli/commands.h"
#include "tools/common/errors.h"
#include "tools/common/gpu_backends.h"
#include "tools/common/numbers.h"
#include "tools/common/output.h"
#include "tools/common/problem_draw.h"
#include "tools/common/progress.h"
#include "tools/common/start_ranks.h"
#include "tools/common/stop_on_signal.h"
#include "tools/soak/hunt.h"
#include "tools/soak/report.h"
#include "tools/soak/subject.h"

namespace fourtune::tools {
namespace {

struct SoakArguments {
  HuntOptions hunt;
  bool fft = false, nufft = false;
  double megabytes = 0;  // 0: the default of the backend
  std::string repeat, plan;
  std::string csv;
  int ranks = 0;  // 0: this process alone
  Output output;
  bool list = false, quiet = false, worker = false;
};

// The tokens that a hunt with these options would draw.
void list_tokens(const SoakArguments& arguments) {
  const HuntOptions& options = arguments.hunt;
  ProblemDraw ffts(Kind::fft, options.seed, options.megabytes), nuffts(Kind::nufft, options.seed, options.megabytes);
  for (std::int64_t i = 0; i < std::max<std::int64_t>(1, options.count); ++i)
    fmt::print("{}\n", (options.ffts && (!options.nuffts || i % 2 == 1) ? ffts : nuffts).next());
}

void repeat_one(const SoakArguments& arguments) {
  TriedCase trial{
      parse_case(arguments.repeat), arguments.plan.empty() ? PlanKind::untuned : PlanKind::given, arguments.plan, {}};
  SoakWorker worker(arguments.hunt.worker);
  trial.outcome = worker.try_case(trial.one, trial.kind, trial.plan);
  arguments.output.json() ? print_trial_json(trial) : print_trial(trial);
  if (!trial.outcome.failure.empty())
    throw Failure(fmt::format("{}: {}", trial.outcome.failure, trial.outcome.message));
  if (!trial.outcome.refused.empty() && trial.kind == PlanKind::given)
    throw Failure(fmt::format("this plan was refused: {}", trial.outcome.refused));
}

void run_hunt(const SoakArguments& arguments) {
  const HuntOptions& options = arguments.hunt;
  SoakReport report(options, arguments.csv);
  ProgressLine line(stderr);
  HuntListener listener;
  listener.on_run = [&](const HuntRun& run) { report.add(run); };
  listener.on_failure = [&](const HuntRun& run, const TriedCase& small) {
    line.close();
    const std::string text = report.add_failure(run, small);
    if (!arguments.output.json()) fmt::print("{}\n", text);
    std::fflush(stdout);
  };
  if (!arguments.quiet)
    listener.on_progress = [&](const HuntState& state, const std::string& token) {
      line.show(state.elapsed, state.eta, progress_text(state, token));
    };
  const HuntState state = hunt(options, listener);
  line.close();
  arguments.output.json() ? report.print_json(state) : report.print_text(state);
  if (state.failures > 0)
    throw Failure(fmt::format("{} of {} runs failed", state.failures, state.runs),
                  "every line above ends with a command that repeats it");
  if (!report.csv_is_written()) throw cannot_write(arguments.csv);
}

// Through such an interface there are nonuniform transforms and no plans to choose.
void settle_dropin(SoakArguments& arguments) {
  HuntOptions& options = arguments.hunt;
  if (arguments.fft) throw UsageError("--dropin and --fft: these libraries have nonuniform transforms only", "");
  if (!arguments.plan.empty()) throw UsageError("--dropin and --plan: the interface has no plans", "");
  const DropIn library(options.worker.dropin);
  // A libcufinufft of the tests runs its kernels on the processor, and the caller says so.
  if (!library.on_device() || capabilities_of(options.worker.backend).arrays != runtime::MemoryKind::aligned)
    options.worker.backend = library.on_device() ? "cuda" : "cpu";
  options.dropin_says = library.says();
  options.worker.dropin = std::filesystem::absolute(options.worker.dropin).string();
  arguments.nufft = options.untuned_only = true;
}

void settle(SoakArguments& arguments) {
  HuntOptions& options = arguments.hunt;
  if (!options.worker.dropin.empty()) settle_dropin(arguments);
  if (arguments.fft || arguments.nufft) options.ffts = arguments.fft, options.nuffts = arguments.nufft;
  options.megabytes =
      arguments.megabytes > 0 ? arguments.megabytes : capabilities_of(options.worker.backend).modest_megabytes;
  if (options.megabytes < kLeastMegabytes)
    throw UsageError(fmt::format("--megabytes {}: no problem is that small", options.megabytes),
                     fmt::format("{} is the least", kLeastMegabytes));
  if (const runtime::Backend* backend = known_backend(options.worker.backend))
    options.devices = std::max(1, backend->device_count());
  if (options.worker.threads == 0 && options.jobs > 1)
    options.worker.threads = std::max(1, cpu_traits().cores / options.jobs);
  if (options.count == 0 && options.seconds == 0) options.seconds = 60;
  if (!options.worker.peers.empty() && options.jobs > 1)
    throw UsageError("--peer and --jobs: times taken while other jobs run mean nothing", "--jobs 1 with --peer");
  if (!arguments.plan.empty() && arguments.repeat.empty())
    throw UsageError("--plan belongs to --repeat", "`fourtune soak --repeat 'PROBLEM' --plan 'TEXT'`");
}

// The same kind of hunt on the ranks of an mpirun.
[[noreturn]] void run_on_ranks(const SoakArguments& arguments) {
  const HuntOptions& hunt = arguments.hunt;
  if (!arguments.repeat.empty() || !arguments.plan.empty() || !arguments.csv.empty() || arguments.output.json() ||
      arguments.list || arguments.fft || arguments.nufft || !hunt.worker.peers.empty() || !hunt.worker.dropin.empty() ||
      hunt.jobs > 1)
    throw UsageError("--ranks: only with --seconds, --count, --seed, --megabytes and --backend",
                     "what `fourtune soak --ranks` prints of a failure repeats it");
  std::vector<std::string> words{"soak", "--seed", std::to_string(hunt.seed)};
  const bool endless = hunt.count == 0;
  words.insert(words.end(), {"--count", std::to_string(endless ? 1000000000 : hunt.count)});
  words.insert(words.end(), {"--seconds", fmt::format("{}", endless && hunt.seconds == 0 ? 60 : hunt.seconds)});
  if (arguments.megabytes > 0) words.insert(words.end(), {"--megabytes", fmt::format("{}", arguments.megabytes)});
  words.insert(words.end(), {"--backend", hunt.worker.backend});
  start_ranks(arguments.ranks, words);
}

void run(SoakArguments arguments) {
  if (arguments.ranks > 0) run_on_ranks(arguments);
  if (arguments.worker) return soak_worker_main(arguments.hunt.worker);
  settle(arguments);
  if (arguments.list) return list_tokens(arguments);
  ::setenv("FOURTUNE_FFTW_SECONDS", "1", 0);  // a case has up to four FFTW plans, and is no test of FFTW's planner
  const StopOnSignal signals;
  arguments.hunt.stop = arguments.hunt.worker.stop = &signals.raised();
  const ScratchDatabase database;
  arguments.repeat.empty() ? run_hunt(arguments) : repeat_one(arguments);
}

void add_soak_options(CLI::App& command, SoakArguments& arguments) {
  HuntOptions& hunt = arguments.hunt;
  SoakWorkerOptions& worker = hunt.worker;
  command.add_option("--backend", worker.backend, "Backend to try: cpu, cuda, emulated")
      ->capture_default_str()
      ->type_name("NAME");
  command.add_option("--device", worker.device, "Number of the GPU to try; further jobs take the next GPUs in turn")
      ->type_name("N");
  command.add_option("--seconds", hunt.seconds, "Time for all problems together (default: 60; with --count no limit)")
      ->transform(duration(0, 1e7))
      ->type_name("S");
  command.add_option("--count", hunt.count, "Problems to draw")
      ->check(between(std::int64_t{1}, std::int64_t{1000000000}))
      ->type_name("N");
  command.add_option("--seed", hunt.seed, "Seed of everything that is drawn")
      ->check(any_seed())
      ->capture_default_str()
      ->type_name("N");
  command.add_flag("--fft", arguments.fft, "Uniform problems only");
  command.add_flag("--nufft", arguments.nufft, "Nonuniform problems only");
  command
      .add_option("--megabytes", arguments.megabytes,
                  "Largest arrays of one problem (default: cpu 60, cuda 600, emulated 1)")
      ->check(between(0.0, 1e9))
      ->type_name("MB");
  command.add_option("--threads", worker.threads, "Threads of each job (default: all, shared)")
      ->check(between(0, 4096))
      ->type_name("N");
  command.add_option("--jobs", hunt.jobs, "Worker processes at once")
      ->check(between(1, 1024))
      ->capture_default_str()
      ->type_name("N");
  command.add_option("--timeout", worker.timeout, "Seconds for one run; longer is a failure")
      ->transform(duration(1e-3, 1e7))
      ->capture_default_str()
      ->type_name("S");
  command.add_option("--shrink-seconds", hunt.shrink_seconds, "Time to make a failure small; 0: not at all")
      ->transform(duration(0, 1e7))
      ->capture_default_str()
      ->type_name("S");
  command.add_flag("--untuned", hunt.untuned_only,
                   "Only default plans: no candidates of the tuner, no adapted or shipped plans");
  command.add_option("--peer", worker.peers, "Library to compare times with (docs/benchmark.md); repeatable")
      ->type_name("PATH");
  command.add_option("--dropin", worker.dropin, "Try this libfinufft.so or libcufinufft.so (docs/dropin.md)")
      ->type_name("PATH");
  command.add_option("--csv", arguments.csv, "Write every run there")->type_name("FILE");
  add_output_options(command, arguments.output);
  command.add_flag("--quiet", arguments.quiet, "No progress");
  command.add_flag("--list", arguments.list, "Print the tokens that would be drawn (--count of them) and do nothing");
  command.add_option("--repeat", arguments.repeat, "Try the problem of this line, as a failure prints it")
      ->type_name("PROBLEM");
  command.add_option("--plan", arguments.plan, "With --repeat: force this plan")->type_name("TEXT");
  command.add_option("--ranks", arguments.ranks, "Try transforms over N MPI ranks, which mpirun starts")
      ->check(between(1, 1000000))
      ->type_name("N");
  command.add_flag("--worker", arguments.worker)->group("");
}

}  // namespace

void add_soak(CLI::App& app) {
  auto arguments = std::make_shared<SoakArguments>();
  CLI::App* command = app.add_subcommand("soak", "Try problems drawn at random, and report those that go wrong");
  add_soak_options(*command, *arguments);
  command->footer(
      "Each problem runs in a separate process with the default plan, a random candidate of the tuner, a plan adapted\n"
      "from a neighbour and, if there is one, the plan of the packs that come with the library. Arrays lie between\n"
      "inaccessible pages (on a GPU between patterns); results are compared with direct sums, adjoints and a second\n"
      "run. A failing problem is made smaller and printed with the command that repeats it, and the exit code is 1. No\n"
      "tuning database is used.\n\n"
      "Example:\n"
      "  fourtune soak --seconds 120 --seed 7\n"
      "  fourtune soak --backend cuda --count 500 --fft --csv runs.csv\n"
      "  fourtune soak --repeat 'nufft:type=1,n=24x31,m=700,prec=f32,tol=1e-4 order=fft at=borders threads=1'");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace fourtune::tools
