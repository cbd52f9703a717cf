#include "tools/bench/measure/memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <exception>
#include <fstream>
#include <optional>
#include <string_view>

#include "fourtune/device_traits.h"
#include "generator/candidates.h"
#include "tuner/measure/validate.h"

extern char** environ;

namespace fourtune::tools {
namespace {

// The number after "key" in a /proc file whose lines are "key   N kB"; absent if there is none.
std::optional<double> kilobytes_of(const char* path, const std::string& key) {
  std::ifstream file(path);
  std::string word;
  while (file >> word)
    if (word == key) {
      double value = 0;
      if (file >> value) return value;
    }
  return std::nullopt;
}

std::optional<double> number_in(const char* path) {
  std::ifstream file(path);
  double value = 0;
  if (file >> value) return value;
  return std::nullopt;
}

bool reset_peak() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return static_cast<bool>(file);
}

double resident(const char* key) { return 1024 * kilobytes_of("/proc/self/status", key).value_or(0); }

}  // namespace

double available_memory() {
  double available =
      1024 *
      kilobytes_of("/proc/meminfo", "MemAvailable:").value_or(static_cast<double>(cpu_traits().memory_bytes) / 1024);
  const auto limit = number_in("/sys/fs/cgroup/memory.max"), used = number_in("/sys/fs/cgroup/memory.current");
  if (limit && used) {
    // The control group counts page cache as used, although it would be freed on demand.
    const double cache = kilobytes_of("/sys/fs/cgroup/memory.stat", "inactive_file").value_or(0);
    available = std::min(available, *limit - *used + cache);
  }
  return available;
}

namespace {

// The cost of an untuned plan, or of the processor's plan where a backend has none for such problems.
generator::Cost cost_of(const Problem& problem, const DeviceTraits& traits) try {
  return generator::estimate(generator::default_plan(problem, traits), problem, traits);
} catch (const Error&) {
  return generator::estimate(generator::default_plan(problem, cpu_traits()), problem, cpu_traits());
}

}  // namespace

double memory_need(const Problem& problem, std::size_t contenders, const DeviceTraits& traits) {
  const double real = static_cast<double>(real_bytes(problem.precision)), batch = static_cast<double>(problem.batch);
  double values = 0, points = 0, modes = 0;
  if (problem.kind == Kind::fft) {
    modes = 2 * real * batch;
    for (const auto n : problem.n) modes *= static_cast<double>(n);
    values = modes;
  } else {
    const double m = static_cast<double>(problem.m.value_or(0)), k = static_cast<double>(problem.k.value_or(0));
    double count = k;
    if (problem.type != 3) {
      count = 1;
      for (const auto n : problem.n) count *= static_cast<double>(n);
    }
    points = real * problem.dim * (m + k);
    values = 2 * real * batch * m;
    modes = 2 * real * batch * count;
  }
  const double data = points + 2 * std::max(values, modes) + std::min(values, modes);
  if (contenders == 0) return data;
  const auto cost = cost_of(problem, traits);
  return data + static_cast<double>(contenders) * 1.3 * std::max(cost.bytes, 0.0);
}

FirstUse first_use_here(const Problem& problem, const Entrant& entrant, std::uint64_t seed) {
  FirstUse use;
  try {
    tuner::ProblemData data(problem, seed);
    data.prepare();    // every page of the arrays is now resident
    ::malloc_trim(0);  // memory freed while making the data must not serve a contender for nothing
    const double before = resident("VmRSS:");
    const double code = resident("RssFile:");
    if (!reset_peak()) return {0, 0, 0, "the kernel's peak counter cannot be reset"};
    const auto start = std::chrono::steady_clock::now();
    const auto contender = entrant.variants.front().make(problem);
    if (problem.kind == Kind::nufft) contender->set_points(data.points());
    contender->execute(data.first(), data.second());
    use.ns = std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
    use.peak_bytes = static_cast<std::int64_t>(std::max(0.0, resident("VmHWM:") - before));
    use.code_bytes = static_cast<std::int64_t>(std::max(0.0, resident("RssFile:") - code));
  } catch (const std::exception& error) {
    use.failure = error.what();
  }
  return use;
}

std::string to_line(const FirstUse& use) {
  return fmt::format("peak_bytes={} code_bytes={} first_ns={}\n", use.peak_bytes, use.code_bytes, use.ns);
}

FirstUse parse_first_use(const std::string& text) {
  const auto number = [&](std::string_view mark, std::int64_t& value) {
    const auto at = text.find(mark);
    return at != text.npos &&
           std::from_chars(text.data() + at + mark.size(), text.data() + text.size(), value).ec == std::errc();
  };
  FirstUse use;
  if (number("peak_bytes=", use.peak_bytes) && number("code_bytes=", use.code_bytes) && number("first_ns=", use.ns))
    return use;
  return {0, 0, 0, text.empty() ? "the child process failed" : text.substr(0, text.find('\n'))};
}

FirstUse first_use_in_child(const std::vector<std::string>& words, double max_seconds) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {0, 0, 0, "no pipe"};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::string self = "/proc/self/exe";
  std::vector<std::string> copies = words;
  std::vector<char*> arguments{self.data()};
  for (auto& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failed = posix_spawn(&child, self.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failed) {
    close(ends[0]);
    return {0, 0, 0, "the child process could not be started"};
  }
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(max_seconds);
  std::string text;
  bool late = false;
  for (;;) {
    const double left = std::chrono::duration<double>(until - std::chrono::steady_clock::now()).count();
    pollfd waiting{ends[0], POLLIN, 0};
    if (left <= 0 || poll(&waiting, 1, static_cast<int>(std::ceil(1000 * left))) == 0) {
      late = true;
      kill(child, SIGKILL);
      break;
    }
    char block[512];
    const ssize_t count = read(ends[0], block, sizeof(block));
    if (count <= 0) break;
    text.append(block, static_cast<std::size_t>(count));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (late) return {0, 0, 0, fmt::format("the child process took more than {:.0f} s", max_seconds)};
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return {0, 0, 0, "the child process failed"};
  return parse_first_use(text);
}

}  // namespace fourtune::tools
