// Points from .npy files of every form, and what an application recorded.
#include "tuner/reference/recorded_points.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/npy.h"
#include "runtime/record_points.h"

namespace fourtune::tuner {
namespace {

namespace fs = std::filesystem;

class RecordedPoints : public ::testing::Test {
 protected:
  RecordedPoints() {
    std::string name = (fs::temp_directory_path() / "recorded_points_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~RecordedPoints() override { fs::remove_all(folder_); }

  // Values 0, 1, 2, ... in C order.
  fs::path array(const std::string& name, const std::vector<std::int64_t>& shape) const {
    std::size_t count = 1;
    for (const std::int64_t n : shape) count *= static_cast<std::size_t>(n);
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<double>(i);
    write_npy(folder_ / name, "<f8", shape, values.data(), count * sizeof(double));
    return folder_ / name;
  }
  void token(const Problem& problem) const {
    std::ofstream(folder_ / (runtime::recording_name(problem) + ".txt")) << to_token(problem) << "\n";
  }
  std::string refusal(const std::vector<std::int64_t>& shape, int dim) const {
    try {
      read_points<double>(array("refused.npy", shape), dim);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::invalid_argument);
      return error.what();
    }
    return "taken";
  }

  fs::path folder_;
};

using Axis = std::vector<double>;

TEST_F(RecordedPoints, RowsAreOnePointEach) {
  const PointSet<double> points = read_points<double>(array("rows.npy", {4, 3}), 3);
  EXPECT_EQ(points.dim, 3);
  EXPECT_EQ(points.count(), 4);
  EXPECT_EQ(points.x[0], (Axis{0, 3, 6, 9}));
  EXPECT_EQ(points.x[1], (Axis{1, 4, 7, 10}));
  EXPECT_EQ(points.x[2], (Axis{2, 5, 8, 11}));
}

TEST_F(RecordedPoints, ColumnsAreOneAxisEach) {
  const PointSet<double> points = read_points<double>(array("columns.npy", {2, 5}), 2);
  EXPECT_EQ(points.count(), 5);
  EXPECT_EQ(points.x[0], (Axis{0, 1, 2, 3, 4}));
  EXPECT_EQ(points.x[1], (Axis{5, 6, 7, 8, 9}));
  EXPECT_TRUE(points.x[2].empty());
}

TEST_F(RecordedPoints, ASquareArrayHasRows) {
  const PointSet<double> points = read_points<double>(array("square.npy", {2, 2}), 2);
  EXPECT_EQ(points.x[0], (Axis{0, 2}));
  EXPECT_EQ(points.x[1], (Axis{1, 3}));
}

TEST_F(RecordedPoints, OneDimensionTakesThreeForms) {
  for (const auto& shape : std::vector<std::vector<std::int64_t>>{{3}, {3, 1}, {1, 3}}) {
    const PointSet<float> points = read_points<float>(array("line.npy", shape), 1);
    EXPECT_EQ(points.x[0], (std::vector<float>{0, 1, 2})) << shape.size();
  }
}

TEST_F(RecordedPoints, OtherShapesAreNamedWithWhatWouldBeRight) {
  const auto message = [&](const char* shape, int dim) {
    return fmt::format(
        "{0}: holds real numbers of shape ({1}); coordinates are real, of shape (count, {2}) or ({2}, "
        "count), in radians",
        (folder_ / "refused.npy").string(), shape, dim);
  };
  EXPECT_EQ(refusal({6}, 2), message("6", 2));
  EXPECT_EQ(refusal({6}, 3), message("6", 3));
  EXPECT_EQ(refusal({4, 3}, 2), message("4, 3", 2));
  EXPECT_EQ(refusal({2, 2}, 3), message("2, 2", 3));
  EXPECT_EQ(refusal({2, 2, 2}, 2), message("2, 2, 2", 2));
  EXPECT_EQ(refusal({3, 2, 1}, 1), message("3, 2, 1", 1));
}

TEST_F(RecordedPoints, ComplexNumbersAreNoCoordinates) {
  const std::vector<double> values(8, 1);
  write_npy(folder_ / "complex.npy", "<c16", {2, 2}, values.data(), values.size() * sizeof(double));
  try {
    read_points<double>(folder_ / "complex.npy", 2);
    FAIL() << "taken";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("holds complex numbers of shape (2, 2); coordinates are real"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(RecordedPoints, ARecordingHasAsManyPointsAsItsProblem) {
  const Problem problem = runtime::recorded_problem(parse_problem("nufft:type=3,dim=2,m=4,k=3,prec=f64,tol=1e-6"));
  const std::string name = runtime::recording_name(problem);
  array(name + ".points.npy", {4, 2});
  array(name + ".targets.npy", {5, 2});
  EXPECT_EQ(recorded_sources<double>(problem, folder_).x[1], (Axis{1, 3, 5, 7}));
  try {
    recorded_targets<double>(problem, folder_);
    FAIL() << "taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::invalid_argument);
    EXPECT_EQ(error.what(), (folder_ / (name + ".targets.npy")).string() +
                                ": holds 5 points where the problem says 3; record them again");
  }
}

TEST_F(RecordedPoints, AFoldersProblemsAreSortedByName) {
  const Problem second = parse_problem("nufft:type=2,n=8x8,m=7,prec=f32,tol=1e-3");
  const Problem first = parse_problem("nufft:type=1,n=8,m=3,prec=f64,tol=1e-6");
  token(second), token(first);
  std::ofstream(folder_ / "notes.md") << "no token\n";
  const std::vector<Problem> problems = recorded_problems(folder_);
  ASSERT_EQ(problems.size(), 2u);
  std::vector<std::string> names{runtime::recording_name(first), runtime::recording_name(second)};
  std::sort(names.begin(), names.end());
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(problems[i].points, PointClass::recorded);
    EXPECT_EQ(runtime::recording_name(problems[i]), names[i]);
  }
}

TEST_F(RecordedPoints, AFolderWithoutRecordingsSaysHowToMakeThem) {
  for (const fs::path& folder : {folder_, folder_ / "missing"}) try {
      recorded_problems(folder);
      FAIL() << "taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::invalid_argument);
      EXPECT_EQ(error.what(), fmt::format("{0}: holds no recorded points; run the application with "
                                          "FOURTUNE_RECORD_POINTS={0}",
                                          folder.string()));
    }
}

}  // namespace
}  // namespace fourtune::tuner
