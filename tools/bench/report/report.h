// The comparison as a table for people, as CSV for programs, and as a plot.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/bench/measure/measure.h"
#include "tools/bench/report/ratio.h"

namespace fourtune::tools {

// What the numbers belong to: printed above the table and repeated in every CSV row.
struct BenchEnvironment {
  std::string device, isa, compiler, libraries, started;  // started: UTC, ISO 8601
  int cores = 0, threads = 0;
  std::vector<std::string> peers;  // "name: FINUFFT 2.5.1, fftw"
};
BenchEnvironment bench_environment(int threads, const runtime::Backend& backend, int device = 0);

// One line a problem, slowest relative to the peer first, then plans if wanted.
std::string comparison_table(std::span<const ProblemResult> results, bool plans);
// Geometric means, by group, worst, lost problems. `what` names the sides, "ours / peer".
std::string comparison_summary(std::span<const ProblemResult> results);
// Skipped problems and failed contenders with their reasons; empty when there are none.
std::string skip_notes(std::span<const ProblemResult> results);
// What a device adds: set_points, total and total with transfers of nonuniform transforms; every launch with its GB/s
// and GFLOP/s beside the copy bandwidth; every stage beside its floors; what trials of several variants saw. Empty when
// there is nothing to say.
std::string modes_table(std::span<const ProblemResult> results);
std::string stages_table(std::span<const ProblemResult> results);
std::string passes_table(std::span<const ProblemResult> results);
std::string variants_text(std::span<const ProblemResult> results);
// One line while running.
std::string progress_line(const ProblemResult& result);

// As the CSV has it.
const char* role_name(Role role);
// Columns of the CSV: one row a problem and contender.
const std::vector<std::string>& csv_columns();
std::string comparison_csv(std::span<const ProblemResult> results, const BenchEnvironment& environment);
// A field as CSV wants it: quoted when it holds a comma, a quote or a line end.
std::string csv_field(const std::string& text);

// Whether `path` can be drawn, to be asked before anything is measured: throws UsageError for another ending than .png
// and .svg; returns what is missing on this machine, empty: nothing.
std::string check_plot(const std::string& path);
// Writes `path` (.png or .svg) through gnuplot. The script is written next to it as PATH.gp and stays there if gnuplot
// is missing or fails. Returns what was done, for people. Throws UsageError for another ending, Failure when nothing
// can be written.
std::string plot_comparison(std::span<const ProblemResult> results, const std::string& path);
std::string comparison_gnuplot(std::span<const ProblemResult> results, const std::string& path);
// The same for any script of gnuplot that writes `path`.
std::string plot_script(const std::string& commands, const std::string& path);
// In single quotes of gnuplot, in which a quote is doubled.
std::string gnuplot_quoted(const std::string& text);
// Throws Failure when the file cannot be written in full.
void write_text_file(const std::string& path, const std::string& text);

}  // namespace fourtune::tools
