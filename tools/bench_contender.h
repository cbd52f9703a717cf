// One library's transform of one problem, as the benchmark sees it: ours with some plan, or a peer's.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fourtune/problem.h"
#include "fourtune/transform.h"

namespace fourtune::tools {

// Arguments are those of fourtune::Transform. Everything throws what is wrong (fourtune::Error or tools/errors.h).
class Contender {
 public:
  virtual ~Contender() = default;
  virtual void set_points(const Points& points) = 0;
  virtual void execute(void* first, void* second) = 0;
  virtual std::vector<StageTime> stage_times() const { return {}; }
  virtual std::string plan() const { return {}; }
  // Why the library at first refused what was asked, when it ran only with an override; empty: it did not.
  virtual std::string refusal() const { return {}; }
};

enum class Role {
  tuned,      // ours with the plan of a verdict
  untuned,    // ours as it comes
  peer,       // counts in ratios
  reference,  // shown, but counts in no ratio
};

// How to make a contender. The key names it on the command line of a child process: "tuned", "untuned", "plan:TEXT",
// "peer:PATH".
struct Entrant {
  std::string name;
  Role role = Role::peer;
  std::string key;
  std::function<std::unique_ptr<Contender>(const Problem&)> make;
};

// Ours. `db` is the one database looked at (empty: none); `plan` forces a plan text.
std::unique_ptr<Contender> make_ours(const Problem& problem, int threads, const std::string& db,
                                     const std::string& plan);
// Whether the database holds a verdict that the runtime would run for exactly this problem.
bool has_verdict(const Problem& problem, int threads, const std::string& db);

}  // namespace fourtune::tools
