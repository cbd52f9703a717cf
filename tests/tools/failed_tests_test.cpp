// tools/failed_tests: what failed tests said, from what ctest keeps in a build folder.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/support/program.h"

namespace fourtune::test {
namespace {

TEST(FailedTests, SayTheirFirstAndLastLinesAndOthersNothing) {
  if (!has_program("ctest")) GTEST_SKIP() << "no ctest";
  const std::string tool = FOURTUNE_SOURCE_DIR "/tools/failed_tests";
  const ScratchFolder folder;
  std::filesystem::create_directory(folder / "empty");
  EXPECT_EQ(run_program({tool, "empty"}, folder.path()).out, "") << "nothing ran there";
  write_text(folder / "CTestTestfile.cmake",
             "add_test(right \"/bin/echo\" \"all is well\")\n"
             "add_test(\"wrong/1  # GetParam() = (1, 2)\" \"/bin/sh\" \"-c\" \"seq 100; exit 1\")\n"
             "add_test(wrong.2 \"/bin/sh\" \"-c\" \"echo '[----------] 1 test'; echo; echo why >&2; exit 1\")\n");
  EXPECT_NE(run_program({"ctest", "--parallel", "2"}, folder.path()).code, 0);
  const Finished said = run_program({tool, "."}, folder.path());
  EXPECT_EQ(said.code, 0) << said.err;
  std::string expected = "-- wrong/1  # GetParam() = (1, 2)\n";
  for (int i = 1; i <= 20; ++i) expected += std::to_string(i) + "\n";
  expected += "[60 lines are left out]\n";
  for (int i = 81; i <= 100; ++i) expected += std::to_string(i) + "\n";
  const std::string second = "-- wrong.2\nwhy\n";
  EXPECT_TRUE(said.out == expected + second || said.out == second + expected) << said.out;
  EXPECT_EQ(run_program({tool}, folder.path()).code, 2);
}

}  // namespace
}  // namespace fourtune::test
