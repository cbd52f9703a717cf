// The deterministic option: the same bits on any number of ranks and threads.
#include <gtest/gtest.h>

#include "tests/distributed/fft_support.h"

namespace fourtune::test {
namespace {

template <class T>
void expect_bits_of_one_rank(const std::string& token) {
  const Whole<T> whole = draw<T>(token, 5);
  for (const bool adjoint : {false, true}) {
    SCOPED_TRACE(token + (adjoint ? " adjoint" : ""));
    std::string explain;
    const auto alone = result_of(whole, Way{reproducible(1), MPI_COMM_SELF, Deal::even, adjoint}, &explain);
    EXPECT_NE(explain.find("ranks=slabs"), std::string::npos) << explain;
    for (const Deal deal : {Deal::even, Deal::uneven, Deal::all_on_last}) {
      const int threads = deal == Deal::uneven ? 3 : 1;
      const auto ranks = result_of(whole, Way{reproducible(threads), MPI_COMM_WORLD, deal, adjoint});
      EXPECT_TRUE(same_bits(ranks, alone)) << "deal " << static_cast<int>(deal) << ", " << threads << " threads";
    }
    // Also of some of the ranks.
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank_of(MPI_COMM_WORLD) % 2, 0, &half);
    EXPECT_TRUE(same_bits(result_of(whole, Way{reproducible(1), half, Deal::even, adjoint}), alone));
    MPI_Comm_free(&half);
  }
}

TEST(DistributedBits, TypesOneAndTwo) {
  expect_bits_of_one_rank<double>("nufft:type=1,n=40x60,m=3000,prec=f64,tol=1e-8");
  expect_bits_of_one_rank<float>("nufft:type=2,n=33x70,m=3000,prec=f32,tol=1e-4");
  expect_bits_of_one_rank<float>("nufft:type=1,n=24x20x56,m=9000,prec=f32,tol=1e-5");
  expect_bits_of_one_rank<double>("nufft:type=2,n=18x31x50,m=5000,prec=f64,tol=1e-7");
}

TEST(DistributedBits, Batches) {
  expect_bits_of_one_rank<float>("nufft:type=1,n=20x24x40,m=4000,prec=f32,tol=1e-4,batch=3");
  expect_bits_of_one_rank<double>("nufft:type=2,n=30x64,m=2000,prec=f64,tol=1e-6,batch=4");
}

// Both of its grids are cut where the points say, and their layers are added as those of a type 1.
TEST(DistributedBits, TypeThree) {
  expect_bits_of_one_rank<double>("nufft:type=3,dim=2,m=900,k=700,prec=f64,tol=1e-7");
  expect_bits_of_one_rank<float>("nufft:type=3,dim=3,m=1500,k=1100,prec=f32,tol=1e-4,batch=2");
  expect_bits_of_one_rank<double>("nufft:type=3,dim=3,m=700,k=1900,prec=f64,tol=1e-9");
}

// A window that reaches over 15 cells needs layers as thick.
TEST(DistributedBits, WideWindows) {
  expect_bits_of_one_rank<double>("nufft:type=1,n=16x16x60,m=4000,prec=f64,tol=1e-13");
}

template <class In, class Out>
void expect_fft_bits_of_one_rank(const std::string& token) {
  SCOPED_TRACE(token);
  const Problem problem = parse_problem(token);
  const auto run = [&](MPI_Comm comm, int threads) {
    return together<In, Out>(problem, false, reproducible(threads), comm).second;
  };
  const auto alone = run(MPI_COMM_SELF, 1);
  for (const int threads : {1, 3}) EXPECT_TRUE(same_bits(run(MPI_COMM_WORLD, threads), alone)) << threads << " threads";
}

TEST(DistributedBits, Ffts) {
  using F = std::complex<float>;
  using D = std::complex<double>;
  for (const char* size : {"36x50", "24x17x30", "8x1x20", "1x12x9", "64x3x11"})
    for (const char* batch : {"", ",batch=2"}) {
      const std::string n = std::string(",n=") + size;
      expect_fft_bits_of_one_rank<F, F>("fft:type=c2c" + n + ",prec=f32" + batch);
      expect_fft_bits_of_one_rank<D, D>("fft:type=c2c" + n + ",prec=f64" + batch + ",sign=1");
      expect_fft_bits_of_one_rank<double, D>("fft:type=r2c" + n + ",prec=f64" + batch);
      expect_fft_bits_of_one_rank<F, float>("fft:type=c2r" + n + ",prec=f32" + batch);
    }
}

TEST(DistributedBits, WhatCannotBeReproducedIsRefused) {
  if (size_of(MPI_COMM_WORLD) == 1) return;
  Options options = reproducible(1);
  options.plan = "ranks=replicated";
  const Whole<double> whole = draw<double>("nufft:type=1,n=20x24,m=100,prec=f64,tol=1e-6", 1);
  EXPECT_EQ(status_of([&] { result_of(whole, Way{options, MPI_COMM_WORLD, Deal::even, false}); }), Status::unsupported);
}

}  // namespace
}  // namespace fourtune::test
