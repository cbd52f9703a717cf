#include "tuner/measure/rounds.h"

#include <cstddef>
#include <numeric>

#include "base/random.h"

namespace fourtune::tuner {

void measure_rounds(const FinalsRequest& request, const BenchmarkOptions& options, const std::vector<Workload>& works,
                    const std::vector<int>& loops, FinalsResult& result) {
  const Clock clock = clock_of(request.benchmark);
  Random random(request.seed);
  std::vector<std::size_t> order(works.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  result.samples_ns.resize(works.size());
  const std::int64_t start = clock();
  for (int round = 0; round < request.max_rounds; ++round) {
    const double spent = static_cast<double>(clock() - start) * 1e-9;
    if (round >= request.min_rounds && spent >= request.seconds) break;
    random.shuffle(order);
    for (const std::size_t p : order) {
      result.culprit = static_cast<int>(p);
      // Warm mode: the other plans have filled the caches, which does not happen to users of a single plan.
      if (!options.cold && spent < request.seconds) works[p].run(1);
      result.samples_ns[p].push_back(sample(works[p], loops[p], options, clock));
    }
  }
}

}  // namespace fourtune::tuner
