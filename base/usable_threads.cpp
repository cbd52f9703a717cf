#include "base/usable_threads.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace fourtune {
namespace {

namespace fs = std::filesystem;

std::atomic<int> forced{0};

// A machine may have more processors than a cpu_set_t of fixed size holds.
int affinity() {
  for (int most = 1024; most <= 1 << 18; most *= 4) {
    const std::size_t bytes = CPU_ALLOC_SIZE(most);
    std::vector<cpu_set_t> set((bytes + sizeof(cpu_set_t) - 1) / sizeof(cpu_set_t));
    CPU_ZERO_S(bytes, set.data());
    if (sched_getaffinity(0, bytes, set.data()) == 0) return std::max(1, CPU_COUNT_S(bytes, set.data()));
  }
  return std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
}

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// ceil(quota / period); 0 means no quota.
int rounded_up(std::string_view quota, std::string_view period) {
  const auto q = text::number<std::int64_t>(quota), p = text::number<std::int64_t>(period);
  if (!q || !p || *q <= 0 || *p <= 0) return 0;
  return static_cast<int>(std::min<std::int64_t>((*q - 1) / *p + 1, 1 << 20));
}

// Reads a line such as "max 100000" or "150000 100000".
int version_2(const fs::path& folder) {
  const std::string line = first_line(folder / "cpu.max");
  const std::size_t space = line.find(' ');
  if (space == line.npos) return 0;
  return rounded_up(std::string_view(line).substr(0, space), std::string_view(line).substr(space + 1));
}

int version_1(const fs::path& folder) {
  const std::string quota = first_line(folder / "cpu.cfs_quota_us");
  return quota.empty() ? 0 : rounded_up(quota, first_line(folder / "cpu.cfs_period_us"));
}

// The least quota from the group `path` up to the mount's root. In a container the mount may begin at the group; then
// the folders of its path are missing, and only the root exists.
int least_quota(const fs::path& mount, const std::string& path, int (*read)(const fs::path&)) {
  int least = 0;
  fs::path relative = fs::path(path).relative_path().lexically_normal();
  if (!relative.empty() && *relative.begin() == "..") relative.clear();  // outside the visible tree
  for (;; relative = relative.parent_path()) {
    const int quota = read(mount / relative);
    if (quota > 0) least = least > 0 ? std::min(least, quota) : quota;
    if (relative.empty()) return least;
  }
}

bool in_list(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (list.substr(0, comma) == word) return true;
    list.remove_prefix(std::min(list.size(), comma + 1));
  }
  return false;
}

int quota_here() {
  using Clock = std::chrono::steady_clock;
  static std::atomic<std::int64_t> read_at{-1};
  static std::atomic<int> quota{0};
  const std::int64_t now =
      std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch()).count();
  const std::int64_t at = read_at.load(std::memory_order_acquire);
  if (at < 0 || now - at > 1000) {
    quota.store(quota_threads("/"), std::memory_order_relaxed);
    read_at.store(now, std::memory_order_release);
  }
  return quota.load(std::memory_order_relaxed);
}

}  // namespace

int first_of_list(const char* text) {
  if (!text) return 0;
  std::string_view first(text);
  first = first.substr(0, first.find(','));
  while (!first.empty() && first.front() == ' ') first.remove_prefix(1);
  while (!first.empty() && first.back() == ' ') first.remove_suffix(1);
  const auto number = text::number<int>(first);
  return number && *number > 0 ? *number : 0;
}

int quota_threads(const fs::path& root) {
  const fs::path mounts = root / "sys/fs/cgroup";
  int least = 0;
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {  // number:controllers:path
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
    const auto take = [&](int quota) {
      if (quota > 0) least = least > 0 ? std::min(least, quota) : quota;
    };
    if (controllers.empty()) {
      take(least_quota(mounts, path, version_2));
    } else if (in_list(controllers, "cpu")) {
      for (const std::string& name : {controllers, std::string("cpu")})
        take(least_quota(mounts / name, path, version_1));
    }
  }
  return least;
}

int usable_threads() {
  if (const int threads = forced.load(std::memory_order_relaxed); threads > 0) return threads;
  int least = affinity();
  for (const int limit :
       {quota_here(), first_of_list(std::getenv("OMP_NUM_THREADS")), first_of_list(std::getenv("OMP_THREAD_LIMIT"))}) {
    if (limit > 0) least = std::min(least, limit);
  }
  return least;
}

void force_usable_threads(int threads) { forced.store(threads, std::memory_order_relaxed); }

}  // namespace fourtune
