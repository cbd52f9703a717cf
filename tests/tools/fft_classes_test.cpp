// tools/fft_classes: what it draws from a seed, and words that it does not know.
#include <gtest/gtest.h>

#include <sstream>

#include "fourtune/problem.h"
#include "tests/support/program.h"

namespace fourtune::test {
namespace {

Finished listed(std::vector<std::string> words) {
  words.insert(words.begin(), {FOURTUNE_SOURCE_DIR "/tools/fft_classes", "list"});
  return run_program(words);
}

TEST(FftClasses, ASeedAlwaysGivesTheSameProblems) {
  const Finished first = listed({"11", "small", "cubes"});
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(first.out, listed({"11", "small", "cubes"}).out);
  EXPECT_NE(first.out, listed({"12", "small", "cubes"}).out);
  std::istringstream lines(first.out);
  int count = 0;
  for (std::string token; std::getline(lines, token); ++count)
    EXPECT_EQ(to_token(parse_problem(token)), token) << "is not the canonical text";
  EXPECT_GT(count, 50);
}

TEST(FftClasses, OtherSeedsAndClassesAreRefusedByName) {
  for (const char* seed : {"seven", "-1", "1.5", "0x10", "", " 7", "1234567890123456789"}) {
    const Finished refused = listed({seed});
    EXPECT_NE(refused.code, 0) << seed;
    EXPECT_NE(refused.err.find("error: seed '" + std::string(seed) + "'"), std::string::npos) << refused.err;
  }
  const Finished refused = listed({"7", "lines", "cube"});
  EXPECT_NE(refused.code, 0);
  EXPECT_NE(refused.err.find("error: class 'cube'"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace fourtune::test
