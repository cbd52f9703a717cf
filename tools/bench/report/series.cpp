#include "tools/bench/report/series.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/bench/report/report.h"

namespace fourtune::tools {
namespace {

std::vector<std::string> curves_of(const Panel& panel) {
  std::vector<std::string> curves;
  for (const SeriesPoint& point : panel.points)
    if (std::find(curves.begin(), curves.end(), point.curve) == curves.end()) curves.push_back(point.curve);
  return curves;
}

// The points from left to right, also when several runs were merged.
std::string block_of(const Panel& panel, std::size_t number, const std::vector<std::string>& curves) {
  std::vector<SeriesPoint> points = panel.points;
  std::ranges::stable_sort(points, {}, &SeriesPoint::x);
  std::string text = fmt::format("$panel{} << END\n", number);
  for (const std::string& curve : curves) {
    for (const SeriesPoint& point : points)
      if (point.curve == curve) text += fmt::format("{:.6g} {:.6g}\n", point.x, point.y);
    text += "\n\n";  // begins the next data set for gnuplot's `index`
  }
  return text + "END\n";
}

}  // namespace

std::string panels_gnuplot(const std::vector<Panel>& panels, const std::string& path) {
  constexpr std::size_t kHeight = 360, kKeyHeight = 18;  // of the axes, and of each curve in the key
  std::vector<const Panel*> shown;
  std::size_t most_curves = 0;
  for (const Panel& panel : panels)
    if (!panel.points.empty()) {
      shown.push_back(&panel);
      most_curves = std::max(most_curves, curves_of(panel).size());
    }
  const std::size_t columns = shown.size() > 8 ? 4 : 2;
  const std::size_t rows = std::max<std::size_t>(1, (shown.size() + columns - 1) / columns);
  std::string text =
      fmt::format("set terminal {} size {},{} noenhanced\nset output {}\n", path.ends_with(".svg") ? "svg" : "pngcairo",
                  600 * columns, (kHeight + kKeyHeight * most_curves) * rows, gnuplot_quoted(path));
  text += fmt::format(
      "set multiplot layout {},{}\nset logscale xy\nset format '%.0e'\nset grid\nset key outside bottom center "
      "horizontal\n",
      rows, columns);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const std::vector<std::string> curves = curves_of(*shown[i]);
    text += block_of(*shown[i], i, curves);
    text += fmt::format("set title {}\nset xlabel {}\nset ylabel {}\nplot ", gnuplot_quoted(shown[i]->title),
                        gnuplot_quoted(shown[i]->x_label), gnuplot_quoted(shown[i]->y_label));
    for (std::size_t c = 0; c < curves.size(); ++c)
      text += fmt::format("{}$panel{} index {} with linespoints title {}", c > 0 ? ", " : "", i, c,
                          gnuplot_quoted(curves[c]));
    text += "\n";
  }
  return text + "unset multiplot\n";
}

std::string plot_panels(const std::vector<Panel>& panels, const std::string& path) {
  return plot_script(panels_gnuplot(panels, path), path);
}

}  // namespace fourtune::tools
