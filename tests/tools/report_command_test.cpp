// `fourtune report`: a page of what was tuned, and which files it refuses.
#include "tests/tools/command_line.h"

namespace fourtune::test {
namespace {

class ReportCommand : public CommandLine {};

TEST_F(ReportCommand, WritesAPageOfWhatWasTuned) {
  ASSERT_EQ(run({"tune", "fft:type=c2c,n=24,prec=f64", "--seconds", "1", "--threads", "1", "--quiet"}).code, 0);
  const Finished done = run({"report", "-o", "own.html"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_NE(done.out.find("own.html: 1 problem\n"), std::string::npos) << done.out;
  const std::string page = read_text(folder / "own.html");
  for (const char* part : {"fft:type=c2c,n=24,prec=f64", "as fast as untuned", "<svg", "floor", "own.db"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  expect_refused({"report", "own.db", "-o", "own.html"}, "own.html: exists");
  EXPECT_EQ(run({"report", "own.db", "-o", "own.html", "--force"}).code, 0);
  expect_refused({"report", "own.db"}, "--out");
  expect_refused({"report", "nowhere.db", "-o", "b.html"}, "nowhere.db: no such database");
  ASSERT_EQ(run({"pack", "build", "own.pack"}).code, 0);
  expect_refused({"report", "own.pack", "-o", "b.html"}, "own.pack is a pack");
  file("words.db", "no database");
  expect_refused({"report", "words.db", "-o", "b.html"}, "is not a SQLite file", 1);
  expect_refused({"report", "own.db", "-o", "no/folder/b.html"}, "no/folder", 1);
}

}  // namespace
}  // namespace fourtune::test
