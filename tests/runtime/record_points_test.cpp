// Recording an application's points never harms its call, and never follows somebody else's file.
#include "runtime/record_points.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/npy.h"
#include "fourtune/transform.h"

namespace fourtune::runtime {
namespace {

namespace fs = std::filesystem;
constexpr const char* kRecorded = "nufft:type=1,n=8,m=3,prec=f64,tol=1e-6";

class RecordPoints : public ::testing::Test {
 protected:
  RecordPoints() {
    std::string name = (fs::temp_directory_path() / "record_points_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    where(folder_ / "points");
  }
  ~RecordPoints() override {
    ::unsetenv("FOURTUNE_RECORD_POINTS");
    fs::remove_all(folder_);
  }
  static void where(const fs::path& path) { ::setenv("FOURTUNE_RECORD_POINTS", path.c_str(), 1); }
  // Calls set_points and execute as an application does, and returns what explain says.
  static std::string run(double first = 0.5) {
    Options options;
    options.default_databases = false;
    Transform transform(kRecorded, options);
    const double x[] = {first, 1, 2};
    transform.set_points({3, x});
    double values[6] = {1}, modes[16];
    transform.execute(values, modes);
    return transform.explain();
  }
  fs::path file(const char* ending) const {
    return folder_ / "points" / (recording_name(parse_problem(kRecorded)) + ending);
  }
  static std::string text(const fs::path& path) {
    std::ostringstream out;
    out << std::ifstream(path).rdbuf();
    return out.str();
  }
  static std::size_t files(const fs::path& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST_F(RecordPoints, WritesTheFirstPointsForTheUserAlone) {
  EXPECT_NE(run(0.25).find("points: recorded in"), std::string::npos);
  EXPECT_EQ(run(0.75).find("points: "), std::string::npos) << "they are there";
  EXPECT_EQ(text(file(".txt")), to_token(recorded_problem(parse_problem(kRecorded))) + "\n");
  const NpyArray array = read_npy(file(".points.npy"));
  ASSERT_EQ(array.count(), 3);
  EXPECT_EQ(array.values[0].real(), 0.25);
  EXPECT_EQ(array.values[2].real(), 2);
  for (const char* ending : {".txt", ".points.npy"}) {
    struct stat status {};
    ASSERT_EQ(::stat(file(ending).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u) << ending;
  }
  EXPECT_EQ(files(folder_ / "points"), 2u) << "nothing unfinished is left";
}

TEST_F(RecordPoints, LinksAreReplacedAndNotFollowed) {
  const fs::path victim = folder_ / "victim";
  std::ofstream(victim) << "precious";
  fs::create_directories(folder_ / "points");
  fs::create_symlink(victim, file(".points.npy"));
  run();
  EXPECT_EQ(text(victim), "precious");
  EXPECT_FALSE(fs::is_symlink(file(".points.npy")));
  EXPECT_EQ(read_npy(file(".points.npy")).count(), 3);
}

TEST_F(RecordPoints, ALinkInThePlaceOfTheTokenEndsTheRecording) {
  fs::create_directories(folder_ / "points");
  fs::create_symlink(folder_ / "elsewhere", file(".txt"));  // its target does not exist yet
  run();
  EXPECT_FALSE(fs::exists(folder_ / "elsewhere"));
  EXPECT_EQ(files(folder_ / "points"), 1u);
}

TEST_F(RecordPoints, AFolderThatCannotBeUsedIsSaidInExplainAndFailsNothing) {
  std::ofstream(folder_ / "file") << "no folder";
  for (const fs::path& bad :
       {folder_ / "file", folder_ / "file" / "below", fs::path("/proc/nowhere"), folder_ / std::string(300, 'x')}) {
    where(bad);
    const std::string said = run();
    EXPECT_NE(said.find("points: not recorded: FOURTUNE_RECORD_POINTS=" + bad.string()), std::string::npos) << said;
  }
  EXPECT_EQ(text(folder_ / "file"), "no folder");
}

TEST_F(RecordPoints, TheSameReasonIsSaidOnce) {
  where("/proc/nowhere");
  Options options;
  options.default_databases = false;
  Transform transform(kRecorded, options);
  const double x[] = {0.5, 1, 2};
  transform.set_points({3, x});
  const std::string once = transform.explain();
  transform.set_points({3, x});
  EXPECT_EQ(transform.explain(), once);
  EXPECT_NE(once.find("not recorded"), std::string::npos) << once;
}

}  // namespace
}  // namespace fourtune::runtime
