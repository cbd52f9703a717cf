// tools/cufft_speed with a CuPy that takes no time (tests/tools/fake_frameworks): ratios on a host whose processors are
// fast and slow by turns.
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/program.h"

namespace fourtune::test {
namespace {

class CufftSpeed : public testing::Test {
 protected:
  // The library is one that nobody calls.
  Finished timed(std::vector<std::string> words, const std::string& slower) {
    words.insert(words.begin(), {FOURTUNE_SOURCE_DIR "/tools/cufft_speed", "20264902", "--count", "24", "--frameworks",
                                 "cupy", "--library", FOURTUNE_BUILD_DIR "/tests/peers/fake_cufft.so"});
    return run_program(
        words, folder_.path(),
        {{"PYTHONPATH", folder_.path().string() + ":" FOURTUNE_SOURCE_DIR "/tests/tools/fake_frameworks"},
         {"PYTHONDONTWRITEBYTECODE", "1"},
         {"FAKE_SLOWER", slower}});
  }
  // Of each size, by its name, as the table has them.
  std::map<std::string, double> ratios() const {
    std::map<std::string, double> found;
    std::istringstream lines(read_text(folder_ / "table.csv"));
    std::string line;
    for (std::getline(lines, line); std::getline(lines, line);)
      found[line.substr(5, line.find(',', 5) - 5)] = std::stod(line.substr(line.rfind(',') + 1));
    return found;
  }

  ScratchFolder folder_;
};

TEST_F(CufftSpeed, OfTheSameLibraryInBothHalvesIsOne) {
  const Finished same = timed({"--mode", "off", "--more", "12", "--csv", "table.csv"}, "1");
  ASSERT_EQ(same.code, 0) << same.err;
  const auto found = ratios();
  EXPECT_GT(found.size(), 20u);
  for (const auto& [size, ratio] : found) EXPECT_NEAR(ratio, 1, 0.05) << size;
}

TEST_F(CufftSpeed, FindsTheSizesThatAreSlower) {
  const Finished slower = timed({"--more", "12", "--csv", "table.csv"}, "1.1");
  ASSERT_EQ(slower.code, 0) << slower.err;
  int real = 0;
  for (const auto& [size, ratio] : ratios()) {
    const bool planted = size.starts_with("rfft") && size.find("f64") != std::string::npos;
    real += planted;
    EXPECT_NEAR(ratio, planted ? 1 / 1.1 : 1, planted ? 0.03 : 0.05) << size;
  }
  EXPECT_GT(real, 0);
  // Of an earlier table those below 0.97 are timed again, and no others.
  const Finished again = timed({"--again", "table.csv"}, "1.1");
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.out.find("cupy: " + std::to_string(real) + " sizes"), std::string::npos) << again.out;
}

TEST_F(CufftSpeed, AFrameworkThatIsNotThereIsSkippedAndAProcessThatEndsIsSaid) {
  write_text(folder_ / "torch.py", "raise ModuleNotFoundError('torch')\n");
  EXPECT_EQ(timed({"--frameworks", "torch"}, "1").code, 77);
  write_text(folder_ / "torch.py", "raise SystemExit('no device today')\n");
  const Finished ended = timed({"--frameworks", "torch"}, "1");
  EXPECT_EQ(ended.code, 1);
  EXPECT_NE(ended.err.find("error: torch ended early\nno device today"), std::string::npos) << ended.err;
}

}  // namespace
}  // namespace fourtune::test
