// The parts of Python's random.Random that drawing problems needs: the same seed gives the same numbers as in CPython
// 3.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace fourtune::tools {

class PythonRandom {
 public:
  // random.Random(seed) for a text: Mersenne Twister (MT19937), seeded with the text and its SHA-512 (seed version 2).
  explicit PythonRandom(std::string_view seed);

  double random();                                          // [0, 1), 53 bits
  double uniform(double low, double high);                  // low + (high - low) random()
  std::size_t choice(std::size_t count);                    // index of choice() among `count` elements; count > 0
  std::size_t choices(std::span<const int> whole_weights);  // index of choices(..., weights)[0]

 private:
  std::uint32_t next();
  std::array<std::uint32_t, 624> state_{};
  std::size_t at_ = 624;
};

}  // namespace fourtune::tools
