// `fourtune report`: a page of what was tuned, and which files it refuses.
#include "tests/tools/command_line.h"

namespace fourtune::test {
namespace {

class ReportCommand : public CommandLine {};

TEST_F(ReportCommand, WritesAPageOfWhatWasTuned) {
  ASSERT_EQ(tune({"fft:type=c2c,n=24,prec=f64", "--seconds", "1", "--quiet"}).code, 0);
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

// With gnuplot they are drawings, without it the scripts that draw them.
TEST_F(ReportCommand, DrawsGainsAndSearchesAsFiles) {
  ASSERT_EQ(tune({"fft:type=c2c,n=24,prec=f64", "--seconds", "1", "--quiet"}).code, 0);
  const Finished done = run({"report", "-o", "own.html", "--png", "drawings/of it's"});
  EXPECT_EQ(done.code, 0) << done.err;
  for (const char* name : {"gains", "search-1"}) {
    const std::filesystem::path drawing = folder / "drawings/of it's" / (std::string(name) + ".png");
    if (std::filesystem::exists(drawing)) {
      EXPECT_EQ(read_text(drawing).substr(1, 3), "PNG") << name;
    } else {
      EXPECT_NE(done.out.find("gnuplot"), std::string::npos) << done.out;
      EXPECT_NE(read_text(drawing.string() + ".gp").find("plot $"), std::string::npos) << name;
    }
  }
  file("taken", "");
  expect_refused({"report", "-o", "b.html", "--png", "taken"}, "taken: cannot be made", 1);
}

}  // namespace
}  // namespace fourtune::test
