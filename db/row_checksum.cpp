#include "db/row_checksum.h"

#include <fmt/format.h>

#include <cmath>
#include <initializer_list>
#include <optional>
#include <vector>

#include "db/digest.h"

namespace fourtune::db {
namespace {

// The shortest texts that read back as the same number. SQLite does not keep the sign of zero.
std::string text_of(double value) { return fmt::format("{}", value + 0.0); }
std::string text_of(std::int64_t value) { return fmt::format("{}", value); }
// SQLite stores NaN as NULL.
std::string text_of(const std::optional<double>& value) {
  return value && !std::isnan(*value) ? text_of(*value) : std::string();
}

// Of a row of this kind: the environment that it belongs to, then its own fields without the last `left_out`.
std::string checksum(std::string_view kind, const Environment& e, std::initializer_list<std::string_view> row,
                     std::ptrdiff_t left_out) {
  std::vector<std::string_view> fields{kind,     e.backend,  e.device,    e.isa,      e.traits,
                                       e.driver, e.compiler, e.libraries, e.generator};
  fields.insert(fields.end(), row.begin(), row.end() - left_out);
  return blake2b(fields);
}

}  // namespace

std::string checksum_of(const Verdict& verdict, const Environment& environment, std::int64_t created_ms,
                        std::string_view withdrawn) {
  // What earlier versions did not have is part of a row's kind and fields only where it is there.
  const bool of_time = verdict.objective == Objective::time;
  return checksum(of_time ? "verdict 1" : "verdict 2", environment,
                  {verdict.problem, verdict.plan, verdict.replaces, verdict.validity, text_of(verdict.winner_ns),
                   text_of(verdict.incumbent_ns), text_of(verdict.ratio_low), text_of(verdict.ratio_high),
                   text_of(std::int64_t{verdict.rounds}), text_of(created_ms), withdrawn,
                   of_time ? std::string_view() : to_string(verdict.objective)},
                  of_time ? 1 : 0);
}

std::string checksum_of(const Run& run, const Environment& environment, std::string_view samples,
                        std::string_view stages) {
  const bool senses = !run.state.empty() || run.joules;
  return checksum(senses ? "run 2" : "run 1", environment,
                  {run.problem, run.plan, text_of(std::int64_t{run.round}), to_string(run.status), text_of(run.error),
                   samples, stages, text_of(run.memory_bytes), run.wisdom, run.message, text_of(run.started_ms),
                   run.kernels, run.state, text_of(run.joules)},
                  senses ? 0 : 2);
}

}  // namespace fourtune::db
