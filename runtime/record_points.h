// Recording of the points that an application sets, for `fourtune tune --recorded`.
#pragma once

#include <string>

#include "fourtune/problem.h"
#include "fourtune/transform.h"
#include "runtime/backends/backend.h"

namespace fourtune::runtime {

// The problem under which recorded points are tuned: its class is `recorded`.
Problem recorded_problem(const Problem& problem);
// What the files of a recorded problem are called: NAME.txt holds the token, NAME.points.npy and (type 3)
// NAME.targets.npy the coordinates, of shape (count, dim) in the problem's precision.
std::string recording_name(const Problem& problem);

// If the environment variable FOURTUNE_RECORD_POINTS names a folder, writes the points there (made if it is missing),
// the first ones set for each problem: what is there is left alone. `points` lie in the memory of the backend's device.
// Files are new ones of the user alone (mode 0600) and no symbolic link is followed. Returns a line for explain: where
// they were recorded, or why they could not be, which is no failure of the application's call; else nothing. Without
// the variable it costs nothing.
std::string record_points(const Problem& problem, const Points& points, const Backend& backend, int device);

}  // namespace fourtune::runtime
