// The experiment of the paper on interleaved 3D FFTs: its plans (sections 4.1, 4.3.2 and the appendix) and sizes, in
// its two measures, GFLOP/s (5 N log2 N per transform) and GB/s (8 N bytes for every read or write of the array),
// beside our plans and the peers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "generator/codegen/fft/emit/emit.h"
#include "generator/plan/fft/notation.h"
#include "generator/plan/gpu_plan.h"
#include "generator/plan/plan.h"
#include "generator/planner/gpu_fft/enumerate.h"
#include "generator/planner/gpu_fft/published_plans.h"
#include "runtime/backends/gpu/program_backend.h"
#include "tools/bench/report/series.h"
#include "tools/bench/suites/run.h"
#include "tools/bench/suites/suites.h"
#include "tools/common/text.h"
#include "tuner/report/report.h"
#include "tuner/report/table.h"

namespace fourtune::tools {
namespace {

namespace fft = generator::fft;

using fft::PaperPlan;

// The paper's measurements of these plans: on a GTX280 (its Table 2) in GB/s, on a Tesla C2050 (Table 3, both
// caches and L2 only) in GFLOP/s; 0: not given.
struct Figures {
  const char* section;
  double gtx280, c2050, c2050_l2;
};
constexpr Figures kFigures[] = {
    {"4.3.2", 91.76, 0, 0},       {"A.1.4", 65.85, 0, 0},       {"A.1.5", 89.70, 0, 0},
    {"A.2.1", 0, 202.97, 203.04}, {"A.2.2", 0, 200.37, 201.60}, {"A.2.3", 0, 195.70, 195.42},
    {"A.2.4", 0, 192.69, 200.97}, {"A.2.5", 0, 193.07, 191.04}, {"A.2.6", 0, 191.70, 195.04}};
std::string version_of(std::string_view section, fft::Cache cache) {
  return fmt::format("{}: its order{}", section, cache == fft::Cache::l2 ? ", L2 only" : "");
}
bool in_table_3(const PaperPlan& paper) {
  return std::any_of(std::begin(kFigures), std::end(kFigures), [&](const Figures& figures) {
    return figures.c2050_l2 > 0 && std::string_view(figures.section) == paper.section;
  });
}
Figures figures_of(const std::string& version) {
  for (const Figures& figures : kFigures) {
    if (version == version_of(figures.section, fft::Cache::all)) return figures;
    if (version == version_of(figures.section, fft::Cache::l2)) return {"", 0, figures.c2050_l2, 0};
  }
  return {"", 0, 0, 0};
}
std::string where(const PaperPlan& paper) {
  return fmt::format("{}{}", paper.section, *paper.misprint == 0 ? "" : ", corrected");
}

Problem problem_of(const Sizes& n) {
  Problem problem;
  problem.kind = Kind::fft;
  problem.dim = 3;
  problem.n = n;
  problem.precision = Precision::f32;
  return parse_problem(to_token(problem));
}

// Makes the plan natural-order and out of place. Every kernel leaves the digits made so far sorted, so that the last
// one writes contiguous runs. The kernels write the workspace and the output alternately, and the last one writes the
// output.
std::string natural_plan(const PaperPlan& paper, const SuiteRun& run) {
  fft::FftPlan plan = fft::parse_notation(corrected(paper));
  plan.order = fft::DigitOrder::natural;
  const std::size_t count = plan.kernels.size();
  for (std::size_t k = 0; k < count; ++k) {
    plan.kernels[k].with.to = (count - 1 - k) % 2 == 1 ? fft::Target::work : fft::Target::out;
    if (k + 1 < count) plan.kernels[k].with.store = fft::Store::sorted;
  }
  generator::Plan whole = generator::plan_for(run.backend()->name());
  whole.gpu().fft = {generator::GpuFftFamily::interleaved, fft::bind(plan, run.traits())};
  return generator::to_text(whole, problem_of(paper.lengths));
}

// Runs the plan in its digit-reversed order, below the public interface, which supports natural order only.
Entrant reversed_entrant(const PaperPlan& paper, fft::Cache cache, const SuiteRun& run) {
  const auto plan = std::make_shared<fft::FftPlan>(fft::bind(fft::parse_notation(corrected(paper)), run.traits()));
  for (fft::Kernel& kernel : plan->kernels) kernel.with.cache = cache;
  const auto programs = [plan](const Problem& problem, const generator::Plan&, const DeviceTraits& traits) {
    fft::EmitOptions options;
    options.n = fft::lengths(*plan);
    options.sign = problem.sign;
    options.device = traits;
    return std::optional(fft::emit_program(*plan, options));
  };
  const std::shared_ptr<const runtime::Backend> backend =
      dynamic_cast<const runtime::gpu::ProgramBackend&>(*run.backend()).with_programs(programs);
  const auto bind = [backend, device = run.device()](const Problem& problem, bool time_stages) {
    const generator::Plan whole = generator::plan_for(backend->name());
    runtime::ExecutorOptions options;
    options.time_stages = time_stages;
    options.device = device;
    return backend->bind(problem, whole, options);
  };
  const std::string text = fft::to_text(*plan);
  return {version_of(paper.section, cache),
          Role::reference,
          fmt::format("paper:{}{}", paper.section, cache == fft::Cache::l2 ? ",L2" : ""),
          {{{}, [=](const Problem& problem) {
              return make_executor_contender(problem, bind, text, digit_reversal(*plan));
            }}}};
}

// A size and all of the paper's plans for it; the other contenders are measured once per size.
struct Size {
  Problem problem;
  std::vector<const PaperPlan*> plans;
};
std::vector<Size> sizes() {
  std::vector<Size> out;
  for (const PaperPlan& paper : fft::published_plans()) {
    const Problem problem = problem_of(paper.lengths);
    auto at = std::find_if(out.begin(), out.end(), [&](const Size& one) { return one.problem == problem; });
    if (at == out.end()) at = out.insert(out.end(), {problem, {}});
    at->plans.push_back(&paper);
  }
  return out;
}

std::string size_text(const Problem& problem) {
  return fmt::format("{}x{}x{}", problem.n[0], problem.n[1], problem.n[2]);
}

double gflops(double seconds, const Problem& problem) {
  const double size = static_cast<double>(problem.n[0]) * static_cast<double>(problem.n[1] * problem.n[2]);
  return seconds > 0 ? 5e-9 * size * std::log2(size) / seconds : 0;
}
double gigabytes(double seconds, const Problem& problem, std::size_t kernels) {
  const double size = static_cast<double>(problem.n[0]) * static_cast<double>(problem.n[1] * problem.n[2]);
  return seconds > 0 ? 16e-9 * size * static_cast<double>(kernels) / seconds : 0;
}

void print_table(const std::vector<ProblemResult>& results, const tuner::Screen& screen) {
  std::vector<std::vector<std::string>> rows{{"size", "version", "time", "GFLOP/s", "passes", "GB/s", "of copy",
                                              "error", "paper: GTX280 GB/s", "C2050 GFLOP/s"}};
  const auto figure = [](double value) { return value > 0 ? fmt::format("{:.4g}", value) : std::string(); };
  for (const ProblemResult& result : results)
    for (const ContenderResult& one : result.contenders) {
      if (!one.ran()) continue;
      const double seconds = one.execute.median * 1e-9;
      const double rate = gigabytes(seconds, result.problem, one.passes.size());
      const Figures printed = figures_of(one.name);
      rows.push_back(
          {&one == &result.contenders.front() ? size_text(result.problem) : "", one.name,
           tuner::format_seconds(seconds), fmt::format("{:.0f}", gflops(seconds, result.problem)),
           one.passes.empty() ? "-" : fmt::format("{}", one.passes.size()),
           rate > 0 ? fmt::format("{:.0f}", rate) : "-",
           rate > 0 && result.copy_bandwidth > 0 ? fmt::format("{:.0f}%", 1e11 * rate / result.copy_bandwidth) : "-",
           fmt::format("{:.1e}{}", one.error, one.right ? "" : " WRONG"), figure(printed.gtx280),
           figure(printed.c2050)});
    }
  if (rows.size() > 1) fmt::print("\n{}", tuner::table_text(rows, {{2, 3, 4, 5, 6, 7, 8, 9}}, screen));
}

}  // namespace

std::function<void(void*)> digit_reversal(const fft::FftPlan& plan) {
  return [plan](void* host) {
    const auto n = fft::lengths(plan);
    std::array<std::vector<std::int64_t>, 3> place;  // position of index k of each dimension
    for (std::size_t d = 0; d < 3; ++d) place[d].assign(static_cast<std::size_t>(n[d]), 0);
    std::array<std::int64_t, 3> weight{1, 1, 1};
    for (const fft::Kernel& kernel : plan.kernels)
      for (const fft::SubFft& sub : kernel.subs) {
        const auto d = static_cast<std::size_t>(sub.dim);
        for (std::size_t k = 0; k < place[d].size(); ++k)
          place[d][k] += static_cast<std::int64_t>(k) / weight[d] % sub.radix * sub.stride;
        weight[d] *= sub.radix;
      }
    auto* const values = static_cast<std::complex<float>*>(host);
    const std::vector<std::complex<float>> as_left(values, values + n[0] * n[1] * n[2]);
    std::size_t at = 0;
    for (const std::int64_t z : place[2])
      for (const std::int64_t y : place[1])
        for (const std::int64_t x : place[0])
          values[at++] = as_left[static_cast<std::size_t>((z * n[1] + y) * n[0] + x)];
  };
}

namespace {

std::vector<Entrant> entrants_of(const Size& size, const SuiteRun& run) {
  std::vector<Entrant> entrants;
  for (const PaperPlan* paper : size.plans) {
    entrants.push_back(reversed_entrant(*paper, fft::Cache::all, run));
    if (in_table_3(*paper)) entrants.push_back(reversed_entrant(*paper, fft::Cache::l2, run));
    entrants.push_back(our_entrant(fmt::format("{}: natural order", paper->section), Role::reference,
                                   run.ours(natural_plan(*paper, run))));
  }
  const auto usual = run.usual(size.problem);
  entrants.insert(entrants.end(), usual.begin(), usual.end());
  return entrants;
}

// All of the paper's plans share one curve.
std::string curve_of(const std::string& name) {
  const std::size_t order = name.find(": ");
  return order == std::string::npos ? name : "paper" + name.substr(order);
}

}  // namespace

void run_suite_fft3d_interleaved(const BenchOptions& options) {
  const std::vector<Entrant> no_entrants;
  SuiteRun run(options, "paper fft3d-interleaved-plans", std::min(options.min_rounds, options.rounds));
  const double largest = options.scale * std::ldexp(1.0, 27);  // 512^3 and 128x1024x1024
  std::vector<ProblemResult> results;
  std::string left_out;
  Panel panel{"3D FFT, f32", "elements", "GFLOP/s", {}};
  for (const Size& size : sizes()) {
    const Problem& problem = size.problem;
    const auto elements = static_cast<double>(mode_count(problem));
    if (elements > largest || to_token(problem).find(options.filter) == std::string::npos) {
      std::string plans;
      for (const PaperPlan* paper : size.plans) plans += (plans.empty() ? "" : "; ") + where(*paper);
      left_out += fmt::format("left out by --scale or --filter: {} ({})\n", to_token(problem), plans);
      continue;
    }
    results.push_back(run.measure(problem, run.backend() ? entrants_of(size, run) : no_entrants));
    for (const ContenderResult& one : results.back().contenders)
      if (one.ran()) panel.points.push_back({curve_of(one.name), elements, gflops(one.execute.median * 1e-9, problem)});
  }
  print_table(results, run.screen());
  fmt::print("{}{}{}{}", passes_table(run.all(), run.screen()), comparison_summary(run.all(), run.screen()),
             skip_notes(run.all()), left_out);
  std::stable_sort(panel.points.begin(), panel.points.end(),
                   [](const SeriesPoint& a, const SeriesPoint& b) { return a.x < b.x; });
  if (!options.plot.empty()) fmt::print("{}\n", plot_panels({panel}, options.plot));
}

}  // namespace fourtune::tools
