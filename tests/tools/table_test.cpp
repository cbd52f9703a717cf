// Tables as people see them: at the widths of terminals, in pipes, with and without colours.
#include "tuner/report/table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/terminal.h"
#include "tests/tools/command_line.h"
#include "tuner/report/report.h"

namespace fourtune {
namespace {

using test::CommandLine;
using test::Finished;
using tuner::Cells;
using tuner::table_text;

const std::vector<Cells> kRows{
    {"problem", "time", "error", "plan"},
    {"fft:type=c2c,n=64x64x64,prec=f64", "1.23 ms", "1e-15", "cpu;threads=2;fft=rows(rigor=measure,block=64)"},
    {"", "11.2 ms", "1e-15", "cpu;threads=1;fft=fftw(rigor=patient)"}};
const tuner::TableShape kShape{{1, 2}, 0, 3};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(Table, WithoutALimitHasOneLineForEachRow) {
  EXPECT_EQ(table_text(kRows, kShape),
            "problem                              time  error  plan\n"
            "fft:type=c2c,n=64x64x64,prec=f64  1.23 ms  1e-15  cpu;threads=2;fft=rows(rigor=measure,block=64)\n"
            "                                  11.2 ms  1e-15  cpu;threads=1;fft=fftw(rigor=patient)\n");
}

TEST(Table, WhereTheTailAloneIsTooLongItIsCut) {
  EXPECT_EQ(table_text(kRows, kShape, {92}),
            "problem                              time  error  plan\n"
            "fft:type=c2c,n=64x64x64,prec=f64  1.23 ms  1e-15  cpu;threads=2;fft=rows(rigor=measure,bl...\n"
            "                                  11.2 ms  1e-15  cpu;threads=1;fft=fftw(rigor=patient)\n");
}

TEST(Table, WhereARowIsTooLongItsSubjectHasALineOfItsOwn) {
  EXPECT_EQ(table_text(kRows, kShape, {60}),
            "problem\n"
            "     time  error  plan\n"
            "fft:type=c2c,n=64x64x64,prec=f64\n"
            "  1.23 ms  1e-15  cpu;threads=2;fft=rows(rigor=measure,bl...\n"
            "  11.2 ms  1e-15  cpu;threads=1;fft=fftw(rigor=patient)\n");
}

TEST(Table, WhereTheNumbersAreTooLongTheyHaveSeveralLines) {
  EXPECT_EQ(table_text(kRows, kShape, {24}),
            "problem\n"
            "     time  error\n"
            "  plan\n"
            "fft:type=c2c,n=64x64x64,prec=f64\n"
            "  1.23 ms  1e-15\n"
            "  cpu;threads=2;fft=r...\n"
            "  11.2 ms  1e-15\n"
            "  cpu;threads=1;fft=f...\n");
}

TEST(Table, ShowsWhatTerminalsWouldObeyAsText) {
  EXPECT_EQ(table_text({{"problem"}, {"\x1b[2Jn"}}, {}), "problem\n\\x1b[2Jn\n");
}

TEST(Table, CutsBetweenCharacters) {
  const std::string cut = table_text({{"p", "plan"}, {"x", std::string(200, 'a') + "\xc3\xa4"}}, {{}, 0, 1}, {60});
  EXPECT_EQ(lines_of(cut)[1].size(), 60u);
  std::string umlauts;
  for (int i = 0; i < 100; ++i) umlauts += "\xc3\xa4";
  const std::string line = lines_of(table_text({{"p", "plan"}, {"x", umlauts}}, {{}, 0, 1}, {60}))[1];
  EXPECT_EQ(line.size(), 3 + 2 * 54 + 3u) << line;  // x, two blanks, whole characters of two bytes, dots
}

TEST(Table, WrappedTextBreaksAtBlanksAndKeepsLongWords) {
  EXPECT_EQ(tuner::wrapped("one two three", 2, {8}), "one two\n  three");
  EXPECT_EQ(tuner::wrapped("a muchlongerword b", 0, {6}), "a\nmuchlongerword\nb");
  EXPECT_EQ(tuner::wrapped("one\ntwo", 0, {80}), "one\ntwo");
  EXPECT_EQ(tuner::wrapped("one two", 0, {}), "one two");
}

TEST(ShownRows, SayWhichTimesDoNotCompareAndWarnOfRunnersUpThatLookMuchFaster) {
  tuner::ShowRow winner, turns, alone;
  winner.problem = turns.problem = alone.problem = "fft:type=c2c,n=64,prec=f64";
  winner.seconds = 50e-6, winner.in_turns = true;
  turns.rank = 1, turns.seconds = 51e-6, turns.in_turns = true;
  alone.rank = 2, alone.seconds = 49e-6;
  const auto table = [](const std::vector<tuner::ShowRow>& rows) { return format_rows(rows, tuner::Format::table); };
  EXPECT_EQ(table({winner, turns}).find('~'), std::string::npos);
  EXPECT_NE(table({winner, turns, alone}).find("~49.0 us"), std::string::npos);
  EXPECT_EQ(table({winner, turns, alone}).find("warning"), std::string::npos);
  alone.seconds = 20e-6;
  EXPECT_NE(table({winner, turns, alone}).find("number 2 of fft:type=c2c,n=64,prec=f64 2.5x faster"),
            std::string::npos);
}

class Screens : public CommandLine {
 protected:
  const std::string token = "nufft:type=1,n=32x32,m=1000,prec=f32,tol=1e-3,points=spiral";

