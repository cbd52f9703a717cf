// What a tuning command prints at its end, and how it ends.
#pragma once

#include <filesystem>
#include <string>

#include "tools/common/output.h"
#include "tuner/report/report.h"

namespace fourtune::tools {

// Prints the report to stdout and its warnings to stderr. Throws Error{interrupted} when the session was stopped, and
// Failure when something could not be stored in the database or a problem has no winner: with kExitTooBusy where all
// that is missing is a quiet machine. command: what the user typed, for the hint of an interrupted session; empty where
// another program started this one. footer: printed after a table, else to stderr.
void print_outcome(const tuner::Report& report, const Output& output, const std::filesystem::path& database,
                   const std::string& command, const std::string& footer = {});

}  // namespace fourtune::tools
