// What a hunt prints and writes: failure lines, the table of every run, the closing lines.
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
  // csv: empty for none; throws Failure when it cannot be written.
  SoakReport(const HuntOptions& options, const std::string& csv);
  ~SoakReport();
  SoakReport(const SoakReport&) = delete;
  SoakReport& operator=(const SoakReport&) = delete;
  void add(const HuntRun& run);  // a line of the CSV, there at once
  // Its line.
  std::string add_failure(const HuntRun& run, const Trial& small);
  // Ratios, refusals, and last "soak: 600 problems, 1740 runs, 0 failures, seed 7, cpu".
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
void print_trial(const Trial& trial);
void print_trial_json(const Trial& trial);

// A tuning database of this process and its workers alone, empty, gone at the end: nothing that the user has tuned is
// used, and no kernel that only a drawn problem needs is kept.
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
