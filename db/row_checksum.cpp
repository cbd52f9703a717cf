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

// Of a row of this kind: the environment that it belongs to, then its own fields.
std::string checksum(std::string_view kind, const Environment& e, std::initializer_list<std::string_view> row) {
  std::vector<std::string_view> fields{kind,     e.backend,  e.device,    e.isa,      e.traits,
                                       e.driver, e.compiler, e.libraries, e.generator};
  fields.insert(fields.end(), row.begin(), row.end());
  return blake2b(fields);
}

}  // namespace

std::string checksum_of(const Verdict& verdict, const Environment& environment, std::int64_t created_ms,
                        std::string_view withdrawn) {
  return checksum("verdict 1", environment,
                  {verdict.problem, verdict.plan, verdict.replaces, verdict.validity, text_of(verdict.winner_ns),
                   text_of(verdict.incumbent_ns), text_of(verdict.ratio_low), text_of(verdict.ratio_high),
                   text_of(std::int64_t{verdict.rounds}), text_of(created_ms), withdrawn});
}

std::string checksum_of(const Run& run, const Environment& environment, std::string_view samples,
                        std::string_view stages) {
  return checksum(
      "run 1", environment,
      {run.problem, run.plan, text_of(std::int64_t{run.round}), to_string(run.status), text_of(run.error), samples,
       stages, text_of(run.memory_bytes), run.wisdom, run.message, text_of(run.started_ms), run.kernels});
}

}  // namespace fourtune::db
