// Which files are opened, upgraded or refused.
#include "db/store_file.h"

#include <sys/stat.h>

#include <random>

#include "db/limits.h"
#include "db/lookup.h"
#include "tests/db/support.h"
#include "tests/support/read_store.h"

namespace fourtune::db::testing {
namespace {

// The bytes of a closed file without a log, with some rows in every table.
std::string store_bytes(int plans) {
  const TempFolder folder;
  const fs::path path = folder / "tuning.db";
  {
    auto store = TuningStore::open_for_writing(path, 1000, Journal::rollback);
    const SessionId session = store.begin_session(sample_session());
    for (int i = 0; i < plans; ++i) {
      store.record_run(session, sample_run("plan " + std::to_string(i)));
      store.record_verdict(session, sample_verdict("plan " + std::to_string(i)));
    }
    store.finish_session(session, SessionEnd::complete);
  }
  return bytes_of(path);
}

constexpr int kPlans = 3;

fs::path make_store(const TempFolder& folder) {
  static const std::string bytes = store_bytes(kPlans);  // made only once, because every row waits for the disk
  write_bytes(folder / "tuning.db", bytes);
  return folder / "tuning.db";
}

// Expects that readers (of both kinds), writer and lookup refuse the file with this fault, and that no byte of it
// changes.
void expect_refused(const fs::path& path, StoreFault fault) {
  const std::string before = bytes_of(path);
  EXPECT_EQ(fault_of([&] { test::read_whole_store(TuningStore::open_for_reading(path)); }), fault);
  EXPECT_EQ(fault_of([&] { test::read_whole_store(TuningStore::open_for_reading(path, OpenAs::immutable)); }), fault);
  EXPECT_EQ(fault_of([&] { TuningStore::open_for_writing(path, 100); }), fault);
  const Lookup lookup = Lookup::load(path);
  EXPECT_FALSE(lookup.layers()[0].usable);
  EXPECT_FALSE(lookup.layers()[0].reason.empty());
  EXPECT_TRUE(bytes_of(path) == before) << "the file was changed";
}

TEST(StoreFile, OfAnotherKindIsRefused) {
  const TempFolder folder;
  for (const std::string& bytes : {std::string("x"), std::string("precious text\n"), std::string(5000, '\0'),
                                   std::string("SQLite format 3\0", 16) + std::string(4080, 'x')}) {
    write_bytes(folder / "text", bytes);
    expect_refused(folder / "text", StoreFault::foreign);
  }
}

TEST(StoreFile, OfAnotherApplicationIsRefused) {
  const TempFolder folder;
  raw_sql(folder / "other.db", "CREATE TABLE precious (x); INSERT INTO precious VALUES (1)");
  expect_refused(folder / "other.db", StoreFault::foreign);
  raw_sql(folder / "other.db", "PRAGMA application_id = 1196444487; PRAGMA user_version = 2");
  expect_refused(folder / "other.db", StoreFault::foreign);
}

TEST(StoreFile, ThatIsNoRegularFileIsRefused) {
  const TempFolder folder;
  fs::create_directory(folder / "folder");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  for (const char* name : {"folder", "pipe"}) {
    EXPECT_EQ(fault_of([&] { TuningStore::open_for_reading(folder / name); }), StoreFault::foreign);
    EXPECT_EQ(fault_of([&] { TuningStore::open_for_writing(folder / name); }), StoreFault::foreign);
  }
}

TEST(StoreFile, OfALaterVersionIsRefused) {
  const TempFolder folder;
  const fs::path path = make_store(folder);
  raw_sql(path, "PRAGMA user_version = " + std::to_string(schema_version() + 1));
  expect_refused(path, StoreFault::newer);
}

TEST(StoreFile, OfAnImpossibleVersionIsRefused) {
  const TempFolder folder;
  const fs::path path = make_store(folder);
  raw_sql(path, "PRAGMA user_version = -1");
  expect_refused(path, StoreFault::damaged);
  raw_sql(path, "PRAGMA user_version = 0");
  expect_refused(path, StoreFault::damaged);
}

TEST(StoreFile, WithForeignContentsIsRefused) {
  for (const char* sql : {
           "CREATE TRIGGER evil AFTER INSERT ON run BEGIN DELETE FROM run; END",
           "CREATE VIEW evil AS SELECT * FROM run",
           ("DROP INDEX run_of_plan; DROP INDEX run_of_session; ALTER TABLE run RENAME TO r; CREATE VIEW run AS "
            "SELECT * FROM r"),
           "CREATE TABLE evil (x)",
           "CREATE VIRTUAL TABLE evil USING fts5(x)",
           "CREATE INDEX evil ON plan (upper(text))",
           "ALTER TABLE run ADD COLUMN evil TEXT GENERATED ALWAYS AS (upper(message))",
       }) {
    const TempFolder folder;
    const fs::path path = make_store(folder);
    raw_sql(path, sql);
    SCOPED_TRACE(sql);
    expect_refused(path, StoreFault::hostile);
  }
}

TEST(StoreFile, WithAMissingTableIsRefused) {
  const TempFolder folder;
  const fs::path path = make_store(folder);
  raw_sql(path, "PRAGMA foreign_keys = OFF; DROP TABLE verdict");
  expect_refused(path, StoreFault::damaged);
}

TEST(StoreFile, WithStatisticsOfSqliteIsAccepted) {
  const TempFolder folder;
  const fs::path path = make_store(folder);
  raw_sql(path, "ANALYZE");
  EXPECT_EQ(TuningStore::open_for_reading(path).verdicts().size(), std::size_t{kPlans});
}

// Verdicts and runs that break the rules are skipped individually (row_damage_test.cpp).
TEST(StoreFile, WithASessionThatBreaksTheRulesIsRefusedWhenReadingIt) {
  for (const char* sql : {
           "UPDATE session SET command = hex(zeroblob(200000))",
           "UPDATE session SET command = 'a' || char(0) || 'b'",
       }) {
    const TempFolder folder;
    const fs::path path = make_store(folder);
    raw_sql(path, std::string("PRAGMA ignore_check_constraints = ON; ") + sql);
    SCOPED_TRACE(sql);
    EXPECT_EQ(fault_of([&] { test::read_whole_store(TuningStore::open_for_reading(path)); }), StoreFault::damaged);
  }
}

TEST(StoreFile, CutShortIsRefused) {
  const TempFolder folder;
  const fs::path path = make_store(folder);
  const std::string whole = bytes_of(path);
  for (const std::size_t size :
       {std::size_t{50}, std::size_t{99}, std::size_t{100}, std::size_t{4096}, whole.size() - 4096, whole.size() - 1}) {
    write_bytes(path, std::string_view(whole).substr(0, size));
    SCOPED_TRACE(size);
    expect_refused(path, StoreFault::damaged);
  }
}

TEST(StoreFile, WithFlippedBytesGivesAnAnswerOrAnErrorButNeverCrashes) {
  const TempFolder folder;
  const fs::path path = folder / "tuning.db";
  const std::string whole = store_bytes(40);
  std::mt19937 random(1);
  int refused = 0, served = 0;
  for (int trial = 0; trial < 150; ++trial) {
    std::string bytes = whole;
    const int flips = 1 << (trial % 6);
    // Every other trial hits the starts of pages, which hold the structure.
    for (int i = 0; i < flips; ++i) {
      std::size_t at = random() % bytes.size();
      if (trial % 2) at = at / 4096 * 4096 + random() % 64;
      bytes[at] = static_cast<char>(random());
    }
    write_bytes(path, bytes);
    bool opened = false;
    try {
      test::read_whole_store(TuningStore::open_for_reading(path));
      const Lookup lookup = Lookup::load({}, std::vector{path});
      for (const LookupEntry& entry : lookup.entries()) {
        ++served;
        Verdict written = sample_verdict(entry.verdict.plan);
        const int number = std::atoi(entry.verdict.plan.c_str() + 5);
        EXPECT_EQ(entry.verdict.plan, "plan " + std::to_string(number)) << "trial " << trial;
        EXPECT_EQ(static_cast<const Verdict&>(entry.verdict), written) << "trial " << trial;
        EXPECT_EQ(entry.verdict.environment, sample_environment()) << "trial " << trial;
        EXPECT_TRUE(entry.wisdom.empty() || entry.wisdom == sample_run().wisdom) << "trial " << trial;
      }
      auto store = TuningStore::open_for_writing(path, 100, Journal::rollback);
      opened = true;
      store.record_run(store.begin_session(sample_session()), sample_run("after"));
    } catch (const Error&) {
      ++refused;
      if (opened) continue;
      EXPECT_TRUE(bytes_of(path) == bytes) << "a refused file was changed, trial " << trial;
    }
  }
  EXPECT_GT(refused, 30) << "the flips did not reach the structure";
  EXPECT_GT(served, 1000) << "what was not hit should have been served";
}

// ---- versions ----------------------------------------------------------------------------------------------------
fs::path make_version_1(const TempFolder& folder) {
  fs::path path = folder / "version1.db";
  raw_sql(path, bytes_of(fs::path(__FILE__).parent_path() / "version1.sql"));
  return path;
}

void expect_version_1_contents(const TuningStore& store) {
  const auto winner = store.winner(kOtherProblem, sample_environment());
  ASSERT_TRUE(winner);
  EXPECT_EQ(winner->plan, "cpu;threads=2;fft=fftw(rigor=measure)");
  EXPECT_EQ(winner->replaces, "cpu;threads=1;fft=fftw(rigor=estimate)");
  EXPECT_EQ(winner->withdrawn, "");
  const auto runs = store.runs(kOtherProblem);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].samples_ns, (std::vector<std::int64_t>{900, 800}));
  EXPECT_EQ(runs[0].stages, (std::vector<StageNs>{{"fft", 800}}));
  EXPECT_EQ(store.wisdom(kOtherProblem, winner->plan, sample_environment()), "wisdom of run 1");
}

