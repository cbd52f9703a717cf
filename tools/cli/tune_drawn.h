// `fourtune tune --drawn`: tunes a device for everything rather than for a list of problems.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fourtune/problem.h"
#include "tuner/session/session.h"

namespace fourtune::tools {

struct DrawnRange {
  std::vector<Kind> kinds;  // in turn
  std::uint64_t seed = 1;
  double megabytes = 60;  // most that the arrays of a problem take
};
// "fft", "nufft", or both with a comma. Throws UsageError.
std::vector<Kind> drawn_kinds(const std::string& text);
// So many different problems of the soak's distribution (problem_draw.h). Throws UsageError when there are none as
// small.
std::vector<Problem> drawn_problems(const DrawnRange& range, std::size_t count);
// As many as can be tuned well within so many seconds: 5 s found a plan within 3 % of the best for four of five drawn
// problems on an H100.
std::size_t drawn_count(double seconds);

// How far the choice for a problem that was never tuned is from a tuned plan: before the session (the cost model's),
// and by the database as it was when the problem's turn came, for the first and the last third of the problems. Every
// drawn problem is new to the database when its turn comes; those that are not are left out. A few lines for people.
std::string drawn_summary(const tuner::Report& report);

}  // namespace fourtune::tools
