#include "tools/common/python_random.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>
#include <vector>

#include "db/digest.h"

namespace fourtune::tools {
namespace {

constexpr std::size_t kWords = 624, kShift = 397;

// Interprets the bytes, most significant first, as a number and returns its words of 32 bits, least significant first.
std::vector<std::uint32_t> words_of(const std::string& bytes) {
  std::vector<std::uint32_t> words((bytes.size() + 3) / 4);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    words[i / 4] |= std::uint32_t{static_cast<unsigned char>(bytes[bytes.size() - 1 - i])} << (8 * (i % 4));
  while (words.size() > 1 && words.back() == 0) words.pop_back();
  return words;
}

}  // namespace

PythonRandom::PythonRandom(std::string_view seed) {
  const std::vector<std::uint32_t> key = words_of(std::string(seed) + db::sha512_bytes(seed));
  // This is init_by_array of Matsumoto and Nishimura's reference code.
  state_[0] = 19650218;
  for (std::uint32_t i = 1; i < kWords; ++i) state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;
  std::size_t i = 1, j = 0;
  const auto advance = [&] {
    if (++i == kWords) state_[0] = state_[kWords - 1], i = 1;
  };
  for (std::size_t k = std::max(kWords, key.size()); k > 0; --k) {
    state_[i] =
        (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * 1664525u)) + key[j] + static_cast<std::uint32_t>(j);
    advance();
    j = (j + 1) % key.size();
  }
  for (std::size_t k = kWords - 1; k > 0; --k) {
    state_[i] = (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * 1566083941u)) - static_cast<std::uint32_t>(i);
    advance();
  }
  state_[0] = 0x80000000u;
}

std::uint32_t PythonRandom::next() {
  if (at_ == kWords) {
    for (std::size_t k = 0; k < kWords; ++k) {
      const std::uint32_t y = (state_[k] & 0x80000000u) | (state_[(k + 1) % kWords] & 0x7fffffffu);
      state_[k] = state_[(k + kShift) % kWords] ^ (y >> 1) ^ ((y & 1) != 0 ? 0x9908b0dfu : 0);
    }
    at_ = 0;
  }
  std::uint32_t y = state_[at_++];
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680u;
  y ^= (y << 15) & 0xefc60000u;
  return y ^ (y >> 18);
}

double PythonRandom::random() {
  const std::uint32_t high = next() >> 5, low = next() >> 6;
  return (high * 67108864.0 + low) * (1.0 / 9007199254740992.0);
}

double PythonRandom::uniform(double low, double high) { return low + (high - low) * random(); }

std::size_t PythonRandom::choice(std::size_t count) {
  const int bits = std::bit_width(count);
  std::size_t drawn = next() >> (32 - bits);
  while (drawn >= count) drawn = next() >> (32 - bits);
  return drawn;
}

std::size_t PythonRandom::choices(std::span<const int> whole_weights) {
  const double drawn = random() * std::accumulate(whole_weights.begin(), whole_weights.end(), 0);
  int sum = 0;
  for (std::size_t i = 0; i + 1 < whole_weights.size(); ++i)
    if (drawn < (sum += whole_weights[i])) return i;
  return whole_weights.size() - 1;
}

}  // namespace fourtune::tools
