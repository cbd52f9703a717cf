// Cases of long sweeps are run by one commit of three.
#include "tests/support/turns.h"

#include <gtest/gtest.h>

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

TEST_F(Turns, WhatIsNoTurnIsNamed) {
  for (const char* turn : {"3/3", "1", "x", "1/x", "1/0", "1/3x"})
    EXPECT_THROW(runs(turn, 0), std::invalid_argument) << turn;
}

}  // namespace
}  // namespace fourtune::test
