// The experiments of the paper on cuFINUFFT (Shih et al., 2021), Figures 2 to 7 and Tables I and II, on a device. Its
// spreading methods GM, GM-sort and SM are plans of ours with its bins, window and widths; the peer is the library of
// today. Its axes and sizes; cuFINUFFT of then had oversampling 2 only, and no 1D.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "generator/fft_size.h"
#include "generator/plan.h"
#include "tools/bench_series.h"
#include "tools/bench_suite_run.h"
#include "tools/bench_suites.h"
#include "tools/text.h"
#include "tuner/report.h"

namespace fourtune::tools {
namespace {

namespace nufft = generator::nufft;

Problem problem_of(int type, int dim, double side, double points, Precision precision, double tol,
                   PointClass distribution, double scale) {
  Problem problem;
  problem.type = type;
  problem.sign = type == 2 ? 1 : -1;
  problem.dim = dim;
  const double smaller = std::pow(scale, 1.0 / dim);
  for (int d = 0; d < dim; ++d)
    problem.n[static_cast<std::size_t>(d)] = std::max<std::int64_t>(8, std::llround(side * smaller));
  problem.m = std::max<std::int64_t>(64, std::llround(points * scale));
  problem.precision = precision;
  problem.tol = tol;
  if (distribution != PointClass::uniform) problem.points = distribution;
  return parse_problem(to_token(problem));
}

// The paper's versions: width by its equation 6, oversampling 2, bins of 32x32 or 16x16x2 cells.
struct Version {
  const char* name;
  nufft::Spread spread;
  nufft::Order order;
};
constexpr Version kVersions[] = {{"GM", nufft::Spread::points, nufft::Order::caller},
                                 {"GM-sort", nufft::Spread::points, nufft::Order::bins},
                                 {"SM", nufft::Spread::tile_atomic, nufft::Order::bins}};

std::string plan_of(const Version& version, const Problem& problem, const SuiteRun& run) {
  generator::Plan plan;
  plan.backend = std::string(run.backend().name());
  plan.window.kind = generator::WindowKind::exp_semicircle;
  plan.window.sigma = 2;
  plan.window.width = static_cast<int>(std::ceil(-std::log10(problem.tol) - 1e-9)) + 1;
  plan.window.fine = {1, 1, 1};
  for (int d = 0; d < problem.dim; ++d) {
    const auto at = static_cast<std::size_t>(d);
    plan.window.fine[at] = generator::smooth_size(std::max<std::int64_t>(2 * problem.n[at], 2 * plan.window.width));
  }
  nufft::Parameters with;
  with.order = version.order;
  with.bin = problem.dim == 3 ? std::array{16, 16, 2} : std::array{32, 32, 1};
  with.cap = 1024;
  with.lanes = 1;
  if (version.spread == nufft::Spread::tile_atomic) with.warps = 8;
  plan.gpu_points.spread = version.spread;
  plan.gpu_points.interp = nufft::Interpolate::points;
  plan.gpu_points.spread_with = plan.gpu_points.interp_with = with;
  if (run.backend().name() == "cuda") plan.gpu_fft.family = generator::GpuFftFamily::cufft;
  return generator::to_text(plan, problem);
}

std::vector<Entrant> entrants_of(const Problem& problem, const SuiteRun& run) {
  std::vector<Entrant> list;
  for (const Version& version : kVersions) {
    if (problem.type == 2 && version.spread == nufft::Spread::tile_atomic) continue;  // the paper has none
    OursOptions options = run.ours();
    options.plan = plan_of(version, problem, run);
    list.push_back(our_entrant(version.name, Role::reference, options));
  }
  const auto usual = run.usual(problem);
  list.insert(list.end(), usual.begin(), usual.end());
  return list;
}

double stage_seconds(const ContenderResult& one, const std::vector<std::string>& names) {
  double seconds = 0;
  for (const StageTime& stage : one.stages)
    for (const std::string& name : names)
      if (stage.stage.starts_with(name)) seconds += stage.seconds;
  return seconds;
}
// Spreading of type 1, interpolation of type 2; that and the sort.
double kernel_seconds(const ContenderResult& one) { return stage_seconds(one, {"spread", "interpolate"}); }

std::string distribution_of(const Problem& problem) {
  return problem.points == PointClass::cluster ? "cluster" : "rand";
}

void print_table(const std::string& title, const std::vector<ProblemResult>& results) {
  std::vector<std::vector<std::string>> rows{{"problem", "version", "kernel ns/pt", "with sort", "exec ns/pt",
                                              "total ns/pt", "total+mem ns/pt", "memory", "error"}};
  const auto text = [](double seconds, const Problem& problem) {
    return seconds > 0 ? fmt::format("{:.3g}", ns_per_point(seconds, problem)) : std::string("-");
  };
  for (const ProblemResult& result : results) {
    const Problem& problem = result.problem;
    for (const ContenderResult& one : result.contenders) {
      if (!one.ran()) continue;
      const double kernel = kernel_seconds(one), sort = stage_seconds(one, {"sort"});
      rows.push_back({&one == &result.contenders.front() ? result.token : "", one.name, text(kernel, problem),
                      text(kernel > 0 ? kernel + sort : 0, problem), text(one.execute.median * 1e-9, problem),
                      text(one.total.median * 1e-9, problem), text(one.transfers.median * 1e-9, problem),
                      bytes_text(one.memory), fmt::format("{:.1e}{}", one.error, one.right ? "" : " WRONG")});
    }
  }
  fmt::print("\n{}\n{}{}", title,
             rows.size() > 1 ? table_text(rows, {2, 3, 4, 5, 6, 7, 8}) : std::string("nothing ran\n"),
             skip_notes(results));
}

using Measured = std::vector<ProblemResult>;
using Value = double (*)(const ContenderResult&);

double execute_of(const ContenderResult& one) { return one.execute.median * 1e-9; }
double transfers_of(const ContenderResult& one) { return one.transfers.median * 1e-9; }

// ns a point over `x`, a curve a version; only results that `wanted` takes.
template <class X, class Wanted>
Panel panel_of(const std::string& title, const std::string& x_label, const Measured& results, Value value, X x,
               Wanted wanted) {
  Panel panel{title, x_label, "ns a point", {}};
  for (const ProblemResult& result : results) {
    if (!wanted(result.problem)) continue;
    for (const ContenderResult& one : result.contenders) {
      const double y = one.ran() ? ns_per_point(value(one), result.problem) : 0;
      if (y > 0) panel.points.push_back({one.name, x(result.problem, one), y});
    }
  }
  return panel;
}

class Experiments {
 public:
  Experiments(SuiteRun& run, const BenchOptions& options) : run_(run), options_(options) {}

