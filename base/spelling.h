// What somebody probably meant, and how many of it there are.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace fourtune {

// The least number of letters that are inserted, removed, replaced or swapped with their neighbour (optimal string
// alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

// The word that is nearest to `typed`, or an empty text if none is near: a third of the typed letters may differ, but
// one at least.
std::string nearest_word(std::string_view typed, std::span<const std::string> words);

// "1 plan", "0 plans", "12 plans", of a word that takes an s.
std::string counted(std::size_t count, std::string_view word);

}  // namespace fourtune
