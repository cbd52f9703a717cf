// One library's transform of one problem, as the benchmark sees it: ours with some plan, or a peer's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fourtune/problem.h"
#include "fourtune/transform.h"
#include "runtime/backends/backend.h"

namespace fourtune::tools {

// The arguments are those of fourtune::Transform. Every function throws its errors (fourtune::Error or
// tools/common/errors.h). Work may still be pending on the device's default stream when a function returns.
class Contender {
 public:
  virtual ~Contender() = default;
  virtual void set_points(const Points& points) = 0;
  virtual void execute(void* first, void* second) = 0;
  virtual std::vector<StageTime> stage_times() const { return {}; }
  virtual std::vector<runtime::LaunchTime> launch_times() const { return {}; }
  virtual std::string plan() const { return {}; }
  // Puts the output, copied to the host, into the problem's order; does nothing if it is in that order already.
  virtual void restore_order(void*) const {}
  // The library's reason for refusing the request at first, if it ran only with an override; otherwise empty.
  virtual std::string refusal() const { return {}; }
  // On a device: the most bytes that `execute`, which runs this contender once and waits, takes from the device and has
  // given back when it ends. Not called where times are taken.
  virtual std::int64_t passing_bytes(const std::function<void()>& execute) const {
    static_cast<void>(execute);
    return 0;
  }
  // On a device: the same transform with its stages and launches timed, which itself takes time; null if impossible.
  virtual std::unique_ptr<Contender> timed() const { return nullptr; }
};

enum class Role {
  tuned,      // ours with the plan of a verdict, or with a plan given by the user
  untuned,    // ours with default settings
  peer,       // included in ratios
  reference,  // shown, but not included in ratios
};

// One way to run a library.
struct Variant {
  std::string name;  // "method=2, upsampfac=1.25"; empty if there is only one
  std::function<std::unique_ptr<Contender>(const Problem&)> make;
};

// How to make a contender. The key names it on the command line of a child process: "tuned", "untuned", "plan:TEXT",
// "peer:PATH". If there are several variants, a short trial selects the fastest one with a right result.
struct Entrant {
  std::string name;
  Role role = Role::peer;
  std::string key;
  std::vector<Variant> variants;
  // Ours: compiles what `make` then finds ready. May be called from any thread; empty where nothing has to be compiled.
  std::function<void(const Problem&)> compile = {};
};

struct OursOptions {
  std::string backend;  // empty: cpu
  int threads = 0;
  std::string db;            // the only database that is used; empty: none
  std::string plan;          // forces a plan text
  int device = 0;            // a device number of the backend
  std::string devices = {};  // those that share the batch, whose arrays `device` has; empty: it works alone
};
std::unique_ptr<Contender> make_ours(const Problem& problem, const OursOptions& options);
Entrant our_entrant(const std::string& name, Role role, const OursOptions& options);
// Compiles the kernels that make_ours with these options needs, if the backend compiles any.
void compile_ours(const Problem& problem, const OursOptions& options);
// Whether the database holds a verdict that the runtime would run for exactly this problem.
bool has_verdict(const Problem& problem, const OursOptions& options);

// An executor of a backend without the public interface around it, for plans that this interface cannot express.
using BindExecutor = std::function<std::unique_ptr<runtime::Executor>(const Problem&, bool time_stages)>;
std::unique_ptr<Contender> make_executor_contender(const Problem& problem, BindExecutor bind, std::string plan,
                                                   std::function<void(void*)> restore_order = {});

}  // namespace fourtune::tools
