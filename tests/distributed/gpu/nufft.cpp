// Types 1 and 2 whose ranks have GPUs, replicated: modes are added up and shared by the host, or by NCCL, whose part is
// played by fake_nccl.cpp.
#include <gtest/gtest.h>

#include "tests/distributed/count_bytes.h"
#include "tests/distributed/support.h"

namespace fourtune::test {
namespace {

int problems = 0;  // that were compared

template <class T>
void compare(const std::string& token, ModeOrder order) {
  const Whole<T> whole = draw<T>(token, 11);
  int turn = problems++;
  for (const char* exchange : {"nccl", "host"}) {
    if (std::string(exchange) == "nccl" && size_of(MPI_COMM_WORLD) == 1) continue;
    for (const bool adjoint : {false, true}) {
      SCOPED_TRACE(token + " exchange=" + exchange + (adjoint ? " adjoint" : ""));
      Options options = on_gpus(std::string("ranks=replicated(exchange=") + exchange + ")");
      options.mode_order = order;
      const auto result = result_of(whole, Way{options, MPI_COMM_WORLD, deal_in_turn(turn++), adjoint});
      EXPECT_LE(error_of(result, direct(whole, adjoint, order)), allowed_error(whole.problem));
    }
  }
}

TEST(DistributedGpuNufft, TypesOneAndTwo) {
  compare<float>("nufft:type=1,n=10x9x8,m=300,prec=f32,tol=1e-4", ModeOrder::centred);
  compare<double>("nufft:type=2,n=10x9x8,m=300,prec=f64,tol=1e-6,batch=2", ModeOrder::fft);
  compare<double>("nufft:type=1,n=14x5,m=200,prec=f64,tol=1e-6,batch=3", ModeOrder::centred);
  compare<float>("nufft:type=2,n=3x11,m=200,prec=f32,tol=1e-3", ModeOrder::centred);
}

TEST(DistributedGpuNufft, UntunedNcclIsTakenAndSendsNothingTwice) {
  const int rank = rank_of(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  if (ranks == 1) return;
  const std::string token = "nufft:type=1,n=20x24x16,m=300,prec=f64,tol=1e-4";
  const Whole<double> whole = draw<double>(token, 7);
  DistributedTransform transform(token, MPI_Comm_c2f(MPI_COMM_WORLD), on_gpus("ranks=replicated"));
  const Range mine = dealt(Deal::even, 300, rank, ranks);
  transform.set_points(
      {mine.size(), whole.x[0].data() + mine.begin, whole.x[1].data() + mine.begin, whole.x[2].data() + mine.begin});
  EXPECT_NE(transform.plan().find("ranks=replicated(exchange=nccl)"), std::string::npos) << transform.plan();
  std::vector<std::complex<double>> values(300), modes(static_cast<std::size_t>(transform.modes().count()) + 1);
  const std::int64_t all = 20 * 24 * 16 * 16, own = transform.modes().count() * 16;
  for (const bool adjoint : {false, true}) {
    sent = 0;
    adjoint ? transform.execute_adjoint(values.data(), modes.data()) : transform.execute(values.data(), modes.data());
    const std::int64_t bound = adjoint ? own * (ranks - 1) : all - own;
    EXPECT_LE(static_cast<double>(sent), 1.05 * static_cast<double>(bound) + 256);
    EXPECT_GE(sent, bound);
  }
}

TEST(DistributedGpuNufft, WhatCannotBeDoneIsNamed) {
  const Whole<double> third = draw<double>("nufft:type=3,dim=2,m=40,k=30,prec=f64,tol=1e-4", 1);
  std::string message;
  const auto run = [&](const std::string& plan) {
    return status_of([&] { result_of(third, Way{on_gpus(plan), MPI_COMM_WORLD, Deal::even, false}); }, &message);
  };
  EXPECT_EQ(run("ranks=replicated(exchange=nccl)"), Status::unsupported);
  EXPECT_NE(message.find("type 3"), std::string::npos) << message;
  Options bits = on_gpus("ranks=replicated");
  bits.deterministic = true;
  if (size_of(MPI_COMM_WORLD) > 1) {
    EXPECT_EQ(status_of([&] { result_of(third, Way{bits, MPI_COMM_WORLD, Deal::even, false}); }), Status::unsupported);
  }
  EXPECT_EQ(run("ranks=replicated(exchange=mpi)"), Status::invalid_plan);
  EXPECT_NE(message.find("exchange=nccl|host"), std::string::npos) << message;
}

}  // namespace
}  // namespace fourtune::test
