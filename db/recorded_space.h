// Recorded search spaces: every measurement of one problem in one environment as a text file, so that search strategies
// can be replayed and judged offline.
//
// Format: lines of JSON. The first is {"fourtune_space":1,"problem":TOKEN,"environment":{...}}, followed by one line
// per plan: {"plan":TEXT,"status":"ok","error":1.2e-6,"samples_ns":[...]}. "error" is omitted when it was not measured.
// Unknown keys are ignored.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/records.h"
#include "db/tuning_store.h"

namespace fourtune::db {

struct RecordedPlan {
  std::string plan;
  RunStatus status = RunStatus::ok;
  std::optional<double> error;
  std::vector<std::int64_t> samples_ns;
  friend bool operator==(const RecordedPlan&, const RecordedPlan&) = default;
};

struct RecordedSpace {
  std::string problem;
  Environment environment;
  std::vector<RecordedPlan> plans;  // each plan once
  friend bool operator==(const RecordedSpace&, const RecordedSpace&) = default;
};

// All plans tried for the problem in the environment. A plan is ok if any run was, with the samples of all ok runs;
// otherwise it has the latest failure.
RecordedSpace record_space(const TuningStore& store, std::string_view problem, const Environment& environment);
// Throws Error{io} when the stream fails.
void write_space(std::ostream& out, const RecordedSpace& space);
// Throws Error{io} that names the line when the text is not such a file or a plan occurs twice.
RecordedSpace read_space(std::istream& in);

}  // namespace fourtune::db
