#include "examples/mtip/shell_plot.h"

#include <algorithm>
#include <fstream>

namespace mtip {
namespace {

constexpr double kLeft = 60, kTop = 20, kWidth = 480, kHeight = 300;

double x_of(double part_of_nyquist) { return kLeft + kWidth * part_of_nyquist; }
double y_of(double correlation) { return kTop + kHeight * (1 - std::clamp(correlation, 0.0, 1.0)); }

void line(std::ostream& out, double x1, double y1, double x2, double y2, const char* style) {
  out << "<line x1=\"" << x1 << "\" y1=\"" << y1 << "\" x2=\"" << x2 << "\" y2=\"" << y2 << "\" " << style << "/>\n";
}
void text(std::ostream& out, double x, double y, const char* anchor, const std::string& words) {
  out << "<text x=\"" << x << "\" y=\"" << y << "\" text-anchor=\"" << anchor << "\">" << words << "</text>\n";
}

void axes(std::ostream& out) {
  for (int i = 0; i <= 4; ++i) {
    const double part = 0.25 * i;
    const std::string words = std::to_string(part).substr(0, 4);
    line(out, x_of(0), y_of(part), x_of(1), y_of(part), i == 2 ? "stroke=\"#888\"" : "stroke=\"#ddd\"");
    text(out, x_of(0) - 6, y_of(part) + 4, "end", words);
    text(out, x_of(part), y_of(0) + 16, "middle", words);
  }
  text(out, x_of(0.5), y_of(0) + 36, "middle", "|q| / Nyquist frequency");
  out << "<text transform=\"translate(16," << y_of(0.5) << ") rotate(-90)\" text-anchor=\"middle\">"
      << "Fourier shell correlation with the truth</text>\n";
}

}  // namespace

bool plot_shells(const std::vector<ShellCurve>& curves, const std::string& path) {
  std::ofstream out(path);
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"700\" height=\"380\" font-family=\"sans-serif\" "
         "font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  axes(out);
  for (std::size_t c = 0; c < curves.size(); ++c) {
    const double age = curves.size() > 1 ? static_cast<double>(c) / static_cast<double>(curves.size() - 1) : 1;
    const int light = static_cast<int>(200 * (1 - age));
    const std::string colour =
        "rgb(" + std::to_string(light) + "," + std::to_string(light) + "," + std::to_string(120 + light / 2) + ")";
    out << "<polyline fill=\"none\" stroke=\"" << colour << "\" stroke-width=\"1.5\" points=\"";
    const std::vector<double>& shells = curves[c].correlation;
    for (std::size_t s = 0; s < shells.size(); ++s)
      out << x_of((static_cast<double>(s) + 0.5) / static_cast<double>(shells.size())) << "," << y_of(shells[s]) << " ";
    out << "\"/>\n";
    const double y = kTop + 14 * static_cast<double>(c + 1);
    line(out, kLeft + kWidth + 20, y - 4, kLeft + kWidth + 44, y - 4,
         ("stroke-width=\"2\" stroke=\"" + colour + "\"").c_str());
    text(out, kLeft + kWidth + 50, y, "start", curves[c].name);
  }
  out << "</svg>\n";
  out.close();
  return out.good();
}

}  // namespace mtip
