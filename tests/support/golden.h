// Files in tests/golden that record what was made of a list of problems. Every line that a change moves is seen in
// their diff. FOURTUNE_UPDATE_GOLDEN=1 writes a file again, for the problems it lists.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/digest.h"
#include "tests/support/turns.h"

namespace fourtune::test {

// A block is a line that is not indented, its header, and the indented ones after it.
class GoldenFile {
 public:
  // block: the block of a header, which ends with a line break.
  GoldenFile(const std::string& name, std::function<std::string(const std::string& header)> block)
      : path_(std::string(FOURTUNE_SOURCE_DIR) + "/tests/golden/" + name), block_(std::move(block)) {}

  // Compares every `parts`-th block, from number `part` on; parts run side by side. In tools/check, each commit
  // compares half of a part.
  void compare(int part, int parts) const {
    if (part == 0 && std::getenv("FOURTUNE_UPDATE_GOLDEN")) write();
    const std::vector<std::string> blocks = recorded();
    ASSERT_GT(blocks.size(), 20u) << path_;
    int differ = 0;
    const auto step = static_cast<std::size_t>(parts);
    for (std::size_t i = static_cast<std::size_t>(part); i < blocks.size() && differ < 3; i += step) {
      if (!has_turn(i / step, 2)) continue;
      const std::string now = block_(header_of(blocks[i]));
      EXPECT_EQ(now, blocks[i]) << "if the change is meant: FOURTUNE_UPDATE_GOLDEN=1 "
                                << ::testing::internal::GetArgvs()[0];
      differ += now != blocks[i] ? 1 : 0;
    }
  }

 private:
  static std::string header_of(const std::string& block) { return block.substr(0, block.find('\n')); }
  std::vector<std::string> recorded() const {
    std::ifstream file(path_);
    std::vector<std::string> blocks;
    for (std::string line; std::getline(file, line);) {
      if (line.empty() || line[0] == '#') continue;
      if (line[0] != ' ') blocks.emplace_back();
      blocks.back() += line + "\n";
    }
    return blocks;
  }
  void write() const {
    std::string text = "# Written by FOURTUNE_UPDATE_GOLDEN=1 " +
                       ::testing::internal::GetArgvs()[0].substr(::testing::internal::GetArgvs()[0].rfind('/') + 1) +
                       "\n";
    for (const std::string& block : recorded()) text += block_(header_of(block));
    std::ofstream(path_) << text;
  }

  std::string path_;
  std::function<std::string(const std::string&)> block_;
};

}  // namespace fourtune::test
