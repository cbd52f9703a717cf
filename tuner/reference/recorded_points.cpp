#include "tuner/reference/recorded_points.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>

#include "base/npy.h"
#include "runtime/record_points.h"

namespace fourtune::tuner {
namespace {

template <typename T>
PointSet<T> recorded(const Problem& problem, const std::filesystem::path& folder, const char* what,
                     std::int64_t promised) {
  const std::filesystem::path path = folder / fmt::format("{}.{}.npy", runtime::recording_name(problem), what);
  PointSet<T> points = read_points<T>(path, problem.dim);
  if (points.count() != promised)
    throw Error(Status::invalid_argument,
                fmt::format("{}: holds {} points where the problem says {}; record them again", path.string(),
                            points.count(), promised));
  return points;
}

}  // namespace

template <typename T>
PointSet<T> read_points(const std::filesystem::path& path, int dim) {
  const NpyArray array = read_npy(path);
  const auto rank = array.shape.size();
  const bool rows = (rank == 1 && dim == 1) || (rank == 2 && array.shape[1] == dim);
  const bool columns = rank == 2 && array.shape[0] == dim;
  if (array.is_complex || (!rows && !columns))
    throw Error(
        Status::invalid_argument,
        fmt::format("{0}: holds {1} numbers of shape ({2}); coordinates are real, of shape (count, {3}) or ({3}, "
                    "count), in radians",
                    path.string(), array.is_complex ? "complex" : "real", fmt::join(array.shape, ", "), dim));
  const std::size_t d = static_cast<std::size_t>(dim);
  const std::size_t count = array.values.size() / d;
  PointSet<T> points;
  points.dim = dim;
  for (std::size_t axis = 0; axis < d; ++axis) {
    points.x[axis].resize(count);
    for (std::size_t i = 0; i < count; ++i)
      points.x[axis][i] = static_cast<T>(array.values[rows ? i * d + axis : axis * count + i].real());
  }
  return points;
}

std::vector<Problem> recorded_problems(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> tokens;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".txt") tokens.push_back(entry.path());
  if (error || tokens.empty())
    throw Error(Status::invalid_argument,
                fmt::format("{}: holds no recorded points; run the application with FOURTUNE_RECORD_POINTS={}",
                            folder.string(), folder.string()));
  std::sort(tokens.begin(), tokens.end());
  std::vector<Problem> problems;
  for (const auto& path : tokens) {
    std::string token;
    std::getline(std::ifstream(path) >> std::ws, token);
    problems.push_back(runtime::recorded_problem(parse_problem(token)));
  }
  return problems;
}

template <typename T>
PointSet<T> recorded_sources(const Problem& problem, const std::filesystem::path& folder) {
  return recorded<T>(problem, folder, "points", problem.m.value_or(0));
}
template <typename T>
PointSet<T> recorded_targets(const Problem& problem, const std::filesystem::path& folder) {
  return recorded<T>(problem, folder, "targets", problem.k.value_or(0));
}

#define FOURTUNE_INSTANTIATE(T)                                                           \
  template PointSet<T> read_points<T>(const std::filesystem::path&, int);                 \
  template PointSet<T> recorded_sources<T>(const Problem&, const std::filesystem::path&); \
  template PointSet<T> recorded_targets<T>(const Problem&, const std::filesystem::path&);
FOURTUNE_INSTANTIATE(float)
FOURTUNE_INSTANTIATE(double)
#undef FOURTUNE_INSTANTIATE

}  // namespace fourtune::tuner
