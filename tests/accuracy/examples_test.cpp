// Runs the example programs as users run them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

struct Outcome {
  int status;
  std::string text;
};
Outcome run(const std::string& arguments) {
  Outcome outcome{-1, {}};
  FILE* pipe = popen((std::string(FOURTUNE_BUILD_DIR "/bin/") + arguments + " 2>&1").c_str(), "r");
  if (!pipe) return outcome;
  std::array<char, 4096> buffer;
  while (const std::size_t got = fread(buffer.data(), 1, buffer.size(), pipe)) outcome.text.append(buffer.data(), got);
  outcome.status = pclose(pipe);
  return outcome;
}

// The number after the first `label` that follows position `from`.
double number_after(const std::string& text, const std::string& label, std::size_t from = 0) {
  const std::size_t at = text.find(label, from);
  return at == std::string::npos ? -1 : std::strtod(text.c_str() + at + label.size(), nullptr);
}

TEST(Examples, QuickstartsInCAndCppMeetTheirTolerance) {
  for (const char* program : {"quickstart_c", "quickstart_cpp"}) {
    const Outcome outcome = run(program);
    EXPECT_EQ(outcome.status, 0) << outcome.text;
    const double error = number_after(outcome.text, "relative error ");
    EXPECT_GT(error, 0) << outcome.text;
    EXPECT_LE(error, 3e-9) << outcome.text;
  }
}

TEST(Examples, ConvolutionInReversedOrderIsTheSumOverNeighbours) {
  const Outcome outcome = run("convolution");
  EXPECT_EQ(outcome.status, 0) << outcome.text;
  const double error = number_after(outcome.text, "relative error ");
  EXPECT_GT(error, 0) << outcome.text;
  EXPECT_LE(error, 1e-6) << outcome.text;  // where the Gaussian is sampled and cut
}

TEST(Examples, ReconstructionImprovesOnTheAdjointForEveryTrajectory) {
  const auto folder = std::filesystem::temp_directory_path() / ("fourtune-examples-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  for (const char* options : {"--dim 2 --size 64 --trajectory spiral", "--dim 2 --size 63 --trajectory radial",
                              "--dim 2 --size 64 --trajectory random", "--dim 3 --size 20 --trajectory spiral",
                              "--dim 3 --size 20 --trajectory radial", "--dim 3 --size 20 --trajectory random"}) {
    const auto png = folder / "image.png";
    const Outcome outcome = run("reconstruct " + std::string(options) + " --out " + png.string());
    ASSERT_EQ(outcome.status, 0) << options << "\n" << outcome.text;
    const double adjoint = number_after(outcome.text, "relative error ", outcome.text.find("\nadjoint"));
    const double solved = number_after(outcome.text, "relative error ", outcome.text.find("\nconjugate gradients"));
    EXPECT_GT(solved, 0) << outcome.text;
    EXPECT_LT(solved, adjoint) << options << "\n" << outcome.text;
    EXPECT_LT(solved, std::string(options).starts_with("--dim 2") ? 0.2 : 0.3) << options << "\n" << outcome.text;
    std::ifstream file(png, std::ios::binary);
    std::string signature(4, ' ');
    file.read(signature.data(), 4);
    EXPECT_EQ(signature, "\x89PNG");
  }
  std::filesystem::remove_all(folder);
}

TEST(Examples, ReconstructionExplainsWhatIsWrong) {
  EXPECT_NE(run("reconstruct --trajectory zigzag").status, 0);
  const Outcome outcome = run("reconstruct --size 16 --out /nonexistent-folder/image.png");
  EXPECT_NE(outcome.status, 0);
  EXPECT_NE(outcome.text.find("/nonexistent-folder/image.png"), std::string::npos) << outcome.text;
}

TEST(Examples, CylinderMeetsThePapersBound) {
  const Outcome outcome = run("cylinder");
  ASSERT_EQ(outcome.status, 0) << outcome.text;
  const double difference = number_after(outcome.text, "NUFFT against exact aggregation ");
  EXPECT_GT(difference, 0) << outcome.text;
  EXPECT_LE(difference, 1e-10) << outcome.text;
}

}  // namespace
