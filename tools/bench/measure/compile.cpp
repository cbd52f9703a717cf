#include "tools/bench/measure/compile.h"

#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <exception>
#include <thread>

#include "tools/common/stopwatch.h"

namespace fourtune::tools {

void compile_first(std::span<const ToMeasure> list, int threads) {
  struct Work {
    const Problem* problem;
    const Entrant* entrant;
  };
  std::vector<Work> work;
  for (const ToMeasure& one : list)
    for (const Entrant& entrant : one.entrants)
      if (entrant.compile) work.push_back({&one.problem, &entrant});
  const Stopwatch watch;
  std::atomic<std::size_t> next{0};
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < threads; ++i)
      workers.emplace_back([&] {
        for (std::size_t at = next++; at < work.size(); at = next++) try {
            work[at].entrant->compile(*work[at].problem);
          } catch (const std::exception&) {  // the measurement fails with the same message
          }
      });
  }
  fmt::print("compiled the kernels of {} transforms in {:.3g} s\n", work.size(), watch.seconds());
  std::fflush(stdout);
}

}  // namespace fourtune::tools
