// What a search's course says of its future.
#include "tuner/session/course.h"

#include <gtest/gtest.h>

#include "tuner/session/pace.h"

namespace fourtune::tuner {
namespace {

TEST(Course, SettlesWhenManyPlansBroughtNothing) {
  SearchCourse course;
  for (int i = 0; i < 39; ++i) course.add(0.1, 1e-3);
  EXPECT_FALSE(course.settled());
  course.add(0.1, 0.998e-3);  // noise
  EXPECT_FALSE(course.settled());
  course.add(0.1, 1e-3);
  EXPECT_TRUE(course.settled());
  course.add(0.1, 0.9e-3);
  EXPECT_FALSE(course.settled()) << "it rises again";
}

TEST(Course, ALongSearchNeedsMorePatience) {
  SearchCourse course;
  double best = 1;
  for (int i = 0; i < 200; ++i) course.add(0.1, best *= 0.99);
  for (int i = 0; i < 150; ++i) course.add(0.1, best);
  EXPECT_FALSE(course.settled());
  for (int i = 0; i < 51; ++i) course.add(0.1, best);
  EXPECT_TRUE(course.settled());
}

TEST(Course, SettlesNotBeforeThereIsARightResult) {
  SearchCourse course;
  for (int i = 0; i < 100; ++i) course.add(0.1, 0);
  EXPECT_FALSE(course.settled());
  EXPECT_GT(course.gain_per_second(), 0.5) << "so it comes first";
}

TEST(Course, ExpectsMoreOfASearchThatStillImproves) {
  SearchCourse rising, risen, longer;
  for (int i = 0; i < 20; ++i) {
    rising.add(0.1, 1 - 0.03 * i);
    risen.add(0.1, i < 5 ? 1 - 0.1 * i : 0.5);
    longer.add(0.5, i < 5 ? 1 - 0.1 * i : 0.5);
  }
  EXPECT_GT(rising.gain_per_second(), 10 * risen.gain_per_second());
  EXPECT_GT(risen.gain_per_second(), longer.gain_per_second());
  EXPECT_GT(longer.gain_per_second(), 0);
}

ProblemReport report_of(const std::string& winner, std::vector<Measured> course) {
  ProblemReport report;
  report.winner = winner;
  report.course = std::move(course);
  return report;
}

TEST(Pace, TellsWhenASearchCameNearItsWinner) {
  const std::vector<Measured> course{{0.5, "untuned", 4e-3},
                                     {1.5, "near", 1.029e-3},
                                     {2, "better", 0.99e-3},
                                     {7, "winner", 1e-3},
                                     {8, "worse", 1.2e-3}};
  EXPECT_EQ(seconds_to_winner(report_of("winner", course)), 1.5);
  EXPECT_EQ(seconds_to_winner(report_of("winner", course), 0.01), 2) << "what seemed better, alone, is near too";
  EXPECT_EQ(seconds_to_winner(report_of("untuned", course)), 0.5);
  EXPECT_EQ(seconds_to_winner(report_of("worse", course)), 1.5);
  EXPECT_FALSE(seconds_to_winner(report_of("of an earlier session", course)));
  EXPECT_FALSE(seconds_to_winner(report_of("", course))) << "there is no winner";
  EXPECT_FALSE(seconds_to_winner(report_of("winner", {})));
}

TEST(Pace, SumsUpASession) {
  Report report;
  EXPECT_EQ(pace_summary(report), "") << "nothing was measured";
  report.elapsed = 20, report.evaluations = 400, report.failures = 10;
  EXPECT_EQ(pace_summary(report), "400 plans in 20.0 s, 20.0 per second; 2.5 % failed\n");
  for (const double at : {9.0, 0.5, 5.0, 1.0}) report.problems.push_back(report_of("w", {{0.1, "a", 2}, {at, "w", 1}}));
  report.problems.push_back(report_of("stored", {}));
  EXPECT_EQ(pace_summary(report),
            "400 plans in 20.0 s, 20.0 per second; 2.5 % failed\n"
            "within 3 % of the winner after 5 s: 3 of 4 problems (75 %); half of them after 1 s, the last after 9 s\n");
}

}  // namespace
}  // namespace fourtune::tuner