TEST(StoreFile, OfVersion1IsReadWithoutBeingChanged) {
  for (const char* mode : {"DELETE", "WAL"}) {
    const TempFolder folder;
    const fs::path path = make_version_1(folder);
    raw_sql(path, std::string("PRAGMA journal_mode = ") + mode);
    const std::string before = bytes_of(path);
    for (const OpenAs as : {OpenAs::shared, OpenAs::immutable}) {
      expect_version_1_contents(TuningStore::open_for_reading(path, as));
    }
    const Lookup lookup = Lookup::load(path);
    EXPECT_EQ(lookup.layers()[0].verdicts, 2u) << lookup.layers()[0].reason;
    EXPECT_TRUE(bytes_of(path) == before) << "the file was changed";
  }
}

TEST(StoreFile, OfVersion1IsUpgradedByAWriter) {
  const TempFolder folder;
  const fs::path path = make_version_1(folder);
  {
    auto store = TuningStore::open_for_writing(path);
    expect_version_1_contents(store);
    store.withdraw_verdict(store.winner(kOtherProblem, sample_environment())->id, "version 2 can");
    EXPECT_EQ(store.winner(kOtherProblem, sample_environment())->plan, "cpu;threads=1;fft=fftw(rigor=estimate)");
  }
  EXPECT_EQ(Database::open(path, OpenMode::read, 0).integer("PRAGMA user_version"), schema_version());
  EXPECT_EQ(TuningStore::open_for_reading(path).verdicts().size(), 2u);
}

