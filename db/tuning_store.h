// The tuning database: every run, and the verdicts drawn from runs, in one SQLite file. The reading functions use
// queries.h; default_database_path is in default_path.cpp.
//
// Invariants
// 1. A row is on disk when the function that records it returns: killing the process loses at most the run in flight.
// 2. Runs and verdicts are only added, never changed (a verdict can be withdrawn, with a reason).
// 3. The winner of (problem, environment) is the latest verdict that is not withdrawn, never the luckiest sample.
// 4. Verdicts and runs carry a checksum of their contents; every reader passes over a row that does not match, and
//    damage() counts it. The checksum finds damage, not malice.
// 5. A file that is damaged, foreign, newer or contains anything that our schema does not have is refused and left as
//    it is.
//
// Threads: an object is used by one thread at a time; different objects (even for the same file) are independent, in
// this and in other processes. Do not carry an object across fork(). Texts are UTF-8 without NUL; limits are in
// db/limits.h. Errors: everything that goes wrong with the file is a StoreError; an oversized text or a misuse is
// Error{invalid_argument}. A StoreError from a writing function leaves all earlier rows intact and the object usable.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/damage.h"
#include "db/records.h"
#include "db/store_error.h"

namespace fourtune::db {

// $FOURTUNE_DB, else $XDG_DATA_HOME/fourtune/tuning.db, else ~/.local/share/fourtune/tuning.db (home from $HOME, else
// from the password file; without any, an empty path, which means no database). Empty variables count as unset, and a
// relative XDG_DATA_HOME is ignored, as its specification says.
std::filesystem::path default_database_path();

enum class OpenAs {
  shared,     // other processes may be writing
  immutable,  // a pack: nobody writes; takes no lock and creates nothing next to it
};

// Where changes go before they reach the main file.
enum class Journal {
  automatic,  // write_ahead on a local file system, rollback elsewhere
  write_ahead,
  rollback,  // readers and the writer wait for each other, but it works on shared file systems
};

class TuningStore {
 public:
  // A missing file is an empty store. A file of an older version is read through an upgraded copy in memory. Nothing is
  // written, except that a transaction left unfinished by a killed writer is rolled back. A read-only folder is fine.
  static TuningStore open_for_reading(const std::filesystem::path& path, OpenAs as = OpenAs::shared);
  // Creates missing folders and a missing file, and upgrades a file of an older version. Waits for other writers up to
  // busy_ms (then StoreFault::busy). Throws StoreError when the file cannot be written; callers can continue without
  // it.
  static TuningStore open_for_writing(const std::filesystem::path& path, int busy_ms = 10000,
                                      Journal journal = Journal::automatic);

  TuningStore(TuningStore&&) noexcept;
  TuningStore& operator=(TuningStore&&) noexcept;
  ~TuningStore();

  const std::filesystem::path& path() const noexcept;
  bool writable() const noexcept;
  // True when a write found indices that did not match their tables (a damaged file) and rebuilt them.
  bool repaired() const noexcept;

  // ---- writing: each call is one transaction, on disk when it returns. A store opened for reading throws
  // Error{invalid_argument}.
  SessionId begin_session(const SessionStart& start);
  void record_run(SessionId session, const Run& run);
  // The winner changes only here and in withdraw_verdict.
  VerdictId record_verdict(SessionId session, const Verdict& verdict);
  // Invalidates a verdict (for instance because its plan later gave a wrong result); the previous one wins again.
  void withdraw_verdict(VerdictId verdict, std::string_view reason);
  void finish_session(SessionId session, SessionEnd end);

  // ---- reading; "environment" means exactly that one, see freshness() for others
  // One winner per (problem, environment), sorted by problem; without an environment, the winners of all environments.
  std::vector<StoredVerdict> winners(const std::optional<Environment>& environment = std::nullopt) const;
  std::optional<StoredVerdict> winner(std::string_view problem, const Environment& environment) const;
  // Every verdict, oldest first, including withdrawn ones; of one problem, or of all when `problem` is empty.
  std::vector<StoredVerdict> verdicts(std::string_view problem = {}) const;
  // Oldest first; of one session, or of all.
  std::vector<StoredRun> runs(std::string_view problem, std::optional<SessionId> session = std::nullopt) const;
  // The plans tried for the problem in the environment, in the order first tried.
  std::vector<PlanHistory> history(std::string_view problem, const Environment& environment) const;
  // The plans with ok runs except the winner's, fastest median first.
  std::vector<PlanHistory> runner_ups(std::string_view problem, const Environment& environment) const;
  // Tokens of all problems with a run or a verdict, sorted.
  std::vector<std::string> problems() const;
  std::vector<Environment> environments() const;
  // Oldest first.
  std::vector<StoredSession> sessions() const;
  // The wisdom of the latest ok run of (problem, plan) in the environment that has any; empty when none has.
  std::string wisdom(std::string_view problem, std::string_view plan, const Environment& environment) const;
  // While it lives, everything that this object reads is one state of the file, whatever other processes write. It must
  // not outlive the object. Where the file has a rollback journal, writers wait for it.
  std::shared_ptr<const class Snapshot> one_moment() const;
  // Counts what readers do not trust. Reads everything: for reports, not for every start.
  Damage damage() const;

 private:
  struct Impl;
  const class Database& for_writing() const;
  explicit TuningStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace fourtune::db
