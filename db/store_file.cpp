#include "db/store_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <set>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "db/digest.h"
#include "db/limits.h"
#include "schema_text.h"

namespace fourtune::db {
namespace {

namespace fs = std::filesystem;

constexpr int kReaderBusyMs = 5000;

[[noreturn]] void refuse(StoreFault fault, const fs::path& path, const std::string& what) {
  throw StoreError(fault, fmt::format("tuning database '{}' {}", path.string(), what));
}

// ---- versions ----------------------------------------------------------------------------------------------------
// The sections of schema.sql, by version: sections()[0] makes version 1.
const std::vector<std::string>& sections() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> found;
    std::string_view rest = kSchemaText;
    for (;;) {
      const std::string marker = fmt::format("-- version {}\n", found.size() + 1);
      const auto begin = rest.find(marker);
      if (begin == rest.npos) break;
      rest.remove_prefix(begin + marker.size());
      found.emplace_back(rest.substr(0, rest.find("\n-- version ")));
    }
    return found;
  }();
  return all;
}

// Upgrades a database from version `from` (0: empty) to version `to`. Call this inside a transaction.
void apply_sections(const Database& database, std::int64_t from, std::int64_t to) {
  for (std::int64_t version = from; version < to; ++version) database.execute(sections()[version].c_str());
  database.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};", kApplicationId, to).c_str());
}

// (type, name, table, SQL text) of everything in a database except SQLite's statistics.
using SchemaObjects = std::set<std::tuple<std::string, std::string, std::string, std::string>>;

SchemaObjects schema_objects(const Database& database) {
  SchemaObjects objects;
  Statement rows = database.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema");
  while (rows.step()) {
    const std::string name = rows.text(1, kMaxText);
    if (rows.text(0, kMaxText) == "table" && (name == "sqlite_stat1" || name == "sqlite_stat4")) continue;
    objects.emplace(rows.text(0, kMaxText), name, rows.text(2, kMaxText), rows.text(3, kMaxText));
  }
  return objects;
}

// One digest per version, of what `schema_objects` finds in a new database. Making one to compare with takes SQLite
// about as long as everything else that opening a file needs.
constexpr std::array<std::string_view, 5> kSchemaDigests{
    "7914b5b15c86c3c3e16a4a10d340a82ec4c97d2874474a800c413a1d93078f7a",
    "811ebb714acf2199b9d56e492b18e8dd796da42348e9991e3b29cd85f34531fd",
    "b593653c128d34149395783f416df200c4afa20c2ebe57a57bcd1cfc9baff007",
    "08913b269fe180ccf698ff9eefc1cd295734238f4f0ac7cece6ae67ae56016d3",
    "56faa21f17bee90d0c12d2e4f768c7ef84c1b8e0382ff5c437b8a4a3e778d9d9",
};

std::string digest(const SchemaObjects& objects) {
  std::vector<std::string_view> parts;
  for (const auto& [type, name, table, sql] : objects) parts.insert(parts.end(), {type, name, table, sql});
  return blake2b(parts);
}

SchemaObjects objects_of_version(std::int64_t version) {
  const Database reference = Database::in_memory();
  apply_sections(reference, 0, version);
  return schema_objects(reference);
}

void require_schema(const Database& database, std::int64_t version, const fs::path& path) {
  const SchemaObjects found = schema_objects(database);
  if (digest(found) == known_schema_digest(version)) return;
  const SchemaObjects expected = objects_of_version(version);
  for (const auto& object : found) {
    if (expected.contains(object)) continue;
    const auto& [type, name, table, sql] = object;
    refuse(StoreFault::hostile, path,
           fmt::format("has a {} '{}' that version {} has not; it was not made by Fourtune", type, name, version));
  }
  if (found.size() != expected.size()) {
    refuse(StoreFault::damaged, path, fmt::format("lacks tables or indices of version {}", version));
  }
}

// ---- checks ------------------------------------------------------------------------------------------------------
fs::path beside(const fs::path& path, const char* suffix) {
  fs::path other = path;
  other += suffix;
  return other;
}

// True when the whole database is in its main file: there is no log and no journal with contents.
bool is_complete(const fs::path& path) {
  for (const char* suffix : {"-wal", "-journal"}) {
    std::error_code error;
    const auto size = fs::file_size(beside(path, suffix), error);
    if (!error && size > 0) return false;
  }
  return true;
}

// True when the last page is cut, where SQLite would read zeros. With a journal next to the file that does not count:
// it is a write in progress, or one that will be undone.
bool ends_inside_page(const fs::path& path, std::uintmax_t page_size) {
  const auto ragged = [&] {
    std::error_code error;
    const auto size = fs::file_size(path, error);
    return !error && size % page_size != 0;
  };
  return ragged() && is_complete(path) && ragged();
}

enum class Found { nothing, empty, ours };

