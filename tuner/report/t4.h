// Measurements in the tuning community's format of results, T4 (schema version 1.0.0 of the "Open Autotuning Results
// Schema", which Kernel Tuner and BAT write and read).
//
// Format: {"schema_version","metadata":{"tool","sessions":[...]},"results":[...]}. A session has its environment, seed,
// strategy, budget and times. A result is one run:
//   configuration  "problem" (token), "plan" (text), and the plan's parameters by name (configuration.h)
//   times          "runtimes": every sample, milliseconds
//   invalidity     correct, constraints, compile, runtime, correctness or timeout; correctness: 1 or 0
//   measurements   time (median, ms), energy (J), error, and what else the row has, which other tools may ignore
//   session        its place in metadata.sessions
// Results that say nothing about a plan (interrupted ones) are left out, and so are verdicts and FFTW's wisdom: what is
// read back is evidence that a session goes on from, no winner.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "db/merge_stores.h"

namespace fourtune::tuner {

// The runs of these problems, or of all. The text does not depend on row numbers: what was read back and is written
// again has the same bytes.
std::string t4_text(const db::StoreContents& contents, const std::vector<std::string>& problems = {});

// The sessions and runs of such a text, ready for db::merge_stores. Throws Error{invalid_argument} that names the first
// result that is not as above.
db::StoreContents contents_of_t4(std::string_view text);

}  // namespace fourtune::tuner
