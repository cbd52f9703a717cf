// Replays recorded search spaces, so that the quality of a strategy is known without a device and without noise.
//
// File format (tests/tuner/spaces/*.csv, made by `fourtune tune --record`): a header of the axis names followed by
// "estimate" and "seconds"; then a line a candidate: one index an axis, the model's estimate in seconds, and the median
// seconds of one execute or the word "failed". Lines that start with # are comments.
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
  std::vector<double> seconds;  // one a candidate; `failed` where it did not give a right result

  double optimum() const;  // least seconds
};

// Throw Error{io} naming the line when the text is not such a file; at least one candidate must have worked.
Recording read_recording(std::istream& in, const std::string& name);
Recording read_recording(const std::string& path);
void write_recording(std::ostream& out, const Recording& recording);

// Best time so far after 1, 2, ... evaluations of the strategy; until something works, the worst time of the space.
// Stops at `evaluations`, or when the strategy has nothing left.
std::vector<double> replay(const Recording& recording, const Strategy& strategy, std::uint64_t seed,
                           std::size_t evaluations);
// The same for random search, as the exact expectation over all orders.
std::vector<double> random_expectation(const Recording& recording, std::size_t evaluations);

struct Quality {
  std::size_t evaluations = 0;  // min(200, a tenth of the space)
  double mean_speed = 0;        // optimum's time / best time after so many evaluations, over seeds
  double median_speed = 0;
  double worst_speed = 0;
  double random_speed = 0;  // the same of random search, mean over the same number of seeds
  // 0: random search, 1: the optimum from the first evaluation; averaged over evaluations up to where random search has
  // closed 95 % of the way from the median to the optimum. Mean over seeds.
  double score = 0;
};
Quality quality(const Recording& recording, const Strategy& strategy, int seeds);
std::size_t evaluation_allowance(const Recording& recording);

}  // namespace fourtune::tuner
