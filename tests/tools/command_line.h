// The built command line in a scratch folder, with a database of the test, for tests that do what a user does.
#pragma once
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/command.h"
#include "tests/support/program.h"

namespace fourtune::test {

class CommandLine : public testing::Test {
 protected:
  // The user's database is a file of the test.
  Finished run(std::vector<std::string> words) {
    words.insert(words.begin(), fourtune_program());
    return run_program(words, folder.path(), {{"FOURTUNE_DB", (folder / "own.db").string()}, {"OMP_NUM_THREADS", "2"}});
  }
  // Tunes on the processor by CPU time: other load neither leaves a problem without a winner (exit code 75) nor decides
  // which one wins.
  Finished tune(std::vector<std::string> words) {
    words.insert(words.begin(), "tune");
    words.insert(words.end(), {"--threads", "1", "--cpu-time"});
    return run(words);
  }
  // Expects a refusal as bad usage or input, with one line of error that contains `reason`.
  void expect_refused(const std::vector<std::string>& words, const std::string& reason, int code = 2) {
    expect_refusal(run(words), reason, code);
  }
  nlohmann::json run_json(std::vector<std::string> words) {
    const Finished result = run(std::move(words));
    EXPECT_EQ(result.code, 0) << result.err;
    return nlohmann::json::parse(result.out, nullptr, false);
  }
  std::string file(const std::string& name, const std::string& text) {
    write_text(folder / name, text);
    return (folder / name).string();
  }

  ScratchFolder folder;
};

}  // namespace fourtune::test