  Finished at(const std::string& columns, std::vector<std::string> words) {
    words.insert(words.begin(), test::fourtune_program());
    return test::run_program(
        words, folder.path(),
        {{"FOURTUNE_DB", (folder / "own.db").string()}, {"OMP_NUM_THREADS", "2"}, {"COLUMNS", columns}});
  }
  // Nothing is wider than the screen but what has to be copied whole: tokens, paths, examples, an option with its
  // choices.
  static void expect_within(const std::string& text, std::size_t columns) {
    for (const std::string& line : lines_of(text))
      EXPECT_TRUE(line.size() <= columns || line.starts_with("  fourtune ") || is_one_word(line)) << line;
  }
  static bool is_one_word(const std::string& line) {
    const std::size_t space = line.find(' ', line.find_first_not_of(' '));
    return space == line.npos || (line.compare(space, 2, " {") == 0 && line.find(' ', space + 1) == line.npos);
  }
};

TEST_F(Screens, EveryTableFitsTheTerminal) {
  ASSERT_EQ(tune({token, "--seconds", "1", "--quiet"}).code, 0);
  const std::vector<std::vector<std::string>> commands{
      {"show", "--runner-ups", "2"},
      {"tune", token, "--seconds", "0.1", "--quiet", "--threads", "1", "--cpu-time"},
      {"doctor"},
      {"plan", "--list", "fft:type=c2c,n=64x64x64,prec=f32"},
      {"tune", "--help"},
      {"bench", "--help"},
      {"--help"}};
  for (const auto& words : commands)
    for (const std::size_t columns : {80, 120, 200}) {
      const Finished result = at(std::to_string(columns), words);
      EXPECT_EQ(result.code, 0) << words[0] << result.err;
      SCOPED_TRACE(words[0]);
      expect_within(result.out, columns);
    }
}

TEST_F(Screens, ATokenStandsAloneAndWholeWhereItsRowDoesNotFit) {
  ASSERT_EQ(tune({token, "--seconds", "1", "--quiet"}).code, 0);
  const auto lines = lines_of(at("80", {"show"}).out);
  EXPECT_NE(std::find(lines.begin(), lines.end(), token), lines.end());
  EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), [](const auto& line) { return line.ends_with("..."); }));
}

TEST_F(Screens, PipesAndWideHaveWholeRows) {
  ASSERT_EQ(tune({token, "--seconds", "1", "--quiet"}).code, 0);
  const std::string piped = run({"show"}).out, wide = at("80", {"show", "--wide"}).out;
  EXPECT_EQ(piped, wide);
  EXPECT_EQ(piped.find("..."), std::string::npos);
  EXPECT_NE(lines_of(piped).at(1).find("cpu;threads="), std::string::npos) << "the winner's plan is in the token's row";
}

