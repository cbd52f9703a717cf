#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/calibration.h"
#include "base/text.h"
#include "db/recorded_space.h"
#include "db/trusted_file.h"
#include "db/tuning_store.h"
#include "tools/cli/commands.h"
#include "tools/cli/exchange_files.h"
#include "tools/cli/shards.h"
#include "tools/cli/tune_devices.h"
#include "tools/cli/tune_drawn.h"
#include "tools/cli/tune_misses.h"
#include "tools/common/calibration.h"
#include "tools/common/database_option.h"
#include "tools/common/errors.h"
#include "tools/common/gpu_backends.h"
#include "tools/common/numbers.h"
#include "tools/common/problem_list.h"
#include "tools/common/progress.h"
#include "tools/common/say.h"
#include "tools/common/start_ranks.h"
#include "tools/common/stop_on_signal.h"
#include "tools/common/stopwatch.h"
#include "tools/common/tune_outcome.h"
#include "tuner/reference/recorded_points.h"
#include "tuner/report/report.h"
#include "tuner/search/search.h"
#include "tuner/session/session.h"
#include "tuner/worker/worker.h"

namespace fourtune::tools {
namespace {

struct TuneArguments {
  std::vector<std::string> tokens;
  std::string file;
  std::shared_ptr<std::string> db;
  std::string record;    // folder for recorded spaces
  std::string recorded;  // folder of recorded points
  std::string backend = "cpu";
  int device = 0;
  Output output;
  std::string drawn;     // kinds of problems to draw
  std::string misses;    // file of problems that ran untuned
  double megabytes = 0;  // of a drawn problem; 0: the default of the backend
  double minutes = 0;    // 0: options.seconds
  std::string trace;     // file of what the time went to
  std::string objective = "time";
  bool quiet = false;
  bool no_calibrate = false;
  int ranks = 0;        // 0: this process alone
  std::string shard;    // "2/4"; empty: all problems
  std::string devices;  // "all" or "0,1"; empty: `device` alone
  tuner::SessionOptions session;
};

// The problems that ran untuned and have no winner yet, the dearest first: as many as the time allows.
std::vector<Problem> missed_problems_of(const TuneArguments& arguments) {
  if (!arguments.tokens.empty() || !arguments.file.empty() || !arguments.recorded.empty() || !arguments.drawn.empty())
    throw UsageError("--misses: not with other problems", "it takes them from the file");
  const runtime::Backend& backend = checked_backend(arguments.backend, arguments.device);
  MissedRange range{arguments.misses, arguments.backend, backend.traits(arguments.device)};
  if (arguments.session.seconds > 0) range.most = drawn_count(arguments.session.seconds);
  return missed_problems(range, db::TuningStore::open_for_reading(database_path(*arguments.db)));
}

std::vector<Problem> problems_of(const TuneArguments& arguments) {
  if (!arguments.misses.empty()) return missed_problems_of(arguments);
  if (!arguments.drawn.empty()) {
    if (!arguments.tokens.empty() || !arguments.file.empty() || !arguments.recorded.empty())
      throw UsageError("--drawn: not with other problems", "it draws the problems");
    if (arguments.session.seconds <= 0)
      throw UsageError("--drawn: draws as many problems as the time allows", "say how long: --minutes 30");
    const double megabytes =
        arguments.megabytes > 0 ? arguments.megabytes : capabilities_of(arguments.backend).modest_megabytes;
    return drawn_problems({drawn_kinds(arguments.drawn), arguments.session.seed, megabytes},
                          drawn_count(arguments.session.seconds));
  }
  std::vector<Problem> problems;
  if (!arguments.file.empty()) {
    const auto t1 = problem_of_t1_file(arguments.file);
    problems = t1 ? std::vector<Problem>{*t1} : problems_from_file(arguments.file);
  }
  for (const std::string& token : arguments.tokens) {
    const Problem problem = problem_from_argument(token);
    if (std::find(problems.begin(), problems.end(), problem) == problems.end()) problems.push_back(problem);
  }
  if (!arguments.recorded.empty())
    for (const Problem& problem : tuner::recorded_problems(arguments.recorded)) problems.push_back(problem);
  if (problems.empty())
    throw UsageError("nothing to tune",
                     "name problems, or a file of them: --problems FILE, --problems builtin:quick, --recorded DIR, "
                     "--misses FILE, or --drawn fft,nufft");
  return problems;
}

// Converts "nufft:type=1,n=64x64" to a file name: letters, digits, dots and dashes are kept.
std::string file_name(const std::string& token) {
  std::string name = token;
  for (char& letter : name)
    if (std::string_view(":,=").find(letter) != std::string_view::npos) letter = '_';
  return name + ".jsonl";
}

// Writes every plan tried for the problems in the latest session's environment, one file per problem.
void write_spaces(const db::TuningStore& store, const std::vector<Problem>& problems, const std::string& folder) {
  const auto sessions = store.sessions();
  if (sessions.empty()) return;
  for (const Problem& problem : problems) {
    const std::string token = to_token(problem);
    const std::filesystem::path path = std::filesystem::path(folder) / file_name(token);
    std::ofstream file(path);
    db::write_space(file, db::record_space(store, token, sessions.back().environment));
    file.close();
    if (!file) throw cannot_write(path.string());
    say("recorded {}\n", path.string());
  }
}

void make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw cannot_make(folder, error.message());
}

// The same session on the ranks of an mpirun.
[[noreturn]] void tune_on_ranks(const TuneArguments& arguments) {
  const tuner::SessionOptions& session = arguments.session;
  if (!arguments.record.empty() || !arguments.recorded.empty() || !arguments.trace.empty() ||
      !arguments.drawn.empty() || !arguments.misses.empty() || session.cpu_time || arguments.device != 0 ||
      !arguments.devices.empty() || !arguments.shard.empty() || session.objective != db::Objective::time)
    throw UsageError(
        "--ranks: not with --record, --recorded, --trace, --drawn, --misses, --cpu-time, --device(s), --shard or "
        "--objective energy",
        "ranks are tuned with points that are made, by the time that passes, on the GPUs in turn");
  const std::filesystem::path path = database_path(*arguments.db);
  std::vector<std::string> words{"tune", "--db", std::filesystem::absolute(path).string()};
  for (const Problem& problem : problems_of(arguments)) words.push_back(to_token(problem));
  const auto add = [&](const char* name, const std::string& value) {
    words.insert(words.end(), {std::string("--") + name, value});
  };
  add("seconds", fmt::format("{}", session.seconds));
  add("threads", std::to_string(session.threads));
  add("seed", std::to_string(session.seed));
  add("max-evaluations", std::to_string(session.max_evaluations));
  add("format", arguments.output.format);
  // An mpirun reads what the ranks print, so they do not see the terminal.
  if (const std::size_t width = arguments.output.screen().width; width > 0)
    ::setenv("COLUMNS", std::to_string(width).c_str(), 1);
  else
    words.emplace_back("--wide");
  if (arguments.backend != TuneArguments().backend) add("backend", arguments.backend);
  if (!session.strategy.empty()) add("strategy", session.strategy);
  if (arguments.quiet) words.emplace_back("--quiet");
  start_ranks(arguments.ranks, words);
}

// Measures on one device, into one database.
tuner::Report tune_on_device(const TuneArguments& arguments, const tuner::SessionOptions& options,
                             db::TuningStore& store) {
  ProgressLine line(stderr);
  tuner::SessionOptions session = options;
  if (!arguments.quiet) session.progress = [&line](const tuner::Progress& progress) { line.update(progress); };
  tuner::Report report;
  {
    tuner::WorkerOptions worker_options;
    worker_options.backend = arguments.backend;
    worker_options.device = arguments.device;
    worker_options.recorded = arguments.recorded;
    worker_options.database = store.path();
    worker_options.stop = options.stop;
    tuner::WorkerProcess worker(worker_options);
    report = tuner::run_session(session, store, worker);
  }
  line.close();
  if (!arguments.record.empty()) write_spaces(store, options.problems, arguments.record);
  return report;
}

// Where this process keeps its measurements: the database, or a shard that begins with what the database knows.
std::filesystem::path prepared_database(const TuneArguments& arguments, std::vector<Problem>& problems) {
  std::filesystem::path database = database_path(*arguments.db);
  if (arguments.shard.empty()) return database;
  const Shard shard = shard_from(arguments.shard);
  problems = share_of(problems, shard);
  if (problems.empty())
    throw UsageError(fmt::format("--shard {}: no problem is left for it", arguments.shard),
                     "there are fewer problems than shards");
  std::filesystem::path path = shard_path(database, shard);
  begin_shard(path, database);
  return path;
}

void note_kernels(const runtime::Backend& backend, const std::filesystem::path& path) {
  if (!backend.capabilities().keeps_kernels) return;
  if (const std::string why = db::why_untrusted(path); !why.empty())
    say("fourtune: note: kernels are compiled again, not loaded: {}\n", text::shown(why, 2000));
}

// Energy is told by sensors, which not every backend has.
void require_sensors(const std::string& backend_name, const std::vector<int>& devices) {
  const runtime::Backend& backend = checked_backend(backend_name, devices.front());
  for (const int device : devices)
    if (!backend.sensors(device))
      throw UsageError(fmt::format("--objective energy: the backend {} has no sensors of energy", backend_name),
                       "GPUs have them: --backend cuda");
}

// Untuned plans, and the order in which a search tries plans, follow the cost model. Where there is much time to tune a
// device that is not calibrated, a little of it goes to that first.
void calibrate_first(const runtime::Backend& backend, int device, TuneArguments& arguments) {
  constexpr double kShare = 10;  // times the calibration's time is much
  tuner::SessionOptions& session = arguments.session;
  const DeviceTraits traits = backend.traits(device);
  // An emulator, whose kernels work in the memory of this process, has no rates that say anything.
  if (arguments.no_calibrate || session.cpu_time || session.seconds < kShare * tuner::calibrate_seconds) return;
  if (backend.capabilities().arrays == runtime::MemoryKind::aligned || calibration_folder().empty() ||
      !known_calibration(traits).date.empty())
    return;
  say("fourtune: note: {} is not calibrated; that comes first, {:g} s at most (--no-calibrate: not)\n",
      text::shown(traits.name, 200), tuner::calibrate_seconds);
  const Stopwatch watch;
  try {
    calibrated(backend, device, tuner::calibrate_seconds, own_calibration_file(traits), arguments.quiet, "calibrating");
  } catch (const Error& error) {
    if (error.status() == Status::interrupted) throw;
    say("fourtune: note: not calibrated: {}\n", text::shown(error.what(), 2000));
  } catch (const Failure& failure) {
    say("fourtune: note: not calibrated: {}\n", text::shown(failure.what(), 2000));
  }
  session.seconds = std::max(1.0, session.seconds - watch.seconds());
}

void tune(TuneArguments arguments) {
  if (arguments.minutes > 0) arguments.session.seconds = 60 * arguments.minutes;
  arguments.session.objective = db::objective_from(arguments.objective);
  if (arguments.ranks > 0) tune_on_ranks(arguments);
  tuner::SessionOptions& options = arguments.session;
  options.problems = problems_of(arguments);
  if (options.problems.empty()) {
    say("fourtune: note: {} has no problem of this backend that is not tuned by now\n",
        text::shown(arguments.misses, 4096));
    return;
  }
  if (!options.strategy.empty()) tuner::find_strategy(options.strategy);
  const runtime::Backend& backend = checked_backend(arguments.backend, arguments.device);
  // The emulator's kernels are compiled by this machine's compiler, which takes its time beside other work.
  if (backend.capabilities().arrays == runtime::MemoryKind::aligned) options.candidate_timeout *= 4;
  std::vector<int> devices;
  if (!arguments.devices.empty()) devices = devices_from(arguments.devices, backend);
  if (options.objective == db::Objective::energy)
    require_sensors(arguments.backend, devices.empty() ? std::vector<int>{arguments.device} : devices);
  if (!arguments.record.empty()) {
    make_folder(arguments.record);
    options.record_folder = arguments.record;  // files with coordinates, for replay
  }
  const std::filesystem::path path = prepared_database(arguments, options.problems);
  calibrate_first(backend, devices.empty() ? arguments.device : devices.front(), arguments);
  auto store = db::TuningStore::open_for_writing(path);
  note_kernels(backend, path);

  std::ofstream trace;
  if (!arguments.trace.empty()) {
    trace.open(arguments.trace);
    trace << tuner::trace_header() << std::flush;
    if (!trace) throw cannot_write(arguments.trace);
    options.trace = [&trace](const tuner::Trace& step) { trace << tuner::format_trace(step) << std::flush; };
  }
  const StopOnSignal signals;
  options.stop = &signals.raised();
  const tuner::Report report = devices.empty() ? tune_on_device(arguments, options, store)
                                               : tune_on_devices({arguments.backend, devices, path, arguments.recorded,
                                                                  options, arguments.quiet, &signals.raised()});
  if (!arguments.shard.empty())
    say("fourtune: note: `fourtune merge {} {}` joins this shard\n", database_path(*arguments.db).string(),
        path.string());
  print_outcome(report, arguments.output, path, options.command,
                arguments.drawn.empty() ? std::string() : drawn_summary(report));
  if (options.trace && !trace) throw cannot_write(arguments.trace);
}

// Which problems.
void add_problem_options(CLI::App& command, TuneArguments& arguments) {
  command.add_option("PROBLEM", arguments.tokens, "Problem tokens")->type_name("TOKEN");
  command
      .add_option("--problems", arguments.file,
                  "Problems from a file, one per line, or builtin:quick, builtin:papers, "
                  "builtin:applications; or one in the format T1 (`fourtune export`)")
      ->type_name("FILE");
  command
      .add_option("--recorded", arguments.recorded,
                  "Problems and points that an application recorded there, with FOURTUNE_RECORD_POINTS=DIR")
      ->type_name("DIR");
  command
      .add_option(
          "--drawn", arguments.drawn,
          "Draw problems of these kinds, fft, nufft or both, as many as the time allows, to tune the device for "
          "everything")
      ->type_name("KINDS");
  command
      .add_option(
          "--misses", arguments.misses,
          "Problems that applications ran untuned, with FOURTUNE_RECORD_MISSES=FILE; the most costly ones first")
      ->type_name("FILE");
  command.add_option("--megabytes", arguments.megabytes, "Largest arrays of a drawn problem")
      ->check(between(0.0, 1e6))
      ->type_name("MB");
}

// How long, where results go, and how plans are found and judged.
void add_session_options(CLI::App& command, TuneArguments& arguments) {
  tuner::SessionOptions& session = arguments.session;
  CLI::Option* const seconds =
      command
          .add_option("--seconds", session.seconds, "Time to spend on all problems together; 0: until each search ends")
          ->transform(duration(0, 1e7))
          ->capture_default_str()
          ->type_name("S");
  command.add_option("--minutes", arguments.minutes, "The same in minutes")
      ->check(between(0.0, 1e5))
      ->excludes(seconds)
      ->type_name("M");
  arguments.db = add_database_option(command);
  command.add_option("--threads", session.threads, "Most threads a plan may use (default: all)")
      ->check(between(0, 4096))
      ->type_name("N");
  command.add_flag(
      "--cpu-time", session.cpu_time,
      "Judge plans by the thread's CPU time, for machines that are busy with other work (needs --threads 1)");
  command.add_option("--seed", session.seed, "Seed of the points, the search and the order of measuring")
      ->check(any_seed())
      ->capture_default_str()
      ->type_name("N");
  std::vector<std::string> names;
  for (const tuner::Strategy& strategy : tuner::strategies()) names.emplace_back(strategy.name);
  command.add_option("--strategy", session.strategy, "How to search (default: chosen by the size of the space)")
      ->check(CLI::IsMember(names));
  command
      .add_option("--objective", arguments.objective,
                  "Judge plans by the time of an execute or by the energy that it uses (GPUs)")
      ->check(CLI::IsMember({"time", "energy"}))
      ->capture_default_str();
  command.add_option("--max-evaluations", session.max_evaluations, "Most plans to measure for a problem; 0: no limit")
      ->type_name("N");
  command
      .add_option("--record", arguments.record,
                  "Measure every candidate to the end and write each problem's space there, for replaying searches")
      ->type_name("DIR");
}

// Which device, or which of several; and what is printed.
void add_place_options(CLI::App& command, TuneArguments& arguments) {
  add_backend_option(command, arguments.backend);
  add_device_option(command, arguments.device);
  command.add_option("--devices", arguments.devices, "Several devices share the problems: all, or numbers such as 0,1")
      ->excludes("--device")
      ->excludes("--record")
      ->type_name("LIST");
  command
      .add_option("--shard", arguments.shard,
                  "Tune share I of N of the problems, into DB.shard-I-of-N beside the database; `fourtune merge` joins "
                  "them")
      ->type_name("I/N");
  add_output_options(command, arguments.output, {"table", "csv", "json"});
  command.add_option("--trace", arguments.trace, "Write a CSV file of what each step of the session spent its time on")
      ->type_name("FILE");
  command.add_flag(
      "--no-calibrate", arguments.no_calibrate,
      "Do not calibrate first, which is done if the device has no calibration and --seconds is 200 or more");
  command.add_flag("--quiet", arguments.quiet, "No progress");
  command.add_option("--ranks", arguments.ranks, "Tune transforms over N MPI ranks, which mpirun starts")
      ->check(between(1, 100000))
      ->type_name("N");
}

}  // namespace

void add_tune(CLI::App& app, const std::string& command_line) {
  auto arguments = std::make_shared<TuneArguments>();
  CLI::App* command = app.add_subcommand("tune", "Measure plans for problems and keep the winners");
  add_problem_options(*command, *arguments);
  add_session_options(*command, *arguments);
  add_place_options(*command, *arguments);
  command->footer(
      "Every measurement is kept as soon as it is made: Ctrl-C loses nothing, and the same command resumes.\n\n"
      "Example:\n"
      "  fourtune tune nufft:type=1,n=128x128,m=200000,prec=f32,tol=1e-3,points=spiral --seconds 20\n"
      "  fourtune tune --problems builtin:quick --seconds 60 --db my.db\n"
      "  fourtune tune --drawn fft,nufft --minutes 30");
  arguments->session.command = command_line;
  command->callback([arguments] { tune(*arguments); });
}

}  // namespace fourtune::tools
