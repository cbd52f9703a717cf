// Small text functions shared by the token and plan parsers. All are independent of the locale.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fourtune::text {

inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

// Parses the whole text as a number of type N. Blank text, a '+' sign, trailing text and overflow all give nothing.
template <class N>
std::optional<N> number(std::string_view text) {
  N value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

// The shortest text that reads back as the same double, with unpadded exponents: 1e-5, 0.25, 3000.
inline std::string shortest(double value) {
  std::array<char, 40> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string out(buffer.data(), end);
  if (const auto e = out.find('e'); e != std::string::npos) {
    std::size_t digits = e + 1;
    if (out[digits] == '+') out.erase(digits, 1);
    if (out[digits] == '-') ++digits;
    while (out[digits] == '0' && digits + 1 < out.size()) out.erase(digits, 1);
  }
  return out;
}

// Always has an exponent, so that each tolerance has one spelling: 2.5e-3.
inline std::string scientific(double value) {
  std::array<char, 40> buffer;
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific).ptr;
  std::string out(buffer.data(), end);
  std::size_t digits = out.find('e') + 1;
  if (out[digits] == '+') out.erase(digits, 1);
  if (out[digits] == '-') ++digits;
  while (out[digits] == '0' && digits + 1 < out.size()) out.erase(digits, 1);
  return out;
}

// Makes text of unknown origin (a database, a token, a file) safe to display. Control characters, bytes that are not
// UTF-8 and characters that change the direction of writing become \xNN, so that a terminal obeys none of them. Text
// longer than `longest` bytes is cut and its size appended: "nnn... (5000000 bytes)".
std::string shown(std::string_view text, std::size_t longest = 200);

}  // namespace fourtune::text
