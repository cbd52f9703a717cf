// Computes ratios from times: who won a problem, geometric means, groups.
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
  too_busy,      // the machine was too busy to judge: there is no ratio
  counted,       // both sides are right
  lost_by_peer,  // ours is right; the peer refused at first, or its error exceeds max(3 tol, 30 eps)
  lost_by_us,    // our error exceeds it
};
const char* to_string(Outcome outcome) noexcept;

inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

struct Score {
  double ratio = kNone;  // the peer's time / ours: above 1 means that we are faster
  Outcome outcome = Outcome::none;
};

// The comparison of one problem. If there are several peers, the one that counts is the fastest peer that is right and
// did not refuse, or else the fastest that ran.
struct Comparison {
  const ContenderResult* tuned = nullptr;  // null: absent or failed
  const ContenderResult* untuned = nullptr;
  const ContenderResult* peer = nullptr;
  Score tuned_score, untuned_score;
  double set_points_ratio = kNone;  // the peer's time / ours (tuned, else untuned)
  double memory_ratio = kNone;      // ours / the peer's: below 1 means that we need less
};
Comparison compare(const ProblemResult& result);

// "nufft type 1 3D", "fft c2c 2D".
std::string group_of(const Problem& problem);

// exp(mean(log)), NaN when empty. Values must be positive.
double geometric_mean(std::span<const double> values);

struct Summary {
  std::size_t counted = 0, lost_by_us = 0, lost_by_peer = 0;
  double mean = kNone;            // geometric mean of the counted ratios
  double mean_with_lost = kNone;  // the same over all that ran, including wrong and forced results with their times
  double worst = kNone;           // lowest of the counted ratios ...
  std::string worst_token;        // ... and its problem
};
struct Scored {
  std::string token;
  Score score;
};
Summary summarise(std::span<const Scored> scores);

}  // namespace fourtune::tools
