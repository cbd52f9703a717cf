// Reads the CSV of an earlier run, to show or plot it again.
#pragma once

#include <string>
#include <vector>

#include "tools/bench/report/report.h"

namespace fourtune::tools {

struct CsvRun {
  std::vector<ProblemResult> results;  // in the file's order
  BenchEnvironment environment;        // from the file's first row
  // Of several results with this token, returns the first one that was measured; null if there is none.
  const ProblemResult* find(const std::string& token) const;
};

// Reads what comparison_csv wrote: every sample, with the original medians and intervals. Throws Failure that names the
// file and the line.
CsvRun read_comparison_csv(const std::string& path);

}  // namespace fourtune::tools
