// Ranks of which some compute on GPUs and others on processors.
#include <gtest/gtest.h>

#include "tests/distributed/support.h"

namespace fourtune::test {
namespace {

// Every second rank has a GPU, beginning with rank `first`.
Options every_second(int first, const std::string& plan) {
  Options options = on_gpus(plan);
  if (rank_of(MPI_COMM_WORLD) % 2 == first) return options;
  options.backend = "cpu";
  options.device = 0;
  options.threads = 1;
  return options;
}

TEST(DistributedMixed, PointsAreReplicatedWhicheverRankChooses) {
  for (const int first : {0, 1})
    for (const char* token :
         {"nufft:type=1,n=12x10,m=200,prec=f64,tol=1e-6", "nufft:type=2,n=8x9x10,m=200,prec=f64,tol=1e-5"}) {
      const Whole<double> whole = draw<double>(token, 3);
      for (const bool adjoint : {false, true}) {
        SCOPED_TRACE(std::string(token) + (adjoint ? " adjoint" : "") + " GPUs from rank " + std::to_string(first));
        std::string explain;
        const auto result =
            result_of(whole, Way{every_second(first, ""), MPI_COMM_WORLD, Deal::uneven, adjoint}, &explain);
        EXPECT_LE(error_of(result, direct(whole, adjoint, ModeOrder::centred)), allowed_error(whole.problem));
        EXPECT_NE(explain.find("plan: ranks=replicated"), std::string::npos) << explain;
      }
    }
}

TEST(DistributedMixed, SlabsAndFftsNeedOneKindOfRanks) {
  if (size_of(MPI_COMM_WORLD) == 1) return;
  const Whole<double> whole = draw<double>("nufft:type=1,n=20x24,m=60,prec=f64,tol=1e-4", 1);
  for (const int first : {0, 1}) {
    std::string message;
    EXPECT_EQ(status_of(
                  [&] {
                    result_of(whole, Way{every_second(first, "ranks=slabs"), MPI_COMM_WORLD, Deal::even, false});
                  },
                  &message),
              Status::unsupported);
    EXPECT_NE(message.find("some ranks have GPUs, and others have none"), std::string::npos) << message;
    EXPECT_EQ(status_of(
                  [&] {
                    DistributedTransform("fft:type=c2c,n=8x8x24,prec=f64", MPI_Comm_c2f(MPI_COMM_WORLD),
                                         every_second(first, ""));
                  },
                  &message),
              Status::contradiction);
    EXPECT_NE(message.find("the backend of an fft"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace fourtune::test
