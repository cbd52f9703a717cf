// Points that an application recorded (runtime/record_points.h), and points in files at large.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fourtune/problem.h"
#include "tuner/reference/synthetic.h"

namespace fourtune::tuner {

// Coordinates from a .npy file whose shape is (count, dim) or (dim, count); in 1D also (count). Throws
// Error{invalid_argument} that starts with the path.
template <typename T>
PointSet<T> read_points(const std::filesystem::path& path, int dim);

// The problems recorded in a folder, by name. Throws Error{invalid_argument} when the folder has none,
// Error{invalid_problem} for a broken token.
std::vector<Problem> recorded_problems(const std::filesystem::path& folder);

// Sources and targets of one of them. Throws Error{invalid_argument} when a file is missing or holds another number of
// points than the problem says.
template <typename T>
PointSet<T> recorded_sources(const Problem& problem, const std::filesystem::path& folder);
template <typename T>
PointSet<T> recorded_targets(const Problem& problem, const std::filesystem::path& folder);

}  // namespace fourtune::tuner
