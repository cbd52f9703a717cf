#include "db/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "db/limits.h"

namespace fourtune::db {
namespace {

// An input or output error of the system; errno determines which fault it is.
StoreFault io_fault(int extended, int system_errno) {
  if (system_errno == ENOSPC || system_errno == EDQUOT || system_errno == EFBIG) return StoreFault::full;
  switch (extended) {
    case SQLITE_IOERR_READ:
    case SQLITE_IOERR_ACCESS:
    case SQLITE_IOERR_FSTAT:
      return StoreFault::unreadable;
    case SQLITE_IOERR_SHORT_READ:
    case SQLITE_IOERR_CORRUPTFS:
      return StoreFault::damaged;
    default:
      return StoreFault::unwritable;
  }
}

// The errno behind a failed write. sqlite3_system_errno is that of the latest call, often one of SQLite's roll-back,
// but each open file remembers its errno.
int write_errno(sqlite3* connection) {
  for (const int which : {SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER}) {
    sqlite3_file* file = nullptr;
    sqlite3_file_control(connection, "main", which, &file);
    int number = 0;
    if (file && file->pMethods) file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &number);
    if (number != 0) return number;
  }
  return sqlite3_system_errno(connection);
}

// Packs are what is opened as files that never change.
bool is_pack(const char* file) { return file && *file && sqlite3_uri_boolean(file, "immutable", 0) != 0; }

std::string name_of(sqlite3* connection) {
  const char* file = connection ? sqlite3_db_filename(connection, "main") : nullptr;
  const char* kind = is_pack(file) ? "pack" : "tuning database";
  return file && *file ? fmt::format("{} '{}'", kind, file) : kind;
}

[[noreturn]] void fail(sqlite3* connection, int code) {
  const int extended = connection ? sqlite3_extended_errcode(connection) : code;
  const int system_errno = !connection                      ? 0
                           : extended == SQLITE_IOERR_WRITE ? write_errno(connection)
                                                            : sqlite3_system_errno(connection);
  const std::string where = name_of(connection);
  const char* const damaged = connection && is_pack(sqlite3_db_filename(connection, "main"))
                                  ? "is damaged; get it again"
                                  : "is damaged; move it away, a new one is made when tuning";
  const std::string said = connection ? sqlite3_errmsg(connection) : sqlite3_errstr(code);
  const auto message = [&](const char* what) { return fmt::format("{} {} (SQLite: {})", where, what, said); };
  switch (code & 0xff) {
    case SQLITE_NOMEM:
      // A damaged file can make SQLite ask for absurd amounts. Memory is short only if a modest one fails too.
      if (void* modest = sqlite3_malloc(1 << 20)) {
        sqlite3_free(modest);
        throw StoreError(StoreFault::damaged, message(damaged));
      }
      throw std::bad_alloc();
    case SQLITE_NOTADB:
      throw StoreError(StoreFault::foreign, message("is not a SQLite file; choose another path"));
    case SQLITE_CORRUPT:
    case SQLITE_FORMAT:
    case SQLITE_TOOBIG:  // what is written is shorter: limits.h
      throw StoreError(StoreFault::damaged, message(damaged));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw StoreError(StoreFault::busy, message("is held by another process; try again later"));
    case SQLITE_PROTOCOL:
      throw StoreError(StoreFault::busy, message("could not be locked; try again later"));
    case SQLITE_FULL:
      throw StoreError(StoreFault::full, message("cannot grow; free some space on its disk"));
    case SQLITE_READONLY:
    case SQLITE_PERM:
      throw StoreError(StoreFault::unwritable, message("cannot be written; check the rights of file and folder"));
    case SQLITE_CANTOPEN:
      throw StoreError(system_errno == ENOSPC || system_errno == EDQUOT ? StoreFault::full : StoreFault::unwritable,
                       message("cannot be opened; check the rights of file and folder"));
    case SQLITE_IOERR: {
      const StoreFault fault = io_fault(extended, system_errno);
      const char* reason = system_errno ? std::strerror(system_errno) : "input or output error";
      throw StoreError(fault, message(fmt::format("failed in its file system: {}", reason).c_str()));
    }
    case SQLITE_CONSTRAINT:
      // Our rows refer to rows that were looked up or created a moment ago.
      if (extended == SQLITE_CONSTRAINT_FOREIGNKEY)
        throw StoreError(StoreFault::damaged,
                         message("is damaged: its indices name rows that are not there; move it away, or try "
                                 "`sqlite3 FILE .recover`"));
      [[fallthrough]];
    case SQLITE_MISMATCH:
      throw Error(Status::invalid_argument, message("refused a row that breaks its rules"));
    case SQLITE_ERROR:
      // A header that names a schema format which this SQLite does not know has no separate code.
      if (std::strcmp(sqlite3_errmsg(connection), "unsupported file format") == 0)
        throw StoreError(StoreFault::damaged, message(damaged));
      [[fallthrough]];
    default:
      throw Error(Status::internal, message("could not run a statement"));
  }
}

// Percent-encodes characters that have a meaning in a URI.
std::string file_uri(const std::filesystem::path& path, const char* query) {
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(path).string()) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      uri += c;
    }
  }
  return uri + "?" + query;
}

}  // namespace

