// From times to ratios: who won a problem, geometric means, groups.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "tools/bench/measure/measure.h"

namespace fourtune::tools {

enum class Outcome {
  none,          // one side is missing
  counted,       // both sides are right
  lost_by_peer,  // the peer refused at first, or its answer misses max(3 tol, 30 eps), and ours is right
  lost_by_us,    // our answer misses it
};
const char* to_string(Outcome outcome) noexcept;

inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

struct Score {
  double ratio = kNone;  // the peer's time / ours: above 1 we are faster
  Outcome outcome = Outcome::none;
};

// One problem. With several peers the peer of a problem is the fastest one that is right and did not refuse; if there
// is none, the fastest that ran.
struct Comparison {
  const ContenderResult* tuned = nullptr;  // null: absent or failed
  const ContenderResult* untuned = nullptr;
  const ContenderResult* peer = nullptr;
  Score tuned_score, untuned_score;
  double set_points_ratio = kNone;  // the peer's / ours (tuned, else untuned)
  double memory_ratio = kNone;      // ours / the peer's: below 1 we need less
};
Comparison compare(const ProblemResult& result);

// "nufft type 1 3D", "fft c2c 2D".
std::string group_of(const Problem& problem);

// exp(mean(log)), NaN when empty. Values must be positive.
double geometric_mean(std::span<const double> values);

struct Summary {
  std::size_t counted = 0, lost_by_us = 0, lost_by_peer = 0;
  double mean = kNone;            // geometric, over the counted
  double mean_with_lost = kNone;  // and over all that ran, wrong and forced answers timed as they are
  double worst = kNone;           // least ratio of the counted ...
  std::string worst_token;        // ... and its problem
};
struct Scored {
  std::string token;
  Score score;
};
Summary summarise(std::span<const Scored> scores);

}  // namespace fourtune::tools
