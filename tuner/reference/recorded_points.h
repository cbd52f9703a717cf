// Reads points that an application recorded (runtime/record_points.h), and points in .npy files in general.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fourtune/problem.h"
#include "tuner/reference/synthetic.h"

namespace fourtune::tuner {

// Reads coordinates from a .npy file whose shape is (count, dim) or (dim, count), or in 1D also (count). Throws
// Error{invalid_argument} with a message that starts with the path.
template <typename T>
PointSet<T> read_points(const std::filesystem::path& path, int dim);

// The problems recorded in a folder, sorted by name. Throws Error{invalid_argument} when the folder has none, and
// Error{invalid_problem} for a broken token.
std::vector<Problem> recorded_problems(const std::filesystem::path& folder);

// Sources and targets of a recorded problem. Throws Error{invalid_argument} when a file is missing or its number of
// points differs from the problem's.
template <typename T>
PointSet<T> recorded_sources(const Problem& problem, const std::filesystem::path& folder);
template <typename T>
PointSet<T> recorded_targets(const Problem& problem, const std::filesystem::path& folder);

}  // namespace fourtune::tuner
