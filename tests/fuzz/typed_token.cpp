// Tokens as people type them: what is read has one spelling, exact tokens are read as the exact reader does, and a
// suggestion is a token that would be accepted.
#include <optional>

#include "fourtune/problem.h"
#include "tests/fuzz/fuzz.h"

using namespace fourtune;
using fuzz::require;

namespace {

std::optional<Problem> exactly(std::string_view text) {
  Problem problem;
  if (!fuzz::accepted([&] { problem = parse_problem(text); })) return std::nullopt;
  return problem;
}

// The token that the error asks for: "...; did you mean TOKEN?".
void check_suggestion(std::string_view said, std::string_view typed) {
  constexpr std::string_view asks = "; did you mean ";
  const auto at = said.rfind(asks);
  if (at == said.npos || !said.ends_with('?')) return;
  const std::string_view token = said.substr(at + asks.size(), said.size() - at - asks.size() - 1);
  const auto meant = exactly(token);
  require(meant && to_token(*meant) == token, "what is suggested is a canonical token", typed);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view typed = fuzz::text_of(data, size);
  const auto exact = exactly(typed);
  try {
    const Problem problem = parse_typed_problem(typed);
    if (exact) require(problem == *exact, "an exact token is read exactly", typed);
    const std::string token = to_token(problem);
    require(parse_problem(token) == problem && parse_typed_problem(token) == problem, "the token means the same",
            token);
  } catch (const Error& error) {
    require(!exact, "an exact token is accepted", typed);
    require(error.what()[0] != '\0', "an error says what is wrong");
    check_suggestion(error.what(), typed);
  }
  return 0;
}
