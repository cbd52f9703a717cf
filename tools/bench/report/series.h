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

// A gnuplot script that writes `path`: all panels on one page, two per row, or four per row for more than eight panels.
// Panels without points are left out.
std::string panels_gnuplot(const std::vector<Panel>& panels, const std::string& path);
// Like plot_comparison (tools/bench/report/report.h).
std::string plot_panels(const std::vector<Panel>& panels, const std::string& path);

}  // namespace fourtune::tools
