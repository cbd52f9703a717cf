// 1 / (2 pi) with enough digits to fold any double onto one period (Payne and Hanek's reduction, 1983).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace fourtune {

// Binary digits after the point, 64 per word, most significant first: somewhat more than 971 + 256 bits.
inline constexpr std::array<std::uint64_t, 20> kInverseTwoPiDigits = {
    0x28be60db9391054a, 0x7f09d5f47d4d3770, 0x36d8a5664f10e410, 0x7f9458eaf7aef158, 0x6dc91b8e909374b8,
    0x01924bba82746487, 0x3f877ac72c4a69cf, 0xba208d7d4baed121, 0x3a671c09ad17df90, 0x4e64758e60d4ce7d,
    0x272117e2ef7e4a0e, 0xc7fe25fff7816603, 0xfbcbc462d6829b47, 0xdb4d9fb3c9f2c26d, 0xd3d18fd9a797fa8b,
    0x5d49eeb1faf97c5e, 0xcf41ce7de294a4ba, 0x9afed7ec47e35742, 0x1580cc11bf1edaea, 0xfc33ef0826bd0d87};

// Digits offset .. offset+63; digits before the point (offset below 0, at least -63) and after the last one are zeros.
constexpr std::uint64_t inverse_two_pi_digits(int offset) {
  if (offset < 0) return kInverseTwoPiDigits[0] >> -offset;
  const auto word = static_cast<std::size_t>(offset / 64);
  const int shift = offset % 64;
  const std::uint64_t high = word < kInverseTwoPiDigits.size() ? kInverseTwoPiDigits[word] : 0;
  const std::uint64_t low = word + 1 < kInverseTwoPiDigits.size() ? kInverseTwoPiDigits[word + 1] : 0;
  return shift == 0 ? high : (high << shift) | (low >> (64 - shift));
}

}  // namespace fourtune
