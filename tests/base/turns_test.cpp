// Cases of long sweeps are run by one commit of three.
#include "tests/support/turns.h"

#include <gtest/gtest.h>

#include <string>

namespace fourtune::test {
namespace {

class Turns : public ::testing::Test {
 protected:
  Turns() { ::unsetenv("FOURTUNE_TEST_TURN"); }
  ~Turns() override { ::unsetenv("FOURTUNE_TEST_TURN"); }
  static bool runs(const char* turn, std::uint64_t number) {
    ::setenv("FOURTUNE_TEST_TURN", turn, 1);
    return has_turn(number);
  }
};

TEST_F(Turns, EveryCaseRunsByHand) {
  for (std::uint64_t number = 0; number < 10; ++number) EXPECT_TRUE(has_turn(number));
  EXPECT_TRUE(runs("", 1));
}

TEST_F(Turns, EveryCaseHasOneTurn) {
  for (std::uint64_t number = 0; number < 10; ++number)
    EXPECT_EQ(runs("0/3", number) + runs("1/3", number) + runs("2/3", number), 1) << number;
}

// Of sixteen turns every case has one, and where there are fewer parts, one in each round of so many turns.
TEST_F(Turns, CasesInFewerPartsRunMoreOften) {
  for (const std::uint64_t parts : {2, 4, 8, 16})
    for (std::uint64_t number = 0; number < 20; ++number)
      for (std::uint64_t round = 0; round < 16 / parts; ++round) {
        int times = 0;
        for (std::uint64_t i = 0; i < parts; ++i) {
          ::setenv("FOURTUNE_TEST_TURN", (std::to_string(round * parts + i) + "/16").c_str(), 1);
          times += has_turn(number, parts) ? 1 : 0;
        }
        EXPECT_EQ(times, 1) << number << " in " << parts;
      }
}

TEST_F(Turns, WhatIsNoTurnIsNamed) {
  for (const char* turn : {"3/3", "1", "x", "1/x", "1/0", "1/3x"})
    EXPECT_THROW(runs(turn, 0), std::invalid_argument) << turn;
}

}  // namespace
}  // namespace fourtune::test
