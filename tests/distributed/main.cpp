// Runs the tests on every rank of an mpirun. All ranks run the same tests in the same order; the program fails on every
// rank when a test failed on any.
#include <gtest/gtest.h>
#include <mpi.h>
#include <sanitizer/lsan_interface.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "tests/support/turns.h"
#ifdef FOURTUNE_EMULATED_GPUS
#include "tools/common/gpu_backends.h"
#endif

// Where the address sanitizer is not linked, these are null.
#pragma weak __lsan_do_recoverable_leak_check
#pragma weak __lsan_disable
#pragma weak __lsan_enable

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

// The kernels of most tests depend on the number of ranks. In tools/check (16 turns) each commit runs every test
// without GPUs, but on one of the numbers 1 to 4, and a quarter of the tests with GPUs, whose kernels take long to
// compile; the next commits run the others. Where the filter names one suite, its tests take turns.
bool has_turn(std::uint64_t number) {
#ifdef FOURTUNE_EMULATED_GPUS
  return fourtune::test::has_turn(number, 16);
#else
  return fourtune::test::has_turn(number, 4);
#endif
}

void leave_tests_of_other_turns(int rank, int ranks) {
  auto& all = *testing::UnitTest::GetInstance();
  const std::string asked = testing::GTEST_FLAG(filter);
  std::string mine;
  std::uint64_t number = static_cast<std::uint64_t>(ranks);
  int left = 0;
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    if (asked != "*" && asked != suite.name() + std::string(".*")) continue;
    for (int j = 0; j < suite.total_test_count(); ++j) {
      if (has_turn(number++))
        mine += std::string(mine.empty() ? "" : ":") + suite.name() + "." + suite.GetTestInfo(j)->name();
      else
        ++left;
    }
  }
  if (left == 0) return;
  testing::GTEST_FLAG(filter) = mine.empty() ? "-*" : mine;
  if (rank == 0) std::printf("%d tests are left to other commits, whose turn it is with %d ranks\n", left, ranks);
}

}  // namespace

int main(int argc, char** argv) {
  // Open MPI loses names of modules that it tries and unloads.
  if (__lsan_disable != nullptr) __lsan_disable();
  MPI_Init(&argc, &argv);
  if (__lsan_enable != nullptr) __lsan_enable();
#ifdef FOURTUNE_EMULATED_GPUS
  fourtune::tools::command_backends();
#endif
  testing::InitGoogleTest(&argc, argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  leave_tests_of_other_turns(rank, ranks);
  if (rank != 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailuresOnly(rank));
  }
  int failed = RUN_ALL_TESTS();
  // While MPI's modules are still loaded, so that leaks of theirs can be told by name (leaks_of_mpi.txt).
  if (__lsan_do_recoverable_leak_check != nullptr && __lsan_do_recoverable_leak_check() != 0) failed = 1;
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return failed;
}