  // Figures 2 and 3: density 1 on the fine grid, f32, 1e-5.
  void spreading() {
    Measured results;
    for (const int type : {1, 2})
      for (const int dim : {2, 3})
        for (const PointClass points : {PointClass::uniform, PointClass::cluster})
          if (type == 1 || points == PointClass::uniform)
            for (double side = dim == 2 ? 64 : 16; side <= (dim == 2 ? 2048 : 256); side *= 2)
              add(results, type, dim, side, std::pow(2 * side, dim), Precision::f32, 1e-5, points);
    print_table("Figures 2 and 3: spreading and interpolation, density 1, f32, 1e-5", results);
    for (const int type : {1, 2})
      for (const int dim : {2, 3})
        for (const char* points : {"rand", "cluster"})
          panels_.push_back(panel_of(
              fmt::format("{}D {}, {}", dim, type == 1 ? "spreading" : "interpolation", points),
              "fine grid, cells a side", results, kernel_seconds,
              [](const Problem& problem, const ContenderResult&) { return 2.0 * static_cast<double>(problem.n[0]); },
              [=](const Problem& p) { return p.type == type && p.dim == dim && distribution_of(p) == points; }));
  }

  // Figures 4, 5 (f32) and 7 (f64): time against the error that is reached.
  void accuracy(Precision precision) {
    const bool single = precision == Precision::f32;
    Measured results;
    for (const int type : {1, 2})
      for (const int dim : {2, 3})
        for (int digits = single ? 1 : 2; digits <= (single ? 6 : 12); digits += single ? 1 : 2)
          add(results, type, dim, dim == 2 ? 1000 : 100, 1e7, precision, std::pow(10.0, -digits), PointClass::uniform);
    const char* figures = single ? "Figures 4 and 5" : "Figure 7";
    print_table(fmt::format("{}: {}, 10 million points, accuracy swept", figures, to_string(precision)), results);
    for (const int type : {1, 2})
      for (const int dim : {2, 3})
        for (const bool transfers : {false, true})
          panels_.push_back(panel_of(
              fmt::format("{}D type {}, {}, {}", dim, type, to_string(precision), transfers ? "total+mem" : "exec"),
              "relative error", results, transfers ? transfers_of : execute_of,
              [](const Problem&, const ContenderResult& one) { return one.error; },
              [=](const Problem& p) { return p.type == type && p.dim == dim; }));
  }

