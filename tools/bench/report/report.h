// Shows the comparison as a table for people, as CSV for programs (csv.cpp), and as a plot (plot.cpp); for a GPU
// also in shares of what it could do (report_device.cpp).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/bench/measure/measure.h"
#include "tools/bench/report/ratio.h"
#include "tuner/report/screen.h"

namespace fourtune::tools {

// The environment that the numbers belong to. It is printed above the table and repeated in every CSV row.
struct BenchEnvironment {
  std::string device, isa, compiler, libraries, started;  // started: UTC, ISO 8601
  int cores = 0, threads = 0;
  std::vector<std::string> peers;  // "name: FINUFFT 2.5.1, fftw"
};
BenchEnvironment bench_environment(int threads, const runtime::Backend& backend, int device = 0);

// Tables are as wide as `screen` (tuner/report/table.h).
// One row per problem, sorted so that our worst ratio to the peer comes first; then the plans, if requested.
std::string comparison_table(std::span<const ProblemResult> results, bool plans, const tuner::Screen& screen = {});
// Geometric means overall and by group, the worst ratio, lost problems. `what` names the two sides, "ours / peer".
std::string comparison_summary(std::span<const ProblemResult> results, const tuner::Screen& screen = {});
// Skipped problems and failed contenders with the reasons; empty when there are none.
std::string skip_notes(std::span<const ProblemResult> results);
// Tables for runs on a device: set_points, total, and total with transfers of nonuniform transforms; every launch with
// its GB/s and GFLOP/s beside the copy bandwidth; every stage beside its lower bounds; results of trials of several
// variants. Each is empty when there is nothing to show.
std::string modes_table(std::span<const ProblemResult> results, const tuner::Screen& screen = {});
std::string stages_table(std::span<const ProblemResult> results, const tuner::Screen& screen = {});
std::string passes_table(std::span<const ProblemResult> results, const tuner::Screen& screen = {});
std::string variants_text(std::span<const ProblemResult> results);
// One line of progress during a run, folded between contenders where the screen is narrower. `before` begins it.
std::string progress_line(const ProblemResult& result, const tuner::Screen& screen, const std::string& before = {});

// The role's name in the CSV.
const char* role_name(Role role);
// The columns of the CSV, which has one row per problem and contender.
const std::vector<std::string>& csv_columns();
std::string comparison_csv(std::span<const ProblemResult> results, const BenchEnvironment& environment);
// A field in CSV syntax: quoted if it contains a comma, a quote or a line end.
std::string csv_field(const std::string& text);

// Checks whether `path` can be drawn; call it before anything is measured. Throws UsageError unless the path ends in
// .png or .svg. Returns what is missing on this machine; empty if nothing is.
std::string check_plot(const std::string& path);
// Draws `path` (.png or .svg) with gnuplot. The script is written next to it as PATH.gp and is kept if gnuplot is
// missing or fails. Returns a message for people that says what was done. Throws UsageError for another ending, and
// Failure when nothing can be written.
std::string plot_comparison(std::span<const ProblemResult> results, const std::string& path);
std::string comparison_gnuplot(std::span<const ProblemResult> results, const std::string& path);
// The same for any gnuplot script that writes `path`.
std::string plot_script(const std::string& commands, const std::string& path);
// The text in single quotes for gnuplot; quotes inside it are doubled.
std::string gnuplot_quoted(const std::string& text);
// Throws Failure when the file cannot be written in full.
void write_text_file(const std::string& path, const std::string& text);

}  // namespace fourtune::tools
