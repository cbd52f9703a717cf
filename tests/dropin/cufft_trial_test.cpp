// Who executes in a trial, and who wins it, with times that the test gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "dropin/cufft/trial.h"
#include "fourtune/status.h"

namespace fourtune::dropin {
namespace {

struct Seen {
  int starts = 0, stops = 0;
  bool reached = true, fails = false;
  double seconds = 1;
};

class Watch final : public StreamStopwatch {
 public:
  explicit Watch(Seen& seen) : seen_(seen) {}
  void start(void*) override {
    if (seen_.fails) throw Error(Status::internal, "no events");
    ++seen_.starts;
  }
  void stop(void*) override { ++seen_.stops; }
  std::optional<double> seconds() override {
    if (!seen_.reached) return std::nullopt;
    return seen_.seconds;
  }

 private:
  Seen& seen_;
};

struct Judged {
  Seen seen;
  Trial trial{std::make_unique<Watch>(seen)};

  // Executes once, in these seconds by each side; o or t: who it was.
  char execute(double ours, double theirs) {
    const Side side = trial.begin(nullptr);
    seen.seconds = side == Side::ours ? ours : theirs;
    trial.end(nullptr);
    return side == Side::ours ? 'o' : 't';
  }
  std::string execute_often(int times, double ours, double theirs) {
    std::string sides;
    for (int i = 0; i < times; ++i) sides += execute(ours, theirs);
    return sides;
  }
};

TEST(CufftTrial, BothExecuteInTurnsAndThenTheFasterOneAlone) {
  const int turns = 2 * Trial::kTimes;
  for (const bool ours_win : {true, false}) {
    Judged one;
    std::string sides = one.execute_often(turns, 1, ours_win ? 1.5 : 0.9);
    EXPECT_EQ(sides, Trial::kTurns);
    EXPECT_FALSE(one.trial.winner());
    EXPECT_EQ(one.execute_often(3, 5, 5), ours_win ? "ooo" : "ttt");
    EXPECT_EQ(one.trial.winner(), ours_win ? Side::ours : Side::theirs);
    EXPECT_EQ(one.seen.starts, turns);
    EXPECT_EQ(one.seen.stops, turns);
  }
}

TEST(CufftTrial, BothSidesHaveAsManyTurnsAndMeetEveryPhaseOfAProgramsPeriod) {
  EXPECT_EQ(std::count(Trial::kTurns.begin(), Trial::kTurns.end(), 'o'), Trial::kTimes);
  EXPECT_EQ(std::count(Trial::kTurns.begin(), Trial::kTurns.end(), 't'), Trial::kTimes);
  for (std::size_t period = 2; period <= 6; ++period)
    for (std::size_t phase = 0; phase < period; ++phase) {
      std::string met;
      for (std::size_t i = phase; i < Trial::kTurns.size(); i += period) met += Trial::kTurns[i];
      EXPECT_NE(met.find('o'), std::string::npos) << period << " " << phase;
      EXPECT_NE(met.find('t'), std::string::npos) << period << " " << phase;
    }
}

// A program that waits now and then: one of so many executes finds the stream busy, and its launch does not count.
TEST(CufftTrial, AProgramsPeriodDoesNotFavourASide) {
  for (const double theirs : {1.05, 0.95})
    for (int period = 2; period <= 6; ++period)
      for (int phase = 0; phase < period; ++phase) {
        Judged one;
        for (int i = 0; i < 2 * Trial::kTimes; ++i) {
          const double launch = i % period == phase ? 0 : 0.2;
          one.execute(1 + launch, theirs + launch);
        }
        one.execute(1, 1);
        EXPECT_EQ(one.trial.winner(), theirs > 1 ? Side::ours : Side::theirs)
            << theirs << " " << period << " " << phase;
      }
}

TEST(CufftTrial, OursStayWhereBothAreAlike) {
  Judged one;
  one.execute_often(2 * Trial::kTimes + 1, 1, 0.5 * (1 + Trial::kClearly));
  EXPECT_EQ(one.trial.winner(), Side::ours);
}

// Other work makes single executes slow, never fast.
TEST(CufftTrial, TheLeastTimeOfEachCounts) {
  Judged one;
  for (int i = 0; i < 2 * Trial::kTimes; ++i) one.execute(i % 3 == 0 ? 1 : 100, i % 5 == 0 ? 2 : 90);
  one.execute(1, 1);
  EXPECT_EQ(one.trial.winner(), Side::ours);
}

TEST(CufftTrial, WhatTheDeviceHasNotFinishedIsNotWaitedFor) {
  Judged one;
  EXPECT_EQ(one.execute(1, 1), 'o');
  one.seen.reached = false;
  EXPECT_EQ(one.execute_often(5, 1, 1), "ooooo");
  EXPECT_EQ(one.seen.starts, 1);
  one.seen.reached = true;
  EXPECT_EQ(one.execute(1, 1), 't');
  EXPECT_EQ(one.seen.starts, 2);
}

// Another thread comes while the real library's function is under way.
TEST(CufftTrial, ASecondExecuteBeforeTheEndOfTheFirstIsOursAndNotTimed) {
  Judged one;
  one.execute(1, 1);
  EXPECT_EQ(one.trial.begin(nullptr), Side::theirs);
  EXPECT_EQ(one.trial.begin(nullptr), Side::ours);
  EXPECT_EQ(one.seen.starts, 2);
  EXPECT_EQ(one.seen.stops, 1);
}

TEST(CufftTrial, WithoutTimesOursStay) {
  Judged one;
  one.execute_often(3, 1, 0.1);
  one.seen.fails = true;
  EXPECT_EQ(one.execute_often(3, 1, 0.1), "ooo");
  EXPECT_EQ(one.trial.winner(), Side::ours);
}

}  // namespace
}  // namespace fourtune::dropin
