// How fast a session was: plans per second, the share that failed, and how soon a search had found what won in the end.
#pragma once

#include <optional>
#include <string>

#include "tuner/session/session.h"

namespace fourtune::tuner {

// The seconds of the problem's turns after which it had measured a plan within this part of the winner, as the search
// measured both, or the winner. Nothing where the winner is none of this session's plans, and where there is none.
std::optional<double> seconds_to_winner(const ProblemReport& problem, double within = 0.03);

// Two lines for people: plans per second and failures; of how many problems the search was within 3 % of the winner
// after 5 seconds, and how long that took. Empty where nothing was measured.
std::string pace_summary(const Report& report);

}  // namespace fourtune::tuner
