// Checks that the statements of docs/design/database.md are true.
#include <algorithm>

#include "db/limits.h"
#include "db/store_file.h"
#include "tests/db/support.h"

namespace fourtune::db::testing {
namespace {

const fs::path kRoot = fs::path(__FILE__).parent_path().parent_path().parent_path();

// The statements of the page's SQL blocks, in order.
std::vector<std::string> statements_of(const std::string& page) {
  std::vector<std::string> statements;
  const std::string open = "```sql\n";
  for (std::size_t at = 0; (at = page.find(open, at)) != page.npos;) {
    at += open.size();
    const std::size_t end = page.find("```", at);
    while (at < end) {
      const std::size_t stop = std::min(page.find(';', at), end);
      if (page.find_first_not_of(" \n;", at) < end) statements.push_back(page.substr(at, stop - at));
      at = stop + 1;
    }
  }
  return statements;
}

// All rows that a reader of the page would see, with columns joined by '|'.
std::vector<std::string> rows_of(const Database& database, const std::string& sql, int columns) {
  std::vector<std::string> all;
  Statement rows = database.prepare(sql);
  while (rows.step()) {
    std::string line = rows.text(0, kMaxText);
    for (int column = 1; column < columns; ++column) line += "|" + rows.text(column, kMaxText);
    all.push_back(line);
  }
  return all;
}

TEST(DatabasePage, HasSqlThatGivesWhatThePageSays) {
  const TempFolder folder;
  const fs::path path = folder / "tuning.db";
  {
    auto store = TuningStore::open_for_writing(path, 1000, Journal::rollback);
    const SessionId session = store.begin_session(sample_session());
    for (const auto& [plan, ns] : {std::pair("slow", 3'000'000), {"fast", 1'000'000}}) {
      db::Run run = sample_run(plan);
      run.problem = kOtherProblem;
      run.samples_ns = {ns};
      store.record_run(session, run);
      Verdict verdict = sample_verdict(plan);
      verdict.problem = kOtherProblem, verdict.winner_ns = ns;
      store.record_verdict(session, verdict);
    }
    store.record_run(session, sample_run("bad", RunStatus::wrong_result));
    store.withdraw_verdict(store.winner(kOtherProblem, sample_environment())->id, "wrong result");
  }
  const auto statements = statements_of(bytes_of(kRoot / "docs/design/database.md"));
  ASSERT_EQ(statements.size(), 3u);
  const Database database = Database::open(path, OpenMode::read, 0);
  EXPECT_EQ(rows_of(database, statements[0], 6),
            (std::vector<std::string>{kOtherProblem + "|slow|1|3000000.0|1.0|1.0"}))
      << "the winner is the latest verdict that is not withdrawn";
  const auto samples = rows_of(database, statements[1], 4);
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[0].rfind("fast|ok|", 0), 0u) << samples[0];
  EXPECT_EQ(samples[1].rfind("slow|ok|", 0), 0u) << samples[1];
  EXPECT_NE(samples[1].find("|3.0"), std::string::npos) << samples[1];
  const auto counts = rows_of(database, statements[2], 3);
  ASSERT_EQ(counts.size(), 2u);
  EXPECT_EQ(counts[0].rfind("ok|2|", 0), 0u);
  EXPECT_EQ(counts[1].rfind("wrong_result|1|", 0), 0u);
}

TEST(DatabasePage, NamesEveryTableStatusFaultAndFreshness) {
  const std::string page = bytes_of(kRoot / "docs/design/database.md");
  std::vector<std::string> words;
  for (int i = 0; i <= static_cast<int>(RunStatus::interrupted); ++i) words.push_back(to_string(RunStatus(i)));
  for (int i = 0; i <= static_cast<int>(StoreFault::busy); ++i) words.push_back(to_string(StoreFault(i)));
  const Database empty = open_for_reading("", OpenAs::shared);
  Statement tables = empty.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
  while (tables.step()) words.push_back(tables.text(0, 100));
  for (const std::string& word : words) EXPECT_NE(page.find("`" + word + "`"), std::string::npos) << word;
  for (int i = 0; i <= static_cast<int>(Freshness::foreign); ++i) {
    EXPECT_NE(page.find(std::string("| ") + to_string(Freshness(i)) + " |"), std::string::npos) << i;
  }
}

TEST(DatabasePage, LinksToFilesThatExist) {
  const std::string page = bytes_of(kRoot / "docs/design/database.md");
  int links = 0;
  for (std::size_t at = 0; (at = page.find("](", at)) != page.npos; ++links) {
    at += 2;
    const std::string target = page.substr(at, page.find(')', at) - at);
    EXPECT_TRUE(fs::exists(kRoot / "docs/design" / target)) << target;
  }
  EXPECT_GT(links, 0);
}

}  // namespace
}  // namespace fourtune::db::testing
