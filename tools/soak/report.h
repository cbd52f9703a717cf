// The output of a hunt: failure lines, the table of every run, the closing lines.
#pragma once

#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tools/soak/hunt.h"

namespace fourtune::tools {

class SoakReport {
 public:
  // csv: a path, or empty for none. Throws Failure when it cannot be written.
  SoakReport(const HuntOptions& options, const std::string& csv);
  ~SoakReport();
  SoakReport(const SoakReport&) = delete;
  SoakReport& operator=(const SoakReport&) = delete;
  void add(const HuntRun& run);  // writes a line of the CSV at once
  bool csv_is_written() const;   // all of it, or none was asked for
  // Returns the failure's line.
  std::string add_failure(const HuntRun& run, const TriedCase& small);
  // Prints ratios, refusals, and finally "soak: 600 problems, 1740 runs, 0 failures, seed 7, cpu".
  void print_text(const HuntState& state) const;
  void print_json(const HuntState& state) const;

 private:
  const HuntOptions& options_;
  std::FILE* csv_ = nullptr;
  std::vector<std::string> failures_;
  std::map<std::string, int> refusals_;
};

// "600 problems, 1740 runs, 0 failures, seed 7, cpu".
std::string summary_text(const HuntState& state, const HuntOptions& options);
// "123 problems, 345 runs, 0 failures  00:42 left  TOKEN".
std::string progress_text(const HuntState& state, const std::string& token);
void print_trial(const TriedCase& trial);
void print_trial_json(const TriedCase& trial);

// An empty tuning database for this process and its workers only, deleted at the end: no plan that the user has tuned
// is used, and no kernel that only a drawn problem needs is kept.
class ScratchDatabase {
 public:
  ScratchDatabase();
  ~ScratchDatabase();
  ScratchDatabase(const ScratchDatabase&) = delete;
  ScratchDatabase& operator=(const ScratchDatabase&) = delete;

 private:
  std::filesystem::path folder_;
};

}  // namespace fourtune::tools
