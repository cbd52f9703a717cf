// The experiments of the paper on cuFINUFFT (Shih et al., 2021), Figures 2 to 7 and Tables I and II, on a device. Its
// methods GM, GM-sort and SM are plans of ours, as published and with newer parts; the peer is the current library.
// Axes and sizes are the paper's; its cuFINUFFT had oversampling 2 only, and no 1D.
#include "tools/bench/suites/cufinufft.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "generator/plan/plan.h"
#include "tools/bench/report/csv_read.h"
#include "tools/bench/suites/suites.h"

namespace fourtune::tools {
namespace cufinufft {
namespace {

namespace nufft = generator::nufft;
using generator::gpu_nufft::Published;

// The problems of one experiment without duplicates: small scales make sizes equal.
class Cases {
 public:
  explicit Cases(double scale) : scale_(scale) {}

  void add(int type, int dim, double side, double points, Precision precision, double tol, PointClass distribution) {
    Problem problem;
    problem.type = type;
    problem.sign = type == 2 ? 1 : -1;
    problem.dim = dim;
    const double smaller = std::pow(scale_, 1.0 / dim);
    for (int d = 0; d < dim; ++d)
      problem.n[static_cast<std::size_t>(d)] = std::max<std::int64_t>(8, std::llround(side * smaller));
    problem.m = std::max<std::int64_t>(64, std::llround(points * scale_));
    problem.precision = precision;
    problem.tol = tol;
    if (distribution != PointClass::uniform) problem.points = distribution;
    problem = parse_problem(to_token(problem));
    if (std::find(list_.begin(), list_.end(), problem) == list_.end()) list_.push_back(problem);
  }
  std::vector<Problem> take() { return std::move(list_); }