TEST_F(Screens, BenchFoldsItsColumns) {
  const std::vector<std::string> words{"bench", "fft:type=c2c,n=64,prec=f64", "--rounds", "3", "--no-memory"};
  const auto lines = lines_of(at("80", words).out);
  EXPECT_NE(std::find(lines.begin(), lines.end(), "fft:type=c2c,n=64,prec=f64"), lines.end());
  const auto progress =
      std::find_if(lines.begin(), lines.end(), [](const auto& line) { return line.starts_with("[1/1] "); });
  ASSERT_NE(progress, lines.end());
  EXPECT_LE(progress->size(), 80u) << *progress;
  EXPECT_TRUE((progress + 1)->starts_with("  ")) << "the contenders that did not fit: " << *(progress + 1);
  const auto all = lines_of(at("400", words).out);
  EXPECT_EQ(std::find(all.begin(), all.end(), "fft:type=c2c,n=64,prec=f64"), all.end());
}

TEST_F(Screens, ColoursAreForTerminalsOnly) {
  EXPECT_EQ(run({"doctor"}).out.find('\x1b'), std::string::npos);
  const auto seen = [&](std::vector<std::pair<std::string, std::string>> more) {
    more.emplace_back("FOURTUNE_DB", (folder / "own.db").string());
    return test::run_on_terminal({test::fourtune_program(), "doctor"}, 100, more);
  };
  EXPECT_NE(seen({{"TERM", "xterm"}, {"NO_COLOR", ""}}).out.find("\x1b[32mok"), std::string::npos);
  EXPECT_EQ(seen({{"TERM", "xterm"}, {"NO_COLOR", "1"}}).out.find('\x1b'), std::string::npos);
  EXPECT_EQ(seen({{"TERM", "dumb"}, {"NO_COLOR", ""}}).out.find('\x1b'), std::string::npos);
}

TEST_F(Screens, ATerminalsOwnWidthCounts) {
  const auto seen = [&](int columns) {
    return test::run_on_terminal({test::fourtune_program(), "tune", "--help"}, columns,
                                 {{"TERM", "dumb"}, {"COLUMNS", ""}});
  };
  const auto longest = [](const Finished& result) {
    std::size_t most = 0;
    for (std::string line : lines_of(result.out)) {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      if (line.find("  fourtune ") != 0 && line.find("Every measurement") != 0) most = std::max(most, line.size());
    }
    return most;
  };
  EXPECT_LE(longest(seen(70)), 70u);
  EXPECT_GT(longest(seen(100)), 70u);
}

TEST_F(Screens, JsonIsOneDialect) {
  const auto run_one = run_json({"run", token, "--repeat", "1", "--json"});
  EXPECT_EQ(run_json({"run", token, "--repeat", "1", "--format", "json"})["problem"], run_one["problem"]);
  EXPECT_EQ(run_one["stages"][0]["call"], "set_points");
  EXPECT_EQ(run_one["stages"].back()["call"], "execute");
  ASSERT_EQ(tune({token, "--seconds", "0.5", "--quiet"}).code, 0);
  EXPECT_EQ(run({"show", "--json"}).out, run({"show", "--format", "json"}).out);
  EXPECT_EQ(run({"doctor", "--json"}).out.substr(0, 4), "{\n  ");
  expect_refused({"show", "--json", "--format", "csv"}, "excludes");
}

TEST_F(Screens, RunSaysWhenItTookADefaultForM) {
  const Finished taken = run({"run", "nufft:type=1,n=16x16,prec=f32,tol=1e-3", "--repeat", "1"});
  EXPECT_NE(taken.err.find("does not say m; 256"), std::string::npos) << taken.err;
  // Other tests may keep the machine busy, of which run tells too.
  for (const std::string& told : {token, std::string("fft:type=c2c,n=16,prec=f32")})
    EXPECT_EQ(run({"run", told, "--repeat", "1"}).err.find("does not say m"), std::string::npos) << told;
}

TEST_F(Screens, RunPrintsEachStageUnderItsCall) {
  const std::string out = run({"run", token, "--repeat", "1"}).out;
  const auto sort = out.find("\n  sort"), points = out.find("\nset_points"), execute = out.find("\nexecute"),
             spread = out.find("\n  spread");
  EXPECT_TRUE(points < sort && sort < execute && execute < spread) << out;
}

}  // namespace
}  // namespace fourtune
