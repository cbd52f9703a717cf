// Draws Fourier shell correlations.
#pragma once

#include <string>
#include <vector>

namespace mtip {

struct ShellCurve {
  std::string name;
  std::vector<double> correlation;  // of shells of equal width, up to the Nyquist frequency
};

// Writes an SVG with all curves, the last ones darker, and the line of 1/2. False when the file cannot be written.
bool plot_shells(const std::vector<ShellCurve>& curves, const std::string& path);

}  // namespace mtip
