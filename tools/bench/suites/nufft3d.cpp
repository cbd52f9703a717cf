// The experiment of paper nufft3d-cpu-optimization in the form of its Table 4: one row per version of the program, one
// column per data set. The forward operator is a type 2, the adjoint operator a type 1. The paper gives neither sizes
// nor tolerance; 128^3 modes, 8 million points and 2e-3 in single precision are this project's choice. At 1e-3 its
// window is as wide, but sampled errors of the adjoint of random points (4.2e-3) exceed the bound of three times that.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "generator/candidates.h"
#include "generator/plan/plan.h"
#include "generator/window/fft_size.h"
#include "generator/window/window.h"
#include "runtime/backend_table.h"
#include "runtime/backends/backend.h"
#include "tools/bench/measure/limits.h"
#include "tools/bench/measure/measure.h"
#include "tools/bench/measure/memory.h"
#include "tools/bench/report/report.h"
#include "tools/bench/suites/suites.h"
#include "tools/common/errors.h"
#include "tools/common/stopwatch.h"
#include "tools/common/text.h"
#include "tuner/measure/validate.h"
#include "tuner/report/report.h"
#include "tuner/report/table.h"

namespace fourtune::tools {
namespace {

using generator::FftFamily;
using generator::InterpFamily;
using generator::Plan;
using generator::Rigor;
using generator::SortFamily;
using generator::SpreadFamily;

struct DataSet {
  const char* name;
  PointClass points;
};
constexpr DataSet kDataSets[] = {
    {"Random", PointClass::uniform}, {"Radial", PointClass::radial}, {"Spiral", PointClass::spiral}};
constexpr std::array kOperators{2, 1};  // forward, adjoint

// The versions; each adds something to the one before.
struct Version {
  const char* name;
  const char* what;
  bool parallel, vectorised;
  SpreadFamily spread;
};
constexpr Version kVersions[] = {
    {"serial", "one thread, points as they come, window from a look-up table", false, false, SpreadFamily::atomic},
    {"multi-threaded, index", "blocks and colour scheduling, points of a block through an index array", true, false,
     SpreadFamily::colour_index},
    {"multi-threaded, list", "the same through the static linked list", true, false, SpreadFamily::colour_list},
    {"multi-threaded + simd", "index array, window by vectorised polynomials, inner points in vectors", true, true,
     SpreadFamily::colour_index},
};

// The paper's last step, "further optimization": the size of blocks and the prefetch distance, found by trying. Each of
// these runs beside the versions, and the table has the fastest one.
constexpr const char* kTried = "block size and prefetch";
struct Trial {
  int block;     // cells per side
  int prefetch;  // points ahead
};
constexpr Trial kTrials[] = {{8, 0},    {8, 64},   {8, 128}, {16, 0},  {16, 64},
                             {16, 128}, {16, 256}, {32, 0},  {32, 64}, {32, 128}};
std::string name_of(const Trial& trial) {
  return trial.prefetch ? fmt::format("blocks of {}, prefetch {}", trial.block, trial.prefetch)
                        : fmt::format("blocks of {}, no prefetch", trial.block);
}

// The paper's ingredients in our plan language: Kaiser-Bessel, oversampling 2, whole (unpruned) FFTs by FFTW.
Plan plan_of(const Version& version, const Problem& problem, const DeviceTraits& traits) {
  Plan plan;
  plan.window.kind = generator::WindowKind::kaiser_bessel;
  plan.window.sigma = 2;
  plan.window.width = generator::width_for(plan.window.kind, problem.tol, plan.window.sigma, problem.dim);
  plan.window.table = version.vectorised ? 0 : 1024;  // linear between entries, with an error far below 2e-3
  plan.window.fine = {1, 1, 1};
  for (int d = 0; d < problem.dim; ++d)
    plan.window.fine[static_cast<std::size_t>(d)] = generator::smooth_size(2 * problem.n[static_cast<std::size_t>(d)]);
  generator::CpuStages& stages = plan.cpu();
  stages.threads = version.parallel ? traits.cores : 1;
  stages.sort.family = version.parallel ? SortFamily::tiles : SortFamily::none;
  stages.sort.tile = {16, 16, 16};
  stages.sort.copy = version.vectorised;
  stages.spread.family = version.spread;
  stages.interp.family = InterpFamily::direct;
  stages.fft = {FftFamily::fftw, Rigor::measure, 16};
  return plan;
}

Problem problem_of(int type, PointClass points, double scale) {
  Problem problem;
  problem.type = type;
  problem.sign = type == 2 ? 1 : -1;
  problem.dim = 3;
  const auto side = std::max<std::int64_t>(8, std::llround(128 * std::cbrt(scale)));
  problem.n = {side, side, side};
  problem.m = std::max<std::int64_t>(1000, std::llround(8e6 * scale));
  problem.precision = Precision::f32;
  problem.tol = 2e-3;
  problem.points = points;
  return parse_problem(to_token(problem));
}

// The last version of the program with other blocks.
Plan plan_of(const Trial& trial, const Problem& problem, const DeviceTraits& traits) {
  Plan plan = plan_of(kVersions[std::size(kVersions) - 1], problem, traits);
  generator::CpuStages& stages = plan.cpu();
  stages.sort.tile = {trial.block, trial.block, trial.block};
  generator::set_prefetch(stages.spread, stages.interp, true, trial.prefetch);
  return plan;
}

std::vector<Entrant> entrants_of(const Problem& problem, const DeviceTraits& traits, const BenchOptions& options) {
  std::vector<Entrant> list;
  for (const Version& version : kVersions) {
    const std::string text = generator::to_text(plan_of(version, problem, traits), problem);
    list.push_back(our_entrant(version.name, Role::reference, {"cpu", traits.cores, {}, text}));
  }
  for (const Trial& trial : kTrials) {
    const std::string text = generator::to_text(plan_of(trial, problem, traits), problem);
    list.push_back(our_entrant(name_of(trial), Role::reference, {"cpu", traits.cores, {}, text}));
  }
  list.push_back(our_entrant("untuned default", Role::untuned, {"cpu", traits.cores, {}, {}}));
  const OursOptions tuned{"cpu", traits.cores, options.db, {}};
  if (!options.untuned_only && has_verdict(problem, tuned)) list.push_back(our_entrant("tuned", Role::tuned, tuned));
  return list;
}

const ContenderResult* find(const ProblemResult& result, const std::string& name) {
  for (const ContenderResult& one : result.contenders)
    if (one.name == name && one.ran()) return &one;
  return nullptr;
}

// The fastest of the trials, of those that could be judged where there are any; null: none ran.
const ContenderResult* best_trial(const ProblemResult& result) {
  const ContenderResult* best = nullptr;
  for (const Trial& trial : kTrials) {
    const ContenderResult* one = find(result, name_of(trial));
    if (one &&
        (!best || std::pair(one->too_busy, one->execute.median) < std::pair(best->too_busy, best->execute.median)))
      best = one;
  }
  return best;
}
const ContenderResult* version_of(const ProblemResult& result, const std::string& name) {
  return name == kTried ? best_trial(result) : find(result, name);
}

// The time of one version on one data set.
struct Time {
  double seconds = 0;  // kNone: a version failed
  bool judged = true;  // not where the machine was too busy
};
std::string to_text(const Time& time) { return (time.judged ? "" : "~") + tuner::format_seconds(time.seconds); }

// Operator -1 means both.
Time time_of(const std::vector<ProblemResult>& results, const std::string& version, std::size_t data_set, int which) {
  Time sum;
  for (std::size_t op = 0; op < kOperators.size(); ++op) {
    if (which >= 0 && static_cast<std::size_t>(which) != op) continue;
    const ContenderResult* one = version_of(results[data_set * kOperators.size() + op], version);
    if (!one) return {kNone, true};
    sum.seconds += one->execute.median * 1e-9;
    sum.judged = sum.judged && !one->too_busy;
  }
  return sum;
}

// The rows of the tables, in the order of the paper.
std::vector<std::string> versions_in(const std::vector<ProblemResult>& results) {
  std::vector<std::string> names;
  for (const Version& version : kVersions) names.emplace_back(version.name);
  names.insert(names.end(), {kTried, "untuned default"});
  if (std::any_of(results.begin(), results.end(), [](const ProblemResult& result) { return find(result, "tuned"); }))
    names.emplace_back("tuned");
  return names;
}

std::string table_of(const std::vector<ProblemResult>& results, int which, const tuner::Screen& screen) {
  std::vector<std::vector<std::string>> rows{{""}};
  for (const DataSet& set : kDataSets) rows.front().insert(rows.front().end(), {set.name, "speed-up"});
  for (const std::string& name : versions_in(results)) {
    std::vector<std::string> row{name};
    for (std::size_t set = 0; set < std::size(kDataSets); ++set) {
      const Time serial = time_of(results, kVersions[0].name, set, which), time = time_of(results, name, set, which);
      const double ratio = serial.judged && time.judged ? serial.seconds / time.seconds : kNone;
      row.push_back(std::isfinite(time.seconds) ? to_text(time) : name == "tuned" ? "untuned" : "failed");
      row.push_back(std::isfinite(ratio) ? fmt::format("{:.1f}x", ratio) : "-");
    }
    rows.push_back(std::move(row));
  }
  return tuner::table_text(rows, {{1, 2, 3, 4, 5, 6}}, screen);
}

std::vector<std::string> operators_row(const char* first) {
  std::vector<std::string> row{first};
  for (const DataSet& set : kDataSets)
    for (const int type : kOperators) row.push_back(fmt::format("{} {}", set.name, type == 2 ? "forward" : "adjoint"));
  return row;
}

// The error of each version. Three times the tolerance is right, so a smaller tolerance that gives the paper's window
// the same width is met by the same plan where a third of the error is below it.
std::string errors_table(const std::vector<ProblemResult>& results, const tuner::Screen& screen) {
  std::vector<std::vector<std::string>> rows{operators_row("error")};
  for (const std::string& name : versions_in(results)) {
    std::vector<std::string> row{name};
    for (const ProblemResult& result : results) {
      const ContenderResult* one = version_of(result, name);
      row.push_back(one ? fmt::format("{:.1e}{}", one->error, one->right ? "" : " WRONG") : "-");
    }
    rows.push_back(std::move(row));
  }
  return tuner::table_text(rows, {{1, 2, 3, 4, 5, 6}}, screen);
}

// Times of every trial, and which were the fastest.
std::string trials_table(const std::vector<ProblemResult>& results, const tuner::Screen& screen) {
  std::vector<std::vector<std::string>> rows{operators_row("trial")};
  for (const Trial& trial : kTrials) {
    std::vector<std::string> row{name_of(trial)};
    for (const ProblemResult& result : results) {
      const ContenderResult* one = find(result, name_of(trial));
      row.push_back(!one ? "failed"
                         : to_text({one->execute.median * 1e-9, !one->too_busy}) +
                               (one == best_trial(result) && !one->too_busy ? " *" : ""));
    }
    rows.push_back(std::move(row));
  }
  return tuner::table_text(rows, {{1, 2, 3, 4, 5, 6}}, screen);
}

}  // namespace

void run_suite_nufft3d_cpu(const BenchOptions& options) {
  const runtime::Backend& backend = runtime::find_backend("cpu");
  DeviceTraits traits = backend.traits();
  if (options.threads > 0) traits.cores = options.threads;
  const BenchEnvironment environment = bench_environment(traits.cores, backend);
  fmt::print("paper nufft3d-cpu-optimization on {} ({}), {} threads\n", environment.device, environment.isa,
             traits.cores);
  for (const Version& version : kVersions) fmt::print("  {:<24} {}\n", version.name, version.what);
  fmt::print("  {:<24} the same with the blocks and the prefetch distance that are fastest here\n", kTried);
  check_clock(options, traits.cores, backend);
  stop_on_signal();
  const MeasureOptions measure = measure_options(options, backend, 1);
  const Stopwatch watch;
  const tuner::Screen screen = tuner::screen_of(stdout, options.wide);
  std::vector<ProblemResult> results;
  for (const DataSet& set : kDataSets)
    for (const int type : kOperators) {
      const Problem problem = problem_of(type, set.points, options.scale);
      const std::string reason = why_not(problem, options, watch.seconds());
      results.push_back(reason.empty() ? measure_problem(problem, entrants_of(problem, traits, options), measure)
                                       : ProblemResult{problem, to_token(problem), reason, {}, 0});
      fmt::print("{}\n", progress_line(results.back(), screen));
      std::fflush(stdout);
    }
  fmt::print("\nforward and adjoint together, one execute of each\n{}", table_of(results, -1, screen));
  fmt::print("\nforward (type 2)\n{}\nadjoint (type 1)\n{}", table_of(results, 0, screen),
             table_of(results, 1, screen));
  fmt::print("\nblock size and prefetch distance (* the fastest, which the tables have)\n{}",
             trials_table(results, screen));
  fmt::print("\nerrors; up to three times the tolerance is right\n{}", errors_table(results, screen));
  fmt::print("\nplans, Random\n");
  for (std::size_t op = 0; op < kOperators.size(); ++op)
    for (const ContenderResult& one : results[op].contenders)
      fmt::print("  type {} {}: {}\n", kOperators[op], one.name, one.plan);
  const bool busy = std::any_of(results.begin(), results.end(), [](const ProblemResult& result) {
    return std::any_of(result.contenders.begin(), result.contenders.end(),
                       [](const auto& one) { return one.too_busy; });
  });
  fmt::print("{}{}", busy ? "~: the machine was too busy to judge this time; it gives no speed-up\n" : "",
             skip_notes(results));
  if (!options.csv.empty()) write_text_file(options.csv, comparison_csv(results, environment));
}

}  // namespace fourtune::tools
