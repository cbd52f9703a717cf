#include "dropin/cufft/statistics.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace fourtune::dropin {
namespace {

constexpr const char* kWords[kWhys] = {
    "",       "type",    "layout", "several GPUs",  "callback",        "faster there",  "measured faster",
    "memory", "context", "failed", "unusual array", "still compiling", "executed once", "never executed"};
std::array<std::atomic<std::int64_t>, kWhys> plans_for{};
std::atomic<std::int64_t> our_executes{0}, their_executes{0};

// On standard error, without a stream of the program's.
void print(const char* text, std::size_t bytes) noexcept {
  while (bytes > 0) {
    const ssize_t done = ::write(STDERR_FILENO, text, bytes);
    if (done <= 0) return;
    text += done, bytes -= static_cast<std::size_t>(done);
  }
}

}  // namespace

void count_plan(std::int64_t ours, std::int64_t theirs, Why why) noexcept {
  const bool lost = why == Why::measured;
  const Why because = ours > 0 && !lost ? Why::none : theirs == 0 ? Why::unused : why;
  ++plans_for[static_cast<std::size_t>(because)];
  our_executes += ours, their_executes += theirs;
}

void forget_counts() noexcept {
  for (auto& count : plans_for) count = 0;
  our_executes = 0, their_executes = 0;
}

void print_counts() noexcept {
  const char* const wanted = std::getenv("FOURTUNE_CUFFT_STATISTICS");
  if (!wanted || std::strcmp(wanted, "1") != 0) return;
  char line[1024];
  std::size_t used = 0;
  const auto add = [&](const char* format, auto... values) {
    const int more = std::snprintf(line + used, sizeof line - used, format, values...);
    if (more > 0 && static_cast<std::size_t>(more) < sizeof line - used) used += static_cast<std::size_t>(more);
  };
  long long theirs = 0;
  for (int why = 1; why < kWhys; ++why) theirs += plans_for[static_cast<std::size_t>(why)];
  const long long ours = plans_for[0];
  add("fourtune_cufft: %lld plans: %lld ours, %lld cuFFT's", ours + theirs, ours, theirs);
  const char* separator = " (";
  for (int why = 1; why < kWhys; ++why)
    if (const long long count = plans_for[static_cast<std::size_t>(why)]; count > 0) {
      add("%s%lld %s", separator, count, kWords[why]);
      separator = ", ";
    }
  if (theirs > 0) add("%s", ")");
  const long long by_us = our_executes, by_them = their_executes;
  add("; %lld executes: %lld ours, %lld cuFFT's\n", by_us + by_them, by_us, by_them);
  print(line, used);
}

void print_line(const char* format, const char* value) noexcept {
  char line[256];
  const int length = std::snprintf(line, sizeof line, format, value);
  if (length > 0) print(line, std::min(static_cast<std::size_t>(length), sizeof line - 1));
}

}  // namespace fourtune::dropin
