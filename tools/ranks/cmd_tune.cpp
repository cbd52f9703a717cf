#include <mpi.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "db/tuning_store.h"
#include "runtime/distributed/communicator.h"
#include "tools/common/database_option.h"
#include "tools/common/errors.h"
#include "tools/common/gpu_backends.h"
#include "tools/common/numbers.h"
#include "tools/common/problem_list.h"
#include "tools/common/progress.h"
#include "tools/common/stop_on_signal.h"
#include "tools/common/tune_outcome.h"
#include "tools/ranks/commands.h"
#include "tools/ranks/rank_evaluator.h"
#include "tools/ranks/rank_planning.h"
#include "tools/ranks/trial.h"
#include "tuner/search/search.h"
#include "tuner/session/session.h"

namespace fourtune::tools {
namespace {

struct TuneArguments {
  std::vector<std::string> tokens;
  std::shared_ptr<std::string> db;
  Output output;
  bool quiet = false;
  RankHardware hardware;
  tuner::SessionOptions session;
};

// What a tuning session cannot do is found before it starts, on every rank.
std::vector<Problem> problems_of(const TuneArguments& arguments) {
  std::vector<Problem> problems;
  for (const std::string& token : arguments.tokens) {
    SoakCase one;
    one.problem = problem_from_argument(token);
    if (const std::string why = cannot_split(one); !why.empty()) throw UsageError(token + ": " + why);
    problems.push_back(one.problem);
  }
  return problems;
}

// The session of rank 0. The others serve it meanwhile.
tuner::Report session(tuner::SessionOptions& options, const RankHardware& hardware, db::TuningStore& store, bool quiet,
                      const StopOnSignal& signals) {
  options.stop = &signals.raised();
  ProgressLine line(stderr);
  if (!quiet) options.progress = [&line](const tuner::Progress& progress) { line.update(progress); };
  RankEvaluator evaluator(MPI_COMM_WORLD, hardware, &signals.raised());
  options.planning = std::make_shared<RankPlanning>(evaluator.bench().crew(), evaluator.traits());
  tuner::Report report = tuner::run_session(options, store, evaluator);
  line.close();
  return report;
}

void tune(TuneArguments arguments) {
  tuner::SessionOptions& options = arguments.session;
  options.problems = problems_of(arguments);
  command_backends();  // the emulated one too
  arguments.hardware.threads = options.threads;
  const std::filesystem::path path = database_path(*arguments.db);
  // mpirun passes Ctrl-C on as a signal to end, which has to wait for rank 0.
  const StopOnSignal signals;
  const runtime::distributed::Communicator world(MPI_Comm_c2f(MPI_COMM_WORLD));
  std::unique_ptr<db::TuningStore> store;
  world.together([&] {
    if (world.rank() == 0) store = std::make_unique<db::TuningStore>(db::TuningStore::open_for_writing(path));
  });
  if (world.rank() != 0) return serve(MPI_COMM_WORLD, arguments.hardware);
  print_outcome(session(options, arguments.hardware, *store, arguments.quiet, signals), arguments.output, path, {});
}

void add_options(CLI::App& command, TuneArguments& arguments) {
  tuner::SessionOptions& session = arguments.session;
  command.add_option("PROBLEM", arguments.tokens, "Problem tokens")->required()->type_name("TOKEN");
  arguments.db = add_database_option(command);
  command.add_option("--seconds", session.seconds, "Time to spend on all problems together; 0: until each search ends")
      ->transform(duration(0, 1e7))
      ->capture_default_str();
  command.add_option("--threads", session.threads, "Threads of each rank; 0: its share of the cores")
      ->check(between(0, 4096));
  command.add_option("--backend", arguments.hardware.backend, "cpu, cuda, emulated")->type_name("NAME");
  command.add_option("--device", arguments.hardware.device, "GPU of every rank; -1: in turn")->capture_default_str();
  command.add_option("--seed", session.seed, "Seed of the points, the search and the order of measuring")
      ->capture_default_str();
  std::vector<std::string> names;
  for (const tuner::Strategy& strategy : tuner::strategies()) names.emplace_back(strategy.name);
  command.add_option("--strategy", session.strategy, "How to search (default: chosen by the size of the space)")
      ->check(CLI::IsMember(names));
  command.add_option("--max-evaluations", session.max_evaluations, "Most plans to measure for a problem; 0: no limit");
  add_output_options(command, arguments.output, {"table", "csv", "json"});
  command.add_flag("--quiet", arguments.quiet, "No progress");
}

}  // namespace

void add_ranks_tune(CLI::App& app, const std::string& command_line) {
  auto arguments = std::make_shared<TuneArguments>();
  CLI::App* command = app.add_subcommand("tune", "Measure plans of transforms over the ranks and keep the winners");
  add_options(*command, *arguments);
  arguments->session.command = command_line;
  command->footer(
      "Rank 0 keeps every measurement as soon as it is made. Transforms on as many ranks take the winners.\n\n"
      "Example:\n  mpirun -n 4 fourtune-ranks tune nufft:type=1,n=64x64x64,m=1000000,prec=f32,tol=1e-4 --seconds 60");
  command->callback([arguments] { tune(*arguments); });
}

}  // namespace fourtune::tools
