// The candidate space and the direction of the cost model.
#include "generator/candidates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "generator/plan/private_tile.h"

namespace fourtune::generator {
namespace {

DeviceTraits laptop(int cores) {
  DeviceTraits traits;
  traits.backend = "cpu";
  traits.cores = cores;
  traits.memory_bytes = std::int64_t{16} << 30;
  return traits;
}

double cost(const std::string& token, const DeviceTraits& traits = laptop(4)) {
  const Problem problem = parse_problem(token);
  return estimate(default_plan(problem, traits), problem, traits).execute;
}

TEST(Candidates, AreDistinctInAFixedOrderAndIncludeEveryFamily) {
  const Problem problem = parse_problem("nufft:type=1,n=64x64x64,m=500000,prec=f64,tol=1e-6");
  const Space a = candidates(problem, laptop(2)), b = candidates(problem, laptop(2));
  ASSERT_EQ(a.candidates.size(), b.candidates.size());
  std::set<std::string> texts;
  std::set<SpreadFamily> families;
  for (std::size_t i = 0; i < a.candidates.size(); ++i) {
    EXPECT_EQ(a.candidates[i].plan, b.candidates[i].plan);
    EXPECT_TRUE(texts.insert(to_text(a.candidates[i].plan, problem)).second);
    families.insert(a.candidates[i].plan.cpu().spread.family);
  }
  EXPECT_GE(families.size(), 2u);
}

TEST(Candidates, FftwItselfIsAlwaysOneOfAnFft) {
  for (const char* token : {"fft:type=c2c,n=1009,prec=f32,batch=64", "fft:type=r2c,n=250x250x250,prec=f64,place=in"}) {
    const Problem problem = parse_problem(token);
    bool found = false;
    for (const Candidate& c : candidates(problem, laptop(2)).candidates)
      found |= c.plan.cpu().fft.family == FftFamily::fftw && c.plan.cpu().fft.rigor == Rigor::measure &&
               c.plan.cpu().threads == 2;
    EXPECT_TRUE(found) << token;
  }
}

TEST(Candidates, Type3IncludesThePapersParameterisation) {
  const Problem problem = parse_problem("nufft:type=3,dim=2,m=65536,k=65536,prec=f64,tol=1e-10");
  int gaussian = 0;
  for (const Candidate& c : candidates(problem, laptop(2)).candidates) gaussian += c.plan.type3 == Type3Rule::gaussian;
  EXPECT_GE(gaussian, 1);
}

TEST(Candidates, EveryPlanReachesTheTolerance) {
  for (const double tol : {1e-1, 1e-3, 1e-6, 1e-9, 1e-12}) {
    Problem problem = parse_problem("nufft:type=1,n=100x100,m=10000,prec=f64,tol=1e-3");
    problem.tol = tol;
    const Space space = candidates(problem, laptop(1));
    EXPECT_GT(space.candidates.size(), 20u) << tol;
    for (const Candidate& c : space.candidates)
      EXPECT_LE(predicted_error(c.plan.window.kind, c.plan.window.width, c.plan.window.sigma, 2), 2.01 * tol);
  }
}

TEST(Candidates, BothWindowsOfAType3ReachTheTolerance) {
  for (const double tol : {1e-2, 1e-10})
    for (const char* token :
         {"nufft:type=3,dim=1,m=10000,k=10000,prec=f64,tol=1e-3", "nufft:type=3,dim=2,m=100000,k=300,prec=f64,tol=1e-3",
          "nufft:type=3,dim=3,m=10000,k=50000,prec=f64,tol=1e-3"}) {
      Problem problem = parse_problem(token);
      problem.tol = tol;
      const auto error = [&](const WindowChoice& w) {
        return predicted_error(w.kind, w.width, w.sigma, problem.dim, 2);
      };
      const Plan plan = default_plan(problem, laptop(2));
      EXPECT_LE(error(plan.window), tol) << token << " " << tol;
      EXPECT_LE(error(plan.inner), tol) << token << " " << tol;
      int composed = 0;
      for (const Candidate& c : candidates(problem, laptop(2)).candidates) {
        if (c.plan.type3 != Type3Rule::compose) continue;
        ++composed;
        ASSERT_LE(error(c.plan.window), 2.01 * tol) << to_text(c.plan, problem);
        ASSERT_LE(error(c.plan.inner), 2.01 * tol) << to_text(c.plan, problem);
      }
      EXPECT_GT(composed, 20) << token << " " << tol;
    }
}

TEST(Candidates, AType3OfManySourcesAndFewTargetsSpreadsWithANarrowerWindow) {
  const Problem few = parse_problem("nufft:type=3,dim=2,m=1000000,k=1000,prec=f64,tol=1e-10");
  const Problem many = parse_problem("nufft:type=3,dim=2,m=1000,k=1000000,prec=f64,tol=1e-10");
  const Plan narrow = default_plan(few, laptop(1)), wide = default_plan(many, laptop(1));
  EXPECT_LT(narrow.window.width, wide.window.width);
  EXPECT_GT(narrow.window.sigma, wide.window.sigma);
}

TEST(Candidates, ASmallType3InSpaceHasSmallTiles) {
  const auto tile = [](const char* token) { return default_plan(parse_problem(token), laptop(2)).cpu().sort.tile; };
  constexpr std::array<int, 3> kSmall{16, 8, 8};
  EXPECT_EQ(tile("nufft:type=3,dim=3,m=2282,k=92,prec=f32,tol=3.1e-4"), kSmall);
  EXPECT_EQ(tile("nufft:type=3,dim=3,m=1731,k=1807,prec=f32,tol=7.9e-4"), kSmall);
  EXPECT_NE(tile("nufft:type=3,dim=3,m=6500,k=4649,prec=f32,tol=5.5e-6"), kSmall);
}
TEST(Candidates, SmallType3ProblemsRunOnOneThread) {
  const auto threads = [](const char* token) { return default_plan(parse_problem(token), laptop(8)).cpu().threads; };
  EXPECT_EQ(threads("nufft:type=3,dim=2,m=20,k=20,prec=f64,tol=1e-2"), 1);
  EXPECT_EQ(threads("nufft:type=3,dim=2,m=1000000,k=1000000,prec=f64,tol=1e-10"), 8);
}

TEST(Candidates, PlansBeyondTheMemoryAreLeftOut) {
  DeviceTraits small = laptop(2);
  small.memory_bytes = 1 << 30;
  const Problem problem = parse_problem("nufft:type=1,n=256x256x256,m=1000,prec=f32,tol=1e-3");
  const auto too_large = [&](const Candidate& c) {
    return estimate(c.plan, problem, small).bytes > 0.7 * static_cast<double>(small.memory_bytes);
  };
  const Space fitting = candidates(problem, small), all = candidates(problem, laptop(2));
  EXPECT_FALSE(fitting.candidates.empty());
  EXPECT_TRUE(std::none_of(fitting.candidates.begin(), fitting.candidates.end(), too_large));
  EXPECT_TRUE(std::any_of(all.candidates.begin(), all.candidates.end(), too_large)) << "nothing was to be left out";
}

TEST(CostModel, MoreWorkCostsMore) {
  const std::string base = "nufft:type=1,n=64x64x64,m=1000000,prec=f32,tol=1e-3";
  EXPECT_GT(cost("nufft:type=1,n=64x64x64,m=4000000,prec=f32,tol=1e-3"), cost(base));
  EXPECT_GT(cost("nufft:type=1,n=64x64x64,m=1000000,prec=f32,tol=1e-6"), cost(base));
  EXPECT_GT(cost("nufft:type=1,n=64x64x64,m=1000000,prec=f64,tol=1e-3"), cost(base));
  EXPECT_GT(cost("nufft:type=1,n=128x128x128,m=1000000,prec=f32,tol=1e-3"), cost(base));
  EXPECT_GT(cost("nufft:type=1,n=64x64x64,m=1000000,prec=f32,tol=1e-3,batch=4"), cost(base));
  EXPECT_GT(cost(base, laptop(1)), cost(base, laptop(8)));
  EXPECT_GT(cost("fft:type=c2c,n=256x256x256,prec=f32"), cost("fft:type=c2c,n=128x128x128,prec=f32"));
  EXPECT_GT(cost("fft:type=c2c,n=256x256x256,prec=f32"), cost("fft:type=r2c,n=256x256x256,prec=f32"));
}

TEST(CostModel, ManyPointsPreferNarrowWindowsAndFewPointsSmallGrids) {
  const auto sigma = [](const char* token) {
    const Problem problem = parse_problem(token);
    return default_plan(problem, laptop(2)).window.sigma;
  };
  EXPECT_GE(sigma("nufft:type=1,n=64x64x64,m=50000000,prec=f64,tol=1e-6"),
            sigma("nufft:type=1,n=128x128x128,m=10000,prec=f64,tol=1e-6"));
  EXPECT_LE(sigma("nufft:type=1,n=128x128x128,m=10000,prec=f64,tol=1e-6"), 1.5);
}

TEST(CostModel, TheFloorIsBelowTheEstimate) {
  for (const char* token :
       {"nufft:type=1,n=64x64x64,m=1000000,prec=f32,tol=1e-3", "fft:type=c2c,n=256x256x256,prec=f32"}) {
    const Problem problem = parse_problem(token);
    const Plan plan = default_plan(problem, laptop(4));
    EXPECT_LT(floor_seconds(plan, problem, laptop(4)), estimate(plan, problem, laptop(4)).execute);
  }
}

TEST(Adapt, KeepsTheChoicesAndRebindsWhatFollowsFromSizeAndTolerance) {
  const Problem from = parse_problem("nufft:type=1,n=64x64,m=100000,prec=f32,tol=1e-3");
  const Problem to = parse_problem("nufft:type=1,n=100x80,m=300000,prec=f32,tol=1e-5");
  Plan plan = default_plan(from, laptop(2));
  plan.window.sigma = 1.5;
  plan.cpu().sort.tile = {16, 16, 1};
  const Plan out = adapt(plan, to, laptop(1));
  EXPECT_EQ(out.cpu().sort.tile, plan.cpu().sort.tile);
  EXPECT_EQ(out.window.sigma, 1.5);
  EXPECT_EQ(out.cpu().threads, 1);
  EXPECT_GE(out.window.fine[0], 150);
  EXPECT_GE(out.window.fine[1], 120);
  EXPECT_LE(predicted_error(out.window.kind, out.window.width, 1.5, 2), 1.5e-5);
}

// Forced plans and damaged databases may name another kind of device; whoever binds the plan refuses it.
TEST(Adapt, APlanOfAnotherKindOfDeviceIsRefusedAndCountsWithDefaultStages) {
  const Problem problem = parse_problem("fft:type=c2c,n=64x64,prec=f32");
  const Plan foreign = parse_plan("cuda;fft=plain", problem);
  EXPECT_EQ(foreign, plan_for("cuda"));
  EXPECT_THROW(adapt(foreign, problem, laptop(2)), Error);
  EXPECT_EQ(estimate(foreign, problem, laptop(2)).execute, estimate(plan_for("cpu"), problem, laptop(2)).execute);
  EXPECT_THROW(foreign.cpu(), std::bad_variant_access);
}

TEST(PrivateTiles, RowsAreWholeLinesAndBinsHoldSeveralCells) {
  for (const int bytes : {8, 16})
    for (int width = 2; width <= kMaxWidth; ++width) {
      const int slots = row_slots(width, bytes), bin = bin_cells(width, bytes), line = kLineBytes / bytes;
      EXPECT_EQ(slots % line, 0) << width;
      EXPECT_EQ(slots, bin + width - 1) << width;  // the last window that starts in a bin ends in its last slot
      EXPECT_LE(slots - width, line) << width;     // at most one line to spare
      EXPECT_TRUE(width <= line || bin > 1) << "width " << width << ", " << bytes << " bytes per element";
    }
  // 4 bins of 5 cells in rows of 16 slots, 16 + 11 rows along y and z.
  EXPECT_EQ(private_elements(3, {16, 16, 16}, 12, 16), 4 * 16 * 27 * 27);
  EXPECT_EQ(private_elements(1, {16, 99, 99}, 12, 16), 4 * 16);
}

TEST(Candidates, DefaultTilesStayInTheCacheWhereASmallerShapeIsCheaper) {
  const Problem problem = parse_problem("nufft:type=1,n=97x101x89,m=900000,prec=f64,tol=1e-11");
  for (const std::int64_t kib : {512, 1280, 2048}) {
    DeviceTraits traits = laptop(2);
    traits.l2_bytes = kib << 10;
    const Plan plan = default_plan(problem, traits);
    EXPECT_LE(private_elements(3, plan.cpu().sort.tile, plan.window.width, 16) * 16, traits.l2_bytes)
        << kib << " KiB: " << to_text(plan, problem);
  }
}

// Interpolation waits for no cache, however long the line. Spreading pays for the sort where many points go to a grid
// beyond the first-level cache, and so does either where threads would need too many grids.
TEST(Candidates, PointsOfOneDimensionAreSortedOnlyWhereThatPays) {
  const auto sorted = [](const char* token, int cores) {
    return default_plan(parse_problem(token), laptop(cores)).cpu().sort.family == SortFamily::tiles;
  };
  for (const char* n : {"2000", "250000", "1400000"}) {
    const std::string rest = std::string("n=") + n + ",m=1000000,prec=f64,tol=1e-5";
    EXPECT_FALSE(sorted(("nufft:type=2," + rest).c_str(), 2)) << n;
    EXPECT_FALSE(sorted(("nufft:type=2," + rest + ",batch=4").c_str(), 2)) << n;
  }
  EXPECT_FALSE(sorted("nufft:type=1,n=800,m=100000,prec=f64,tol=1e-5", 2));
  EXPECT_FALSE(sorted("nufft:type=1,n=8192,m=80000,prec=f64,tol=1e-5,batch=8", 1));
  EXPECT_TRUE(sorted("nufft:type=1,n=8192,m=80000,prec=f64,tol=1e-5", 2));
  EXPECT_TRUE(sorted("nufft:type=1,n=1400000,m=1000000,prec=f64,tol=1e-5", 2));
  EXPECT_TRUE(sorted("nufft:type=2,n=1400000,m=1000000,prec=f64,tol=1e-5", 64));
}

// Threads share the transforms of a chunk, so that weights are evaluated again for every chunk.
TEST(Candidates, SmallLinesOfABatchGoTogether) {
  EXPECT_EQ(default_plan(parse_problem("nufft:type=1,n=4096,m=7896,prec=f64,tol=3.4e-11,batch=4"), laptop(2)).chunk, 4);
}

// More transforms than threads together, as long as their grids stay a small part of the last-level cache and little
// memory; more of them where the sort of many points takes as much anyway.
TEST(Candidates, ChunksFollowTheCachesAndMemory) {
  const auto chunk = [](const char* token, std::int64_t l3_bytes) {
    DeviceTraits traits = laptop(2);
    traits.l3_bytes = l3_bytes;
    return default_plan(parse_problem(token), traits).chunk;
  };
  const char* const small = "nufft:type=2,n=80x80,m=2219,prec=f32,tol=1.9e-3,batch=16";  // 0.1 MB a grid
  EXPECT_GT(chunk(small, 32 << 20), 8);
  EXPECT_LE(chunk(small, 8 << 20), 8);
  EXPECT_EQ(chunk("nufft:type=2,n=160x160,m=8875,prec=f32,tol=1.9e-3,batch=16", 32 << 20), 4) << "0.3 MB a grid";
  EXPECT_GE(chunk("nufft:type=2,n=160x160,m=887500,prec=f32,tol=1.9e-3,batch=16", 32 << 20), 8);
  EXPECT_LE(chunk("nufft:type=1,n=21x135x16,m=1963,prec=f32,tol=7.3e-5,batch=8", 32 << 20), 2) << "1.3 MB a grid";
}

// In space, threads that share one transform with private tiles are as fast as with a transform each, and take half of
// the memory; with few points they would pass small grids from one to the other.
TEST(Candidates, LargeGridsInSpaceGoOneByOne) {
  const auto chunk = [](const char* token) { return default_plan(parse_problem(token), laptop(2)).chunk; };
  EXPECT_EQ(chunk("nufft:type=1,n=64x64x64,m=300000,prec=f64,tol=1e-6,batch=4"), 1);
  EXPECT_EQ(chunk("nufft:type=2,n=64x64x64,m=300000,prec=f64,tol=1e-6,batch=4"), 1);
  EXPECT_EQ(chunk("nufft:type=1,n=16x16x16,m=381,prec=f64,tol=2.7e-8,batch=2"), 2);
  EXPECT_EQ(chunk("nufft:type=2,n=49152,m=6674,prec=f32,tol=2e-5,batch=2"), 2);
}

// A private tile of 64x64 cells with its x-bins is larger than a first-level cache of 32 KiB.
TEST(Candidates, TilesOfTwoDimensionsFollowTheFirstLevelCache) {
  const Problem problem = parse_problem("nufft:type=1,n=32x32,m=13911,prec=f32,tol=9.4e-5,batch=8,points=cluster");
  DeviceTraits large = laptop(2);
  large.l1_bytes = 1 << 20;
  EXPECT_EQ(default_plan(problem, large).cpu().sort.tile[0], 64);
  EXPECT_LT(default_plan(problem, laptop(2)).cpu().sort.tile[0], 64);
}

// A grid of 8 MB costs as much per line as one of 64 MB only where no last-level cache holds it.
TEST(Candidates, TheLastLevelCacheIsNeitherNearNorFar) {
  DeviceTraits cached = laptop(2), plain = laptop(2);
  cached.l3_bytes = 32 << 20;
  const char* const held = "nufft:type=1,n=512x512,m=1000,prec=f64,tol=1e-6";
  const char* const beyond = "nufft:type=1,n=2048x2048,m=1000,prec=f64,tol=1e-6";
  EXPECT_LT(cost(held, cached), 0.7 * cost(held, plain));
  EXPECT_EQ(cost(beyond, cached), cost(beyond, plain));
}

}  // namespace
}  // namespace fourtune::generator
