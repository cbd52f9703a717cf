// Owning types for SQLite handles: one each for a connection, a statement, a snapshot and a transaction.
//
// Every failure of SQLite leaves here as StoreError (the file's fault), std::bad_alloc, or Error{invalid_argument} (a
// row that breaks the schema's rules). SQL texts always come from this library; values are always bound. Threads: one
// thread at a time per connection, including its statements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/store_error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace fourtune::db {

// One prepared statement. It must not outlive its Database.
class Statement {
 public:
  // Parameters are numbered from 1 and columns from 0, as in SQLite. Texts are copied.
  void bind(int index, std::int64_t value);
  void bind(int index, double value);
  void bind(int index, std::string_view value);
  void bind(int index, std::span<const std::byte> value);  // a blob; must live until the statement has run
  void bind(int index, std::nullptr_t);
  template <class T>
  void bind(int index, const std::optional<T>& value) {
    value ? bind(index, *value) : bind(index, nullptr);
  }
  // Starts again and binds parameters 1, 2, ... in order.
  template <class... Values>
  Statement& with(const Values&... values) {
    reset();
    int index = 0;
    (bind(++index, values), ...);
    return *this;
  }

  // Returns true while there is a row.
  bool step();
  // For statements that return no rows.
  void run();

  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;
  // Throws StoreError{damaged} for a text longer than `longest` bytes or with a NUL inside. NULL reads as an empty
  // text.
  std::string text(int column, std::size_t longest) const;
  // Throws StoreError{damaged} for a blob longer than `longest` bytes.
  std::vector<std::byte> blob(int column, std::size_t longest) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept;
  };
  Statement(class Database const& owner, std::string_view sql);
  void check(int code) const;
  void reset() noexcept;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  sqlite3* connection_ = nullptr;
};

enum class OpenMode {
  read,       // shared with writers
  immutable,  // nobody writes: takes no locks, makes no files next to it
  write,      // created when missing
};

class Database {
 public:
  // Opens the connection with every defence on (defensive mode, untrusted schema, cell size check, no memory mapping,
  // length limits) and with foreign keys enforced. Reads nothing yet. busy_ms: how long to wait for other processes.
  static Database open(const std::filesystem::path& path, OpenMode access, int busy_ms);
  // An empty database in memory.
  static Database in_memory();
  // A read-only database whose file is this buffer, which must outlive the connection.
  static Database of_bytes(std::span<const std::byte> bytes);
  // Copies all pages to memory; the source is not changed.
  Database copy_to_memory() const;
  // The bytes of the file that would hold this database.
  std::vector<std::byte> to_bytes() const;

  Statement prepare(std::string_view sql) const;
  // Runs statements without parameters; the text must come from this library.
  void execute(const char* sql) const;
  // The single integer or text that the statement returns (0 or empty without a row).
  std::int64_t integer(const char* sql) const;
  std::string text(const char* sql) const;

  // The first bytes of the file on disk, at most `count`. They are read through SQLite's handle, because closing
  // another handle would drop the locks that this process holds on the file (POSIX).
  std::string first_bytes(std::size_t count) const;

  std::int64_t last_row() const;
  std::int64_t changes() const;
  bool read_only() const;
  bool in_transaction() const;

 private:
  friend class Statement;
  struct Close {
    void operator()(sqlite3* connection) const noexcept;
  };
  explicit Database(sqlite3* connection) : connection_(connection) {}
  static Database open_uri(const std::string& uri, int flags, int busy_ms);
  std::unique_ptr<sqlite3, Close> connection_;
};

// During its lifetime, everything read through the connection is one state of the file, whatever other processes write.
// May be used inside a Transaction.
class Snapshot {
 public:
  explicit Snapshot(const Database& database);
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;
  ~Snapshot();

 private:
  const Database& database_;
};

// A write transaction. It takes the write lock at once, so that it never fails half-way for lack of it. It is rolled
// back unless committed.
class Transaction {
 public:
  explicit Transaction(const Database& database);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  void commit();

 private:
  const Database& database_;
};

}  // namespace fourtune::db
