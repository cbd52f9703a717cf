// The contents of the database as rows for people and programs: winners, runner-ups and gains. report_format.cpp prints
// them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/tuning_store.h"
#include "tuner/report/screen.h"
#include "tuner/session/session.h"

namespace fourtune::tuner {

// One plan of one problem in one environment.
struct ShowRow {
  std::string problem;
  int rank = 0;  // 0: the winner; 1..: runner-ups, fastest first
  std::string plan;
  double seconds = 0;  // median of one execute
  double speed = 0;
  std::string speed_unit;
  std::optional<double> error;
  double set_points_seconds = 0;
  double gain = 0;                     // untuned time / this time; 0: unknown
  double gain_low = 0, gain_high = 0;  // 95 % interval, of what was timed in turns; 0: unknown
  int rounds = 0;                      // number of interleaved rounds that a winner's times come from
  bool in_turns = false;  // timed in the same rounds as the winner; otherwise by the search, alone, at another time
  std::string device;
  std::string isa;
  db::Freshness freshness = db::Freshness::current;  // relative to the environment `here`
  db::Objective objective = db::Objective::time;     // by which the winner won
  std::optional<double> joules;                      // energy of one execute, as measured last
  std::string state;  // of the device, as at the plan's latest right run: JSON (device_sensors.h)
};

struct ShowOptions {
  std::string problem;  // one canonical token; empty: all problems
  std::size_t runner_ups = 2;
  std::optional<db::Environment> here;  // only rows that this environment could use; absent: all rows
};
// Sorted by problem, then environment, then rank.
std::vector<ShowRow> show_rows(const db::TuningStore& store, const ShowOptions& options);

// The row of one winner; nothing where this version cannot read its problem. `sessions`: those of the store.
std::optional<ShowRow> winner_row(const db::TuningStore& store, const db::StoredVerdict& verdict,
                                  const std::vector<db::StoredSession>& sessions);

enum class Format { table, csv, json };
Format format_from(const std::string& name);  // Throws Error{invalid_option} with a message that lists the names.
// The text ends with a newline. CSV has a header line; JSON is one array of objects.
// A table is as wide as `screen` (table.h).
std::string format_rows(const std::vector<ShowRow>& rows, Format format, const Screen& screen = {});
// The outcome of a session: problem, winner, time, speed, error, gain over the untuned default. It contains no
// warnings.
std::string format_report(const Report& report, Format format, const Screen& screen = {});

// A trace as lines of CSV that end with a newline: one with the names of the columns, and one per step. After the
// step's own columns each task has one, with its seconds (spent.h); the last says why a plan failed.
std::string trace_header();
std::string format_trace(const Trace& trace);

// "1.23 ms", "45.6 us": three digits.
std::string format_seconds(double seconds);

}  // namespace fourtune::tuner
