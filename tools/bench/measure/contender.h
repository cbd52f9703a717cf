// One library's transform of one problem, as the benchmark sees it: ours with some plan, or a peer's.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fourtune/problem.h"
#include "fourtune/transform.h"
#include "runtime/backends/backend.h"

namespace fourtune::tools {

// Arguments are those of fourtune::Transform. Everything throws what is wrong (fourtune::Error or
// tools/common/errors.h). Work may be left on the device's default stream.
class Contender {
 public:
  virtual ~Contender() = default;
  virtual void set_points(const Points& points) = 0;
  virtual void execute(void* first, void* second) = 0;
  virtual std::vector<StageTime> stage_times() const { return {}; }
  virtual std::vector<runtime::LaunchTime> launch_times() const { return {}; }
  virtual std::string plan() const { return {}; }
  // The output on the host, as it came, put into the problem's order; nothing where it is.
  virtual void restore_order(void*) const {}
  // Why the library at first refused what was asked, when it ran only with an override; empty: it did not.
  virtual std::string refusal() const { return {}; }
  // On a device: the same transform with its stages and launches timed, which costs time itself; null: it cannot.
  virtual std::unique_ptr<Contender> timed() const { return nullptr; }
};

enum class Role {
  tuned,      // ours with the plan of a verdict, or with a plan given by hand
  untuned,    // ours as it comes
  peer,       // counts in ratios
  reference,  // shown, but counts in no ratio
};

// One way to run a library.
struct Variant {
  std::string name;  // "method=2, upsampfac=1.25"; empty where there is but one
  std::function<std::unique_ptr<Contender>(const Problem&)> make;
};

// How to make a contender. The key names it on the command line of a child process: "tuned", "untuned", "plan:TEXT",
// "peer:PATH". With several variants the fastest right one of a short trial is the contender.
struct Entrant {
  std::string name;
  Role role = Role::peer;
  std::string key;
  std::vector<Variant> variants;
  // Ours: compiles what make then finds ready, from any thread; empty where there is nothing to compile.
  std::function<void(const Problem&)> compile = {};
};

struct OursOptions {
  std::string backend;  // empty: cpu
  int threads = 0;
  std::string db;    // the one database looked at; empty: none
  std::string plan;  // forces a plan text
  int device = 0;    // of the backend
};
std::unique_ptr<Contender> make_ours(const Problem& problem, const OursOptions& options);
Entrant our_entrant(const std::string& name, Role role, const OursOptions& options);
// Compiles the kernels of what make_ours with these options makes, where the backend compiles any.
void compile_ours(const Problem& problem, const OursOptions& options);
// Whether the database holds a verdict that the runtime would run for exactly this problem.
bool has_verdict(const Problem& problem, const OursOptions& options);

// An executor of a backend, without the public interface around it: for plans that it cannot name.
using BindExecutor = std::function<std::unique_ptr<runtime::Executor>(const Problem&, bool time_stages)>;
std::unique_ptr<Contender> make_executor_contender(const Problem& problem, BindExecutor bind, std::string plan,
                                                   std::function<void(void*)> restore_order = {});

}  // namespace fourtune::tools
