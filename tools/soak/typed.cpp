#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "base/text.h"
#include "tools/soak/case.h"

namespace fourtune::tools {
namespace {

using tuner::Random;

bool coin(Random& random) { return random.below(2) == 0; }

std::string typed_number(std::string_view digits, Random& random) {
  const auto value = text::number<std::int64_t>(digits);
  if (!value || *value <= 0 || coin(random)) return std::string(digits);
  int tens = 0, twos = 0;
  for (std::int64_t rest = *value; rest % 10 == 0; rest /= 10) ++tens;
  for (std::int64_t rest = *value; rest % 2 == 0; rest /= 2) ++twos;
  if (*value == std::int64_t{1} << twos) return fmt::format("2^{}", twos);
  if (tens > 0) return fmt::format("{}e{}", digits.substr(0, digits.size() - static_cast<std::size_t>(tens)), tens);
  if (digits.size() > 3)
    return fmt::format("{}_{}", digits.substr(0, digits.size() - 3), digits.substr(digits.size() - 3));
  return std::string(digits);
}

std::string typed_numbers(std::string_view list, Random& random) {
  const std::string_view between = random.below(3) == 0 ? "," : coin(random) ? "*" : "x";
  std::string typed;
  for (const std::string_view number : text::split(list, 'x'))
    typed += fmt::format("{}{}", typed.empty() ? "" : between, typed_number(number, random));
  return typed;
}

// Blanks around signs, and capitals.
std::string spread_out(std::string_view token, Random& random) {
  const bool blanks = coin(random), capitals = coin(random);
  std::string out;
  for (char c : token) {
    const bool is_sign = c == ':' || c == ',' || c == '=';
    if (capitals && c >= 'a' && c <= 'z' && coin(random)) c = static_cast<char>(c - 32);
    out += blanks && is_sign && coin(random) ? std::string(" ") + c + ' ' : std::string(1, c);
  }
  return out;
}

}  // namespace

std::string typed_token(const SoakCase& one) {
  Random random(one.seed);
  const std::string token = to_token(one.problem);
  const std::string_view all = token;
  const auto colon = all.find(':');
  std::vector<std::string> fields;
  for (const std::string_view field : text::split(all.substr(colon + 1), ',')) {
    const auto equals = field.find('=');
    const std::string_view key = field.substr(0, equals), value = field.substr(equals + 1);
    const bool is_number = key == "n" || key == "m" || key == "k" || key == "batch";
    fields.push_back(is_number ? fmt::format("{}={}", key, typed_numbers(value, random)) : std::string(field));
  }
  random.shuffle(fields);
  std::string typed(all.substr(0, colon + 1));
  for (const std::string& field : fields) typed += (&field == &fields.front() ? "" : ",") + field;
  return spread_out(typed, random);
}

}  // namespace fourtune::tools
