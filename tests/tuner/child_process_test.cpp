// A child's descriptor 3 is its end of the socket, whatever descriptors the parent has open.
#include "tuner/worker/child_process.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

namespace fourtune::tuner {
namespace {

std::string echoed(const std::string& line) {
  ChildProcess child({"/bin/sh", "-c", "read words <&3; echo \"got $words\" >&3"});
  std::string answer;
  child.pipe().write(line);
  child.pipe().read(answer, 20);
  return answer;
}

TEST(ChildProcess, TalksOverDescriptor3) { EXPECT_EQ(echoed("two words\n"), "got two words"); }

// The socket's ends are then 0 and 3, so the child's end is where it belongs from the start.
TEST(ChildProcessDeathTest, TalksAlsoIfTheParentHasNoStandardInput) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto talk = [] {
    ::close(0);
    for (int other = 3; other < 64; ++other) ::close(other);
    ::_exit(echoed("two words\n") == "got two words" ? 0 : 1);
  };
  EXPECT_EXIT(talk(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace fourtune::tuner
