// The comparison as a plot: problems by ascending ratio, tuned and untuned, on a logarithmic scale.
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "base/text.h"
#include "tools/bench/report/report.h"
#include "tools/common/errors.h"

extern char** environ;

namespace fourtune::tools {
namespace {

std::string value_or_unknown(double value) { return value > 0 ? fmt::format("{:.6g}", value) : "?"; }

constexpr const char* kGnuplot = "gnuplot";

bool gnuplot_is_there() {
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : text::split(path ? path : "/usr/bin", ':'))
    if (::access((std::filesystem::path(folder) / kGnuplot).c_str(), X_OK) == 0) return true;
  return false;
}

bool run_gnuplot(const std::string& script) {
  std::string program = kGnuplot, argument = script;
  char* const words[] = {program.data(), argument.data(), nullptr};
  pid_t child = 0;
  if (posix_spawnp(&child, program.c_str(), nullptr, nullptr, words, environ) != 0) return false;
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

std::string gnuplot_quoted(const std::string& text) {
  std::string out = "'";
  for (const char letter : text) out += letter == '\'' ? std::string("''") : std::string(1, letter);
  return out + "'";
}

std::string comparison_gnuplot(std::span<const ProblemResult> results, const std::string& path) {
  struct Row {
    std::string token;
    double tuned, untuned;
  };
  std::vector<Row> rows;
  for (const ProblemResult& result : results) {
    if (!result.skipped.empty()) continue;
    const Comparison found = compare(result);
    if (found.tuned_score.ratio > 0 || found.untuned_score.ratio > 0)
      rows.push_back({result.token, found.tuned_score.ratio, found.untuned_score.ratio});
  }
  const auto key = [](const Row& row) { return row.tuned > 0 ? row.tuned : row.untuned; };
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return key(a) < key(b); });
  const bool svg = path.ends_with(".svg");
  std::string text = "# Ratios of `fourtune bench`: the peer's time over ours; above 1 we are faster.\n";
  text += fmt::format("set terminal {} size 1200,{} noenhanced\nset output {}\n", svg ? "svg" : "pngcairo",
                      std::max<std::size_t>(300, 120 + 16 * rows.size()), gnuplot_quoted(path));
  text +=
      "set logscale x\nset xlabel 'time of the peer / our time'\nset grid x\nset key top left\nunset mouse\n"
      "set datafile missing '?'\nset ytics font ',8'\n";
  text += fmt::format("set yrange [-1:{}]\n$ratios << END\n", rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    text += fmt::format("{} \"{}\" {} {}\n", i, rows[i].token, value_or_unknown(rows[i].tuned),
                        value_or_unknown(rows[i].untuned));
  text +=
      "END\nset arrow from 1, graph 0 to 1, graph 1 nohead lw 2\n"
      "plot $ratios using 4:1:ytic(2) with points pt 6 title 'untuned'";
  const bool any = std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.tuned > 0; });
  text += any ? ", $ratios using 3:1 with points pt 7 title 'tuned'\n" : "\n";
  return text;
}

std::string check_plot(const std::string& path) {
  if (!path.ends_with(".png") && !path.ends_with(".svg"))
    throw UsageError(fmt::format("--plot {}: only .png and .svg can be written", path));
  if (gnuplot_is_there()) return {};
  return fmt::format(
      "there is no gnuplot on the PATH (Debian: gnuplot-nox), so {} will not be drawn; its script {}.gp is "
      "written, which any machine's gnuplot draws",
      path, path);
}

std::string plot_script(const std::string& commands, const std::string& path) {
  const bool there = check_plot(path).empty();
  const std::string script = path + ".gp";
  write_text_file(script, commands);
  if (there && run_gnuplot(script)) {
    std::error_code ignored;
    std::filesystem::remove(script, ignored);
    return fmt::format("plot: {}", path);
  }
  return fmt::format("plot: {}; its script is {} (run: gnuplot {})", there ? "gnuplot failed" : "gnuplot is missing",
                     script, script);
}

std::string plot_comparison(std::span<const ProblemResult> results, const std::string& path) {
  return plot_script(comparison_gnuplot(results, path), path);
}

}  // namespace fourtune::tools
