#include "tuner/report/screen.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "base/text.h"

namespace fourtune::tuner {
namespace {

constexpr std::size_t kNarrowest = 20;  // what is narrower is no width that anybody reads at
constexpr std::size_t kUsual = 80;      // of a terminal that does not say

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::optional<std::size_t> width_asked_for() {
  const auto columns = text::number<std::size_t>(variable("COLUMNS"));
  return columns && *columns >= kNarrowest ? columns : std::nullopt;
}

std::size_t width_of_terminal(int descriptor) {
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col >= kNarrowest ? size.ws_col : kUsual;
}

}  // namespace

Screen screen_of(std::FILE* out, bool wide) {
  Screen screen;
  const bool terminal = isatty(fileno(out)) == 1;
  screen.colour = terminal && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  if (wide) return screen;
  if (const auto asked = width_asked_for())
    screen.width = *asked;
  else if (terminal)
    screen.width = width_of_terminal(fileno(out));
  return screen;
}

std::string painted(std::string_view text, Paint paint, const Screen& screen) {
  if (!screen.colour || text.empty()) return std::string(text);
  const char* code = "1";
  switch (paint) {
    case Paint::strong:
      break;
    case Paint::good:
      code = "32";
      break;
    case Paint::warning:
      code = "33";
      break;
    case Paint::bad:
      code = "1;31";
      break;
  }
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string wrapped(std::string_view text, std::size_t indent, const Screen& screen, std::size_t used) {
  if (screen.width == 0) return std::string(text);
  std::string out;
  std::size_t column = used;
  bool fresh = true;  // no word stands on this line yet
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\n') {
      out += '\n';
      column = 0, fresh = true, ++at;
      continue;
    }
    std::size_t word = text.find_first_not_of(' ', at);
    if (word == text.npos || text[word] == '\n') {
      at = word == text.npos ? text.size() : word;
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(" \n", word), text.size());
    const std::size_t blanks = word - at, letters = end - word;
    if (!fresh && column + blanks + letters > screen.width) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else {
      out += std::string(blanks, ' ');
      column += blanks;
    }
    out += text.substr(word, letters);
    column += letters, fresh = false, at = end;
  }
  return out;
}

}  // namespace fourtune::tuner
