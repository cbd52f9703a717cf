// Curves over an axis, plotted as in the papers.
#pragma once

#include <string>
#include <vector>

namespace fourtune::tools {

struct SeriesPoint {
  std::string curve;
  double x = 0, y = 0;
};
// One plot; both axes are logarithmic. Points of a curve are joined in the given order.
struct Panel {
  std::string title, x_label, y_label;
  std::vector<SeriesPoint> points;
};

// A gnuplot script that writes `path` and, where that is not enough, "...-2.png" and so on: pages of one topic (what
// stands before ": " in the title) and six panels at most, two per row. Panels without points are left out.
std::string panels_gnuplot(const std::vector<Panel>& panels, const std::string& path);
// Like plot_comparison (tools/bench/report/report.h).
std::string plot_panels(const std::vector<Panel>& panels, const std::string& path);

}  // namespace fourtune::tools