// ---- Statement ---------------------------------------------------------------------------------------------------
void Statement::Finalize::operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }

Statement::Statement(const Database& owner, std::string_view sql) : connection_(owner.connection_.get()) {
  sqlite3_stmt* statement = nullptr;
  check(sqlite3_prepare_v2(connection_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr));
  statement_.reset(statement);
}

void Statement::check(int code) const {
  if (code != SQLITE_OK) fail(connection_, code);
}

void Statement::bind(int index, std::int64_t value) { check(sqlite3_bind_int64(statement_.get(), index, value)); }
void Statement::bind(int index, double value) { check(sqlite3_bind_double(statement_.get(), index, value)); }
void Statement::bind(int index, std::nullptr_t) { check(sqlite3_bind_null(statement_.get(), index)); }
void Statement::bind(int index, std::string_view value) {
  // An empty view may have a null pointer, which SQLite would store as NULL.
  const char* data = value.empty() ? "" : value.data();
  check(sqlite3_bind_text64(statement_.get(), index, data, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::bind(int index, std::span<const std::byte> value) {
  // SQLite would store a null pointer as NULL.
  check(sqlite3_bind_blob64(statement_.get(), index, value.empty() ? "" : static_cast<const void*>(value.data()),
                            value.size(), SQLITE_STATIC));
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  // The reset ends the statement, so that a failed one keeps no lock; the error must be read before it.
  try {
    fail(connection_, code);
  } catch (...) {
    sqlite3_reset(statement_.get());
    throw;
  }
}

void Statement::run() {
  while (step()) {
  }
}

void Statement::reset() noexcept { sqlite3_reset(statement_.get()); }

bool Statement::is_null(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }
std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }

std::string Statement::text(int column, std::size_t longest) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (!data) {
    if (sqlite3_errcode(connection_) == SQLITE_NOMEM) fail(connection_, SQLITE_NOMEM);
    return {};
  }
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  const char* name = sqlite3_column_name(statement_.get(), column);
  const std::string_view view(data, size);
  if (size > longest || view.find('\0') != view.npos) {
    throw StoreError(StoreFault::damaged,
                     fmt::format("{} has a bad text in '{}': {} bytes where at most {} without NUL are allowed",
                                 name_of(connection_), name ? name : "?", size, longest));
  }
  return std::string(view);
}

std::vector<std::byte> Statement::blob(int column, std::size_t longest) const {
  const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(statement_.get(), column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  if (size > longest) {
    throw StoreError(StoreFault::damaged, fmt::format("{} has a blob of {} bytes where at most {} are allowed",
                                                      name_of(connection_), size, longest));
  }
  return data ? std::vector<std::byte>(data, data + size) : std::vector<std::byte>();
}

// ---- Database ----------------------------------------------------------------------------------------------------
void Database::Close::operator()(sqlite3* connection) const noexcept { sqlite3_close_v2(connection); }

Database Database::open_uri(const std::string& uri, int flags, int busy_ms) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(uri.c_str(), &raw, flags | SQLITE_OPEN_URI | SQLITE_OPEN_EXRESCODE, nullptr);
  Database database(raw);  // also owns the handle when opening failed
  if (code != SQLITE_OK) fail(raw, code);
  sqlite3_busy_timeout(raw, busy_ms);
  // Nothing in the file may run code, change the schema, or make SQLite trust the file's structure.
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_FKEY, 1, nullptr);
  sqlite3_limit(raw, SQLITE_LIMIT_LENGTH, static_cast<int>(2 * kMaxWisdom));
  sqlite3_limit(raw, SQLITE_LIMIT_ATTACHED, 0);
  // mmap_size: a file that another process truncates must cause an error, not a bus error.
  database.execute("PRAGMA mmap_size = 0; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY;");
  return database;
}

