// Runs a subcommand of `fourtune` as a user does, in a separate folder.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/program.h"

namespace fourtune::test {

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
