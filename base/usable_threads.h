// How many threads are of use to this process.
#pragma once

#include <filesystem>

namespace fourtune {

// The least of: the processors that the calling thread may run on (affinity), the CPU quota of its control group and of
// those around it (cgroup versions 1 and 2, rounded up), OMP_NUM_THREADS and OMP_THREAD_LIMIT. At least 1. Quotas are
// read anew after a second.
int usable_threads();

// For tests: what usable_threads() says from now on; 0: what the system says.
void force_usable_threads(int threads);

// The quota as files under `root` ("/", or a tree made by a test: proc/self/cgroup, sys/fs/cgroup/...) tell it;
// 0: none.
int quota_threads(const std::filesystem::path& root);
// The first number of a list as OMP_NUM_THREADS is one ("8,4,2"); 0: null, or not such a list.
int first_of_list(const char* text);

}  // namespace fourtune
