#include "tuner/report/plots.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace fourtune::tuner {
namespace {

// Between the quotes of gnuplot that take no escapes; the texts are anybody's.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char letter : text::shown(text, 200)) out += letter == '\'' ? std::string("''") : std::string(1, letter);
  return out + "'";
}

constexpr double kSlowest = 5;  // times the best: slower plans lie at the upper edge

Plot search_plot(const Story& story, std::size_t number) {
  double low = 0;
  for (const double seconds : story.course)
    if (seconds > 0 && (low == 0 || seconds < low)) low = seconds;
  if (low == 0) return {};
  const double slowest = *std::max_element(story.course.begin(), story.course.end());
  const double high = std::min(kSlowest * low, std::max({slowest, story.untuned.seconds, 1.1 * low}));
  std::string plans, failures, best_line;
  double best = 0;
  for (std::size_t i = 0; i < story.course.size(); ++i) {
    const double seconds = story.course[i];
    if (seconds > 0) {
      plans += fmt::format("{} {:.6g}\n", i + 1, 1e6 * std::min(seconds, high));
      best = best == 0 ? seconds : std::min(best, seconds);
    } else {
      failures += fmt::format("{} {:.6g}\n", i + 1, 1e6 * low / 1.08);
    }
    if (best > 0) best_line += fmt::format("{} {:.6g}\n", i + 1, 1e6 * best);
  }
  Plot plot{fmt::format("search-{}", number), {}};
  plot.script = fmt::format("$plans << END\n{}END\n$best << END\n{}END\n", plans, best_line);
  if (!failures.empty()) plot.script += fmt::format("$failed << END\n{}END\n", failures);
  plot.script += fmt::format(
      "set title {}\nset logscale y\nset xrange [0:{}]\nset yrange [{:.6g}:{:.6g}]\nset xlabel 'plans measured'\n"
      "set ylabel 'microseconds'\nset key outside bottom horizontal\nplot $plans with points pt 7 ps 0.7 lc rgb "
      "'#7d8896' title 'a plan', $best with steps lw 2 lc rgb '#0b7a53' title 'best so far'",
      quoted(story.problem), story.course.size() + 1, 1e6 * low / 1.15, 1e6 * high * 1.05);
  if (story.untuned.seconds > 0)
    plot.script +=
        fmt::format(", {:.6g} lw 1 dt 2 lc rgb '#2158c7' title 'untuned'", 1e6 * std::min(story.untuned.seconds, high));
  if (!failures.empty()) plot.script += ", $failed with points pt 1 ps 0.6 lc rgb '#b3261e' title 'failed'";
  plot.script += "\n";
  return plot;
}

Plot gains_plot(const std::vector<Story>& stories) {
  std::string rows;
  int count = 0;
  for (const Story& story : stories) {
    if (!(story.untuned.seconds > 0 && story.winner.seconds > 0)) continue;
    const double gain = story.winner.gain > 0 ? story.winner.gain : story.untuned.seconds / story.winner.seconds;
    std::string name = text::shown(story.problem, 200);
    std::replace(name.begin(), name.end(), '"', '\'');
    rows += fmt::format("{} \"{}\" {:.4g}\n", count++, name, gain);
  }
  if (count == 0) return {};
  Plot plot{"gains", {}, std::max(300, 120 + 18 * count)};
  plot.script = fmt::format(
      "$gains << END\n{}END\nset xlabel 'untuned time / time of the winner'\nset yrange [-1:{}]\nset xrange [0:*]\n"
      "set ytics font ',8'\nset style fill solid\nset boxwidth 0.6\nset arrow from 1, graph 0 to 1, graph 1 nohead\n"
      "plot $gains using (0.5*$3):0:(0.5*$3):(0.3):ytic(2) with boxxyerror lc rgb '#0b7a53' notitle\n",
      rows, count);
  return plot;
}

}  // namespace

std::vector<Plot> plots_of(const std::vector<Story>& stories) {
  std::vector<Plot> plots{gains_plot(stories)};
  for (std::size_t i = 0; i < stories.size(); ++i) plots.push_back(search_plot(stories[i], i + 1));
  std::erase_if(plots, [](const Plot& plot) { return plot.script.empty(); });
  return plots;
}

}  // namespace fourtune::tuner
