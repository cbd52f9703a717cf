#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "tools/common/errors.h"
#include "tools/common/gpu_backends.h"
#include "tools/common/numbers.h"
#include "tools/ranks/commands.h"
#include "tools/ranks/trial.h"
#include "tuner/report/report.h"

namespace fourtune::tools {
namespace {

struct RunArguments {
  std::string text;
  RanksOptions options;
  bool unchecked = false;
};

void print(const RanksOutcome& outcome, int ranks) {
  fmt::print("problem     {}\nranks       {}\nplan        {}\n", to_token(outcome.problem), ranks, outcome.plan);
  if (const std::size_t why = outcome.explain.find("\nwhy: "); why != std::string::npos) {
    const std::size_t begin = why + 6;
    fmt::print("why         {}\n", outcome.explain.substr(begin, outcome.explain.find('\n', begin) - begin));
  }
  fmt::print("create      {}\n", tuner::format_seconds(outcome.create));
  if (outcome.problem.kind == Kind::nufft) fmt::print("set_points  {}\n", tuner::format_seconds(outcome.set_points));
  const std::vector<double>& times = outcome.execute;
  fmt::print("execute     {}  (median of {}, least {}; the slowest rank)\n",
             tuner::format_seconds(times[times.size() / 2]), times.size(), tuner::format_seconds(times.front()));
  for (const StageTime& stage : outcome.stages)
    fmt::print("  {:<12} {}\n", stage.stage, tuner::format_seconds(stage.seconds));
}

void run(const RunArguments& arguments) {
  const SoakCase one = parse_case(arguments.text);
  if (const std::string why = cannot_split(one); !why.empty()) throw UsageError(why);
  command_backends();  // the emulated one too
  const std::unique_ptr<const CaseData> made = data_on_all_ranks(one);
  const CaseData& data = *made;
  RanksOptions options = arguments.options;
  if (options.threads == 0) options.threads = one.threads;
  const RanksOutcome outcome = run_on_ranks(data, options, MPI_COMM_WORLD);
  if (outcome.status != Status::success) throw Error(outcome.status, outcome.message);
  int rank = 0, ranks = 1, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == 0) {
    print(outcome, ranks);
    if (!arguments.unchecked) {
      const double error = result_error(data, {}, outcome.output);
      wrong = !(error <= allowed_error(one.problem));
      fmt::print("error       {:.2e}  ({}; up to {:.1e} is right)\n", error, wrong != 0 ? "WRONG" : "right",
                 allowed_error(one.problem));
    }
  }
  MPI_Bcast(&wrong, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (wrong != 0) throw Failure("the result is wrong");
}

}  // namespace

void add_ranks_run(CLI::App& app) {
  auto arguments = std::make_shared<RunArguments>();
  arguments->options.repeat = 5;
  CLI::App* command = app.add_subcommand("run", "Run one problem on all ranks, time it and check it");
  command->add_option("problem", arguments->text, "A token with m (and k); words of `fourtune soak` may follow it")
      ->required()
      ->type_name("PROBLEM");
  command
      ->add_option("--plan", arguments->options.plan,
                   "Force this plan: ranks=slabs, ranks=pencils(grid=2x2), ranks=replicated, ...")
      ->type_name("TEXT");
  command->add_option("--backend", arguments->options.backend, "cpu, cuda, emulated")->type_name("NAME");
  command->add_option("--device", arguments->options.device, "GPU of every rank; -1: in turn")->capture_default_str();
  command->add_option("--threads", arguments->options.threads, "Of each rank; 0: its share of the cores")
      ->check(between(0, 4096));
  command->add_option("--repeat", arguments->options.repeat, "Timed executes")
      ->check(between(1, 100000))
      ->capture_default_str();
  command->add_flag("--no-check", arguments->unchecked, "Do not compare with direct sums");
  command->footer("Example:\n  mpirun -n 4 fourtune-ranks run nufft:type=1,n=64x64x64,m=1000000,prec=f32,tol=1e-4");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace fourtune::tools
