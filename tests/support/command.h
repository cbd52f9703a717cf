// Runs a subcommand of `fourtune` as a user does, in a separate folder.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/program.h"

namespace fourtune::test {

// One line of error with the reason, perhaps a hint, and nothing else.
inline void expect_refusal(const Finished& result, const std::string& reason, int code) {
  EXPECT_EQ(result.code, code) << result.err;
  EXPECT_EQ(result.err.rfind("fourtune: error: ", 0), 0u) << result.err;
  EXPECT_NE(result.err.find(reason), std::string::npos) << result.err;
  EXPECT_EQ(result.out, "");
  const auto end = result.err.find('\n');
  EXPECT_TRUE(end + 1 == result.err.size() || result.err.compare(end + 1, 6, "hint: ") == 0) << result.err;
}

class CommandTest : public testing::Test {
 protected:
  explicit CommandTest(std::string command) : command_(std::move(command)) {}

  Finished run(std::vector<std::string> words) {
    words.insert(words.begin(), {fourtune_program(), command_});
    return run_program(words, folder.path(), {});
  }
  // Expects a refusal of bad input: exit code 2, the reason on stderr, nothing on stdout.
  void expect_refused(const std::vector<std::string>& words, const std::string& reason) {
    const Finished result = run(words);
    EXPECT_EQ(result.code, 2) << result.out << result.err;
    EXPECT_NE(result.err.find(reason), std::string::npos) << result.err;
    EXPECT_EQ(result.out, "");
  }

  ScratchFolder folder;

 private:
  std::string command_;
};

}  // namespace fourtune::test