// Checks the path and the first bytes of the file before SQLite acts on it, so that a file of another kind is never
// touched (not even to roll back its journal).
Found look_at(const fs::path& path) {
  if (path.empty()) return Found::nothing;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return Found::nothing;
  if (error) refuse(StoreFault::unreadable, path, "cannot be reached: " + error.message());
  if (status.type() != fs::file_type::regular) refuse(StoreFault::foreign, path, "is not a regular file");
  if (::access(path.c_str(), R_OK) != 0) {
    refuse(StoreFault::unreadable, path, fmt::format("cannot be read: {}", std::strerror(errno)));
  }

  constexpr std::string_view kMark("SQLite format 3\0", 16);
  constexpr std::size_t kHeaderSize = 100;
  // Check the size first: another process may be creating the file just now, and it is empty only if it was empty
  // before this check. (SQLite also takes a file of one byte for an empty one, and would overwrite it.)
  if (fs::file_size(path, error) == 0) return Found::empty;
  const std::string header = Database::open(path, OpenMode::immutable, 0).first_bytes(kHeaderSize);
  if (header.substr(0, kMark.size()) != kMark) {
    refuse(StoreFault::foreign, path, "is not a SQLite file; choose another path");
  }
  if (header.size() < kHeaderSize) refuse(StoreFault::damaged, path, "ends inside its header");
  // Big-endian numbers, see section 1.3 of the SQLite file format.
  const auto number = [&](int offset, int bytes) {
    std::int64_t value = 0;
    for (int i = offset; i < offset + bytes; ++i) value = value * 256 + static_cast<unsigned char>(header[i]);
    return value;
  };
  if (number(68, 4) != kApplicationId) {
    refuse(StoreFault::foreign, path, "belongs to another application; choose another path");
  }
  const std::int64_t page_size = number(16, 2) == 1 ? 65536 : number(16, 2);
  if (page_size < 512 || ends_inside_page(path, static_cast<std::uintmax_t>(page_size))) {
    refuse(StoreFault::damaged, path, "is cut short or has a damaged header");
  }
  return Found::ours;
}

// The version of a database that has passed look_at; 0 when it is empty.
std::int64_t checked_version(const Database& database, const fs::path& path) {
  // Another process may be creating the database just now, so its version and its tables must come from one moment.
  const Snapshot snapshot(database);
  const std::int64_t version = database.integer("PRAGMA user_version");
  if (version > schema_version()) {
    refuse(StoreFault::newer, path,
           fmt::format("has version {}, this build knows versions up to {}; use a newer Fourtune", version,
                       schema_version()));
  }
  if (version == 0 && database.integer("SELECT count(*) FROM sqlite_schema") == 0) return 0;
  if (version < 1) refuse(StoreFault::damaged, path, fmt::format("has impossible version {}", version));
  require_schema(database, version, path);
  return version;
}

// ---- reading -----------------------------------------------------------------------------------------------------
Database empty_database() {
  Database database = Database::in_memory();
  apply_sections(database, 0, schema_version());
  return database;
}

// Returns the connection, or an upgraded copy of its database.
Database at_newest_version(Database database, const fs::path& path) {
  std::optional<Database> copy;
  {
    const Snapshot snapshot(database);
    const std::int64_t version = checked_version(database, path);
    if (version == 0) return empty_database();
    if (version < schema_version()) {
      copy = database.copy_to_memory();
      apply_sections(*copy, version, schema_version());
    }
  }
  return copy ? std::move(*copy) : std::move(database);
}

// Any connection that may write rolls back the journal of a killed writer.
void recover(const fs::path& path) {
  Database::open(path, OpenMode::write, kReaderBusyMs).integer("SELECT count(*) FROM sqlite_schema");
}

Database read_shared(const fs::path& path) {
  try {
    return at_newest_version(Database::open(path, OpenMode::read, kReaderBusyMs), path);
  } catch (const StoreError& error) {
    if (error.fault() != StoreFault::unwritable) throw;
  }
  // Reading requires a write here. In a read-only folder that is the log's index: when there is no index, log or
  // journal, no process has the file open for writing and the file is complete.
  std::error_code ignored;
  if (is_complete(path) && !fs::exists(beside(path, "-shm"), ignored) &&
      ::access(fs::absolute(path).parent_path().c_str(), W_OK) != 0) {
    return at_newest_version(Database::open(path, OpenMode::immutable, kReaderBusyMs), path);
  }
  // Otherwise it is the roll-back of a killed writer's transaction.
  try {
    recover(path);
    return at_newest_version(Database::open(path, OpenMode::read, kReaderBusyMs), path);
  } catch (const StoreError& error) {
    if (error.fault() != StoreFault::unwritable) throw;
    refuse(StoreFault::unreadable, path,
           "was left half written by a killed process; open it once with the right to write");
  }
}

