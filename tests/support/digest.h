// A short text that stands for many, for files that record what a test saw.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace fourtune::test {

// FNV-1a of the texts in their order.
class Digest {
 public:
  void add(const std::string& text) {
    for (const char c : text + "\n") sum_ = (sum_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  std::string text() const { return fmt::format("{:016x}", sum_); }

 private:
  std::uint64_t sum_ = 0xcbf29ce484222325u;
};

}  // namespace fourtune::test
