// Prepares many problems at once.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>

#include "base/text.h"
#include "base/usable_threads.h"
#include "fourtune/transform.h"

namespace fourtune {

void prepare(const std::vector<std::string>& problems, const Options& options, const PrepareProgress& progress) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stopped{false};
  std::mutex mutex;
  std::size_t done = 0, first_failure = problems.size();
  std::optional<Error> failure;   // of the first problem that has one
  std::exception_ptr unexpected;  // thrown by `progress`, or out of memory
  const auto work = [&] {
    try {
      for (std::size_t i; !stopped && (i = next++) < problems.size();) {
        std::optional<Error> its;
        try {
          Transform::prepare(problems[i], options);
        } catch (const Error& error) {
          its.emplace(error.status(), fmt::format("{}: {}", text::shown(problems[i]), error.what()));
        }
        const std::lock_guard lock(mutex);
        if (its && i < first_failure) failure = std::move(its), first_failure = i;
        if (++done; progress && !progress(done, problems.size(), problems[i])) stopped = true;
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      unexpected = std::current_exception();
      stopped = true;
    }
  };
  const auto wanted =
      static_cast<std::size_t>(options.threads > 0 ? std::min(options.threads, usable_threads()) : usable_threads());
  std::vector<std::thread> threads;
  try {
    while (threads.size() + 1 < std::min(wanted, problems.size())) threads.emplace_back(work);
  } catch (const std::system_error&) {  // no more threads are allowed; those that there are do the work
  }
  work();
  for (std::thread& thread : threads) thread.join();
  if (unexpected) std::rethrow_exception(unexpected);
  if (stopped) throw Error(Status::interrupted, fmt::format("stopped after {} of {} problems", done, problems.size()));
  if (failure) throw Error(*failure);
}

}  // namespace fourtune
