// Which tuned problems lend their plan, and how far away they are.
#include "runtime/neighbour.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace fourtune::runtime {
namespace {

double distance(const char* a, const char* b) { return distance_between(parse_problem(a), parse_problem(b)); }

// Every difference takes a problem further away, whichever of the two is the larger.
TEST(Neighbours, EveryDifferenceCountsInBothDirections) {
  const char* const nufft = "nufft:type=1,n=64x64,m=10000,prec=f32,tol=1e-3";
  const char* const type3 = "nufft:type=3,dim=2,m=10000,k=5000,prec=f64,tol=1e-6";
  const char* const fft = "fft:type=c2c,n=64x64,prec=f32,batch=4";
  struct Pair {
    const char *from, *to;
    double distance;
  };
  for (const Pair& pair : {Pair{nufft, "nufft:type=1,n=64x64,m=10000,prec=f32,tol=1e-5", 2},
                           {nufft, "nufft:type=1,n=64x64,m=10000,prec=f32,tol=1e-3,batch=4", 0.4},
                           {nufft, "nufft:type=1,n=64x64,m=10000,prec=f32,tol=1e-3,points=radial", 0.5},
                           {nufft, "nufft:type=1,n=64x64,m=40000,prec=f32,tol=1e-3", 1},
                           {nufft, "nufft:type=1,n=128x128,m=40000,prec=f32,tol=1e-3", 1},
                           {type3, "nufft:type=3,dim=2,m=40000,k=5000,prec=f64,tol=1e-6", 1.6},
                           {type3, "nufft:type=3,dim=2,m=10000,k=20000,prec=f64,tol=1e-6", 1.6},
                           {type3, "nufft:type=3,dim=2,m=40000,k=20000,prec=f64,tol=1e-6", 1.2},
                           {type3, "nufft:type=3,dim=2,prec=f64,tol=1e-6", 0.3 * std::log2(10000.0 * 5000) + 0.5},
                           {fft, "fft:type=c2c,n=64x64,prec=f32,batch=8", 0.2},
                           {fft, "fft:type=c2c,n=256x64,prec=f32,batch=4", 1},
                           {fft, "fft:type=c2c,n=64x64,prec=f32,batch=4,place=in", 0.3}}) {
    EXPECT_NEAR(distance(pair.from, pair.to), pair.distance, 1e-9) << pair.from << " to " << pair.to;
    EXPECT_NEAR(distance(pair.to, pair.from), pair.distance, 1e-9) << pair.to << " to " << pair.from;
    EXPECT_EQ(distance(pair.from, pair.from), 0);
  }
}

TEST(Neighbours, OtherKindsLendNothing) {
  const char* const nufft = "nufft:type=1,n=64x64,m=10000,prec=f32,tol=1e-3";
  for (const char* other :
       {"nufft:type=2,n=64x64,m=10000,prec=f32,tol=1e-3", "nufft:type=1,n=64,m=10000,prec=f32,tol=1e-3",
        "nufft:type=1,n=64x64,m=10000,prec=f64,tol=1e-3", "fft:type=c2c,n=64x64,prec=f32"})
    EXPECT_TRUE(std::isinf(distance(nufft, other))) << other;
  EXPECT_TRUE(std::isinf(distance("fft:type=c2c,n=64x64,prec=f32", "fft:type=r2c,n=64x64,prec=f32")));
}

// On an H200 the winner of as many sources as targets took 694 us for a thousand times as many, where an earlier plan
// had taken 86 us.
TEST(Neighbours, AType3LendsNothingToOneThatIsMuchMoreCrowded) {
  const char* const measured = "nufft:type=3,dim=2,m=16384,k=16384,prec=f64,tol=1e-10";
  EXPECT_GT(distance(measured, "nufft:type=3,dim=2,m=1048576,k=1024,prec=f64,tol=1e-10"), kTooFar);
  EXPECT_GT(distance(measured, "nufft:type=3,dim=2,m=65536,k=256,prec=f64,tol=1e-10"), kTooFar);
  EXPECT_LT(distance(measured, "nufft:type=3,dim=2,m=65536,k=65536,prec=f64,tol=1e-10"), kTooFar);
}

// A search in the order of sizes may stop early.
TEST(Neighbours, DistanceIsAtLeastTheDifferenceInSizeAndKinsAreInfinitelyFarApart) {
  std::vector<Problem> problems;
  for (const char* token :
       {"nufft:type=1,n=64x64,m=10000,prec=f32,tol=1e-3", "nufft:type=1,n=200x31,m=1000000,prec=f32,tol=1e-5",
        "nufft:type=2,n=64x64,m=10000,prec=f32,tol=1e-3", "nufft:type=1,n=20x64x9,prec=f32,tol=1e-3",
        "nufft:type=3,dim=2,m=10000,k=5000,prec=f64,tol=1e-6", "nufft:type=3,dim=2,m=77,k=500000,prec=f64,tol=1e-3",
        "fft:type=c2c,n=64x64,prec=f32", "fft:type=c2c,n=4096x2,prec=f32", "fft:type=r2c,n=64x64,prec=f32",
        "fft:type=c2c,n=64x64,prec=f64"})
    problems.push_back(parse_problem(token));
  for (const Problem& a : problems)
    for (const Problem& b : problems) {
      const Neighbourhood here = neighbourhood_of(a), there = neighbourhood_of(b);
      const double d = distance_between(a, b);
      EXPECT_EQ(here.kin == there.kin, std::isfinite(d)) << to_token(a) << " and " << to_token(b);
      if (std::isfinite(d)) {
        EXPECT_GE(d + 1e-9, std::abs(here.size - there.size)) << to_token(a) << " and " << to_token(b);
      }
    }
}

}  // namespace
}  // namespace fourtune::runtime
