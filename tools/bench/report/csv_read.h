// The CSV of an earlier run, to show or plot it again.
#pragma once

#include <string>
#include <vector>

#include "tools/bench/report/report.h"

namespace fourtune::tools {

struct CsvRun {
  std::vector<ProblemResult> results;  // in the file's order
  BenchEnvironment environment;        // of its first row
  // Of several with this token the first that was measured; null: there is none.
  const ProblemResult* find(const std::string& token) const;
};

// What comparison_csv wrote: every sample, with medians and intervals as they were. Throws Failure that names the file
// and the line.
CsvRun read_comparison_csv(const std::string& path);

}  // namespace fourtune::tools
