// Numbers of the command line. What is not a number, or is outside its range, is refused in plain words; times may
// have a unit.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "base/text.h"

namespace fourtune::tools {

// A number from `least` to `most`, whole ones where T is.
template <class T>
CLI::Validator between(T least, T most) {
  static_assert(std::is_arithmetic_v<T>);
  const auto refuse = [=](std::string& word) {
    const auto value = text::number<T>(word);
    if (value && *value >= least && *value <= most) return std::string();
    const char* kind = std::is_integral_v<T> ? "whole number" : "number";
    return value ? fmt::format("{} is outside {} to {}", word, least, most)
                 : fmt::format("'{}' is not a {}; one from {} to {} is needed", word, kind, least, most);
  };
  const char* kind = std::is_integral_v<T> ? "INT" : "FLOAT";
  return CLI::Validator(refuse, fmt::format("{} in [{} - {}]", kind, least, most));
}

// Without its range in help texts.
inline CLI::Validator any_seed() {
  return between(std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max()).description("");
}

// A time in seconds from `least` to `most`, also written as 500ms, 5s, 2min or 1h. For CLI::Option::transform: the
// option gets seconds.
inline CLI::Validator duration(double least, double most) {
  const auto read = [=](std::string& word) {
    std::string_view digits = word;
    double unit = 1;
    for (const auto& [name, seconds] : {std::pair{"ms", 1e-3}, {"s", 1.0}, {"min", 60.0}, {"m", 60.0}, {"h", 3600.0}})
      if (digits.ends_with(name)) {
        digits.remove_suffix(std::string_view(name).size()), unit = seconds;
        break;
      }
    const auto value = text::number<double>(digits);
    if (!value) return fmt::format("'{}' is not a time; one such as 5, 500ms, 5s, 2min or 1h is needed", word);
    const double seconds = *value * unit;
    if (!(seconds >= least && seconds <= most))
      return fmt::format("{} is outside {:g} to {:g} seconds", word, least, most);
    word = fmt::format("{}", seconds);
    return std::string();
  };
  return CLI::Validator(read, "TIME");
}

}  // namespace fourtune::tools