  // Figure 6: 2D, 1e-2, over the number of modes.
  void sizes() {
    Measured results;
    for (const int type : {1, 2})
      for (const PointClass points : {PointClass::uniform, PointClass::cluster})
        for (double side = 64; side <= 2048; side *= 2)
          add(results, type, 2, side, 4 * side * side, Precision::f32, 1e-2, points);
    print_table("Figure 6: 2D, f32, 1e-2, density 1", results);
    for (const int type : {1, 2})
      for (const char* points : {"rand", "cluster"})
        panels_.push_back(panel_of(
            fmt::format("2D type {}, 1e-2, {}, exec", type, points), "modes", results, execute_of,
            [](const Problem& p, const ContenderResult&) { return static_cast<double>(p.n[0] * p.n[1]); },
            [=](const Problem& p) { return p.type == type && distribution_of(p) == points; }));
  }

  // Table I: execute, memory and the share of spreading.
  void table_one() {
    Measured results;
    for (const double tol : {1e-2, 1e-5})
      for (const double side : {32.0, 256.0})
        add(results, 1, 3, side, std::pow(2 * side, 3), Precision::f32, tol, PointClass::uniform);
    std::vector<std::vector<std::string>> rows{{"tol", "N1=N2=N3", "M", "version", "exec", "memory", "spread"}};
    for (const ProblemResult& result : results)
      for (const ContenderResult& one : result.contenders) {
        if (!one.ran()) continue;
        const double spread = kernel_seconds(one), execute = execute_of(one);
        rows.push_back({fmt::format("{:g}", result.problem.tol), fmt::format("{}", result.problem.n[0]),
                        fmt::format("{}", *result.problem.m), one.name, tuner::format_seconds(execute),
                        bytes_text(one.memory),
                        spread > 0 ? fmt::format("{:.1f}%", 100 * spread / execute) : std::string("-")});
      }
    fmt::print("\nTable I: 3D type 1, rand\n{}{}", table_text(rows, {0, 1, 2, 4, 5, 6}), skip_notes(results));
  }

  // Table II: the transforms of one rank of its imaging code, slicing and merging.
  void table_two() {
    Measured results;
    add(results, 2, 3, 41, 1.02e6, Precision::f64, 1e-12, PointClass::ewald);
    add(results, 1, 3, 81, 1.64e7, Precision::f64, 1e-12, PointClass::ewald);
    print_table("Table II: X-ray single-particle imaging, one rank", results);
  }

  const std::vector<Panel>& panels() const { return panels_; }

 private:
  void add(Measured& results, int type, int dim, double side, double points, Precision precision, double tol,
           PointClass distribution) {
    const Problem problem = problem_of(type, dim, side, points, precision, tol, distribution, options_.scale);
    const std::string token = to_token(problem);
    if (!options_.filter.empty() && token.find(options_.filter) == token.npos) return;
    for (const ProblemResult& known : run_.all())
      if (known.token == token) {  // several figures share it, and small scales make sizes equal
        if (results.empty() || results.back().token != token) results.push_back(known);
        return;
      }
    results.push_back(run_.measure(problem, entrants_of(problem, run_)));
  }

  SuiteRun& run_;
  const BenchOptions& options_;
  std::vector<Panel> panels_;
};

}  // namespace

void run_suite_cufinufft(const BenchOptions& options) {
  SuiteRun run(options, "paper cufinufft");
  Experiments experiments(run, options);
  experiments.spreading();
  experiments.accuracy(Precision::f32);
  experiments.sizes();
  experiments.accuracy(Precision::f64);
  experiments.table_one();
  experiments.table_two();
  fmt::print("\n{}{}", comparison_summary(run.all()), variants_text(run.all()));
  if (!options.plot.empty()) fmt::print("{}\n", plot_panels(experiments.panels(), options.plot));
}

}  // namespace fourtune::tools
