// What a database tells of one problem in one environment: how the search went, what it found, what failed and why.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "db/tuning_store.h"
#include "tuner/report/report.h"

namespace fourtune::tuner {

struct PlanTime {
  std::string plan;    // empty: not measured
  double seconds = 0;  // median of one execute
};

// A stage of the winner beside a time that no implementation of the plan beats on this device.
struct StageFloor {
  std::string stage;
  double seconds = 0;
  double floor = 0;  // 0: not known
};

// Plans that failed in one way.
struct FailureGroup {
  db::RunStatus status = db::RunStatus::rejected;
  std::size_t count = 0;
  std::string message, plan;  // of the first of them
};

struct Story {
  std::string problem;
  db::Environment environment;
  std::vector<double> course;  // seconds of each plan as it was measured first; 0: it failed
  ShowRow winner;              // its plan is empty where no plan has won
  PlanTime untuned, library;
  std::size_t slowed = 0;  // runs during which the device held its clocks down
  std::vector<StageFloor> stages;
  std::vector<FailureGroup> failures;  // the most frequent first
};

// Sorted by environment, as the database has them, then by problem. A problem that this version cannot read is left
// out.
std::vector<Story> stories_of(const db::TuningStore& store);

}  // namespace fourtune::tuner
