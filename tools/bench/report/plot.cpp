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
#include "tools/bench/report/colours.h"
#include "tools/bench/report/report.h"
#include "tools/common/errors.h"

extern char** environ;

namespace fourtune::tools {
namespace {

// A ratio with its whiskers: what the intervals of both medians allow. Question marks where there is none.
std::string ratio_columns(const Score& score, const ContenderResult* ours, const ContenderResult* peer) {
  if (!(score.ratio > 0)) return "? ? ?";
  const auto bound = [&](double theirs, double our) { return theirs > 0 && our > 0 ? theirs / our : score.ratio; };
  return fmt::format("{:.6g} {:.6g} {:.6g}", score.ratio, bound(peer->execute.low, ours->execute.high),
                     bound(peer->execute.high, ours->execute.low));
}

const char* why_no_ratio(const Comparison& found) {
  if (!found.peer) return " (no peer)";
  return found.tuned || found.untuned ? " (not judged)" : " (not ours)";
}

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
    std::string label, tuned, untuned;
    double key = 0;  // 0: without a ratio, shown at the bottom
  };
  std::vector<Row> rows;
  bool any_tuned = false;
  for (const ProblemResult& result : results) {
    if (!result.skipped.empty()) continue;
    const Comparison found = compare(result);
    Row row{result.token, ratio_columns(found.tuned_score, found.tuned, found.peer),
            ratio_columns(found.untuned_score, found.untuned, found.peer)};
    any_tuned = any_tuned || found.tuned_score.ratio > 0;
    if (found.tuned_score.ratio > 0)
      row.key = found.tuned_score.ratio;
    else if (found.untuned_score.ratio > 0)
      row.key = found.untuned_score.ratio;
    else
      row.label += why_no_ratio(found);
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.key < b.key; });
  const bool svg = path.ends_with(".svg");
  std::string text = "# Ratios of `fourtune bench`: the peer's time over ours; above 1 we are faster.\n";
  text += fmt::format("set terminal {} size 1200,{} noenhanced\nset output {}\n", svg ? "svg" : "pngcairo",
                      std::max<std::size_t>(300, 120 + 16 * rows.size()), gnuplot_quoted(path));
  text +=
      "set logscale x\nset xlabel 'time of the peer / our time'\nset grid x\nset key top left\nunset mouse\n"
      "set datafile missing '?'\nset ytics font ',8'\n";
  text += fmt::format("set yrange [-1:{}]\n$ratios << END\n", rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    text += fmt::format("{} \"{}\" {} {}\n", i, rows[i].label, rows[i].tuned, rows[i].untuned);
  text += fmt::format(
      "END\nset arrow from 1, graph 0 to 1, graph 1 nohead lw 2\n"
      "plot $ratios using (1):1:ytic(2) with dots lc rgb 'white' notitle, "
      "$ratios using 6:($1+0.15):7:8 with xerrorbars pt 6 lc rgb '{}' title 'untuned'",
      colour_of("untuned"));
  if (any_tuned)
    text += fmt::format(", $ratios using 3:($1-0.15):4:5 with xerrorbars pt 7 lc rgb '{}' title 'tuned'",
                        colour_of("tuned"));
  return text + "\n";
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
