#include "db/row_checksum.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

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

}  // namespace

std::string checksum_of(const Verdict& verdict, const Environment& environment, std::int64_t created_ms,
                        std::string_view withdrawn) {
  const Environment& e = environment;
  return blake2b({"verdict 1",
                  e.backend,
                  e.device,
                  e.isa,
                  e.traits,
                  e.driver,
                  e.compiler,
                  e.libraries,
                  e.generator,
                  verdict.problem,
                  verdict.plan,
                  verdict.replaces,
                  verdict.validity,
                  text_of(verdict.winner_ns),
                  text_of(verdict.incumbent_ns),
                  text_of(verdict.ratio_low),
                  text_of(verdict.ratio_high),
                  text_of(std::int64_t{verdict.rounds}),
                  text_of(created_ms),
                  withdrawn});
}

std::string checksum_of(const Run& run, const Environment& environment, std::string_view samples,
                        std::string_view stages) {
  const Environment& e = environment;
  return blake2b({"run 1",
                  e.backend,
                  e.device,
                  e.isa,
                  e.traits,
                  e.driver,
                  e.compiler,
                  e.libraries,
                  e.generator,
                  run.problem,
                  run.plan,
                  text_of(std::int64_t{run.round}),
                  to_string(run.status),
                  text_of(run.error),
                  samples,
                  stages,
                  text_of(run.memory_bytes),
                  run.wisdom,
                  run.message,
                  text_of(run.started_ms),
                  run.kernels});
}

}  // namespace fourtune::db
