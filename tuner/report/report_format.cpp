// Formats rows and reports as tables, CSV and JSON. Numbers never depend on the locale.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/duration.h"
#include "base/json_text.h"
#include "base/text.h"
#include "tuner/report/json_text.h"
#include "tuner/report/report.h"
#include "tuner/report/table.h"
#include "tuner/session/pace.h"

namespace fourtune::tuner {
namespace {

using Json = nlohmann::ordered_json;

// The texts come from databases, which anybody may have written, and are printed to a terminal.
std::vector<Cells> shown_cells(std::vector<Cells> lines) {
  for (Cells& cells : lines)
    for (std::string& cell : cells) cell = text::shown(cell, kLongestCell);
  return lines;
}

std::string csv(const std::vector<Cells>& raw) {
  std::string text;
  for (const Cells& cells : shown_cells(raw))
    for (std::size_t c = 0; c < cells.size(); ++c) {
      std::string cell = cells[c];
      if (cell.find_first_of(",\"\n") != std::string::npos) {
        std::string quoted = "\"";
        for (const char ch : cell) quoted += ch == '"' ? std::string("\"\"") : std::string(1, ch);
        cell = quoted + '"';
      }
      text += cell + (c + 1 < cells.size() ? ',' : '\n');
    }
  return text;
}

// The shortest text that reads back as the same number; empty for infinite values and NaN.
std::string exact(double value) { return std::isfinite(value) ? fmt::format("{}", value) : std::string(); }
std::string exact(const std::optional<double>& value) { return value ? exact(*value) : std::string(); }
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
Json number(const std::optional<double>& value) { return value ? number(*value) : Json(nullptr); }

std::string short_error(const std::optional<double>& error) { return error ? fmt::format("{:.1e}", *error) : "-"; }
std::string short_speed(double speed, const std::string& unit) {
  return speed > 0 ? fmt::format("{:.3g} {}", speed, unit) : "-";
}
std::string short_gain(double gain, double low, double high) {
  if (!(gain > 0)) return "-";
  if (!(low > 0) || !(high > 0) || !std::isfinite(high) || low == high) return fmt::format("{:.2f}x", gain);
  return fmt::format("{:.2f}x [{:.2f}, {:.2f}]", gain, low, high);
}

// "1.23 mJ"
std::string short_joules(const std::optional<double>& joules) {
  if (!joules) return "-";
  return *joules < 1e-3 ? fmt::format("{:.3g} uJ", *joules * 1e6)
         : *joules < 1  ? fmt::format("{:.3g} mJ", *joules * 1e3)
                        : fmt::format("{:.3g} J", *joules);
}

// Plans that the search once saw much faster than the winner: the winner may be worth tuning again.
std::string faster_notes(const std::vector<ShowRow>& rows, const Screen& screen) {
  constexpr double worth_saying = 1.2;
  std::string text;
  const ShowRow* winner = nullptr;
  for (const ShowRow& row : rows) {
    if (row.rank == 0) winner = &row;
    if (row.rank == 0 || !winner || !(row.seconds * worth_saying < winner->seconds)) continue;
    text += wrapped(fmt::format("warning: a search saw number {} of {} {:.1f}x faster than its winner; the machine was "
                                "busy then or since: tune it again\n",
                                row.rank, text::shown(row.problem), winner->seconds / row.seconds),
                    2, screen);
  }
  return text;
}

std::string rows_table(const std::vector<ShowRow>& rows, const Screen& screen) {
  if (rows.empty()) return "nothing tuned yet\n";
  std::vector<Cells> lines{{"problem", "rank", "time", "speed", "set_points", "error", "gain over untuned", "plan"}};
  for (const ShowRow& row : rows)
    lines.push_back({row.rank == 0 ? row.problem : "", row.rank == 0 ? "winner" : fmt::format("{}", row.rank),
                     (row.in_turns ? "" : "~") + format_seconds(row.seconds), short_speed(row.speed, row.speed_unit),
                     row.set_points_seconds > 0 ? format_seconds(row.set_points_seconds) : "-", short_error(row.error),
                     short_gain(row.gain, row.gain_low, row.gain_high),
                     row.plan +
                         (row.rank == 0 && row.freshness != db::Freshness::current
                              ? fmt::format("  ({})", db::to_string(row.freshness))
                              : "") +
                         (row.rank == 0 && row.objective == db::Objective::energy
                              ? fmt::format("  (by energy: {})", short_joules(row.joules))
                              : "")});
  std::string text = table_text(lines, {{1, 2, 3, 4, 5}, 0, 7}, screen);
  if (std::any_of(rows.begin(), rows.end(), [](const ShowRow& row) { return !row.in_turns; }))
    text +=
        wrapped("~: as the search measured it, alone; times without ~ were measured in turns and compare\n", 0, screen);
  return text + faster_notes(rows, screen);
}

std::string rows_csv(const std::vector<ShowRow>& rows) {
  std::vector<Cells> lines{{"problem", "rank", "plan", "seconds", "speed", "speed_unit", "error", "set_points_seconds",
                            "gain", "gain_low", "gain_high", "rounds", "device", "isa", "freshness", "in_turns",
                            "objective", "joules", "state"}};
  for (const ShowRow& row : rows)
    lines.push_back({row.problem, fmt::format("{}", row.rank), row.plan, exact(row.seconds), exact(row.speed),
                     row.speed_unit, exact(row.error), exact(row.set_points_seconds), exact(row.gain),
                     exact(row.gain_low), exact(row.gain_high), fmt::format("{}", row.rounds), row.device, row.isa,
                     db::to_string(row.freshness), row.in_turns ? "1" : "0", db::to_string(row.objective),
                     exact(row.joules), row.state});
  return csv(lines);
}

std::string rows_json(const std::vector<ShowRow>& rows) {
  Json list = Json::array();
  for (const ShowRow& row : rows)
    list.push_back({{"problem", row.problem},
                    {"rank", row.rank},
                    {"plan", row.plan},
                    {"seconds", number(row.seconds)},
                    {"speed", number(row.speed)},
                    {"speed_unit", row.speed_unit},
                    {"error", number(row.error)},
                    {"set_points_seconds", number(row.set_points_seconds)},
                    {"gain", number(row.gain)},
                    {"gain_low", number(row.gain_low)},
                    {"gain_high", number(row.gain_high)},
                    {"rounds", row.rounds},
                    {"device", row.device},
                    {"isa", row.isa},
                    {"freshness", db::to_string(row.freshness)},
                    {"in_turns", row.in_turns},
                    {"objective", db::to_string(row.objective)},
                    {"joules", number(row.joules)},
                    {"state", row.state}});
  return json_text(list);
}

std::string report_table(const Report& report, const Screen& screen) {
  const bool energy = std::any_of(report.problems.begin(), report.problems.end(),
                                  [](const ProblemReport& p) { return p.joules.has_value(); });
  std::vector<Cells> lines{
      {"problem", "time", energy ? "energy" : "speed", "set_points", "error", "gain over untuned", "tried", "winner"}};
  for (const ProblemReport& p : report.problems) {
    const std::string tried = fmt::format("{}{}/{}", p.evaluations + p.reused,
                                          p.failures ? fmt::format(" ({} failed)", p.failures) : "", p.candidates);
    const bool timed = p.seconds > 0;
    lines.push_back({p.problem, timed ? format_seconds(p.seconds) : "-",
                     energy ? short_joules(p.joules) : short_speed(p.speed, p.speed_unit),
                     p.set_points_seconds > 0 ? format_seconds(p.set_points_seconds) : "-", short_error(p.error),
                     timed ? short_gain(p.untuned_seconds > 0 ? p.gain : 0, p.gain_low, p.gain_high) : "-", tried,
                     p.winner.empty() ? p.note : p.winner});
  }
  return table_text(lines, {{1, 2, 3, 4, 6}, 0, 7}, screen);
}

std::string report_csv(const Report& report) {
  std::vector<Cells> lines{{"problem",
                            "winner",
                            "seconds",
                            "low",
                            "high",
                            "speed",
                            "speed_unit",
                            "error",
                            "set_points_seconds",
                            "untuned",
                            "untuned_seconds",
                            "gain",
                            "gain_low",
                            "gain_high",
                            "candidates",
                            "evaluations",
                            "reused",
                            "failures",
                            "elapsed",
                            "note"}};
  const auto count = [](std::size_t n) { return fmt::format("{}", n); };
  for (const ProblemReport& p : report.problems)
    lines.push_back({p.problem,
                     p.winner,
                     exact(p.seconds),
                     exact(p.low),
                     exact(p.high),
                     exact(p.speed),
                     p.speed_unit,
                     exact(p.error),
                     exact(p.set_points_seconds),
                     p.untuned,
                     exact(p.untuned_seconds),
                     exact(p.gain),
                     exact(p.gain_low),
                     exact(p.gain_high),
                     count(p.candidates),
                     count(p.evaluations),
                     count(p.reused),
                     count(p.failures),
                     exact(p.elapsed),
                     p.note});
  return csv(lines);
}

Json spent_json(const Spent& spent) {
  Json json = Json::object();
  for (std::size_t i = 0; i < task_count; ++i) json[std::string(task_names[i])] = number(spent.seconds[i]);
  return json;
}

std::string report_json(const Report& report) {
  Json list = Json::array();
  for (const ProblemReport& p : report.problems)
    list.push_back({{"problem", p.problem},
                    {"winner", p.winner},
                    {"seconds", number(p.seconds)},
                    {"low", number(p.low)},
                    {"high", number(p.high)},
                    {"speed", number(p.speed)},
                    {"speed_unit", p.speed_unit},
                    {"error", number(p.error)},
                    {"set_points_seconds", number(p.set_points_seconds)},
                    {"untuned", p.untuned},
                    {"untuned_seconds", number(p.untuned_seconds)},
                    {"served", p.served},
                    {"served_seconds", number(p.served_seconds)},
                    {"tuned_before", p.tuned_before},
                    {"gain", number(p.gain)},
                    {"gain_low", number(p.gain_low)},
                    {"gain_high", number(p.gain_high)},
                    {"candidates", p.candidates},
                    {"evaluations", p.evaluations},
                    {"reused", p.reused},
                    {"failures", p.failures},
                    {"elapsed", number(p.elapsed)},
                    {"seconds_to_winner", number(seconds_to_winner(p))},
                    {"spent", spent_json(p.spent)},
                    {"joules", number(p.joules)},
                    {"untuned_joules", number(p.untuned_joules)},
                    {"repeats", p.repeats},
                    {"slowed", p.slowed},
                    {"busy_samples", p.busy.disturbed},
                    {"samples", p.busy.samples},
                    {"note", p.note}});
  return json_text(list);
}

}  // namespace

std::string json_text(const nlohmann::ordered_json& json) { return ordered_json_lines(json, 2, Letters::ascii) + '\n'; }

Format format_from(const std::string& name) {
  if (name == "table") return Format::table;
  if (name == "csv") return Format::csv;
  if (name == "json") return Format::json;
  throw Error(Status::invalid_option, "no format '" + text::shown(name) + "'; there are: table, csv, json");
}

std::string format_rows(const std::vector<ShowRow>& rows, Format format, const Screen& screen) {
  return format == Format::table ? rows_table(rows, screen) : format == Format::csv ? rows_csv(rows) : rows_json(rows);
}

std::string format_report(const Report& report, Format format, const Screen& screen) {
  return format == Format::table ? report_table(report, screen)
         : format == Format::csv ? report_csv(report)
                                 : report_json(report);
}

std::string trace_header() {
  Cells cells{"at", "problem", "step", "plan", "status", "seconds"};
  cells.insert(cells.end(), task_names.begin(), task_names.end());
  cells.emplace_back("message");
  return csv({cells});
}

std::string format_trace(const Trace& trace) {
  Cells cells{fmt::format("{:.6f}", trace.at), trace.problem,       to_string(trace.step), trace.plan,
              db::to_string(trace.status),     exact(trace.seconds)};
  for (const double seconds : trace.spent.seconds) cells.push_back(fmt::format("{:.6f}", seconds));
  cells.push_back(trace.message);
  return csv({cells});
}

std::string format_seconds(double seconds) { return text::duration(seconds); }

}  // namespace fourtune::tuner
