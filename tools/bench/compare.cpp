#include "tools/bench/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "runtime/backends/backend.h"
#include "runtime/backends/families.h"
#include "tools/bench/measure/compile.h"
#include "tools/bench/measure/limits.h"
#include "tools/bench/measure/measure.h"
#include "tools/bench/measure/memory.h"
#include "tools/bench/peers/peers.h"
#include "tools/bench/plan_list.h"
#include "tools/bench/report/csv_read.h"
#include "tools/bench/report/report.h"
#include "tools/common/device_arrays.h"
#include "tools/common/errors.h"
#include "tools/common/gpu_backends.h"
#include "tools/common/problem_list.h"
#include "tools/common/stopwatch.h"
#include "tuner/report/report.h"
#include "tuner/report/screen.h"
#include "tuner/report/table.h"

namespace fourtune::tools {
namespace {

// The contender whose batch several devices share.
constexpr const char* kShared = "devices";
// Contenders with the plans of a list: this and a number.
constexpr const char* kListed = "plan ";

int threads_of(const BenchOptions& options, const runtime::Backend& backend) {
  return options.threads > 0 ? options.threads : std::max(1, backend.traits(options.device).cores);
}

std::string fftw_plan(int threads, const char* rigor) {
  return fmt::format("cpu;threads={};fft=fftw(rigor={})", threads, rigor);
}

std::vector<Entrant> entrants_for(const Problem& problem, const BenchOptions& options, const runtime::Backend& backend,
                                  int threads, const std::vector<Peer>& peers, const PlanList& listed) {
  const OursOptions untuned{std::string(backend.name()), threads, {}, {}, options.device};
  OursOptions tuned = untuned;
  tuned.db = options.db;
  const auto fftw = [&](const char* rigor) { return OursOptions{"cpu", threads, {}, fftw_plan(threads, rigor)}; };
  const bool with_fftw = problem.kind == Kind::fft && takes_host_arrays(backend) && runtime::has_fftw();
  std::vector<Entrant> list;
  if (with_fftw) list.push_back(our_entrant("fftw-estimate", Role::reference, fftw("estimate")));
  list.push_back(our_entrant("untuned", Role::untuned, untuned));
  OursOptions forced = untuned;
  forced.plan = options.plan;
  if (!options.plan.empty())
    list.push_back(our_entrant("plan", Role::tuned, forced));
  else if (!options.untuned_only && has_verdict(problem, tuned))
    list.push_back(our_entrant("tuned", Role::tuned, tuned));
  if (const auto found = listed.plans.find(to_token(problem)); found != listed.plans.end())
    for (std::size_t i = 0; i < found->second.size(); ++i) {
      forced.plan = found->second[i];
      list.push_back(our_entrant(fmt::format("{}{}", kListed, i + 1), Role::reference, forced));
    }
  OursOptions shared = untuned;
  shared.devices = options.devices;
  if (!options.devices.empty()) list.push_back(our_entrant(kShared, Role::reference, shared));
  if (with_fftw) list.push_back(our_entrant("fftw-measure", Role::peer, fftw("measure")));
  for (const Peer& peer : peers)
    if (peer.library->does(problem.kind)) list.push_back(peer_entrant(peer, problem, threads));
  return list;
}

std::vector<Problem> problems_of(const BenchOptions& options, const PlanList& listed) {
  std::vector<Problem> problems = listed.problems;
  if (!options.problems.empty()) problems = problems_from_file(options.problems);
  for (const std::string& token : options.tokens) problems.push_back(problem_from_argument(token));
  if (problems.empty()) throw UsageError("no problems are given", "--problems builtin:applications, or problem tokens");
  std::vector<Problem> bound;
  for (const Problem& problem : problems) {
    const Problem one = as_bound(problem);
    const bool wanted = options.filter.empty() || to_token(one).find(options.filter) != std::string::npos;
    if (wanted && std::find(bound.begin(), bound.end(), one) == bound.end()) bound.push_back(one);
  }
  if (bound.empty()) throw UsageError(fmt::format("--filter {}: fits no problem", options.filter));
  return bound;
}

void measure_first_use(ProblemResult& result, const std::vector<Entrant>& entrants, const BenchOptions& options,
                       int threads) {
  for (std::size_t i = 0; i < result.contenders.size(); ++i) {
    ContenderResult& one = result.contenders[i];
    if (!one.ran() || one.role == Role::reference) continue;
    std::vector<std::string> words{
        "bench",     "--memory-child",           entrants[i].key, result.token,
        "--threads", fmt::format("{}", threads), "--seed",        fmt::format("{}", options.seed)};
    if (!options.db.empty()) words.insert(words.end(), {"--db", options.db});
    const FirstUse use = first_use_in_child(words, 30 + options.seconds_per_problem);
    one.memory = use.peak_bytes;
    one.code = use.code_bytes;
    one.first_use_ns = use.ns;
  }
}

void print_heading(const BenchEnvironment& environment) {
  fmt::print("{} ({}, {} cores), {} threads, {}{}{}\n", environment.device, environment.isa, environment.cores,
             environment.threads, environment.compiler, environment.compiler.empty() ? "" : ", ",
             environment.libraries);
  for (const std::string& peer : environment.peers) fmt::print("peer {}\n", peer);
  std::fflush(stdout);
}

// Several devices beside one, with arrays in the memory of that one.
std::string devices_table(const std::vector<ProblemResult>& results, const tuner::Screen& screen) {
  std::vector<tuner::Cells> rows{{"problem", "one device", "devices", "ratio", "error"}};
  for (const ProblemResult& result : results) {
    const ContenderResult *one = nullptr, *shared = nullptr;
    for (const ContenderResult& contender : result.contenders) {
      if (contender.ran() && contender.role == Role::untuned) one = &contender;
      if (contender.ran() && contender.name == kShared) shared = &contender;
    }
    if (one == nullptr || shared == nullptr) continue;
    rows.push_back({result.token, tuner::format_seconds(one->execute.median * 1e-9),
                    tuner::format_seconds(shared->execute.median * 1e-9),
                    fmt::format("{:.2f}", one->execute.median / shared->execute.median),
                    fmt::format("{:.1e}{}", shared->error, shared->right ? "" : " WRONG")});
  }
  return rows.size() > 1 ? "\n" + tuner::table_text(rows, {{1, 2, 3, 4}}, screen) : std::string();
}

// What the plans of a list took, the fastest first, beside the untuned plan.
std::string plans_table(const std::vector<ProblemResult>& results, const tuner::Screen& screen) {
  std::vector<tuner::Cells> rows{{"problem", "time", "untuned", "ratio", "error", "plan"}};
  for (const ProblemResult& result : results) {
    const ContenderResult* untuned = nullptr;
    std::vector<const ContenderResult*> plans;
    for (const ContenderResult& one : result.contenders) {
      if (one.ran() && one.role == Role::untuned) untuned = &one;
      if (one.name.starts_with(kListed)) plans.push_back(&one);
    }
    const auto sooner = [](const ContenderResult* a, const ContenderResult* b) {
      return a->ran() != b->ran() ? a->ran() : a->ran() && a->execute.median < b->execute.median;
    };
    std::stable_sort(plans.begin(), plans.end(), sooner);
    for (const ContenderResult* one : plans) {
      if (!one->ran()) {
        rows.push_back({result.token, "-", "-", "-", "-", one->name + ": " + one->failure});
        continue;
      }
      rows.push_back({result.token, tuner::format_seconds(one->execute.median * 1e-9),
                      untuned ? tuner::format_seconds(untuned->execute.median * 1e-9) : "-",
                      untuned ? fmt::format("{:.2f}", untuned->execute.median / one->execute.median) : "-",
                      fmt::format("{:.1e}{}", one->error, one->right ? "" : " WRONG"), one->plan});
    }
  }
  return rows.size() > 1 ? "\n" + tuner::table_text(rows, {{1, 2, 3, 4}}, screen) : std::string();
}

void show(const std::vector<ProblemResult>& results, const BenchOptions& options) {
  const tuner::Screen screen = tuner::screen_of(stdout, options.wide);
  fmt::print("\n{}\n{}{}", comparison_table(results, true, screen), comparison_summary(results, screen),
             skip_notes(results));
  fmt::print("{}{}{}{}", modes_table(results, screen), stages_table(results, screen), passes_table(results, screen),
             variants_text(results));
  fmt::print("{}{}", devices_table(results, screen), plans_table(results, screen));
  if (!options.csv.empty()) fmt::print("csv: {}\n", options.csv);
  if (!options.plot.empty()) fmt::print("{}\n", plot_comparison(results, options.plot));
  std::fflush(stdout);
  for (const ProblemResult& result : results)
    for (const ContenderResult& one : result.contenders)
      if (one.ran() && !one.right &&
          (one.role == Role::tuned || one.role == Role::untuned || one.name.starts_with(kListed)))
        throw Failure("an answer of ours misses its tolerance (see WRONG above)", "please report it");
}

void show_earlier_run(const BenchOptions& options) {
  CsvRun run = read_comparison_csv(options.from_csv);
  std::erase_if(run.results,
                [&](const ProblemResult& one) { return one.token.find(options.filter) == one.token.npos; });
  print_heading(run.environment);
  fmt::print("as {} has it, {}\n", options.from_csv, run.environment.started);
  BenchOptions again = options;
  again.csv.clear();
  show(run.results, again);
}

}  // namespace

void run_comparison(const BenchOptions& options) {
  if (!options.from_csv.empty()) return show_earlier_run(options);
  const runtime::Backend& backend = checked_backend(options.backend, options.device);
  const bool host = takes_host_arrays(backend);
  const int threads = threads_of(options, backend);
  check_clock(options, threads, backend);
  const PlanList listed = options.plans.empty() ? PlanList{} : plans_from_file(options.plans);
  const std::vector<Problem> problems = problems_of(options, listed);
  const auto current = backend.make_current(options.device);
  const std::vector<Peer> peers = load_peers(options.peers, backend, options.device);
  BenchEnvironment environment = bench_environment(threads, backend, options.device);
  for (const Peer& peer : peers)
    environment.peers.push_back(fmt::format("{}: {}, {}", peer.name, peer.library->describe(), peer.path));
  print_heading(environment);

  stop_on_signal();
  const Stopwatch watch;
  std::vector<ProblemResult> results;
  const auto save = [&] {
    if (!options.csv.empty()) write_text_file(options.csv, comparison_csv(results, environment));
  };
  save();  // reports an unwritable path before the work
  if (options.compile_first) {
    std::vector<ToMeasure> list;
    for (const Problem& problem : problems)
      list.push_back({problem, entrants_for(problem, options, backend, threads, peers, listed)});
    compile_first(list, backend.traits(options.device).cores);
  }
  for (const Problem& problem : problems) {
    const std::string reason = why_not(problem, options, watch.seconds());
    if (!reason.empty()) {
      results.push_back({problem, to_token(problem), reason, {}, 0});
      continue;
    }
    const std::vector<Entrant> entrants = entrants_for(problem, options, backend, threads, peers, listed);
    const MeasureOptions measure = measure_options(options, backend, std::min(options.min_rounds, options.rounds));
    results.push_back(measure_problem(problem, entrants, measure));
    if (host && options.measure_memory && results.back().skipped.empty())
      measure_first_use(results.back(), entrants, options, threads);
    fmt::print("{}\n", progress_line(results.back(), tuner::screen_of(stdout, options.wide),
                                     fmt::format("[{}/{}] ", results.size(), problems.size())));
    std::fflush(stdout);
    save();
  }
  show(results, options);
}

void run_memory_child(const BenchOptions& options) {
  if (options.tokens.size() != 1) throw UsageError("--memory-child needs one problem");
  const Problem problem = parse_problem(options.tokens.front());
  const runtime::Backend& backend = bench_backend({});
  const int threads = threads_of(options, backend);
  const std::string& key = options.memory_child;
  OursOptions ours{std::string(backend.name()), threads, key == "tuned" ? options.db : std::string(), {}, 0};
  Entrant entrant;
  std::vector<Peer> peers;
  if (key.starts_with("peer:")) {
    peers = load_peers({key.substr(5)}, backend);
    entrant = peer_entrant(peers.front(), problem, threads);
  } else {
    if (key.starts_with("plan:")) ours.plan = key.substr(5);
    entrant = our_entrant(key, Role::untuned, ours);
  }
  const FirstUse use = first_use_here(problem, entrant, options.seed);
  if (!use.failure.empty()) throw Failure(use.failure);
  fmt::print("{}", to_line(use));
}

}  // namespace fourtune::tools
