#include "base/duration.h"

#include <array>
#include <charconv>
#include <cmath>

namespace fourtune::text {

std::string duration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "-";
  struct Unit {
    double below;  // what would be written as 1000 of the unit belongs to the next one; 0: the last one
    double per_second;
    const char* name;
  };
  constexpr Unit kUnits[] = {{999.5e-9, 1e9, "ns"}, {999.5e-6, 1e6, "us"}, {999.5e-3, 1e3, "ms"}, {0, 1, "s"}};
  const Unit* unit = kUnits;
  while (unit->below > 0 && seconds >= unit->below) ++unit;
  const double value = seconds * unit->per_second;
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  std::array<char, 400> buffer;  // the greatest double has 309 digits before the point
  const auto written =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, decimals);
  return std::string(buffer.data(), written.ptr) + ' ' + unit->name;
}

}  // namespace fourtune::text
