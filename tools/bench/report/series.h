// Curves over an axis, as the papers plot them.
#pragma once

#include <string>
#include <vector>

namespace fourtune::tools {

struct SeriesPoint {
  std::string curve;
  double x = 0, y = 0;
};
// One plot; both axes are logarithmic. Points of a curve are joined in the order given.
struct Panel {
  std::string title, x_label, y_label;
  std::vector<SeriesPoint> points;
};

// All panels on one page, two a row, more than eight four; those without points are left out. Script of gnuplot that
// writes `path`.
std::string panels_gnuplot(const std::vector<Panel>& panels, const std::string& path);
// As plot_comparison (tools/bench/report/report.h).
std::string plot_panels(const std::vector<Panel>& panels, const std::string& path);

}  // namespace fourtune::tools
