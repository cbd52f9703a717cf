#include "tools/common/text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace fourtune::tools {

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  return value < 10 && unit > 0 ? fmt::format("{:.1f} {}", value, units[unit])
                                : fmt::format("{:.0f} {}", value, units[unit]);
}

std::string clock_text(double seconds) {
  const auto total = static_cast<std::int64_t>(std::max(0.0, std::ceil(seconds)));
  if (total < 3600) return fmt::format("{:02}:{:02}", total / 60, total % 60);
  return fmt::format("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60);
}

bool is_terminal(int descriptor) { return isatty(descriptor) == 1; }

std::string command_text(int argc, const char* const* argv) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+.,:/@%";
  std::string text;
  for (int i = 0; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (i > 0) text += ' ';
    if (!word.empty() && word.find_first_not_of(plain) == word.npos) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char letter : word) {
      if (letter == '\'') text += "'\\'";
      text += letter;
    }
    text += '\'';
  }
  return text;
}

}  // namespace fourtune::tools
