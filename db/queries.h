// The reading side of the tuning database, as functions on a connection, shared by TuningStore and Lookup. Every row is
// checked while it is read, since a shipped file need not have been written by us. A verdict or a run with a value that
// the schema does not allow, or that does not match its checksum, is passed over (and counted where there is a
// `passed_over` argument). Any other error is a StoreError{damaged} that names it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/damage.h"
#include "db/database.h"
#include "db/lookup.h"
#include "db/records.h"

namespace fourtune::db {

// The row of the environment; absent when it was never recorded.
std::optional<std::int64_t> environment_row(const Database& database, const Environment& environment);

// The environment of a session; absent when there is no session with this number.
std::optional<Environment> read_environment(const Database& database, SessionId session);

std::vector<StoredVerdict> read_verdicts(const Database& database, std::string_view problem, std::size_t& passed_over);
// Also absent when the verdict is damaged.
std::optional<StoredVerdict> read_verdict(const Database& database, VerdictId id);
std::vector<StoredVerdict> read_winners(const Database& database, std::optional<std::int64_t> environment,
                                        std::optional<std::string_view> problem);
// Verdicts that are not withdrawn, with their wisdom, in one statement and therefore from one state of the file.
std::vector<LookupEntry> read_lookup_entries(const Database& database, std::size_t& passed_over);

std::vector<StoredRun> read_runs(const Database& database, std::string_view problem, std::optional<SessionId> session,
                                 std::size_t& passed_over);
std::vector<PlanHistory> read_history(const Database& database, std::string_view problem,
                                      const Environment& environment);
std::vector<std::string> read_problems(const Database& database);
std::vector<Environment> read_environments(const Database& database);
std::vector<StoredSession> read_sessions(const Database& database);
std::string read_wisdom(const Database& database, std::string_view problem, std::string_view plan,
                        const Environment& environment);
// Reads the whole database once.
Damage read_damage(const Database& database);

// The JSON texts of a run row: [ns, ...] and [["stage", ns], ...].
std::string samples_text(const std::vector<std::int64_t>& samples);
std::string stages_text(const std::vector<StageNs>& stages);
std::vector<std::int64_t> parse_samples(const std::string& text);
std::vector<StageNs> parse_stages(const std::string& text);

// What is wrong with the numbers of a verdict; empty when nothing is.
std::string verdict_fault(const Verdict& verdict);

}  // namespace fourtune::db
