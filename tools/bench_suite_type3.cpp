// The experiment of paper nufft-type3-cuda: a 2D type 3 with random points and frequencies at 1e-10, its three steps
// timed for N = K (Figure 1) and N = K^2 (Table 2). The paper's parameterisation (Gaussian windows, one point per
// iteration, atomic adds) against our best plan and, if given, a peer.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "generator/plan.h"
#include "runtime/backend.h"
#include "tools/bench_limits.h"
#include "tools/bench_measure.h"
#include "tools/bench_memory.h"
#include "tools/bench_peers.h"
#include "tools/bench_report.h"
#include "tools/bench_series.h"
#include "tools/bench_suites.h"
#include "tools/device_arrays.h"
#include "tools/errors.h"
#include "tools/gpu_backends.h"
#include "tools/stopwatch.h"
#include "tools/text.h"
#include "tuner/report.h"
#include "tuner/validate.h"

namespace fourtune::tools {
namespace {

Problem problem_of(std::int64_t m, std::int64_t k) {
  Problem problem;
  problem.type = 3;
  problem.dim = 2;
  problem.m = m;
  problem.k = k;
  problem.precision = Precision::f64;
  problem.tol = 1e-10;
  return parse_problem(to_token(tuner::bound_problem(problem)));
}

// N = K = 2^8 .. 2^20 and N = K^2 for 256, 512, 1024; scale lowers the largest N, and at least one problem stays.
std::vector<Problem> problems_of(double scale, bool square) {
  std::vector<Problem> problems;
  const double most = std::max(256.0, std::round(std::ldexp(scale, 20)));
  for (int p = 8; p <= (square ? 10 : 20); ++p) {
    const std::int64_t k = std::int64_t{1} << p, m = square ? k * k : k;
    if (static_cast<double>(m) <= most) problems.push_back(problem_of(m, k));
  }
  if (problems.empty()) {  // only K^2 = 2^16 can be too large
    const std::int64_t k = std::int64_t{1} << static_cast<int>(std::log2(most) / 2);
    problems.push_back(problem_of(k * k, k));
  }
  return problems;
}

std::string paper_plan(const Problem& problem, int threads, const std::string& backend) {
  generator::Plan plan;
  plan.backend = backend;
  plan.threads = threads;
  plan.type3 = generator::Type3Rule::gaussian;
  plan.gaussian_r = 2.2;
  plan.sort.family = generator::SortFamily::none;
  plan.spread.family = generator::SpreadFamily::atomic;
  plan.interp.family = generator::InterpFamily::direct;
  plan.fft = {generator::FftFamily::fftw, generator::Rigor::measure, 16};
  // On a GPU: one thread a point, in the caller's order; the library's FFT where there is one.
  plan.gpu_points.spread = generator::nufft::Spread::points;
  plan.gpu_points.interp = generator::nufft::Interpolate::points;
  for (auto* with : {&plan.gpu_points.spread_with, &plan.gpu_points.interp_with}) {
    with->order = generator::nufft::Order::caller;
    with->lanes = 1;
  }
  if (backend == "cuda") plan.gpu_fft.family = generator::GpuFftFamily::cufft;
  return generator::to_text(plan, problem);
}

// The paper's three steps: stages whose name starts so.
double step(const ContenderResult& one, const char* name) {
  double seconds = 0;
  for (const StageTime& stage : one.stages)
    if (stage.stage.starts_with(name)) seconds += stage.seconds;
  return seconds;
}

void print_table(const std::vector<ProblemResult>& results) {
  std::vector<std::vector<std::string>> rows{{"N", "K", "version", "step 1 spread", "step 2 fft", "step 3 interpolate",
                                              "execute", "set_points", "error", "speed-up"}};
  for (const ProblemResult& result : results) {
    double paper = 0;
    for (const ContenderResult& one : result.contenders)
      if (one.ran() && one.name == "paper") paper = one.execute.median;
    for (const ContenderResult& one : result.contenders) {
      if (!one.ran()) continue;
      const bool ours = !one.stages.empty();
      const auto step_text = [&](const char* name) {
        return ours ? tuner::format_seconds(step(one, name)) : std::string("-");
      };
      rows.push_back({fmt::format("{}", result.problem.m.value_or(0)), fmt::format("{}", result.problem.k.value_or(0)),
                      one.name, step_text("spread"), step_text("fft"), step_text("interpolate"),
                      tuner::format_seconds(one.execute.median * 1e-9),
                      tuner::format_seconds(one.set_points.median * 1e-9), fmt::format("{:.1e}", one.error),
                      paper > 0 ? fmt::format("{:.1f}x", paper / one.execute.median) : "-"});
    }
  }
  fmt::print("{}", table_text(rows, {0, 1, 3, 4, 5, 6, 7, 8, 9}));
}

// Figure 1: seconds of the steps over N, and of whole executes.
void add_panels(const std::vector<ProblemResult>& results, bool square, std::vector<Panel>& panels) {
  const std::string which = square ? "N = K^2" : "N = K";
  Panel steps{"steps, " + which, "N", "seconds", {}}, whole{"execute, " + which, "N", "seconds", {}};
  for (const ProblemResult& result : results) {
    const double n = static_cast<double>(result.problem.m.value_or(0));
    for (const ContenderResult& one : result.contenders) {
      if (!one.ran()) continue;
      whole.points.push_back({one.name, n, one.execute.median * 1e-9});
      for (const char* name : {"spread", "fft", "interpolate"})
        if (const double seconds = step(one, name); seconds > 0)
          steps.points.push_back({one.name + ", " + name, n, seconds});
    }
  }
  panels.push_back(std::move(steps));
  panels.push_back(std::move(whole));
}

}  // namespace

void run_suite_nufft_type3(const BenchOptions& options) {
  const runtime::Backend& backend = bench_backend(options.backend);
  DeviceTraits traits = backend.traits();
  if (options.threads > 0) traits.cores = options.threads;
  const int threads = std::max(1, traits.cores);
  const auto current = make_device_current(backend);
  const std::vector<Peer> peers = load_peers(options.peers, backend);
  BenchEnvironment environment = bench_environment(threads, backend);
  for (const Peer& peer : peers) environment.peers.push_back(peer.library->describe());
  fmt::print("paper nufft-type3-cuda on {} ({}), {} threads\n", environment.device, environment.isa, threads);
  for (const std::string& peer : environment.peers) fmt::print("peer {}\n", peer);

  check_clock(options, threads, backend);
  stop_on_signal();
  const MeasureOptions measure = measure_options(options, backend, 1);
  const Stopwatch watch;
  std::vector<ProblemResult> all;
  std::vector<Panel> panels;
  for (const bool square : {false, true}) {
    std::vector<ProblemResult> results;
    for (const Problem& problem : problems_of(options.scale, square)) {
      if (const std::string reason = why_not(problem, options, watch.seconds()); !reason.empty()) {
        results.push_back({problem, to_token(problem), reason, {}, 0});
        continue;
      }
      const std::string paper = paper_plan(problem, threads, std::string(backend.name()));
      const OursOptions untuned{std::string(backend.name()), threads, {}, {}};
      OursOptions tuned = untuned;
      tuned.db = options.db;
      std::vector<Entrant> entrants{our_entrant("paper", Role::reference, {untuned.backend, threads, {}, paper}),
                                    our_entrant("untuned", Role::untuned, untuned)};
      if (!options.untuned_only && has_verdict(problem, tuned))
        entrants.push_back(our_entrant("tuned", Role::tuned, tuned));
      for (const Peer& peer : peers)
        if (peer.library->does(Kind::nufft)) entrants.push_back(peer_entrant(peer, problem, threads));
      results.push_back(measure_problem(problem, entrants, measure));
      fmt::print("{}\n", progress_line(results.back()));
      std::fflush(stdout);
    }
    fmt::print("\n{}\n", square ? "N = K^2" : "N = K");
    print_table(results);
    fmt::print("{}", skip_notes(results));
    std::fflush(stdout);
    add_panels(results, square, panels);
    all.insert(all.end(), results.begin(), results.end());
  }
  fmt::print("\nsteps are those of the last execute; speed-up: the paper's parameterisation / this version\n");
  if (!options.csv.empty()) write_text_file(options.csv, comparison_csv(all, environment));
  if (!options.plot.empty()) fmt::print("{}\n", plot_panels(panels, options.plot));
}

}  // namespace fourtune::tools
