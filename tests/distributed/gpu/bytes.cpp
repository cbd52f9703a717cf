// The bytes that a rank with a GPU sends, by every exchange, against the bounds of docs/design/distributed.md.
#include <gtest/gtest.h>

#include "tests/distributed/count_bytes.h"
#include "tests/distributed/fft_support.h"

namespace fourtune::test {
namespace {

std::int64_t part_of(std::int64_t n, int rank, int ranks) { return n / ranks + (rank < n % ranks ? 1 : 0); }

TEST(DistributedGpuBytes, FftsSendWhatEndsOnOtherRanksOnce) {
  const int rank = rank_of(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  Options options;
  options.default_databases = false;
  options.backend = "emulated";
  options.device = -1;
  for (const char* exchange : {"host", "mpi", "nccl"})
    for (const char* chunks : {"chunks=1,cut=planes", "chunks=3,cut=planes", "chunks=2,cut=columns"}) {
      if (ranks == 1) continue;
      options.plan = std::string("ranks=slabs(") + chunks + ",exchange=" + exchange + ")";
      SCOPED_TRACE(options.plan);
      DistributedTransform transform("fft:type=c2c,n=16x20x24,prec=f64", MPI_Comm_c2f(MPI_COMM_WORLD), options);
      std::vector<std::complex<double>> in(static_cast<std::size_t>(transform.first_part().count()) + 1),
          out(static_cast<std::size_t>(transform.second_part().count()) + 1);
      const std::int64_t away = 16 * (20 - part_of(20, rank, ranks)) * part_of(24, rank, ranks) * 16;
      const std::int64_t back = 16 * (24 - part_of(24, rank, ranks)) * part_of(20, rank, ranks) * 16;
      for (const bool adjoint : {false, true}) {
        const std::int64_t bound = adjoint ? back : away;
        sent = 0;
        adjoint ? transform.execute_adjoint(in.data(), out.data()) : transform.execute(in.data(), out.data());
        EXPECT_LE(static_cast<double>(sent), 1.05 * static_cast<double>(bound) + 256);
        EXPECT_GE(sent, bound);  // the counter sees this exchange too
      }
    }
}

}  // namespace
}  // namespace fourtune::test
