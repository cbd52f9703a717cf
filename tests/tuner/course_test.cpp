// What a search's course says of its future.
#include "tuner/session/course.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace fourtune::tuner
