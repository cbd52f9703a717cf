// Progress, notes and errors for people, on standard error, and tables beside the results. If the file is closed or its
// disk is full, they are lost and nothing else is: fmt::print would throw, which ended sessions of the tuner by their
// log.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

namespace fourtune::tools {

template <class... Values>
void say_to(std::FILE* out, fmt::format_string<Values...> format, Values&&... values) {
  const std::string text = fmt::format(format, std::forward<Values>(values)...);
  [[maybe_unused]] const std::size_t written = std::fwrite(text.data(), 1, text.size(), out);
}

template <class... Values>
void say(fmt::format_string<Values...> format, Values&&... values) {
  say_to(stderr, format, std::forward<Values>(values)...);
}

}  // namespace fourtune::tools
