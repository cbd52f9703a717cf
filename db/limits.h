// The longest texts (in bytes) and lists that the database takes and readers accept; anything above is refused.
#pragma once

#include <cstddef>

namespace fourtune::db {

inline constexpr std::size_t kMaxToken = 4096;              // problem token
inline constexpr std::size_t kMaxPlan = 64 * 1024;          // plan text
inline constexpr std::size_t kMaxText = 64 * 1024;          // message, validity, command, each piece of an environment
inline constexpr std::size_t kMaxWisdom = 4 * 1024 * 1024;  // FFTW wisdom
inline constexpr std::size_t kMaxSamples = 100'000;         // samples of one run, and its stages
inline constexpr std::size_t kMaxImage = 7 * 1024 * 1024;   // a compiled kernel; rows are at most 2 kMaxWisdom long

}  // namespace fourtune::db
