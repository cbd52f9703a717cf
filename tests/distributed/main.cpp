// Runs the tests on every rank of an mpirun. All ranks run the same tests in the same order; the program fails on every
// rank when a test failed on any.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdio>

#ifdef FOURTUNE_EMULATED_GPUS
#include "tools/common/gpu_backends.h"
#endif

namespace {

// Rank 0 reports as usual, the others only what failed.
class FailuresOnly final : public testing::EmptyTestEventListener {
 public:
  explicit FailuresOnly(int rank) : rank_(rank) {}
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::printf("rank %d: %s:%d: %s\n", rank_, result.file_name() ? result.file_name() : "?", result.line_number(),
                result.summary());
    std::fflush(stdout);
  }

 private:
  int rank_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
#ifdef FOURTUNE_EMULATED_GPUS
  fourtune::tools::command_backends();
#endif
  testing::InitGoogleTest(&argc, argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailuresOnly(rank));
  }
  int failed = RUN_ALL_TESTS();
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return failed;
}
