// Records the points that an application sets, for `fourtune tune --recorded`.
#pragma once

#include <string>

#include "fourtune/problem.h"
#include "fourtune/transform.h"
#include "runtime/backends/backend.h"

namespace fourtune::runtime {

// The problem for which recorded points are tuned: its class of points is `recorded`.
Problem recorded_problem(const Problem& problem);
// The base name of the files of a recorded problem: NAME.txt holds the token, NAME.points.npy and (type 3)
// NAME.targets.npy the coordinates, of shape (count, dim) in the problem's precision.
std::string recording_name(const Problem& problem);

// If the environment variable FOURTUNE_RECORD_POINTS names a folder, writes the points there and makes the folder if it
// is missing. Only the first points set for each problem are recorded: an existing recording is left alone. `points`
// must lie in the memory of the backend's device. The files are new, accessible to the user alone (mode 0600), and no
// symbolic link is followed. Returns a line for explain that says where the points were recorded or why they could not
// be; a failure to record does not fail the application's call. Otherwise returns an empty text. Without the variable
// the call costs nothing.
std::string record_points(const Problem& problem, const Points& points, const Backend& backend, int device);

}  // namespace fourtune::runtime
