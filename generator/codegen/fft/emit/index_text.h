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

// Decimal, with the suffix that 64 bits need.
std::string number_text(std::int64_t value);

// Sum of pieces of `number`, which runs below `total`; neighbours that continue each other become one. "" for none.
std::string pieces_text(std::vector<Piece> pieces, const std::string& number, std::int64_t total, bool wide);

}  // namespace fourtune::generator::fft
