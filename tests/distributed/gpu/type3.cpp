// Type 3 by slabs whose ranks have GPUs, by every exchange, against direct sums.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <regex>
#include <utility>

#include "runtime/distributed/joined_ranks.h"
#include "tests/distributed/count_bytes.h"
#include "tests/distributed/support.h"
#include "tests/distributed/type3_support.h"

namespace fourtune::test {
namespace {

std::vector<std::string> copying_exchanges() {
  if (size_of(MPI_COMM_WORLD) == 1) return {"host"};
  return {"nccl", "mpi", "host", "peer"};
}

int type3_problems = 0;  // that were compared

// Both directions by every exchange, each with one deal.
template <class T>
void compare_type3(const std::string& token, const std::string& chunks = "chunks=1") {
  const Whole<T> whole = draw<T>(token, 3);
  int turn = type3_problems++;
  for (const std::string& exchange : copying_exchanges())
    for (const bool adjoint : {false, true}) {
      const Deal deal = deal_in_turn(turn++);
      const std::string balance = deal == Deal::even ? "planes" : "points";
      SCOPED_TRACE(exchange + " " + chunks + " " + balance);
      expect_type3(whole, Way{on_gpus("ranks=slabs(balance=" + balance + "," + chunks + ",exchange=" + exchange + ")"),
                              MPI_COMM_WORLD, deal, adjoint});
    }
}

TEST(DistributedGpuType3, ThreeDimensions) {
  compare_type3<float>("nufft:type=3,dim=3,m=150,k=200,prec=f32,tol=1e-3");
  compare_type3<double>("nufft:type=3,dim=3,m=200,k=100,prec=f64,tol=1e-5,sign=-1", "chunks=3,cut=planes");
}

TEST(DistributedGpuType3, TwoDimensions) {
  compare_type3<double>("nufft:type=3,dim=2,m=300,k=200,prec=f64,tol=1e-8", "chunks=4,cut=columns");
  compare_type3<float>("nufft:type=3,dim=2,m=200,k=300,prec=f32,tol=1e-4,sign=-1");
}

TEST(DistributedGpuType3, Batches) {
  compare_type3<float>("nufft:type=3,dim=2,m=150,k=120,prec=f32,tol=1e-3,batch=3", "chunks=2,cut=batch");
  compare_type3<double>("nufft:type=3,dim=3,m=60,k=50,prec=f64,tol=1e-4,batch=2", "chunks=2,cut=planes");
}

// Planes and columns in several launches.
TEST(DistributedGpuType3, SmallPieces) {
  const std::int64_t before = std::exchange(runtime::distributed::piece_bytes, 20000);
  const Whole<double> whole = draw<double>("nufft:type=3,dim=3,m=80,k=90,prec=f64,tol=1e-4", 5);
  for (const bool adjoint : {false, true})
    expect_type3(whole, Way{on_gpus("ranks=slabs"), MPI_COMM_WORLD, Deal::even, adjoint});
  runtime::distributed::piece_bytes = before;
}

TEST(DistributedGpuType3, BoxesAwayFromTheOrigin) {
  const Whole<double> whole = far_boxes("nufft:type=3,dim=2,m=200,k=300,prec=f64,tol=1e-7,batch=2");
  for (const bool adjoint : {false, true})
    expect_type3(whole, Way{on_gpus("ranks=slabs"), MPI_COMM_WORLD, Deal::uneven, adjoint});
}

TEST(DistributedGpuType3, CrowdedPoints) {
  const Whole<double> whole = crowded_points("nufft:type=3,dim=3,m=150,k=100,prec=f64,tol=1e-6");
  for (const bool adjoint : {false, true})
    expect_type3(whole, Way{on_gpus("ranks=slabs"), MPI_COMM_WORLD, Deal::even, adjoint});
}

TEST(DistributedGpuType3, WithoutSourcesOrTargets) {
  for (const char* token :
       {"nufft:type=3,dim=2,m=0,k=20,prec=f64,tol=1e-6", "nufft:type=3,dim=3,m=30,k=0,prec=f64,tol=1e-6",
        "nufft:type=3,dim=2,m=0,k=0,prec=f32,tol=1e-3", "nufft:type=3,dim=2,m=1,k=1,prec=f64,tol=1e-6"})
    for (const bool adjoint : {false, true}) {
      const Way way{on_gpus("ranks=slabs"), MPI_COMM_WORLD, Deal::all_on_last, adjoint};
      if (std::string(token).find("f32") != std::string::npos)
        expect_type3(draw<float>(token, 2), way);
      else
        expect_type3(draw<double>(token, 2), way);
    }
}

TEST(DistributedGpuType3, PointsCanBeSetAgain) { expect_points_set_again(on_gpus("ranks=slabs")); }

// The same bits on any number of ranks, wherever the points are. Rank 0 knows those of one rank.
template <class T>
void compare_type3_bits(const std::string& token) {
  const Whole<T> whole = draw<T>(token, 5);
  Options options = on_gpus();
  options.deterministic = true;
  int turn = type3_problems++;
  for (const bool adjoint : {false, true}) {
    SCOPED_TRACE(token + (adjoint ? " adjoint" : ""));
    const Deal deal = deal_in_turn(turn++);
    const auto shared = result_of(whole, Way{options, MPI_COMM_WORLD, deal, adjoint});
    if (rank_of(MPI_COMM_WORLD) != 0) continue;
    std::string explain;
    const auto alone = result_of(whole, Way{options, MPI_COMM_SELF, Deal::even, adjoint}, &explain);
    EXPECT_NE(explain.find("plan: ranks=slabs"), std::string::npos) << explain;
    EXPECT_LE(error_of(alone, direct(whole, adjoint, ModeOrder::centred)), allowed_error(whole.problem));
    EXPECT_TRUE(same_bits(shared, alone)) << "deal " << static_cast<int>(deal);
  }
}

TEST(DistributedGpuType3, DeterministicBits) {
  compare_type3_bits<float>("nufft:type=3,dim=3,m=150,k=200,prec=f32,tol=1e-3");
  compare_type3_bits<double>("nufft:type=3,dim=2,m=400,k=300,prec=f64,tol=1e-8,batch=2,sign=-1");
}

TEST(DistributedGpuType3, BadPointsOfOneRankFailOnAll) { expect_bad_points_named(on_gpus("ranks=slabs")); }

TEST(DistributedGpuType3, WhatCannotBeDoneIsNamed) {
  const Whole<double> whole = draw<double>("nufft:type=3,dim=3,m=60,k=50,prec=f64,tol=1e-4", 1);
  std::string message;
  const auto run = [&](const std::string& plan) {
    return status_of([&] { result_of(whole, Way{on_gpus(plan), MPI_COMM_WORLD, Deal::even, false}); }, &message);
  };
  EXPECT_EQ(run("ranks=pencils"), Status::unsupported);
  EXPECT_NE(message.find("a type 3 is cut by ranks=slabs"), std::string::npos) << message;
  if (size_of(MPI_COMM_WORLD) == 1) return;
  for (const char* plan : {"ranks=slabs(exchange=kernels)", "ranks=slabs(kept=grid)"}) {
    EXPECT_EQ(run(plan), Status::invalid_plan) << plan;
    EXPECT_NE(message.find("grids of a type 3 are copied"), std::string::npos) << message;
  }
}

// How many of these lie in an interval of this length, at most.
std::int64_t most_within(std::vector<double> all, double length) {
  std::sort(all.begin(), all.end());
  std::size_t first = 0, most = 0;
  for (std::size_t at = 0; at < all.size(); ++at) {
    while (all[at] - all[first] > length) ++first;
    most = std::max(most, at - first + 1);
  }
  return static_cast<std::int64_t>(most);
}

// Of all ranks together, as only the box of the points says how large the grids are.
TEST(DistributedGpuType3, SendsWhatTheBoundSays) {
  const int rank = rank_of(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  if (ranks == 1) return;
  const std::string token = "nufft:type=3,dim=3,m=6000,k=6000,prec=f64,tol=1e-4";
  const Whole<double> whole = draw<double>(token, 6);
  const Range mine = dealt(Deal::even, 6000, rank, ranks);
  DistributedTransform transform(token, MPI_Comm_c2f(MPI_COMM_WORLD), on_gpus("ranks=slabs(exchange=host)"));
  Points points{mine.size(), whole.x[0].data() + mine.begin, whole.x[1].data() + mine.begin,
                whole.x[2].data() + mine.begin};
  points.k = mine.size();
  points.s = whole.s[0].data() + mine.begin, points.t = whole.s[1].data() + mine.begin;
  points.u = whole.s[2].data() + mine.begin;
  const auto total = [](std::int64_t own) {
    MPI_Allreduce(MPI_IN_PLACE, &own, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return static_cast<double>(own);
  };
  sent = 0;
  transform.set_points(points);
  const double of_points = total(sent);

  // The sizes of type3_geometry.h, with inner grids up to a tenth larger than they need to be.
  const std::regex window("sigma=([0-9.]+),width=(\\d+)");
  std::vector<std::pair<double, double>> windows;
  const std::string plan = transform.plan();
  for (std::sregex_iterator at(plan.begin(), plan.end(), window), end; at != end; ++at)
    windows.emplace_back(std::stod((*at)[1]), std::stod((*at)[2]));
  ASSERT_EQ(windows.size(), 2U) << plan;
  const auto [sigma1, w1] = windows[0];
  const auto [sigma2, w2] = windows[1];
  const auto half = [](const std::vector<double>& all) {
    return std::max(std::abs(*std::min_element(all.begin(), all.end())),
                    std::abs(*std::max_element(all.begin(), all.end())));
  };
  double outer_plane = 1, held_plane = 1, outer = 1, held = 1, copies = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    const double spacing = std::numbers::pi / (sigma1 * half(whole.s[d])), band = 2 * half(whole.x[d]) / spacing;
    outer = band + w1 + 4;
    const double inner = 1.1 * (sigma2 * (band + 0.5 * w1) + 0.5 * w1 + 4);
    held = std::min(inner, inner / sigma1 + w2 + 4);
    if (d < 2) outer_plane *= outer, held_plane *= held;
    if (d == 2)
      copies = static_cast<double>(most_within(whole.x[d], (w1 - 1) * spacing) +
                                   most_within(whole.s[d], (w2 - 1) * 1.1 * 2 * std::numbers::pi / (spacing * inner))) *
               ranks;
  }
  EXPECT_LE(of_points, 1.05 * (12000 + copies) * 3 * 8 + 8192.0 * ranks);
  const double grids = outer_plane * (outer + held) * (1 - 1.0 / ranks), shared = ranks * (w2 - 1) * held_plane;
  std::vector<std::complex<double>> values(static_cast<std::size_t>(mine.size())),
      results(static_cast<std::size_t>(mine.size()));
  sent = 0;
  transform.execute(values.data(), results.data());
  EXPECT_LE(total(sent), 1.05 * 16 * (12000 + copies + grids + shared) + 1024.0 * ranks) << plan;
}

}  // namespace
}  // namespace fourtune::test
