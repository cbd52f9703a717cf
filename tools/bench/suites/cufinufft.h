// The experiments of suite cufinufft: what is measured, and how its tables and curves are made from the results
// (cufinufft_figures.cpp).
#pragma once

#include <string>
#include <vector>

#include "generator/planner/gpu_nufft/published.h"
#include "tools/bench/measure/measure.h"
#include "tools/bench/report/series.h"
#include "tools/bench/suites/run.h"
#include "tuner/report/screen.h"

namespace fourtune::tools::cufinufft {

using Measured = std::vector<ProblemResult>;

// One figure, several figures that share their problems, or a table.
struct Experiment {
  std::string title;
  std::vector<Problem> problems;
  std::vector<generator::gpu_nufft::Published> methods;  // the paper's methods in its figures; SM for type 1 only
  void (*print)(const std::string& title, const Measured& results, const tuner::Screen& screen);
  void (*draw)(const Measured& results, std::vector<Panel>& panels);
};
// `scale` applies to the numbers of points and of modes.
std::vector<Experiment> experiments(double scale);
// Table II, M-TIP: slicing and merging.
std::vector<Problem> table_two(double scale);

// The paper's method twice, as plans of ours: "GM as published", and "GM, newer parts" with the same bins, width,
// oversampling and subproblems, but our sort, records and polynomials. Nothing where the paper has no such method.
std::vector<Entrant> method_entrants(generator::gpu_nufft::Published method, const Problem& problem,
                                     const SuiteRun& run);
inline constexpr const char* kAsPublished = " as published";

// Time of spreading for type 1, of interpolation for type 2.
double kernel_seconds(const ContenderResult& one);
double sort_seconds(const ContenderResult& one);

// ---- tables ----
void print_spreading(const std::string& title, const Measured& results,
                     const tuner::Screen& screen);  // with the speed-up over GM
void print_transforms(const std::string& title, const Measured& results,
                      const tuner::Screen& screen);  // with the speed-up over the peer
void print_table_one(const std::string& title, const Measured& results, const tuner::Screen& screen);
void print_table_two(const std::string& title, const Measured& results, const tuner::Screen& screen);

// ---- curves ----
void draw_spreading(const Measured& results, std::vector<Panel>& panels);  // Figures 2 and 3
void draw_accuracy(const Measured& results, std::vector<Panel>& panels);   // Figures 4, 5 and 7
void draw_sizes(const Measured& results, std::vector<Panel>& panels);      // Figure 6
void draw_nothing(const Measured& results, std::vector<Panel>& panels);

}  // namespace fourtune::tools::cufinufft
