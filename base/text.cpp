#include "base/text.h"

namespace fourtune::text {
namespace {

unsigned char byte_at(std::string_view text, std::size_t at) { return static_cast<unsigned char>(text[at]); }

// The number of bytes of the UTF-8 character at the start of the text, or 0 when there is none. Overlong encodings,
// surrogates and values beyond Unicode do not count as characters.
std::size_t character_bytes(std::string_view text) {
  const unsigned char first = byte_at(text, 0);
  if (first < 0x80) return 1;
  const std::size_t bytes = first >= 0xf5 ? 0 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (bytes == 0 || text.size() < bytes) return 0;
  for (std::size_t i = 1; i < bytes; ++i)
    if ((byte_at(text, i) & 0xc0) != 0x80) return 0;
  const unsigned char second = byte_at(text, 1);
  const bool too_long = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool no_character = (first == 0xed && second >= 0xa0) || (first == 0xf4 && second >= 0x90);
  return too_long || no_character ? 0 : bytes;
}

// A terminal may obey these characters instead of showing them: C0, DEL, C1, line and paragraph separators, direction
// marks.
bool is_obeyed(std::string_view character) {
  const unsigned char first = byte_at(character, 0);
  if (character.size() == 1) return first < 0x20 || first == 0x7f;
  const unsigned char second = byte_at(character, 1);
  if (character.size() == 2) return first == 0xc2 && second < 0xa0;
  if (character.size() != 3 || first != 0xe2) return false;
  const unsigned char third = byte_at(character, 2);
  return (second == 0x80 && (third == 0x8e || third == 0x8f || (third >= 0xa8 && third <= 0xae))) ||
         (second == 0x81 && third >= 0xa6 && third <= 0xa9);
}

}  // namespace

std::string shown(std::string_view text, std::size_t longest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = character_bytes(text.substr(at, 4));
    const std::size_t taken = bytes == 0 ? 1 : bytes;
    if (at + taken > longest) return out + "... (" + std::to_string(text.size()) + " bytes)";
    const std::string_view character = text.substr(at, taken);
    if (bytes > 0 && !is_obeyed(character)) {
      out += character;
    } else {
      for (const char byte : character) {
        out += "\\x";
        out += kDigits[static_cast<unsigned char>(byte) >> 4];
        out += kDigits[static_cast<unsigned char>(byte) & 15];
      }
    }
    at += taken;
  }
  return out;
}

}  // namespace fourtune::text
