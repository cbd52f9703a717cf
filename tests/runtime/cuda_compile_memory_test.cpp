// Memory of threads that compile: its pages are there, and go back.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/backends/cuda/compile_memory.h"

namespace fourtune::runtime::cuda {
namespace {

long faults_of_thread() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt;
}

long resident_pages() {
  long all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident;
}

// Page faults of a thread that fills `megabytes` in small pieces, as compilers do.
long faults_of_filling(int megabytes) {
  const long before = faults_of_thread();
  std::vector<std::unique_ptr<char[]>> pieces;
  for (int i = 0; i < megabytes * 1024; ++i) {
    pieces.push_back(std::make_unique_for_overwrite<char[]>(1000));
    pieces.back()[0] = pieces.back()[999] = 'x';
  }
  return faults_of_thread() - before;
}

bool pages_can_be_asked_for() {
  const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const page = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const bool can = page != MAP_FAILED && madvise(page, size, 23) == 0;  // MADV_POPULATE_WRITE, Linux 5.14
  if (page != MAP_FAILED) munmap(page, size);
  return can;
}

TEST(CompileMemory, IsThereForTheThreadAndGoesBack) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers replace malloc";
#endif
  if (!pages_can_be_asked_for()) GTEST_SKIP() << "this kernel is older than 5.14";
  long alone = 0, with = 0, more = 0, after = 0;
  std::thread([&] { alone = faults_of_filling(8); }).join();
  std::thread([&] {
    const long before = resident_pages();
    {
      const CompileMemory memory;
      more = resident_pages() - before;
      with = faults_of_filling(8);
    }
    after = resident_pages() - before;
  }).join();
  EXPECT_GT(alone, 1500);
  EXPECT_LT(with, 200);
  EXPECT_GT(more, 3000);
  EXPECT_LT(after, 1000);
}

}  // namespace
}  // namespace fourtune::runtime::cuda
