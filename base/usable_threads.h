// The number of threads that this process can use.
#pragma once

#include <filesystem>

namespace fourtune {

// The least of: the processors on which the calling thread may run (affinity), the CPU quota of its control group and
// of the enclosing groups (cgroup versions 1 and 2, rounded up), OMP_NUM_THREADS and OMP_THREAD_LIMIT. At least 1.
// Quotas are read again after a second.
int usable_threads();

// For tests: sets what usable_threads() returns from now on; 0 restores the system's value.
void force_usable_threads(int threads);

// The quota according to the files under `root` ("/", or a tree made by a test: proc/self/cgroup, sys/fs/cgroup/...); 0
// means no quota.
int quota_threads(const std::filesystem::path& root);
// The first number of a list like OMP_NUM_THREADS ("8,4,2"); 0 for null or a text that is not such a list.
int first_of_list(const char* text);

}  // namespace fourtune
