// Type 3 by slabs: direct sums on every number of ranks, however points lie, and no more bytes than
// docs/design/distributed.md says.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <regex>

#include "tests/distributed/count_bytes.h"
#include "tests/distributed/support.h"
#include "tests/distributed/type3_support.h"

namespace fourtune::test {
namespace {

TEST(Type3Slabs, AgreeWithDirectSums) {
  int turn = 0;
  for (const std::string size : {"dim=2,m=300,k=200", "dim=3,m=150,k=300"})
    for (const std::string rest : {",prec=f64,tol=1e-8", ",prec=f32,tol=1e-4", ",prec=f64,tol=1e-5,batch=3,sign=-1"})
      for (const char* plan : {"ranks=slabs", "ranks=slabs(balance=planes,chunks=3,cut=planes)",
                               "ranks=slabs(chunks=4,cut=columns)", "ranks=slabs(chunks=2,cut=batch)"}) {
        Way way{forced(plan), MPI_COMM_WORLD, deal_in_turn(turn), turn % 2 == 1};
        way.options.threads = 1 + turn % 3 / 2;
        const std::string token = "nufft:type=3," + size + rest;
        ++turn;
        rest.find("f32") != std::string::npos ? expect_type3(draw<float>(token, 3), way)
                                              : expect_type3(draw<double>(token, 4), way);
      }
}

TEST(Type3Slabs, BoxesAwayFromTheOrigin) {
  for (const char* token :
       {"nufft:type=3,dim=2,m=200,k=300,prec=f64,tol=1e-7", "nufft:type=3,dim=3,m=200,k=100,prec=f64,tol=1e-6"}) {
    const Whole<double> whole = far_boxes(token);
    for (const bool adjoint : {false, true})
      expect_type3(whole, Way{forced("ranks=slabs"), MPI_COMM_WORLD, Deal::uneven, adjoint});
  }
}

TEST(Type3Slabs, CrowdedPoints) {
  const Whole<double> whole = crowded_points("nufft:type=3,dim=3,m=300,k=200,prec=f64,tol=1e-6");
  for (const bool adjoint : {false, true})
    expect_type3(whole, Way{forced("ranks=slabs"), MPI_COMM_WORLD, Deal::even, adjoint});
}

TEST(Type3Slabs, WithoutSourcesOrTargets) {
  for (const char* token :
       {"nufft:type=3,dim=2,m=0,k=20,prec=f64,tol=1e-6", "nufft:type=3,dim=3,m=30,k=0,prec=f64,tol=1e-6",
        "nufft:type=3,dim=2,m=1,k=1,prec=f64,tol=1e-6"})
    for (const bool adjoint : {false, true})
      expect_type3(draw<double>(token, 2), Way{forced("ranks=slabs"), MPI_COMM_WORLD, Deal::even, adjoint});
}

TEST(Type3Slabs, PointsCanBeSetAgain) { expect_points_set_again(forced("ranks=slabs")); }

TEST(Type3Slabs, BadPointsOfOneRankFailOnAll) { expect_bad_points_named(forced("ranks=slabs")); }

// Untuned, also where the token does not say how many points there will be.
TEST(Type3Slabs, AreTakenUnlessOneSideIsShort) {
  const bool several = size_of(MPI_COMM_WORLD) > 1;
  const auto plan = [](std::int64_t m, std::int64_t k) {
    const Whole<double> whole =
        draw<double>("nufft:type=3,dim=3,m=" + std::to_string(m) + ",k=" + std::to_string(k) + ",prec=f64,tol=1e-6", 3);
    DistributedTransform transform("nufft:type=3,dim=3,prec=f64,tol=1e-6", MPI_Comm_c2f(MPI_COMM_WORLD), forced());
    const int rank = rank_of(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
    const Range sources = dealt(Deal::even, m, rank, ranks), targets = dealt(Deal::even, k, rank, ranks);
    Points points{sources.size(), whole.x[0].data() + sources.begin, whole.x[1].data() + sources.begin,
                  whole.x[2].data() + sources.begin};
    points.k = targets.size();
    points.s = whole.s[0].data() + targets.begin, points.t = whole.s[1].data() + targets.begin;
    points.u = whole.s[2].data() + targets.begin;
    transform.set_points(points);
    return transform.plan();
  };
  EXPECT_EQ(plan(700, 700).starts_with("ranks=slabs"), several) << plan(700, 700);
  EXPECT_TRUE(plan(7000, 20).starts_with("ranks=replicated")) << plan(7000, 20);
  EXPECT_TRUE(plan(20, 7000).starts_with("ranks=replicated")) << plan(20, 7000);
}

TEST(Type3Slabs, OtherRulesAreRefused) {
  const Whole<double> whole = draw<double>("nufft:type=3,dim=2,m=100,k=90,prec=f64,tol=1e-4", 1);
  const auto status = [&](const Options& options) {
    return status_of([&] { result_of(whole, Way{options, MPI_COMM_WORLD, Deal::even, false}); });
  };
  EXPECT_EQ(status(forced("ranks=pencils")), Status::unsupported);
  EXPECT_EQ(
      status(forced("ranks=slabs;cpu;threads=1;type3=gaussian(r=3);sort=tiles(tile=16x16);spread=subgrid(cap=4096,"
                    "add=lock);interp=tile(cap=8192);fft=pruned(rigor=estimate)")),
      Status::invalid_plan);
}

// Of all ranks together, as only the box of the points says how large the grids are.
TEST(Type3Slabs, SendWhatTheBoundSays) {
  const std::string token = "nufft:type=3,dim=3,m=20000,k=20000,prec=f64,tol=1e-6";
  Whole<double> whole = draw<double>(token, 6);
  const int rank = rank_of(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  const Range mine = dealt(Deal::even, 20000, rank, ranks);
  DistributedTransform transform(token, MPI_Comm_c2f(MPI_COMM_WORLD), forced("ranks=slabs(balance=planes)"));
  Points points{mine.size(), whole.x[0].data() + mine.begin, whole.x[1].data() + mine.begin,
                whole.x[2].data() + mine.begin};
  points.k = mine.size();
  points.s = whole.s[0].data() + mine.begin, points.t = whole.s[1].data() + mine.begin;
  points.u = whole.s[2].data() + mine.begin;
  sent = 0;
  transform.set_points(points);
  const auto total = [](std::int64_t own) {
    MPI_Allreduce(MPI_IN_PLACE, &own, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return static_cast<double>(own);
  };
  EXPECT_LE(total(sent), 1.05 * 40000 * 3 * 8 + 8192.0 * ranks);

  // The sizes of type3_geometry.h, with inner grids up to a tenth larger than they need to be.
  const std::regex window("sigma=([0-9.]+),width=(\\d+)");
  std::vector<std::pair<double, double>> windows;
  const std::string plan = transform.plan();
  for (std::sregex_iterator at(plan.begin(), plan.end(), window), end; at != end; ++at)
    windows.emplace_back(std::stod((*at)[1]), std::stod((*at)[2]));
  ASSERT_EQ(windows.size(), 2U) << plan;
  const auto [sigma1, w1] = windows[0];
  const auto [sigma2, w2] = windows[1];
  const double band = 2 * 9.0 * 6.0 * sigma1 / std::numbers::pi;
  const double outer = band + w1 + 4, inner = 1.1 * (sigma2 * (band + 0.5 * w1) + 0.5 * w1 + 4);
  const double held = std::min(inner, inner / sigma1 + w2 + 4), away = 1 - 1.0 / ranks;
  const double grids = outer * outer * (outer + held) * away;
  const double shared = ranks * ((w1 - 1) * outer * outer + (w2 - 1) * held * held);
  std::vector<std::complex<double>> values(static_cast<std::size_t>(mine.size())),
      results(static_cast<std::size_t>(mine.size()));
  sent = 0;
  transform.execute(values.data(), results.data());
  EXPECT_LE(total(sent), 1.05 * 16 * (40000 * away + grids + shared) + 1024.0 * ranks) << plan;
}

}  // namespace
}  // namespace fourtune::test
