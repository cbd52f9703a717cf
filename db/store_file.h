// Opens a tuning database and checks the file before a row is read from it or written to it.
//
// Checks, in this order, before anything is changed: it is a regular file; its first 100 bytes have SQLite's mark and
// our application id; it is not of a later version; it has exactly the tables and indices of its version, with the same
// text. A writer also runs SQLite's quick check, since adding rows to a damaged file would damage it more.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "db/database.h"
#include "db/tuning_store.h"

namespace fourtune::db {

inline constexpr std::int64_t kApplicationId = 0x4654554e;  // "FTUN"
// The version that this build writes: that of the last section of schema.sql.
std::int64_t schema_version();
// A digest of the names and texts of all tables and indices of a version, from a database made for it; and the one that
// is known beforehand, which is what files are compared with (empty: none is known).
std::string schema_digest(std::int64_t version);
std::string_view known_schema_digest(std::int64_t version);

// True for file systems on which SQLite's write-ahead log works: those of a single machine with shared memory maps.
// Unknown ones count as shared. `magic`: f_type of statfs(2).
bool is_local_file_system(std::int64_t magic) noexcept;

// Returns a connection with the newest schema; a missing or empty file gives an empty database in memory.
Database open_for_reading(const std::filesystem::path& path, OpenAs as);
// Returns a connection that writes a file of the newest version.
Database open_for_writing(const std::filesystem::path& path, int busy_ms, Journal journal);

}  // namespace fourtune::db