TEST(StoreFile, EverySchemaIsKnownBeforehand) {
  for (std::int64_t version = 1; version <= schema_version(); ++version)
    EXPECT_EQ(known_schema_digest(version), schema_digest(version)) << "kSchemaDigests, version " << version;
  EXPECT_EQ(known_schema_digest(0), "");
  EXPECT_EQ(known_schema_digest(schema_version() + 1), "");
}

// ---- places ------------------------------------------------------------------------------------------------------
TEST(StoreFile, InAReadOnlyFolderIsReadButNotWritten) {
  for (const Journal journal : {Journal::rollback, Journal::write_ahead}) {
    const TempFolder folder;
    const fs::path path = folder / "tuning.db";
    {
      auto store = TuningStore::open_for_writing(path, 1000, journal);
      store.record_run(store.begin_session(sample_session()), sample_run());
    }
    fs::permissions(folder.path(), fs::perms(0555));
    EXPECT_EQ(run_unprivileged([&] {
                if (TuningStore::open_for_reading(path).runs(kProblem).size() != 1) return 1;
                if (TuningStore::open_for_reading(path, OpenAs::immutable).runs(kProblem).size() != 1) return 2;
                if (fault_of([&] { TuningStore::open_for_writing(path); }) != StoreFault::unwritable) return 3;
                const fs::path absent = folder / "new/tuning.db";
                return fault_of([&] { TuningStore::open_for_writing(absent); }) == StoreFault::unwritable ? 0 : 4;
              }),
              0);
  }
}

