// The drawings of the page that html.h describes, as SVG.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "tuner/report/html.h"

namespace fourtune::tuner {
namespace {

// Of the drawing, in pixels: the space for data lies between the margins.
constexpr double kWidth = 560, kHeight = 200, kLeft = 70, kRight = 10, kTop = 10, kBottom = 34;
constexpr std::size_t kMostDots = 1000;

std::string open_svg(const char* what) {
  return fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">", kWidth, kHeight, what);
}
std::string label(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", x, y, anchor, html_escaped(text));
}

}  // namespace

std::string course_chart(const Story& story) {
  double low = 1e300, high = 0;
  for (const double seconds : story.course)
    if (seconds > 0) low = std::min(low, seconds), high = std::max(high, seconds);
  if (!(high > 0)) return "<p>No plan was right.</p>";
  high = std::min(std::max(high, 1.1 * low), 5 * low);  // slower plans lie at the upper edge
  const double right = kWidth - kRight, floor = kHeight - kBottom;
  const auto x = [&](std::size_t plan) {
    return kLeft + (right - kLeft) * (static_cast<double>(plan) + 0.5) / static_cast<double>(story.course.size());
  };
  const auto y = [&](double seconds) {
    const double place = std::log(std::min(seconds, high) / low) / std::log(high / low);
    return floor - 8 - (floor - 8 - kTop) * place;
  };
  std::string svg = open_svg("Time of each plan in the order of measuring, and the best so far");
  svg += fmt::format("<path class=\"axis\" d=\"M{0:.1f} {1:.1f}V{2:.1f}H{3:.1f}\"/>", kLeft, kTop, floor, right);
  svg += label(kLeft - 6, y(low) + 4, "end", format_seconds(low));
  svg += label(kLeft - 6, y(high) + 4, "end", format_seconds(high));
  svg += label((kLeft + right) / 2, kHeight - 4, "middle", fmt::format("{} plans measured", story.course.size()));
  if (story.untuned.seconds > 0)
    svg += fmt::format("<path class=\"untuned\" d=\"M{:.1f} {:.1f}H{:.1f}\"><title>untuned: {}</title></path>", kLeft,
                       y(story.untuned.seconds), right, format_seconds(story.untuned.seconds));
  const std::size_t step = 1 + story.course.size() / kMostDots;
  std::string best_line, ticks;
  double best = 0;
  for (std::size_t i = 0; i < story.course.size(); ++i) {
    const double seconds = story.course[i];
    if (seconds > 0 && (best == 0 || seconds < best)) {
      best_line +=
          best == 0 ? fmt::format("M{:.1f} {:.1f}", x(i), y(seconds)) : fmt::format("H{:.1f}V{:.1f}", x(i), y(seconds));
      best = seconds;
    }
    if (i % step != 0) continue;
    if (seconds > 0)
      svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2\"/>", x(i), y(seconds));
    else
      ticks += fmt::format("M{:.1f} {:.1f}v6", x(i), floor + 2);
  }
  if (!ticks.empty()) svg += "<path class=\"failed\" d=\"" + ticks + "\"/>";
  return svg + fmt::format("<path class=\"best\" d=\"{}H{:.1f}\"/></svg>", best_line, right);
}

std::string gains_chart(const std::vector<double>& gains) {
  struct Bin {
    double below;
    const char* name;
    int count = 0;
  };
  std::array<Bin, 8> bins{{{1.01, "1"},
                           {1.1, "to 1.1"},
                           {1.25, "to 1.25"},
                           {1.5, "to 1.5"},
                           {2, "to 2"},
                           {3, "to 3"},
                           {5, "to 5"},
                           {1e300, "more"}}};
  int most = 1;
  for (const double gain : gains)
    for (Bin& bin : bins)
      if (gain < bin.below) {
        most = std::max(most, ++bin.count);
        break;
      }
  const double width = (kWidth - kLeft - kRight) / static_cast<double>(bins.size()), floor = kHeight - kBottom;
  std::string svg = open_svg("How many problems gained how much");
  svg += fmt::format("<path class=\"axis\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>", kLeft, floor, kWidth - kRight);
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const double left = kLeft + width * static_cast<double>(i), middle = left + width / 2;
    const double height = (floor - kTop - 14) * bins[i].count / most;
    svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>", left + 3, floor - height,
                       width - 6, height);
    if (bins[i].count > 0) svg += label(middle, floor - height - 4, "middle", std::to_string(bins[i].count));
    svg += label(middle, floor + 15, "middle", bins[i].name);
  }
  return svg + label((kLeft + kWidth - kRight) / 2, kHeight - 4, "middle", "untuned time / winner's time") +
         label(kLeft - 6, floor - 40, "end", "problems") + "</svg>";
}

}  // namespace fourtune::tuner
