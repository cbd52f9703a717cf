// `fourtune tune --drawn`: what is drawn, what is said at the end, and whole sessions on the processor and the
// emulator.
#include "tools/cli/tune_drawn.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/support/program.h"
#include "tools/common/errors.h"
#include "tools/common/problem_draw.h"

namespace fourtune::tools {
namespace {

TEST(TuneDrawn, KindsAreFftAndNufft) {
  EXPECT_EQ(drawn_kinds("fft"), std::vector<Kind>({Kind::fft}));
  EXPECT_EQ(drawn_kinds("nufft,fft"), std::vector<Kind>({Kind::nufft, Kind::fft}));
  EXPECT_EQ(drawn_kinds("fft,fft"), std::vector<Kind>({Kind::fft}));
  for (const char* wrong : {"", "fft,", ",fft", "FFT", "fft nufft", "dct"})
    EXPECT_THROW(drawn_kinds(wrong), UsageError) << wrong;
}

TEST(TuneDrawn, ProblemsAreDifferentInTurnAndThoseOfTheSoak) {
  const DrawnRange range{{Kind::nufft, Kind::fft}, 7, 600};
  const std::vector<Problem> problems = drawn_problems(range, 40);
  ASSERT_EQ(problems.size(), 40u);
  std::set<std::string> tokens;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    EXPECT_EQ(problems[i].kind, i % 2 == 0 ? Kind::nufft : Kind::fft);
    tokens.insert(to_token(problems[i]));
  }
  EXPECT_EQ(tokens.size(), 40u);
  ProblemDraw draw(Kind::fft, 7, 600);
  EXPECT_EQ(problems[1], parse_problem(draw.next()));
  EXPECT_EQ(drawn_problems(range, 40), problems);
  EXPECT_NE(drawn_problems({range.kinds, 8, 600}, 1), drawn_problems(range, 1));
  EXPECT_THROW(drawn_problems({range.kinds, 7, 0.5}, 1), UsageError);
  EXPECT_EQ(drawn_count(0.1), 1u);
  EXPECT_GT(drawn_count(1800), 100u);
}

tuner::ProblemReport tuned(const std::string& problem, double seconds, double served, double untuned) {
  tuner::ProblemReport report;
  report.problem = problem;
  report.winner = "plan";
  report.seconds = seconds, report.served_seconds = served, report.untuned_seconds = untuned;
  return report;
}

TEST(TuneDrawn, TheSummaryComparesTheFirstThirdWithTheLast) {
  tuner::Report report;
  report.problems = {tuned("a", 1, 4, 4), tuned("b", 1, 1, 1), tuned("c", 1, 9, 9),
                     tuned("d", 1, 9, 9), tuned("e", 2, 2, 8), tuned("f", 2, 4.5, 2)};
  const std::string text = drawn_summary(report);
  const auto first = text.substr(text.find("the first 2"), text.find("the last 2") - text.find("the first 2"));
  const auto last = text.substr(text.find("the last 2"));
  EXPECT_NE(text.find("6 drawn problems"), std::string::npos) << text;
  EXPECT_NE(first.find("by this database   2.00 of the tuned plan's time, at most 4.00 (a)"), std::string::npos)
      << text;
  EXPECT_NE(last.find("by this database   1.50 of the tuned plan's time, at most 2.25 (f)"), std::string::npos) << text;
  EXPECT_NE(last.find("by the cost model  2.00 of the tuned plan's time, at most 4.00 (e)"), std::string::npos) << text;
}

TEST(TuneDrawn, TheSummaryLeavesOutWhatSaysNothing) {
  tuner::Report report;
  report.problems = {tuned("known", 1, 1, 5), tuned("failed", 0, 0, 0), tuned("fresh", 1, 3, 0)};
  report.problems[0].tuned_before = true;
  report.problems[1].winner.clear();
  const std::string text = drawn_summary(report);
  EXPECT_NE(text.find("all 1"), std::string::npos) << text;
  EXPECT_EQ(text.find("the first"), std::string::npos) << text;
  EXPECT_NE(text.find("3.00 of the tuned plan's time, at most 3.00 (fresh)"), std::string::npos) << text;
  EXPECT_NE(text.find("by the cost model  not measured"), std::string::npos) << text;
  report.problems.pop_back();
  EXPECT_NE(drawn_summary(report).find("another --seed"), std::string::npos);
}

using Json = nlohmann::json;

test::Finished run(const test::ScratchFolder& folder, std::vector<std::string> words) {
  words.insert(words.begin(), {test::fourtune_program(), "tune"});
  words.insert(words.end(), {"--quiet", "--db", (folder / "tuning.db").string()});
  return test::run_program(words, folder.path());
}

TEST(TuneDrawn, TunesTheProcessorForEverythingAndGoesOn) {
  const test::ScratchFolder folder;
  // CPU time: other load may neither leave a problem without a winner (exit code 75) nor decide which one wins.
  const std::vector<std::string> words{"--drawn",   "nufft,fft", "--minutes",  "0.22",     "--megabytes", "0.6",
                                       "--threads", "1",         "--cpu-time", "--format", "json"};
  const test::Finished first = run(folder, words);
  ASSERT_EQ(first.code, 0) << first.err;
  const Json problems = Json::parse(first.out);
  ASSERT_EQ(problems.size(), drawn_count(60 * 0.22));
  for (const Json& problem : problems) {
    EXPECT_FALSE(problem["winner"].get<std::string>().empty()) << problem;
    EXPECT_GT(problem["served_seconds"].get<double>(), 0) << problem;
    EXPECT_FALSE(problem["tuned_before"].get<bool>());
  }
  EXPECT_NE(first.err.find("by this database"), std::string::npos) << first.err;
  std::vector<std::string> again = words;
  again[3] = "0.1";  // the first of them only
  const test::Finished second = run(folder, again);
  ASSERT_EQ(second.code, 0) << second.err;
  const Json known = Json::parse(second.out);
  ASSERT_EQ(known.size(), 1u);
  EXPECT_EQ(known[0]["problem"], problems[0]["problem"]);
  EXPECT_TRUE(known[0]["tuned_before"].get<bool>());
  // How many plans a second has time for depends on the machine. A plan that the budget cut off is tried again.
  EXPECT_GE(known[0]["reused"].get<int>(), 1);
  EXPECT_LE(known[0]["reused"].get<int>(), problems[0]["evaluations"].get<int>());
  EXPECT_NE(second.err.find("another --seed"), std::string::npos) << second.err;
}

TEST(TuneDrawn, TunesTheEmulatedGpuAndTracesIt) {
  const test::ScratchFolder folder;
  const test::Finished finished = run(
      folder, {"--drawn", "fft", "--seconds", "6", "--megabytes", "0.6", "--backend", "emulated", "--trace", "t.csv"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_NE(finished.out.find("1 drawn problems, new to the database"), std::string::npos) << finished.out;
  const std::string trace = test::read_text(folder / "t.csv");
  EXPECT_EQ(trace.rfind("at,problem,step,plan,status,seconds,list,", 0), 0u) << trace;
  for (const char* step : {",prepare,", ",untuned,emulated;", ",finals,"})
    EXPECT_NE(trace.find(step), std::string::npos) << step;
  // Where compiling the untuned plan left more than the finals need of the six seconds, others are searched.
  const auto finals = trace.rfind('\n', trace.find(",finals,"));
  EXPECT_TRUE(trace.find(",search,") != std::string::npos || std::stod(trace.substr(finals + 1)) > 4.5) << trace;
}

TEST(TuneDrawn, TheToolThatShowsItsSpeedKillsACampaignAndFindsAllOfIt) {
  if (!test::has_program("python3")) GTEST_SKIP() << "no Python 3";
  const test::ScratchFolder folder;
  const std::string tune_speed = FOURTUNE_SOURCE_DIR "/tools/tune_speed";
  const test::Finished shown =
      test::run_program({tune_speed, test::fourtune_program(), "--out", "out", "--backend", "emulated", "--kinds",
                         "fft", "--seconds", "3", "--megabytes", "0.6", "--kills", "2", "--kill-seconds", "1.5"},
                        folder.path());
  EXPECT_EQ(shown.code, 0) << shown.out << shown.err;
  for (const char* part : {"fft: 1 problems, ", " within 3 % after 5 s\n", "  seconds to 3 %: ", "killed 2 times: ",
                           " 0 of them again", " 0 are not in the database; 1 of 1 problems have a winner"})
    EXPECT_NE(shown.out.find(part), std::string::npos) << part << "\n" << shown.out;
}

TEST(TuneDrawn, WhatDoesNotGoTogetherIsSaid) {
  const test::ScratchFolder folder;
  const auto error = [&](const std::vector<std::string>& words) {
    const test::Finished finished = run(folder, words);
    EXPECT_NE(finished.code, 0);
    return finished.err;
  };
  EXPECT_NE(error({"--drawn", "fft", "fft:type=c2c,n=8,prec=f32"}).find("not with other problems"), std::string::npos);
  EXPECT_NE(error({"--drawn", "fft", "--seconds", "0"}).find("say how long"), std::string::npos);
  EXPECT_NE(error({"--drawn", "dct"}).find("'dct' is not a kind of problem"), std::string::npos);
  EXPECT_NE(error({"--drawn", "fft", "--seconds", "3", "--minutes", "1"}).find("excludes"), std::string::npos);
  EXPECT_NE(error({"--drawn", "fft", "--megabytes", "0.1"}).find("no problem is that small"), std::string::npos);
  EXPECT_NE(error({"fft:type=c2c,n=8,prec=f32", "--trace", "no/such/folder/t.csv"}).find("cannot be written"),
            std::string::npos);
}

}  // namespace
}  // namespace fourtune::tools
