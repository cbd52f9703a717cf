// Replays recorded search spaces, so that strategies can be compared without a device and without noise.
//
// File format (tests/tuner/spaces/*.csv, made by `fourtune tune --record`): a header with the axis names followed by
// "estimate" and "seconds", then one line per candidate: one index per axis, the model's estimate in seconds, and the
// median seconds of one execute or the word "failed". Lines that start with # are comments.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "tuner/search/search.h"

namespace fourtune::tuner {

struct Recording {
  std::string name;
  std::vector<std::string> axes;
  SearchSpace space;
  std::vector<double> seconds;  // one per candidate; `failed` where the result was not right

  double optimum() const;  // the shortest time
};

// These throw Error{io} that names the line when the text is not such a file, or when no candidate worked.
Recording read_recording(std::istream& in, const std::string& name);
Recording read_recording(const std::string& path);
void write_recording(std::ostream& out, const Recording& recording);

// The best time after 1, 2, ... evaluations of the strategy, or the worst time of the space until a candidate works.
// Stops at `evaluations`, or when the strategy has no candidates left.
std::vector<double> replay(const Recording& recording, const Strategy& strategy, std::uint64_t seed,
                           std::size_t evaluations);
// The same for random search: the exact expectation over all orders.
std::vector<double> random_expectation(const Recording& recording, std::size_t evaluations);
// The expectation of the time of the optimum / that best time, which is not its reciprocal.
std::vector<double> random_speed_expectation(const Recording& recording, std::size_t evaluations);

// Time of the optimum / best time after 1, 2, ... evaluations: the mean over the seeds 1, 2, ..., as long as
// `evaluations`.
std::vector<double> mean_speeds(const Recording& recording, const Strategy& strategy, int seeds,
                                std::size_t evaluations);

struct Quality {
  std::size_t evaluations = 0;  // min(200, a tenth of the space's size)
  double mean_speed = 0;        // time of the optimum / best time after `evaluations` evaluations; mean over seeds
  double median_speed = 0;
  double worst_speed = 0;
  double random_speed = 0;  // the same for random search, mean over the same number of seeds
  // 0 for random search, 1 for finding the optimum at the first evaluation. Averaged over evaluations, up to the number
  // where random search has closed 95 % of the gap between the median and the optimum, and over seeds.
  double score = 0;
};
Quality quality(const Recording& recording, const Strategy& strategy, int seeds);
std::size_t evaluation_allowance(const Recording& recording);

}  // namespace fourtune::tuner
