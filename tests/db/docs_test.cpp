// docs/database.md says what is true.
#include "db/store_file.h"
#include "tests/db/support.h"

namespace fourtune::db::testing {
namespace {

const fs::path kRoot = fs::path(__FILE__).parent_path().parent_path().parent_path();

TEST(DatabasePage, HasSqlThatRuns) {
  const std::string page = bytes_of(kRoot / "docs/database.md");
  const TempFolder folder;
  const fs::path path = folder / "tuning.db";
  { TuningStore::open_for_writing(path); }
  int blocks = 0;
  const std::string open = "```sql\n";
  for (std::size_t at = 0; (at = page.find(open, at)) != page.npos; ++blocks) {
    at += open.size();
    raw_sql(path, page.substr(at, page.find("```", at) - at));
  }
  EXPECT_GE(blocks, 2);
}

TEST(DatabasePage, NamesEveryTableStatusFaultAndFreshness) {
  const std::string page = bytes_of(kRoot / "docs/database.md");
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
  const std::string page = bytes_of(kRoot / "docs/database.md");
  int links = 0;
  for (std::size_t at = 0; (at = page.find("](", at)) != page.npos; ++links) {
    at += 2;
    const std::string target = page.substr(at, page.find(')', at) - at);
    EXPECT_TRUE(fs::exists(kRoot / "docs" / target)) << target;
  }
  EXPECT_GT(links, 0);
}

}  // namespace
}  // namespace fourtune::db::testing