TEST(StoreFile, ThatIsReadOnlyOrUnreadableIsReportedAsSuch) {
  const TempFolder folder;
  const fs::path path = make_store(folder);
  fs::permissions(folder.path(), fs::perms(0777));
  fs::permissions(path, fs::perms(0444));
  EXPECT_EQ(run_unprivileged([&] {
              if (TuningStore::open_for_reading(path).runs(kProblem).size() != std::size_t{kPlans}) return 1;
              return fault_of([&] { TuningStore::open_for_writing(path); }) == StoreFault::unwritable ? 0 : 2;
            }),
            0);
  fs::permissions(path, fs::perms(0000));
  EXPECT_EQ(run_unprivileged([&] {
              if (fault_of([&] { TuningStore::open_for_reading(path); }) != StoreFault::unreadable) return 1;
              return fault_of([&] { TuningStore::open_for_writing(path); }) == StoreFault::unreadable ? 0 : 2;
            }),
            0);
}

TEST(StoreFile, WithoutAPathOrBelowAFileIsUnwritable) {
  const TempFolder folder;
  write_bytes(folder / "file", "x");
  EXPECT_EQ(fault_of([&] { TuningStore::open_for_writing(""); }), StoreFault::unwritable);
  EXPECT_EQ(fault_of([&] { TuningStore::open_for_writing(folder / "file/tuning.db"); }), StoreFault::unwritable);
  EXPECT_TRUE(TuningStore::open_for_reading("").problems().empty());
}

TEST(StoreFile, MayHaveAPathThatLooksLikeAUri) {
  const TempFolder folder;
  const fs::path path = folder / "a?mode=memory&b#c%41 \xc3\xa9.db";
  { TuningStore::open_for_writing(path).begin_session(sample_session()); }
  EXPECT_TRUE(fs::exists(path));
  EXPECT_EQ(TuningStore::open_for_reading(path).sessions().size(), 1u);
}

TEST(StoreFile, UsesTheLogOnlyOnLocalFileSystems) {
  EXPECT_TRUE(is_local_file_system(0xef53));       // ext4
  EXPECT_TRUE(is_local_file_system(0x01021994));   // tmpfs
  EXPECT_FALSE(is_local_file_system(0x6969));      // nfs
  EXPECT_FALSE(is_local_file_system(0xff534d42));  // cifs
  EXPECT_FALSE(is_local_file_system(0xfe534d42));  // smb2
  EXPECT_FALSE(is_local_file_system(0x65735546));  // fuse
  EXPECT_FALSE(is_local_file_system(0x0bd00bd0));  // lustre
}

TEST(StoreFile, HasTheJournalAskedFor) {
  const TempFolder folder;
  const fs::path path = folder / "tuning.db";
  for (const auto& [journal, name] : {std::pair{Journal::write_ahead, "wal"}, std::pair{Journal::rollback, "delete"}}) {
    TuningStore::open_for_writing(path, 1000, journal);
    EXPECT_EQ(Database::open(path, OpenMode::read, 0).text("PRAGMA journal_mode"), name);
  }
}

TEST(Pack, IsReadWithoutLeavingAnythingBesideIt) {
  const TempFolder folder;
  const fs::path path = make_store(folder);
  EXPECT_EQ(TuningStore::open_for_reading(path, OpenAs::immutable).verdicts().size(), std::size_t{kPlans});
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

TEST(Pack, WithAJournalBesideItIsRefused) {
  const TempFolder folder;
  const fs::path path = make_store(folder);
  for (const char* suffix : {"-wal", "-journal"}) {
    write_bytes(path.string() + suffix, "something");
    EXPECT_EQ(fault_of([&] { TuningStore::open_for_reading(path, OpenAs::immutable); }), StoreFault::unreadable);
    fs::remove(path.string() + suffix);
  }
}

}  // namespace
}  // namespace fourtune::db::testing