 private:
  double scale_;
  std::vector<Problem> list_;
};

constexpr PointClass kBoth[] = {PointClass::uniform, PointClass::cluster};

std::vector<Problem> spreading(double scale) {
  Cases cases(scale);
  for (const int type : {1, 2})
    for (const int dim : {2, 3})
      for (const PointClass points : kBoth)
        if (type == 1 || points == PointClass::uniform)
          for (double side = dim == 2 ? 64 : 16; side <= (dim == 2 ? 2048 : 256); side *= 2)
            cases.add(type, dim, side, std::pow(2 * side, dim), Precision::f32, 1e-5, points);
  return cases.take();
}

std::vector<Problem> accuracy(double scale, Precision precision) {
  const bool single = precision == Precision::f32;
  Cases cases(scale);
  for (const int type : {1, 2})
    for (const int dim : {2, 3})
      for (int digits = single ? 1 : 2; digits <= (single ? 6 : 12); digits += single ? 1 : 2)
        cases.add(type, dim, dim == 2 ? 1000 : 100, 1e7, precision, std::pow(10.0, -digits), PointClass::uniform);
  return cases.take();
}

std::vector<Problem> sizes(double scale) {
  Cases cases(scale);
  for (const int type : {1, 2})
    for (const PointClass points : kBoth)
      for (double side = 64; side <= 2048; side *= 2)
        cases.add(type, 2, side, 4 * side * side, Precision::f32, 1e-2, points);
  return cases.take();
}

std::vector<Problem> table_one(double scale) {
  Cases cases(scale);
  for (const double tol : {1e-2, 1e-5})
    for (const double side : {32.0, 256.0})
      cases.add(1, 3, side, std::pow(2 * side, 3), Precision::f32, tol, PointClass::uniform);
  return cases.take();
}

}  // namespace

std::vector<Problem> table_two(double scale) {
  Cases cases(scale);
  cases.add(2, 3, 41, 1.02e6, Precision::f64, 1e-12, PointClass::ewald);
  cases.add(1, 3, 81, 1.64e7, Precision::f64, 1e-12, PointClass::ewald);
  return cases.take();
}

std::vector<Experiment> experiments(double scale) {
  const std::vector<Published> all{Published::gm, Published::gm_sort, Published::sm},
      sorted{Published::gm_sort, Published::sm};
  // Tables come first, in case the budget ends before the list does.
  return {
      {"Table I: 3D type 1, f32, rand, density 1", table_one(scale), all, print_table_one, draw_nothing},
      {"Table II: X-ray single-particle imaging, one rank", table_two(scale), sorted, print_table_two, draw_nothing},
      {"Figures 2 and 3: spreading and interpolation, density 1, f32, 1e-5", spreading(scale), all, print_spreading,
       draw_spreading},
      {"Figures 4 and 5: f32, 10 million points, accuracy swept", accuracy(scale, Precision::f32), sorted,
       print_transforms, draw_accuracy},
      {"Figure 6: 2D, f32, 1e-2, density 1", sizes(scale), sorted, print_transforms, draw_sizes},
      {"Figure 7: f64, 10 million points, accuracy swept", accuracy(scale, Precision::f64), sorted, print_transforms,
       draw_accuracy}};
}

namespace {

const char* name_of(Published method) {
  switch (method) {
    case Published::gm:
      return "GM";
    case Published::gm_sort:
      return "GM-sort";
    case Published::sm:
      return "SM";
  }
  return "?";
}

// The same method by our kernels: records in the order of the bins, polynomials of the window with our shape parameter.
generator::Plan with_newer_parts(generator::Plan plan, Published method) {
  plan.window.beta = 0;
  nufft::Parameters with;
  with.order = method == Published::gm ? nufft::RecordOrder::caller : nufft::RecordOrder::bins;
  with.bin = plan.gpu().points.spread_with.bin;
  with.cap = 1024;
  with.lanes = 1;
  if (method == Published::sm) with.warps = 8;
  auto& points = plan.gpu().points;
  points.spread = method == Published::sm ? nufft::Spread::tile_atomic : nufft::Spread::points;
  points.interp = nufft::Interpolate::points;
  points.spread_with = points.interp_with = with;
  return plan;
}

}  // namespace

std::vector<Entrant> method_entrants(Published method, const Problem& problem, const SuiteRun& run) {
  if (problem.type != 1 && method == Published::sm) return {};
  const std::string name = name_of(method);
  const auto plan = generator::gpu_nufft::published_plan(problem, run.traits(), method);
  if (!plan) return {};
  const auto entrant = [&](const std::string& full, const generator::Plan& one) {
    return our_entrant(full, Role::reference, run.ours(generator::to_text(one, problem)));
  };
  return {entrant(name + kAsPublished, *plan), entrant(name + ", newer parts", with_newer_parts(*plan, method))};
}

double kernel_seconds(const ContenderResult& one) { return stage_seconds(one, {"spread", "interpolate"}); }
double sort_seconds(const ContenderResult& one) { return stage_seconds(one, {"sort"}); }

namespace {

// Each problem once, with the methods of every experiment that contains it.
std::vector<ToMeasure> whole_list(const std::vector<Experiment>& list, const SuiteRun& run, const std::string& filter) {
  struct Wanted {
    Problem problem;
    std::vector<Published> methods;
  };
  std::vector<Wanted> all;
  for (const Experiment& experiment : list)
    for (const Problem& problem : experiment.problems) {
      if (to_token(problem).find(filter) == std::string::npos) continue;
      auto found = std::find_if(all.begin(), all.end(), [&](const Wanted& one) { return one.problem == problem; });
      if (found == all.end()) found = all.insert(all.end(), {problem, {}});
      for (const Published method : experiment.methods)
        if (std::find(found->methods.begin(), found->methods.end(), method) == found->methods.end())
          found->methods.push_back(method);
    }
  std::vector<ToMeasure> out;
  for (const Wanted& one : all) {
    ToMeasure& next = out.emplace_back(ToMeasure{one.problem, {}});
    if (!run.backend()) continue;
    for (const Published method : one.methods) {  // none on a processor, for --baseline
      const auto both = method_entrants(method, one.problem, run);
      next.entrants.insert(next.entrants.end(), both.begin(), both.end());
    }
    const auto usual = run.usual(one.problem);
    next.entrants.insert(next.entrants.end(), usual.begin(), usual.end());
  }
  return out;
}

// The paper's curves of FINUFFT on a processor: the peers of this suite's CSV from there. In none of the modes has
// their data to be copied.
struct Baseline {
  explicit Baseline(const std::string& path) {
    if (!path.empty()) run = read_comparison_csv(path);
  }
  void add_to(ProblemResult& result) const {
    const ProblemResult* const there = run.find(result.token);
    if (!there || !result.skipped.empty()) return;
    for (ContenderResult one : there->contenders) {
      if (one.role != Role::peer || !one.ran()) continue;
      one.name += fmt::format(", {} threads", run.environment.threads);
      one.role = Role::reference;
      one.total.median = one.set_points.median + one.execute.median;
      one.transfers = one.total;
      result.contenders.push_back(std::move(one));
    }
  }
  std::string note() const {
    if (run.results.empty()) return "";
    return fmt::format("with threads: of --baseline, {} ({})\n", run.environment.device, run.environment.isa);
  }
  CsvRun run;
};

}  // namespace
}  // namespace cufinufft

void run_suite_cufinufft(const BenchOptions& options) {
  SuiteRun run(options, "paper cufinufft", std::min(options.min_rounds, options.rounds));
  const auto experiments = cufinufft::experiments(options.scale);
  const cufinufft::Baseline baseline(options.baseline);
  const std::vector<ToMeasure> list = cufinufft::whole_list(experiments, run, options.filter);
  run.compile(list);
  std::vector<Panel> panels;
  for (const auto& experiment : experiments) {
    cufinufft::Measured results;
    for (const ToMeasure& next : list) {
      const auto& wanted = experiment.problems;
      if (std::find(wanted.begin(), wanted.end(), next.problem) == wanted.end()) continue;
      const auto& known = run.all();
      const auto found =
          std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.problem == next.problem; });
      results.push_back(found != known.end() ? *found : run.measure(next.problem, next.entrants));
      baseline.add_to(results.back());
    }
    experiment.print(experiment.title, results, run.screen());
    experiment.draw(results, panels);
    std::fflush(stdout);
  }
  fmt::print("\n{}{}{}", baseline.note(), comparison_summary(run.all(), run.screen()), variants_text(run.all()));
  if (!options.plot.empty()) fmt::print("{}\n", plot_panels(panels, options.plot));
}

}  // namespace fourtune::tools
