// What a session has to know of plans, which it otherwise handles as texts: which there are, which one runs untuned,
// and where their times are valid. One implementation is for transforms of one process; the ranks' tuner has another
// one (tools/ranks/rank_planning.h).
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "db/records.h"
#include "fourtune/problem.h"
#include "generator/candidates.h"
#include "tuner/search/search.h"

namespace fourtune::tuner {

struct SessionOptions;

// The plans worth trying, and the shape of their space: entry i of the texts belongs to candidate i.
struct ListedPlans {
  std::vector<std::string> axes;
  std::vector<std::string> texts;
  SearchSpace space;
  std::function<double(std::size_t candidate)> floor_seconds;  // that no execute can beat
};

class Planning {
 public:
  virtual ~Planning() = default;
  // The environment to which the session's measurements belong.
  virtual db::Environment environment() const = 0;
  virtual ListedPlans list(const Problem& problem) const = 0;
  // The plan that runs untuned. Throws Error where no plan can.
  virtual std::string untuned(const Problem& problem) const = 0;
  // The plan in which a library decides everything, the yardstick of an fft; empty: there is none.
  virtual std::string library(const Problem& problem) const = 0;
  // The plan that a transform would take today from this database and from packs; empty: the untuned one.
  virtual std::string served(const Problem& problem, const std::filesystem::path& database) const = 0;
  // Why a stored text cannot be right for the problem; empty: it can be.
  virtual std::string fault(const std::string& plan, const Problem& problem) const = 0;
  // Expected times of the untuned plan. Throws as untuned() does.
  virtual generator::Cost expected(const Problem& problem) const = 0;
};

// Of a device with these traits, of which plans use at most options.threads cores. The options outlive the result.
std::shared_ptr<const Planning> planning_of_one_process(const SessionOptions& options, const DeviceTraits& device);

}  // namespace fourtune::tuner
