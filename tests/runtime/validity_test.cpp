// The problems for which a verdict holds: tests every key at both ends of its range and one beyond.
#include "runtime/validity.h"

#include <gtest/gtest.h>

namespace fourtune::runtime {
namespace {

const char* const kPlain = "nufft:type=1,n=128x128,m=200000,prec=f32,tol=1e-3";
const char* const kType3 = "nufft:type=3,dim=3,m=1000,k=3000,prec=f64,tol=1e-6,batch=8,extent=4x6x10,points=radial";

bool holds(const char* measured, const std::string& actual, std::string* why = nullptr) {
  const Problem problem = parse_problem(measured);
  std::string said;
  const bool inside = covers(validity_of(problem), problem, parse_problem(actual), said);
  EXPECT_EQ(inside, said.empty()) << actual << ": " << said;
  if (why) *why = said;
  return inside;
}

struct Range {
  const char* key;
  const char* in_token;  // the part of kType3 that is exchanged
  std::vector<const char*> inside, outside;
};

class Ranges : public testing::TestWithParam<Range> {};
INSTANTIATE_TEST_SUITE_P(
    EveryKey, Ranges,
    testing::Values(Range{"m", "m=1000", {"m=500", "m=2000"}, {"m=499", "m=2001"}},
                    Range{"k", "k=3000", {"k=1500", "k=6000"}, {"k=1499", "k=6001"}},
                    Range{"batch", "batch=8", {"batch=4", "batch=16"}, {"batch=3", "batch=17"}},
                    Range{"extent_x", "extent=4x", {"extent=2x", "extent=8x"}, {"extent=1.99x", "extent=8.01x"}},
                    Range{"extent_y", "x6x", {"x3x", "x12x"}, {"x2.99x", "x12.01x"}},
                    Range{"extent_z", "x10,", {"x5,", "x20,"}, {"x4.99,", "x20.01,"}}),
    [](const auto& range) { return std::string(range.param.key); });

TEST_P(Ranges, ReachFromHalfToTwiceAndNotBeyond) {
  const auto with = [&](const char* value) {
    std::string token = kType3;
    return token.replace(token.find(GetParam().in_token), std::string(GetParam().in_token).size(), value);
  };
  for (const char* value : GetParam().inside) EXPECT_TRUE(holds(kType3, with(value))) << value;
  for (const char* value : GetParam().outside) {
    std::string why;
    EXPECT_FALSE(holds(kType3, with(value), &why)) << value;
    EXPECT_EQ(why.rfind(std::string(GetParam().key) + "=", 0), 0u) << why;
  }
}

TEST(Validity, OfAnFftReachesFromHalfToTwiceItsBatch) {
  const char* const fft = "fft:type=c2c,n=64x64,prec=f32,batch=6";
  for (const char* batch : {"3", "6", "12"})
    EXPECT_TRUE(holds(fft, std::string("fft:type=c2c,n=64x64,prec=f32,batch=") + batch)) << batch;
  for (const char* batch : {"2", "13"})
    EXPECT_FALSE(holds(fft, std::string("fft:type=c2c,n=64x64,prec=f32,batch=") + batch)) << batch;
}

TEST(Validity, IsOfOneClassOfPointsButTakesPointsWithoutOne) {
  const std::string token = std::string(kPlain) + ",points=";
  std::string why;
  EXPECT_FALSE(holds((token + "radial").c_str(), token + "cluster", &why));
  EXPECT_EQ(why, "it is for another class of points");
  EXPECT_FALSE(holds(kPlain, token + "cluster")) << "without a class it was measured with uniform ones";
  EXPECT_TRUE(holds((token + "radial").c_str(), token + "radial"));
  EXPECT_TRUE(holds((token + "radial").c_str(), kPlain)) << "an application names no class";
}

TEST(Validity, IsOfBothSigns) {
  EXPECT_TRUE(holds(kPlain, std::string(kPlain) + ",sign=1"));
  EXPECT_TRUE(
      holds("nufft:type=2,n=64,m=9000,prec=f64,tol=1e-9,sign=-1", "nufft:type=2,n=64,m=9000,prec=f64,tol=1e-9"));
  EXPECT_TRUE(holds("fft:type=c2c,n=64x64,prec=f32", "fft:type=c2c,n=64x64,prec=f32,sign=1"));
}

TEST(Validity, EverythingElseOfTheTokenMustBeEqual) {
  EXPECT_TRUE(holds(kPlain, kPlain));
  for (const char* other :
       {"nufft:type=2,n=128x128,m=200000,prec=f32,tol=1e-3", "nufft:type=1,n=128x127,m=200000,prec=f32,tol=1e-3",
        "nufft:type=1,n=128,m=200000,prec=f32,tol=1e-3", "nufft:type=1,n=128x128,m=200000,prec=f64,tol=1e-3",
        "nufft:type=1,n=128x128,m=200000,prec=f32,tol=2e-3"})
    EXPECT_FALSE(holds(kPlain, other)) << other;
  const char* const fft = "fft:type=c2c,n=64,prec=f32";
  for (const char* other :
       {"fft:type=r2c,n=64,prec=f32", "fft:type=c2c,n=64,prec=f32,place=in", "fft:type=c2c,n=64,prec=f32,layout=2"})
    EXPECT_FALSE(holds(fft, other)) << other;
}

TEST(Validity, DamagedTextCoversNothing) {
  const Problem problem = parse_problem(kPlain);
  std::string why;
  for (const char* text : {"", "[]", "{\"m\":3}", "{\"m\":[1,\"x\"]}", "{"}) {
    EXPECT_FALSE(covers(text, problem, problem, why)) << text;
    EXPECT_NE(why.find("damaged"), std::string::npos);
  }
}

}  // namespace
}  // namespace fourtune::runtime
