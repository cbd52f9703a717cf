#include "tools/bench/report/series.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/bench/report/colours.h"
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

// What a panel is about, by its title: "Figure 4: 2D type 1" and "Figure 4: 3D type 1" are about one thing.
std::string topic_of(const Panel& panel) {
  const std::size_t colon = panel.title.find(": ");
  return colon == std::string::npos ? std::string() : panel.title.substr(0, colon);
}

// Pages of panels with points: one topic each, six panels at most.
std::vector<std::vector<const Panel*>> pages_of(const std::vector<Panel>& panels) {
  constexpr std::size_t kMost = 6;
  std::vector<std::vector<const Panel*>> pages;
  for (const Panel& panel : panels) {
    if (panel.points.empty()) continue;
    if (pages.empty() || pages.back().size() == kMost || topic_of(*pages.back().front()) != topic_of(panel))
      pages.emplace_back();
    pages.back().push_back(&panel);
  }
  return pages;
}

// "figures.png", "figures-2.png", ...
std::string file_of(const std::string& path, std::size_t page) {
  const std::size_t dot = path.rfind('.');
  return page == 0 ? path : fmt::format("{}-{}{}", path.substr(0, dot), page + 1, path.substr(dot));
}

// `first`: the number of the page's first panel.
std::string page_gnuplot(const std::vector<const Panel*>& page, std::size_t first, const std::string& file) {
  constexpr std::size_t kWidth = 600, kHeight = 360, kKeyHeight = 18;  // of the axes, and of each curve in the key
  std::size_t most_curves = 0;
  for (const Panel* panel : page) most_curves = std::max(most_curves, curves_of(*panel).size());
  const std::size_t columns = std::min<std::size_t>(2, page.size()), rows = (page.size() + columns - 1) / columns;
  std::string text =
      fmt::format("set terminal {} size {},{} noenhanced\nset output {}\n", file.ends_with(".svg") ? "svg" : "pngcairo",
                  kWidth * columns, (kHeight + kKeyHeight * most_curves) * rows, gnuplot_quoted(file));
  text += fmt::format(
      "set multiplot layout {},{}\nset logscale xy\nset format '%.0e'\nset grid\nset key outside bottom center "
      "horizontal\n",
      rows, columns);
  for (std::size_t i = 0; i < page.size(); ++i) {
    const std::vector<std::string> curves = curves_of(*page[i]);
    text += block_of(*page[i], first + i, curves);
    text += fmt::format("set title {}\nset xlabel {}\nset ylabel {}\nplot ", gnuplot_quoted(page[i]->title),
                        gnuplot_quoted(page[i]->x_label), gnuplot_quoted(page[i]->y_label));
    // Curves of one library have its colour, and differ by their points and dashes.
    for (std::size_t c = 0; c < curves.size(); ++c)
      text += fmt::format("{}$panel{} index {} with linespoints lc rgb '{}' pt {} dt {} title {}", c > 0 ? ", " : "",
                          first + i, c, colour_of(curves[c]), 4 + c % 10, 1 + c % 5, gnuplot_quoted(curves[c]));
    text += "\n";
  }
  return text + "unset multiplot\n";
}

}  // namespace

std::string panels_gnuplot(const std::vector<Panel>& panels, const std::string& path) {
  std::string text;
  std::size_t page_number = 0, first = 0;
  for (const auto& page : pages_of(panels)) {
    text += page_gnuplot(page, first, file_of(path, page_number++));
    first += page.size();
  }
  return text;
}

std::string plot_panels(const std::vector<Panel>& panels, const std::string& path) {
  std::string said = plot_script(panels_gnuplot(panels, path), path);
  const std::size_t pages = pages_of(panels).size();
  if (pages > 1) said += fmt::format(" and {} more, to {}", pages - 1, file_of(path, pages - 1));
  return said;
}

}  // namespace fourtune::tools