Database Database::open(const std::filesystem::path& path, OpenMode access, int busy_ms) {
  switch (access) {
    case OpenMode::read:
      return open_uri(file_uri(path, "mode=ro"), SQLITE_OPEN_READONLY, busy_ms);
    case OpenMode::immutable:
      return open_uri(file_uri(path, "mode=ro&immutable=1"), SQLITE_OPEN_READONLY, busy_ms);
    case OpenMode::write:
      break;
  }
  return open_uri(file_uri(path, "mode=rwc"), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, busy_ms);
}

Database Database::in_memory() {
  return open_uri("file::memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY, 0);
}

Database Database::of_bytes(std::span<const std::byte> bytes) {
  Database database = in_memory();
  const auto size = static_cast<sqlite3_int64>(bytes.size());
  auto* const data = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(bytes.data()));  // not written
  const int code =
      sqlite3_deserialize(database.connection_.get(), "main", data, size, size, SQLITE_DESERIALIZE_READONLY);
  if (code != SQLITE_OK) fail(database.connection_.get(), code);
  return database;
}

std::vector<std::byte> Database::to_bytes() const {
  sqlite3_int64 size = 0;
  const std::unique_ptr<unsigned char, decltype(&sqlite3_free)> data(
      sqlite3_serialize(connection_.get(), "main", &size, 0), &sqlite3_free);
  if (!data) throw std::bad_alloc();
  const auto* begin = reinterpret_cast<const std::byte*>(data.get());
  return {begin, begin + size};
}

Database Database::copy_to_memory() const {
  struct Finish {
    void operator()(sqlite3_backup* backup) const noexcept { sqlite3_backup_finish(backup); }
  };
  Database copy = in_memory();
  std::unique_ptr<sqlite3_backup, Finish> backup(
      sqlite3_backup_init(copy.connection_.get(), "main", connection_.get(), "main"));
  if (!backup) fail(copy.connection_.get(), sqlite3_errcode(copy.connection_.get()));
  const int code = sqlite3_backup_step(backup.get(), -1);
  backup.reset();
  if (code != SQLITE_DONE) fail(copy.connection_.get(), code);
  return copy;
}

Statement Database::prepare(std::string_view sql) const { return Statement(*this, sql); }

void Database::execute(const char* sql) const {
  const int code = sqlite3_exec(connection_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(connection_.get(), code);
}

std::int64_t Database::integer(const char* sql) const {
  Statement statement = prepare(sql);
  return statement.step() ? statement.integer(0) : 0;
}

std::string Database::text(const char* sql) const {
  Statement statement = prepare(sql);
  return statement.step() ? statement.text(0, kMaxText) : std::string();
}

std::string Database::first_bytes(std::size_t count) const {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(connection_.get(), "main", SQLITE_FCNTL_FILE_POINTER, &file);
  sqlite3_int64 size = 0;
  int code = file && file->pMethods ? file->pMethods->xFileSize(file, &size) : SQLITE_CANTOPEN;
  std::string bytes(std::min<std::uint64_t>(count, static_cast<std::uint64_t>(size)), '\0');
  if (code == SQLITE_OK && !bytes.empty()) {
    code = file->pMethods->xRead(file, bytes.data(), static_cast<int>(bytes.size()), 0);
  }
  if (code != SQLITE_OK) fail(nullptr, code);
  return bytes;
}

std::int64_t Database::last_row() const { return sqlite3_last_insert_rowid(connection_.get()); }
std::int64_t Database::changes() const { return sqlite3_changes(connection_.get()); }
bool Database::read_only() const { return sqlite3_db_readonly(connection_.get(), "main") == 1; }
bool Database::in_transaction() const { return sqlite3_get_autocommit(connection_.get()) == 0; }

// ---- Snapshot ----------------------------------------------------------------------------------------------------
// A savepoint outside a transaction begins one, at the first read.
Snapshot::Snapshot(const Database& database) : database_(database) { database_.execute("SAVEPOINT snapshot"); }

Snapshot::~Snapshot() {
  if (!database_.in_transaction()) return;
  try {
    database_.execute("RELEASE snapshot");
  } catch (...) {
    // Nothing was written in it, so nothing can be lost.
  }
}

// ---- Transaction -------------------------------------------------------------------------------------------------
Transaction::Transaction(const Database& database) : database_(database) { database_.execute("BEGIN IMMEDIATE"); }

void Transaction::commit() { database_.execute("COMMIT"); }

Transaction::~Transaction() {
  // The transaction is still open: commit was not reached, or failed without ending it.
  if (!database_.in_transaction()) return;
  try {
    database_.execute("ROLLBACK");
  } catch (...) {
    // SQLite has already rolled back; the original failure is already on its way to the caller.
  }
}

}  // namespace fourtune::db
