// The command line with damaged or malicious databases, with oversized arguments, and at the limit of a file's size: it
// says what is wrong, sends no control characters to the terminal, and loses nothing.
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "db/tuning_store.h"
#include "fourtune/device_traits.h"
#include "runtime/environment.h"
#include "tests/support/program.h"
#include "tests/support/stored_winner.h"

namespace fourtune::test {
namespace {

constexpr const char* kSmallFft = "fft:type=c2c,n=8,prec=f64";
constexpr const char* kRowsPlan = "cpu;threads=1;fft=rows(rigor=measure,block=64)";

class HostileDatabase : public testing::Test {
 protected:
  Finished run(std::vector<std::string> words) {
    words.insert(words.begin(), fourtune_program());
    return run_program(words, folder.path(), {{"FOURTUNE_DB", (folder / "own.db").string()}, {"OMP_NUM_THREADS", "1"}});
  }
  void store(const std::string& plan, const std::string& message = {}) {
    auto store = db::TuningStore::open_for_writing(folder / "own.db", 1000, db::Journal::rollback);
    db::Run run = right_run(kSmallFft, plan);
    run.message = message;
    store_winner(store, runtime::environment_here(cpu_traits()), run);
  }
  void sql(const std::string& statement) {
    sqlite3* connection = nullptr;
    ASSERT_EQ(sqlite3_open((folder / "own.db").c_str(), &connection), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(connection, statement.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(connection);
  }
  static void expect_harmless(const Finished& result) {
    for (const std::string& text : {result.out, result.err})
      for (const char letter : text)
        EXPECT_TRUE(letter == '\n' || static_cast<unsigned char>(letter) >= 0x20) << static_cast<int>(letter);
    EXPECT_EQ((result.out + result.err).find("\xc2\x9b"), std::string::npos);
  }

  ScratchFolder folder;
};

TEST_F(HostileDatabase, NoCommandSendsItsControlCharactersToTheTerminal) {
  store(
      "cpu;\x1b[2J\x1b]0;owned\x07\xc2\x9b"
      "31m\r");
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"show"},
                                             {"show", "--format", "csv"},
                                             {"show", "--format", "json"},
                                             {"explain", kSmallFft, "--backend", "cpu"},
                                             {"explain", kSmallFft, "--backend", "cpu", "--json"},
                                             {"doctor"},
                                             {"run", kSmallFft, "--plan", "cpu;\x1b[2J"},
                                             {"run", "fft:\x1b[2J"},
                                             {"\x1b[2J"},
                                             {"explain", kSmallFft, "--\x1b[2J"},
                                             {"show", "--db", "\x1b[2J.db"}}) {
    SCOPED_TRACE(words.back());
    const Finished result = run(words);
    expect_harmless(result);
    EXPECT_FALSE(result.out.empty() && result.err.empty());
  }
  EXPECT_NE(run({"show"}).out.find("\\x1b[2J"), std::string::npos) << "shown, not obeyed";
  EXPECT_NE(run({"show", "--format", "json"}).out.find("\\u001b[2J"), std::string::npos);
}

TEST_F(HostileDatabase, ErrorsDoNotRepeatMegabytes) {
  const std::string key(120'000, 'k');  // an argument may have 128 KiB
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"run", "fft:" + key},
                                             {"run", "fft:type=c2c,n=" + key},
                                             {"run", kSmallFft, "--plan", "cpu;" + key + "=1"},
                                             {"run", kSmallFft, "--backend", key},
                                             {"tune", kSmallFft, "--strategy", key},
                                             {key}}) {
    const Finished result = run(words);
    EXPECT_NE(result.code, 0);
    EXPECT_LT(result.err.size(), 6000u) << result.err.substr(0, 300);
    EXPECT_NE(result.err.find("fourtune: error: "), std::string::npos);
  }
}

TEST_F(HostileDatabase, DamagedRowsAreNamedAndTheOthersServe) {
  store(kRowsPlan);
  store("cpu;threads=1;fft=rows(rigor=measure,block=32)");
  sql("UPDATE plan SET text = replace(text, 'block=32', 'block=33')");
  const Finished shown = run({"show"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_NE(shown.err.find("1 verdict and 1 run are not what was written"), std::string::npos) << shown.err;
  EXPECT_NE(shown.out.find("block=64"), std::string::npos) << shown.out;
  EXPECT_EQ(shown.out.find("block=33"), std::string::npos) << shown.out;
  const Finished explained = run({"explain", kSmallFft, "--backend", "cpu"});
  EXPECT_NE(explained.out.find("1 winner, 1 damaged and passed over"), std::string::npos) << explained.out;
  const Finished examined = run({"doctor"});
  EXPECT_NE(examined.out.find("1 verdict and 1 run are not what was written"), std::string::npos) << examined.out;
}

TEST_F(HostileDatabase, DoctorSaysWhyKernelsAreNotLoadedFromIt) {
  store(kRowsPlan);
  EXPECT_EQ(run({"doctor"}).out.find("kernels are not loaded from it"), std::string::npos);
  ASSERT_EQ(::chmod((folder / "own.db").c_str(), 0666), 0);
  const std::string said = run({"doctor"}).out;
  EXPECT_NE(said.find("kernels are not loaded from it"), std::string::npos) << said;
  EXPECT_NE(said.find("can be written by others (mode 666)"), std::string::npos) << said;
}

// With `ulimit -f`, a session continues, says what is wrong, and keeps its earlier data.
TEST_F(HostileDatabase, AFileThatMayNotGrowIsAnErrorWithANameAndLosesNothing) {
  store(kRowsPlan);
  const std::string limited = "ulimit -f 192; exec '" + fourtune_program() +
                              "' tune fft:type=c2c,n=12,prec=f64 fft:type=c2c,n=20,prec=f64 "
                              "fft:type=c2c,n=24,prec=f64 --seconds 0 --threads 1 --cpu-time --quiet";
  const Finished result =
      run_program({"/bin/bash", "-c", limited}, folder.path(), {{"FOURTUNE_DB", (folder / "own.db").string()}});
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_NE(result.err.find("warning: not stored: tuning database"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("fourtune: error: not everything could be stored"), std::string::npos) << result.err;
  const auto kept = db::TuningStore::open_for_reading(folder / "own.db");
  EXPECT_FALSE(kept.damage().any());
  EXPECT_EQ(kept.runs(kSmallFft).size(), 1u);
  EXPECT_GT(kept.runs("fft:type=c2c,n=12,prec=f64").size(), 0u) << "what was measured before the limit";
  const Finished again =
      run({"tune", "fft:type=c2c,n=12,prec=f64", "--seconds", "0", "--threads", "1", "--cpu-time", "--quiet"});
  EXPECT_EQ(again.code, 0) << again.err;
}

}  // namespace
}  // namespace fourtune::test
