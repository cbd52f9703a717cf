// Long sweeps over alike cases, of which tools/check runs a part for each commit (docs/design/testing.md).
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace fourtune::test {

// Whether the case of this number runs. FOURTUNE_TEST_TURN=K/N picks those that leave K when they are divided by N;
// without it, as when a program is called by hand, every case runs. Where N is above `parts`, which divides it, there
// are only so many turns: fewer parts run more often. Throws std::invalid_argument for another text.
inline bool has_turn(std::uint64_t number, std::uint64_t parts = 8) {
  const char* turn = std::getenv("FOURTUNE_TEST_TURN");
  if (!turn || !*turn) return true;
  char* end = nullptr;
  const std::uint64_t mine = std::strtoull(turn, &end, 10), all = *end == '/' ? std::strtoull(end + 1, &end, 10) : 0;
  if (*end != '\0' || mine >= all)
    throw std::invalid_argument("FOURTUNE_TEST_TURN is '" + std::string(turn) + "', which is not as 0/3, 1/3 or 2/3");
  const std::uint64_t turns = std::min(parts, all);
  return number % turns == mine % turns;
}

// The same for cases in the order in which a test asks.
inline bool next_has_turn() {
  static std::uint64_t asked = 0;
  return has_turn(asked++);
}

// The same in sweeps over lengths and sizes that the release build runs whole for each commit: it compares the results,
// and sanitizers, under which a case takes several times as long, watch the memory of those whose turn it is.
inline bool next_has_turn_under_sanitizers() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return next_has_turn();
#else
  return true;
#endif
}

}  // namespace fourtune::test
