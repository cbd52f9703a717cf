#include "tools/common/tune_outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "base/text.h"
#include "tools/common/errors.h"
#include "tools/common/say.h"
#include "tuner/session/pace.h"

namespace fourtune::tools {

void print_outcome(const tuner::Report& report, const Output& output, const std::filesystem::path& database,
                   const std::string& command, const std::string& footer) {
  const auto format = tuner::format_from(output.format);
  fmt::print("{}", tuner::format_report(report, format, output.screen()));
  const std::string summary = (report.problems.size() > 1 ? tuner::pace_summary(report) : std::string()) + footer;
  if (format == tuner::Format::table)
    fmt::print("{}", summary);
  else
    say("{}", summary);
  std::fflush(stdout);
  for (const std::string& warning : report.warnings) say("fourtune: warning: {}\n", text::shown(warning, 2000));
  tuner::BusyCount busy;
  bool undecided = false;
  std::size_t repeats = 0, slowed = 0;
  for (const tuner::ProblemReport& problem : report.problems) {
    busy += problem.busy;
    repeats += problem.repeats, slowed += problem.slowed;
    undecided = undecided || problem.undecided;
  }
  if (busy.matters() || undecided)
    say("fourtune: note: {}; these decided nothing{}\n", busy.text(),
        undecided ? ", and not every problem could be judged" : "");
  if (repeats + slowed > 0)
    say("fourtune: note: the device held its clocks down: {} measurements were taken again, {} stayed so (the "
        "database has each run's clocks)\n",
        repeats, slowed);
  if (report.interrupted)
    throw Error(Status::interrupted,
                fmt::format("interrupted; everything finished is kept in {}, and the same command resumes{}{}",
                            database.string(), command.empty() ? "" : "\nhint: ", text::shown(command, 4096)));
  const auto unsolved = [&](bool left_undecided) {
    return std::any_of(report.problems.begin(), report.problems.end(), [&](const tuner::ProblemReport& problem) {
      return problem.winner.empty() && problem.undecided == left_undecided;
    });
  };
  const bool all_stored = std::none_of(report.warnings.begin(), report.warnings.end(), [](const std::string& warning) {
    return warning.starts_with(tuner::not_stored_mark);
  });
  if (!all_stored)
    throw Failure(fmt::format("not everything could be stored in {}", database.string()),
                  "what was stored before is kept, and the same command goes on from there");
  if (unsolved(false))
    throw Failure("no plan gave a right result for at least one problem", "its note is in the table");
  if (unsolved(true))
    throw Failure("at least one problem has no winner: this machine was too busy to judge",
                  "the measurements are kept; the same command goes on when it is quiet", kExitTooBusy);
}

}  // namespace fourtune::tools
