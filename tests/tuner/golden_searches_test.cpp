// The candidates that strategies ask for, one after another, and how replays judge them. tests/golden/searches.txt has
// them: whoever changes a strategy sees what it changes, and search_test.cpp says whether it became better.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/support/golden.h"
#include "tests/tuner/made_spaces.h"
#include "tuner/search/replay.h"
#include "tuner/search/search.h"

namespace fourtune::tuner {
namespace {

// A name of tests/tuner/spaces, or of a space made here: "plain", or "failing", where four in ten candidates fail.
Recording space_of(const std::string& name) {
  if (name == "plain") return testing::make_space(name, {{6, 4, 3, 2}, 0.2, 0.4, 0.02, 0}, 11);
  if (name == "failing") return testing::make_space(name, {{5, 4, 4, 3}, 0.2, 0.4, 0.02, 0.4}, 12);
  return read_recording(std::string(FOURTUNE_SOURCE_DIR) + "/tests/tuner/spaces/" + name + ".csv");
}

// header: "strategy seed space".
std::string searched(const std::string& header) {
  std::istringstream words(header);
  std::string strategy, name;
  std::uint64_t seed = 0;
  words >> strategy >> seed >> name;
  const Recording recording = space_of(name);
  const auto search = find_strategy(strategy).make(recording.space, seed);
  search->tell(recording.space.size() / 2, recording.seconds[recording.space.size() / 2]);  // of an earlier session
  std::vector<std::size_t> asked;
  while (asked.size() < 40) {
    const auto candidate = search->ask();
    if (!candidate) break;
    asked.push_back(*candidate);
    // Every fifth question comes before the answer to the one before it.
    if (asked.size() % 5 == 4) continue;
    for (std::size_t i = asked.size() - (asked.size() % 5 == 0 ? 2 : 1); i < asked.size(); ++i)
      search->tell(asked[i], recording.seconds[asked[i]]);
  }
  std::string text = fmt::format("{}\n  {}\n", header, fmt::join(asked, " "));
  if (seed == 1 && recording.space.size() < 400) {
    const Quality judged = quality(recording, find_strategy(strategy), 2);
    text += fmt::format("  after {}: mean {:.4f}, median {:.4f}, worst {:.4f}, random {:.4f}, score {:.4f}\n",
                        judged.evaluations, judged.mean_speed, judged.median_speed, judged.worst_speed,
                        judged.random_speed, judged.score);
  }
  return text;
}

TEST(GoldenSearches, AreAsRecorded) { test::GoldenFile("searches.txt", searched).compare(0, 1); }

}  // namespace
}  // namespace fourtune::tuner
