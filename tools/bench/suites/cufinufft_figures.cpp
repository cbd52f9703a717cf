// The tables and curves of suite cufinufft.
#include <fmt/format.h>

#include <cmath>

#include "tools/bench/suites/cufinufft.h"
#include "tools/common/text.h"
#include "tuner/report/report.h"
#include "tuner/report/table.h"

namespace fourtune::tools::cufinufft {
namespace {

using Rows = std::vector<std::vector<std::string>>;
using Value = double (*)(const ContenderResult&);

double execute_of(const ContenderResult& one) { return one.execute.median * 1e-9; }
double total_of(const ContenderResult& one) { return one.total.median * 1e-9; }
double transfers_of(const ContenderResult& one) { return one.transfers.median * 1e-9; }
// A peer reports no stages, so whole transforms are used instead.
double peer_execute(const ContenderResult& one) { return one.role == Role::peer ? execute_of(one) : 0; }
double peer_total(const ContenderResult& one) { return one.role == Role::peer ? total_of(one) : 0; }
double kernel_and_sort(const ContenderResult& one) {
  const double kernel = kernel_seconds(one);
  return kernel > 0 ? kernel + sort_seconds(one) : 0;
}

std::string ns_text(double seconds, const Problem& problem) {
  return seconds > 0 ? fmt::format("{:.3g}", ns_per_point(seconds, problem)) : std::string("-");
}
std::string ratio_text(double of, double to) {
  return of > 0 && to > 0 ? fmt::format("{:.2f}x", of / to) : std::string("-");
}
std::string error_text(const ContenderResult& one) {
  return fmt::format("{:.1e}{}", one.error, one.right ? "" : " WRONG");
}
std::string seconds_text(double seconds) { return seconds > 0 ? tuner::format_seconds(seconds) : std::string("-"); }

// The time of the best right peer, else of the best peer that ran.
double peer_seconds(const ProblemResult& result, Value value) {
  const Comparison found = compare(result);
  return found.peer ? value(*found.peer) : 0;
}

// The time of the fastest published method with a right result, else of the fastest that ran; 0: none did.
double published_seconds(const ProblemResult& result, Value value) {
  const ContenderResult* best = nullptr;
  for (const ContenderResult& one : result.contenders) {
    if (!one.name.ends_with(kAsPublished) || !one.ran() || !(value(one) > 0)) continue;
    if (!best || (one.right != best->right ? one.right : value(one) < value(*best))) best = &one;
  }
  return best ? value(*best) : 0;
}
std::string over_published(const ProblemResult& result, Value value, const ContenderResult& one) {
  return ratio_text(published_seconds(result, value), value(one));
}

void print(const std::string& title, const Rows& rows, const std::vector<int>& right, const Measured& results,
           const tuner::Screen& screen) {
  fmt::print("\n{}\n{}{}", title,
             rows.size() > 1 ? tuner::table_text(rows, {right}, screen) : std::string("nothing ran\n"),
             skip_notes(results));
}

bool clustered(const Problem& problem) { return problem.points == PointClass::cluster; }
const char* distribution_of(bool cluster) { return cluster ? "cluster" : "rand"; }

// Nanoseconds per point over `x`, one curve per version; only results that `wanted` accepts.
template <class X, class Wanted>
void add_curves(Panel& panel, const Measured& results, Value value, const char* curve, X x, Wanted wanted) {
  for (const ProblemResult& result : results) {
    if (!wanted(result.problem)) continue;
    for (const ContenderResult& one : result.contenders) {
      const double y = one.ran() ? ns_per_point(value(one), result.problem) : 0;
      if (y > 0) panel.points.push_back({one.name + curve, x(result.problem, one), y});
    }
  }
}

struct Mode {
  const char* name;
  Value value;
};
constexpr Mode kModes[] = {{"exec", execute_of}, {"total", total_of}, {"total+mem", transfers_of}};

// The numbers that the paper printed, on a V100: Table I.
struct Printed {
  double tol, side;
  const char *version, *execute, *memory, *fraction;
};
constexpr Printed kTableOne[] = {
    {1e-2, 32, "GM-sort", "0.9 ms", "381 MB", "94.7%"},   {1e-2, 32, "SM", "0.5 ms", "381 MB", "90.3%"},
    {1e-2, 256, "GM-sort", "330 ms", "6139 MB", "95.7%"}, {1e-2, 256, "SM", "180 ms", "6141 MB", "91.9%"},
    {1e-5, 32, "GM-sort", "4.1 ms", "381 MB", "98.8%"},   {1e-5, 32, "SM", "2.8 ms", "381 MB", "98.5%"},
    {1e-5, 256, "GM-sort", "1.7 s", "6139 MB", "99.2%"},  {1e-5, 256, "SM", "870 ms", "6141 MB", "98.4%"}};

}  // namespace

void print_spreading(const std::string& title, const Measured& results, const tuner::Screen& screen) {
  Rows rows{{"problem", "version", "spread or interpolate ns/pt", "total with sort ns/pt", "over GM", "exec ns/pt",
             "published / this", "error"}};
  for (const ProblemResult& result : results) {
    double baseline = 0;
    for (const ContenderResult& one : result.contenders)
      if (one.ran() && one.name == std::string("GM") + kAsPublished) baseline = kernel_and_sort(one);
    for (const ContenderResult& one : result.contenders) {
      if (!one.ran()) continue;
      rows.push_back({&one == &result.contenders.front() ? result.token : "", one.name,
                      ns_text(kernel_seconds(one), result.problem), ns_text(kernel_and_sort(one), result.problem),
                      ratio_text(baseline, kernel_and_sort(one)), ns_text(execute_of(one), result.problem),
                      over_published(result, execute_of, one), error_text(one)});
    }
  }
  print(title, rows, {2, 3, 4, 5, 6, 7}, results, screen);
}

void print_transforms(const std::string& title, const Measured& results, const tuner::Screen& screen) {
  Rows rows{{"problem", "version", "exec ns/pt", "peer's / this", "published / this", "total ns/pt", "total+mem ns/pt",
             "memory", "error"}};
  for (const ProblemResult& result : results)
    for (const ContenderResult& one : result.contenders) {
      if (!one.ran()) continue;
      rows.push_back({&one == &result.contenders.front() ? result.token : "", one.name,
                      ns_text(execute_of(one), result.problem),
                      ratio_text(peer_seconds(result, execute_of), execute_of(one)),
                      over_published(result, execute_of, one), ns_text(total_of(one), result.problem),
                      ns_text(transfers_of(one), result.problem), bytes_text(one.memory), error_text(one)});
    }
  print(title, rows, {2, 3, 4, 5, 6, 7, 8}, results, screen);
}

void print_table_one(const std::string& title, const Measured& results, const tuner::Screen& screen) {
  Rows rows{
      {"tol", "N1=N2=N3", "M", "version", "exec", "memory", "peer's / this", "published / this", "spread fraction"}};
  for (const ProblemResult& result : results) {
    const Problem& problem = result.problem;
    const std::vector<std::string> head{fmt::format("{:g}", problem.tol), fmt::format("{}", problem.n[0]),
                                        fmt::format("{}", problem.m.value_or(0))};
    const auto add = [&](std::vector<std::string> row) {
      row.insert(row.begin(), head.begin(), head.end());
      rows.push_back(std::move(row));
    };
    for (const ContenderResult& one : result.contenders) {
      if (!one.ran()) continue;
      const double spread = kernel_seconds(one), stages = stage_seconds(one, {""}) - sort_seconds(one);
      add({one.name, seconds_text(execute_of(one)), bytes_text(one.memory),
           ratio_text(peer_seconds(result, execute_of), execute_of(one)), over_published(result, execute_of, one),
           spread > 0 ? fmt::format("{:.1f}%", 100 * spread / stages) : std::string("-")});
    }
    for (const Printed& paper : kTableOne)
      if (paper.tol == problem.tol && paper.side == static_cast<double>(problem.n[0]))
        add({fmt::format("paper's {}, V100", paper.version), paper.execute, paper.memory, "-", "-", paper.fraction});
  }
  print(title, rows, {0, 1, 2, 4, 5, 6, 7, 8}, results, screen);
}

void print_table_two(const std::string& title, const Measured& results, const tuner::Screen& screen) {
  Rows rows{{"task", "N1=N2=N3", "M", "density", "version", "total+mem", "total", "exec", "peer's / this",
             "published / this", "error"}};
  for (const ProblemResult& result : results) {
    const Problem& problem = result.problem;
    const bool slicing = problem.type == 2;
    const double points = static_cast<double>(problem.m.value_or(0));
    const std::vector<std::string> head{
        slicing ? "slicing (type 2)" : "merging (type 1)", fmt::format("{}", problem.n[0]),
        fmt::format("{:.3g}", points),
        fmt::format("{:.3g}", points / std::pow(2.0 * static_cast<double>(problem.n[0]), 3))};
    const auto add = [&](std::vector<std::string> row) {
      row.insert(row.begin(), head.begin(), head.end());
      rows.push_back(std::move(row));
    };
    for (const ContenderResult& one : result.contenders) {
      if (!one.ran()) continue;
      add({one.name, seconds_text(transfers_of(one)), seconds_text(total_of(one)), seconds_text(execute_of(one)),
           ratio_text(peer_seconds(result, transfers_of), transfers_of(one)), over_published(result, transfers_of, one),
           error_text(one)});
    }
    add({"paper, V100 (Cori)", slicing ? "75 ms" : "1.89 s", "-", "-", "-", "-", "-"});
    add({"paper, V100 (Summit)", slicing ? "76 ms" : "1.76 s", "-", "-", "-", "-", "-"});
    add({"paper, FINUFFT on 40 threads", slicing ? "110 ms" : "1.62 s", "-", "-", "-", "-", "-"});
  }
  print(title, rows, {1, 2, 3, 5, 6, 7, 8, 9, 10}, results, screen);
}

void draw_spreading(const Measured& results, std::vector<Panel>& panels) {
  const auto cells = [](const Problem& p, const ContenderResult&) { return 2.0 * static_cast<double>(p.n[0]); };
  for (const int type : {1, 2})
    for (const int dim : {2, 3})
      for (const bool cluster : {false, true}) {
        const auto wanted = [=](const Problem& p) { return p.type == type && p.dim == dim && clustered(p) == cluster; };
        const char* name = type == 1 ? "spreading" : "interpolation";
        Panel panel{fmt::format("Figure {}: {}D {}, {}", type + 1, dim, name, distribution_of(cluster)),
                    "fine grid, cells per side",
                    "ns per point",
                    {}};
        add_curves(panel, results, kernel_and_sort, ", total", cells, wanted);
        add_curves(panel, results, kernel_seconds, type == 1 ? ", spread" : ", interp", cells, wanted);
        add_curves(panel, results, peer_total, ", whole total", cells, wanted);
        add_curves(panel, results, peer_execute, ", whole exec", cells, wanted);
        panels.push_back(std::move(panel));
      }
}

void draw_accuracy(const Measured& results, std::vector<Panel>& panels) {
  const bool single = !results.empty() && results.front().problem.precision == Precision::f32;
  for (const Mode& mode : kModes)
    for (const int type : {1, 2})
      for (const int dim : {2, 3}) {
        const char* figure = !single ? "7" : mode.value == transfers_of ? "4" : "5";
        Panel panel{fmt::format("Figure {}: {}D type {}, {}, {}", figure, dim, type, single ? "f32" : "f64", mode.name),
                    "relative error",
                    "ns per point",
                    {}};
        add_curves(
            panel, results, mode.value, "", [](const Problem&, const ContenderResult& one) { return one.error; },
            [=](const Problem& p) { return p.type == type && p.dim == dim; });
        panels.push_back(std::move(panel));
      }
}

void draw_sizes(const Measured& results, std::vector<Panel>& panels) {
  for (const Mode& mode : kModes)
    for (const int type : {1, 2})
      for (const bool cluster : {false, true}) {
        Panel panel{fmt::format("Figure 6: 2D type {}, 1e-2, {}, {}", type, distribution_of(cluster), mode.name),
                    "modes",
                    "ns per point",
                    {}};
        add_curves(
            panel, results, mode.value, "",
            [](const Problem& p, const ContenderResult&) { return static_cast<double>(p.n[0] * p.n[1]); },
            [=](const Problem& p) { return p.type == type && clustered(p) == cluster; });
        panels.push_back(std::move(panel));
      }
}

void draw_nothing(const Measured&, std::vector<Panel>&) {}

}  // namespace fourtune::tools::cufinufft
