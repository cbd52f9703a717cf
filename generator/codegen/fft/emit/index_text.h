// Sums of digits of a number as text: "t / 16 % 8 * 513 + t % 16".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fourtune::generator::fft {

// One digit of a flattened number: value = number / divisor % size, times weight.
struct Piece {
  std::int64_t divisor, size, weight;
};

// Decimal, with the suffix that 64-bit numbers need.
std::string number_text(std::int64_t value);

// Sum of pieces of `number`, which is below `total`; pieces that continue each other are merged. "" if there are none.
std::string pieces_text(std::vector<Piece> pieces, const std::string& number, std::int64_t total, bool wide);

}  // namespace fourtune::generator::fft
