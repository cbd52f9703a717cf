// The writing side of the tuning database, as functions on a connection, shared by TuningStore and merge_stores. Call
// them inside a transaction; texts and numbers have been checked by the caller.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "db/database.h"
#include "db/records.h"

namespace fourtune::db {

// `started_ms` and what is known of its end; end and finished_ms go together.
SessionId insert_session(const Database& database, const SessionStart& start, std::int64_t started_ms);
void end_session(const Database& database, SessionId session, SessionEnd end, std::int64_t finished_ms);

// The environment is that of the session; it goes into the row's checksum.
void insert_run(const Database& database, SessionId session, const Run& run, const Environment& environment);
VerdictId insert_verdict(const Database& database, SessionId session, const Verdict& verdict,
                         const Environment& environment, std::int64_t created_ms);
// With the copies of it that a merge wrote. False when there is no such verdict, or it is withdrawn.
bool withdraw(const Database& database, VerdictId verdict, std::string_view reason);

}  // namespace fourtune::db
