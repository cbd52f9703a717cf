#include "generator/codegen/fft/emit/index_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace fourtune::generator::fft {

std::string number_text(std::int64_t value) { return fmt::format("{}{}", value, value > 0x7fffffff ? "ll" : ""); }

std::string pieces_text(std::vector<Piece> pieces, const std::string& number, std::int64_t total, bool wide) {
  std::erase_if(pieces, [](const Piece& p) { return p.weight == 0 || p.size == 1; });
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.divisor < b.divisor; });
  std::vector<Piece> merged;
  for (const Piece& piece : pieces) {
    if (!merged.empty() && merged.back().divisor * merged.back().size == piece.divisor &&
        merged.back().weight * merged.back().size == piece.weight)
      merged.back().size *= piece.size;
    else
      merged.push_back(piece);
  }
  std::string text;
  for (const Piece& piece : merged) {
    std::string value = number;
    if (piece.divisor > 1) value += fmt::format(" / {}", piece.divisor);
    if (piece.divisor * piece.size < total) value += fmt::format(" % {}", piece.size);
    if (wide) value = fmt::format("static_cast<long long>({})", value);
    if (piece.weight != 1) value += fmt::format(" * {}", number_text(piece.weight));
    text += (text.empty() ? "" : " + ") + value;
  }
  return text;
}

}  // namespace fourtune::generator::fft