// ---- writing -----------------------------------------------------------------------------------------------------
// Only the user can write the folders made here, whatever the umask: kernels are loaded from no others
// (trusted_file.h).
void make_folders(const fs::path& folder, std::error_code& error) {
  std::vector<fs::path> missing;
  std::error_code ignored;
  for (fs::path at = folder; at.has_relative_path() && !fs::exists(at, ignored); at = at.parent_path())
    missing.push_back(at);
  fs::create_directories(folder, error);
  if (error) return;
  for (const fs::path& made : missing)
    fs::permissions(made, fs::perms::group_write | fs::perms::others_write, fs::perm_options::remove, ignored);
}

void require_writable_folder(const fs::path& path) {
  const fs::path folder = fs::absolute(path).parent_path();
  std::error_code error;
  make_folders(folder, error);
  if (error) {
    refuse(error.value() == ENOSPC || error.value() == EDQUOT ? StoreFault::full : StoreFault::unwritable, path,
           fmt::format("cannot be made: {} ({})", error.message(), folder.string()));
  }
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    refuse(StoreFault::unwritable, path,
           fmt::format("is in a folder that cannot be written ({}): {}", folder.string(), std::strerror(errno)));
  }
}

void require_undamaged(const Database& database, const fs::path& path) {
  const std::string result = database.text("PRAGMA quick_check(1)");
  if (result != "ok") refuse(StoreFault::damaged, path, "is damaged: " + result);
}

// The mode is a property of the file. Changing it requires a moment without other users, so it is retried for a while.
// Failing to change it costs waiting time, not correctness.
void set_journal(const Database& database, Journal journal, int busy_ms) {
  const bool ahead = journal == Journal::write_ahead;
  const std::string wanted = ahead ? "wal" : "delete";
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(busy_ms);
  for (;;) {
    try {
      if (database.text("PRAGMA journal_mode") == wanted) return;
      database.text(ahead ? "PRAGMA journal_mode = WAL" : "PRAGMA journal_mode = DELETE");
      return;
    } catch (const StoreError& error) {
      if (error.fault() != StoreFault::busy) throw;
      if (std::chrono::steady_clock::now() > deadline) return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

Journal journal_for(const fs::path& path) {
  struct statfs info {};
  if (::statfs(path.c_str(), &info) != 0) return Journal::rollback;
  return is_local_file_system(static_cast<std::int64_t>(info.f_type)) ? Journal::write_ahead : Journal::rollback;
}

}  // namespace

std::int64_t schema_version() { return static_cast<std::int64_t>(sections().size()); }

std::string schema_digest(std::int64_t version) { return digest(objects_of_version(version)); }

std::string_view known_schema_digest(std::int64_t version) {
  const auto index = static_cast<std::size_t>(version - 1);
  return index < kSchemaDigests.size() ? kSchemaDigests[index] : std::string_view();
}

bool is_local_file_system(std::int64_t magic) noexcept {
  // From linux/magic.h and the sources of the file systems: ext2-4, xfs, btrfs, tmpfs, ramfs, f2fs, overlay, zfs,
  // bcachefs, reiserfs, jfs.
  static constexpr std::array<std::int64_t, 11> kLocal{0xef53,     0x58465342, 0x9123683e, 0x01021994,
                                                       0x858458f6, 0xf2f52010, 0x794c7630, 0x2fc12fc1,
                                                       0xca451a4e, 0x52654973, 0x3153464a};
  return std::find(kLocal.begin(), kLocal.end(), magic & 0xffffffff) != kLocal.end();
}

Database open_for_reading(const fs::path& path, OpenAs as) {
  if (look_at(path) != Found::ours) return empty_database();
  if (as == OpenAs::shared) return read_shared(path);
  if (!is_complete(path)) {
    refuse(StoreFault::unreadable, path,
           "has a journal beside it, so it is not a finished pack; close its writers first");
  }
  return at_newest_version(Database::open(path, OpenMode::immutable, kReaderBusyMs), path);
}

Database open_for_writing(const fs::path& path, int busy_ms, Journal journal) {
  if (path.empty()) refuse(StoreFault::unwritable, path, "has no path: set FOURTUNE_DB, or HOME");
  look_at(path);
  require_writable_folder(path);
  Database database = Database::open(path, OpenMode::write, busy_ms);
  if (database.read_only()) refuse(StoreFault::unwritable, path, "is read-only; check its rights");
  database.execute("PRAGMA synchronous = FULL");
  if (checked_version(database, path) != 0) require_undamaged(database, path);
  {
    // Check again under the write lock: another process may have created or upgraded it in between.
    Transaction transaction(database);
    const std::int64_t version = checked_version(database, path);
    if (version < schema_version()) apply_sections(database, version, schema_version());
    transaction.commit();
  }
  set_journal(database, journal == Journal::automatic ? journal_for(path) : journal, busy_ms);
  return database;
}

}  // namespace fourtune::db
