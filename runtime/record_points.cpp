#include "runtime/record_points.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "runtime/base/npy.h"

namespace fourtune::runtime {
namespace {

void write_coordinates(const std::filesystem::path& path, const Problem& problem, std::array<const void*, 3> from,
                       std::int64_t count, ArrayMemory& memory) {
  const auto real = static_cast<std::size_t>(real_bytes(problem.precision)), n = static_cast<std::size_t>(count),
             dim = static_cast<std::size_t>(problem.dim);
  std::vector<std::byte> one(n * real), all(one.size() * dim);
  for (std::size_t d = 0; d < dim; ++d) {
    memory.download(one.data(), from[d], one.size());
    for (std::size_t i = 0; i < n; ++i) std::memcpy(all.data() + (i * dim + d) * real, one.data() + i * real, real);
  }
  write_npy(path, problem.precision == Precision::f32 ? "<f4" : "<f8", {count, problem.dim}, all.data(), all.size());
}

}  // namespace

Problem recorded_problem(const Problem& problem) {
  Problem out = problem;
  out.points = PointClass::recorded;
  return out;
}

std::string recording_name(const Problem& problem) {
  std::string name = to_token(recorded_problem(problem));
  for (char& letter : name)
    if (std::string_view(":,=").find(letter) != std::string_view::npos) letter = '_';
  return name;
}

void record_points(const Problem& problem, const Points& points, const Backend& backend, int device) {
  const char* folder = std::getenv("FOURTUNE_RECORD_POINTS");
  if (!folder || !*folder || points.m == 0) return;
  const std::filesystem::path base = std::filesystem::path(folder) / recording_name(problem);
  const std::filesystem::path token = base.string() + ".txt";
  std::error_code error;
  if (std::filesystem::exists(token, error)) return;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw Error(Status::io, fmt::format("FOURTUNE_RECORD_POINTS: {} cannot be made: {}", folder, error.message()));
  const auto memory = backend.memory(device);
  write_coordinates(base.string() + ".points.npy", problem, {points.x, points.y, points.z}, points.m, *memory);
  if (problem.type == 3)
    write_coordinates(base.string() + ".targets.npy", problem, {points.s, points.t, points.u}, points.k, *memory);
  // Last: a recording with a token is whole.
  std::ofstream file(token);
  file << to_token(recorded_problem(problem)) << '\n';
  file.close();
  if (!file) throw Error(Status::io, fmt::format("{}: cannot be written", token.string()));
}

}  // namespace fourtune::runtime
