// Where a text is shown: how wide that is, and whether colours can be seen there.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace fourtune::tuner {

struct Screen {
  std::size_t width = 0;  // columns; 0: no limit
  bool colour = false;
};

// A terminal has the width that it reports; COLUMNS, where it is set to a number, is stronger, also for files and
// pipes. Without it those have no limit, so that grep finds whole rows and nothing is lost in a file. `wide`: no limit
// in any case. Colours are for terminals, unless NO_COLOR is set or TERM is dumb.
Screen screen_of(std::FILE* out, bool wide = false);

enum class Paint { strong, good, warning, bad };
// The text in that paint, or as it is where there are no colours.
std::string painted(std::string_view text, Paint paint, const Screen& screen);

// Broken at blanks so that no line is longer than the screen, except for words that are; lines after the first begin
// with `indent` blanks. `used`: columns of the first line that are taken already. Line ends in the text stay.
std::string wrapped(std::string_view text, std::size_t indent, const Screen& screen, std::size_t used = 0);

}  // namespace fourtune::tuner
