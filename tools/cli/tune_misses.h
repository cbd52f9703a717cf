// `fourtune tune --misses`: the problems that applications ran untuned, the most costly ones first.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "db/tuning_store.h"
#include "fourtune/device_traits.h"
#include "fourtune/problem.h"

namespace fourtune::tools {

struct MissedRange {
  std::string file;      // that FOURTUNE_RECORD_MISSES named
  std::string backend;   // whose misses
  DeviceTraits traits;   // of the device that will tune them
  std::size_t most = 0;  // at most so many; 0: all
};
// A problem costs its executes times what the cost model expects of one. Problems whose counts of points differ by less
// than a factor of two serve each other, so of these the dearest stands for all, with the sum of their costs. What has
// a winner in the database is left out; the list can be empty. Notes on stderr say what could not be read. Throws
// Error{io} for a file that is no list of misses.
std::vector<Problem> missed_problems(const MissedRange& range, const db::TuningStore& store);

}  // namespace fourtune::tools
