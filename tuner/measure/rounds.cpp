#include "tuner/measure/rounds.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "base/random.h"
#include "tuner/measure/energy.h"

namespace fourtune::tuner {

void measure_rounds(const FinalsRequest& request, const BenchmarkOptions& options, const std::vector<Workload>& works,
                    const std::vector<int>& loops, const Probe& probe, const std::function<bool()>& slowed,
                    FinalsResult& result) {
  constexpr int most_repeats = 4;  // rounds that are begun for each that is wanted
  constexpr int most_tries = 3;    // of a sample in a round
  constexpr int most_slowed = 6;   // rounds that are left out because the device was slowed; then it is always so
  const Clock clock = clock_of(request.benchmark);
  Random random(request.seed);
  std::vector<std::size_t> order(works.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  result.samples_ns.resize(works.size());
  std::vector<std::int64_t> round(works.size());
  const std::int64_t start = clock();
  for (int begun = 0, kept = 0; kept < request.max_rounds && begun < most_repeats * request.max_rounds; ++begun) {
    const double spent = static_cast<double>(clock() - start) * 1e-9;
    if (begun >= request.min_rounds && spent >= (kept >= request.min_rounds ? 1 : 2) * request.seconds) break;
    random.shuffle(order);
    bool any_disturbed = false;
    for (const std::size_t p : order) {
      result.culprit = static_cast<int>(p);
      // Warm mode: the other plans have filled the caches, which does not happen to users of a single plan.
      if (!options.cold && spent < request.seconds) works[p].run(1);
      // Of many plans with long samples one is nearly always disturbed, and the others would be left out with it.
      bool disturbed = true;
      for (int tries = 0; disturbed && tries < most_tries; ++tries) {
        round[p] = sample(works[p], loops[p], options, clock, probe, &disturbed);
        result.busy.add(disturbed);
      }
      any_disturbed = disturbed;
      if (any_disturbed) break;
    }
    if (any_disturbed) continue;
    if (slowed()) {
      if (result.repeats < most_slowed) {
        ++result.repeats;
        continue;
      }
      result.slowed = true;
    }
    ++kept;
    for (std::size_t p = 0; p < works.size(); ++p) result.samples_ns[p].push_back(round[p]);
  }
}

void measure_energies(const FinalsRequest& request, const std::vector<Workload>& works,
                      const std::vector<double>& seconds, runtime::DeviceSensors* sensors, FinalsResult& result) {
  Random random(request.seed);
  std::vector<std::size_t> order(works.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  result.energy_nj.resize(works.size());
  for (int round = 0; round < energy_rounds; ++round) {
    random.shuffle(order);
    for (const std::size_t p : order) {
      result.culprit = static_cast<int>(p);
      const auto joules = sensors
                              ? joules_of_execute(works[p], seconds[p], *sensors, {request.benchmark.energy_seconds})
                              : std::nullopt;
      if (!joules) throw Error(Status::unsupported, no_energy);
      result.energy_nj[p].push_back(std::max<std::int64_t>(1, std::llround(*joules * 1e9)));
    }
  }
}

}  // namespace fourtune::tuner
