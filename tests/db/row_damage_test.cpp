// A damaged row is ignored and counted, and its neighbours remain usable. (Flipped bytes of whole files are tested in
// store_file_test.cpp.)
#include "db/digest.h"
#include "db/lookup.h"
#include "db/row_checksum.h"
#include "db/store_file.h"
#include "tests/db/support.h"

namespace fourtune::db::testing {
namespace {

class Rows : public ::testing::Test {
 protected:
  // Writes two verdicts with their runs, of two plans. Each test damages the later one.
  void SetUp() override {
    auto store = TuningStore::open_for_writing(path, 1000, Journal::rollback);
    const SessionId session = store.begin_session(sample_session());
    for (const char* plan : {"kept", "damaged"}) {
      store.record_run(session, sample_run(plan));
      Verdict verdict = sample_verdict(plan);
      verdict.replaces = "replaced";
      verdict.incumbent_ns = 2200;
      verdict.ratio_high = 2;
      store.record_verdict(session, verdict);
    }
  }
  void damage(const std::string& sql) { raw_sql(path, "PRAGMA ignore_check_constraints = ON; " + sql); }
  TuningStore read() const { return TuningStore::open_for_reading(path); }

  TempFolder folder;
  fs::path path = folder / "tuning.db";
};

TEST_F(Rows, OfAVerdictAreBelievedOnlyAsWritten) {
  EXPECT_EQ(read().winner(kProblem, sample_environment())->plan, "damaged");
  EXPECT_FALSE(read().damage().any());
  const std::string whole = bytes_of(path);
  for (const char* change :
       {"validity = '{\"m\":[32768,131073]}'", "winner_ns = 1100.0000000000002", "winner_ns = -1", "winner_ns = 9e999",
        "incumbent_ns = 2201", "incumbent_ns = NULL", "ratio_low = 0.5", "ratio_high = 3", "rounds = 1",
        "rounds = 1 << 40", "created_ms = created_ms + 1", "replaces = NULL", "plan = 1", "objective = 'energy'",
        "checksum = replace(checksum, 'a', 'b')"}) {
    write_bytes(path, whole);
    damage(std::string("UPDATE verdict SET ") + change + " WHERE id = 2");
    if (bytes_of(path) == whole) continue;  // the checksum has no 'a'
    SCOPED_TRACE(change);
    EXPECT_EQ(read().winner(kProblem, sample_environment())->plan, "kept");
    EXPECT_EQ(read().verdicts().size(), 1u);
    EXPECT_EQ(read().damage().verdicts, 1u);
    EXPECT_EQ(Lookup::load(path).entries().size(), 1u);
    EXPECT_EQ(Lookup::load(path).layers()[0].damaged, 1u);
  }
}

TEST_F(Rows, OfARunAreBelievedOnlyAsWritten) {
  const std::string whole = bytes_of(path);
  for (const char* change : {"round = 4",
                             "round = -1",
                             "status = 'rejected'",
                             "status = 'great'",
                             "error = 1.26e-6",
                             "error = NULL",
                             "samples_ns = '[1200,1100,1301]'",
                             "samples_ns = '{}'",
                             "samples_ns = '[1.5]'",
                             "samples_ns = '[' || hex(zeroblob(200000))",
                             "stages_ns = '[[\"fft\",1]]'",
                             "stages_ns = '[[\"fft\"]]'",
                             "memory_bytes = 1",
                             "wisdom = 'other'",
                             "message = ''",
                             "kernels = ''",
                             "started_ms = 1",
                             "state = ''",
                             "joules = 0.5",
                             "joules = NULL",
                             "state = '', joules = NULL"}) {
    write_bytes(path, whole);
    damage(std::string("UPDATE run SET ") + change + " WHERE id = 2");
    SCOPED_TRACE(change);
    ASSERT_EQ(read().runs(kProblem).size(), 1u);
    EXPECT_EQ(read().runs(kProblem)[0].plan, "kept");
    EXPECT_EQ(read().history(kProblem, sample_environment()).size(), 1u);
    EXPECT_EQ(read().wisdom(kProblem, "damaged", sample_environment()), "");
    EXPECT_EQ(read().damage().runs, 1u);
    EXPECT_EQ(read().winner(kProblem, sample_environment())->plan, "damaged") << "its verdict is whole";
  }
}

// Flips one bit of a text that many rows refer to.
TEST_F(Rows, ThatReferToADamagedTextAreNotBelieved) {
  const std::string whole = bytes_of(path);
  for (const char* sql : {"UPDATE plan SET text = 'dam`ged' WHERE text = 'damaged'",
                          "UPDATE plan SET text = hex(zeroblob(200000)) WHERE text = 'damaged'",
                          "UPDATE plan SET text = 'a' || char(0) || 'b' WHERE text = 'damaged'"}) {
    write_bytes(path, whole);
    damage(sql);
    SCOPED_TRACE(sql);
    EXPECT_EQ(read().winner(kProblem, sample_environment())->plan, "kept");
    EXPECT_EQ(read().runs(kProblem).size(), 1u);
    EXPECT_EQ(read().damage().text(), "1 verdict and 1 run are not what was written");
  }
  for (const char* sql : {"UPDATE environment SET isa = 'avx3'", "UPDATE problem SET token = token || '0'"}) {
    write_bytes(path, whole);
    damage(sql);
    SCOPED_TRACE(sql);
    EXPECT_TRUE(read().verdicts().empty());
    EXPECT_EQ(read().damage().text(), "2 verdicts and 2 runs are not what was written");
    EXPECT_TRUE(Lookup::load(path).entries().empty());
  }
}

TEST_F(Rows, ThatReferToNothingAreCounted) {
  raw_sql(path, "PRAGMA foreign_keys = OFF; DELETE FROM plan WHERE text = 'damaged'");
  EXPECT_EQ(read().damage().text(), "2 rows refer to others that are not there");
  EXPECT_EQ(read().winner(kProblem, sample_environment())->plan, "kept");
}

TEST_F(Rows, AWithdrawalIsPartOfWhatWasWritten) {
  {
    auto store = TuningStore::open_for_writing(path);
    store.withdraw_verdict(store.winner(kProblem, sample_environment())->id, "wrong result");
  }
  EXPECT_EQ(read().verdicts().back().withdrawn, "wrong result");
  EXPECT_FALSE(read().damage().any());
  damage("UPDATE verdict SET withdrawn = NULL WHERE id = 2");
  EXPECT_EQ(read().winner(kProblem, sample_environment())->plan, "kept") << "a lost withdrawal must not serve again";
}

TEST_F(Rows, OfEarlierVersionsHaveNoChecksumAndAreBelieved) {
  raw_sql(path, "UPDATE verdict SET checksum = NULL; UPDATE run SET checksum = NULL");
  EXPECT_EQ(read().winner(kProblem, sample_environment())->plan, "damaged");
  EXPECT_EQ(read().runs(kProblem).size(), 2u);
  EXPECT_FALSE(read().damage().any());
  damage("UPDATE verdict SET winner_ns = -1 WHERE id = 2; UPDATE run SET samples_ns = '{}' WHERE id = 2");
  EXPECT_EQ(read().winner(kProblem, sample_environment())->plan, "kept") << "values that no schema allows never are";
  EXPECT_EQ(read().damage().text(), "1 verdict and 1 run are not what was written");
}

// Version 5 added fields, which count only in rows that have them: those of version 4 are checked as before.
TEST(RowChecksum, OfARowWithoutLaterFieldsIsThatOfVersion4) {
  db::Run run = sample_run("plan");
  run.state.clear(), run.joules.reset(), run.error.reset();
  run.round = 3, run.memory_bytes = 7, run.started_ms = 11;
  const Environment e = sample_environment();
  const std::vector<std::string_view> fields{"run 1",     e.backend,   e.device,    e.isa,       e.traits, e.driver,
                                             e.compiler,  e.libraries, e.generator, run.problem, run.plan, "3",
                                             "ok",        "",          "[1]",       "[]",        "7",      run.wisdom,
                                             run.message, "11",        run.kernels};
  EXPECT_EQ(checksum_of(run, e, "[1]", "[]"), blake2b(fields));
  run.joules = 0.5;
  EXPECT_NE(checksum_of(run, e, "[1]", "[]"), blake2b(fields));
}

// ---- indices that do not match their tables: "FOREIGN KEY constraint failed"
// Flips one bit of an index entry in the file: the entry of this text then names row 0, which does not exist. (An index
// record is: header size, type of the text, type 9 for the number 1; type 8 is the number 0.)
void point_index_at_nothing(const fs::path& path, const std::string& text) {
  std::string bytes = bytes_of(path);
  const auto type = static_cast<char>(13 + 2 * text.size());
  const std::string entry = std::string{'\x03', type, '\x09'} + text;
  ASSERT_LT(13 + 2 * text.size(), 128u) << "the test's text is too long for a type of one byte";
  const std::size_t at = bytes.find(entry);
  ASSERT_NE(at, bytes.npos);
  bytes[at + 2] = '\x08';
  write_bytes(path, bytes);
}

TEST_F(Rows, AnIndexThatNamesAMissingRowIsMadeAnewAndNothingIsLost) {
  const std::string plan = "the first plan of its file";
  fs::remove(path);
  {
    auto store = TuningStore::open_for_writing(path, 1000, Journal::rollback);
    store.record_run(store.begin_session(sample_session()), sample_run(plan));
  }
  point_index_at_nothing(path, plan);
  auto store = TuningStore::open_for_writing(path, 1000, Journal::rollback);
  const SessionId session = store.begin_session(sample_session());
  EXPECT_FALSE(store.repaired());
  store.record_run(session, sample_run(plan));
  EXPECT_TRUE(store.repaired());
  store.record_verdict(session, sample_verdict(plan));
  EXPECT_EQ(store.runs(kProblem).size(), 2u);
  EXPECT_EQ(store.winner(kProblem, sample_environment())->plan, plan);
  EXPECT_FALSE(store.damage().any());
}

TEST_F(Rows, DamageThatCannotBeRepairedIsNamed) {
  auto store = TuningStore::open_for_writing(path);
  const SessionId session = store.begin_session(sample_session());
  // Without the environment of the session, a verdict in it could not be found again.
  raw_sql(path, "PRAGMA foreign_keys = OFF; DELETE FROM environment");
  EXPECT_EQ(fault_of([&] { store.record_run(session, sample_run()); }), StoreFault::damaged);
  const Database raw = Database::open(path, OpenMode::write, 1000);
  EXPECT_EQ(fault_of([&] {
              raw.execute(
                  "INSERT INTO run (session, problem, plan, round, status, samples_ns, stages_ns, memory_bytes,"
                  " wisdom, message, started_ms) VALUES (999, 999, 999, 0, 'ok', '[]', '[]', 0, '', '', 0)");
            }),
            StoreFault::damaged);
}

}  // namespace
}  // namespace fourtune::db::testing
