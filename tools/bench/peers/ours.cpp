// Our transforms as contenders: the public interface is measured.
#include <filesystem>
#include <utility>
#include <vector>

#include "db/lookup.h"
#include "generator/plan/plan.h"
#include "runtime/backend_table.h"
#include "runtime/backends/backend.h"
#include "runtime/plan_sources.h"
#include "runtime/resolve.h"
#include "tools/bench/measure/contender.h"

namespace fourtune::tools {
namespace {

class ExecutorContender final : public Contender {
 public:
  ExecutorContender(const Problem& problem, BindExecutor bind, std::string plan, bool time_stages,
                    std::function<void(void*)> restore_order = {})
      : problem_(problem),
        bind_(std::move(bind)),
        plan_(std::move(plan)),
        restore_order_(std::move(restore_order)),
        executor_(bind_(problem_, time_stages)) {}
  void set_points(const Points& points) override { executor_->set_points(points); }
  void execute(void* first, void* second) override { executor_->execute(first, second, false); }
  std::vector<StageTime> stage_times() const override {
    const auto times = executor_->stage_times();
    return {times.begin(), times.end()};
  }
  std::vector<runtime::LaunchTime> launch_times() const override { return executor_->launch_times(); }
  std::string plan() const override { return plan_; }
  void restore_order(void* output) const override {
    if (restore_order_) restore_order_(output);
  }
  std::unique_ptr<Contender> timed() const override {
    return std::make_unique<ExecutorContender>(problem_, bind_, plan_, true);
  }

 private:
  Problem problem_;
  BindExecutor bind_;
  std::string plan_;
  std::function<void(void*)> restore_order_;
  std::unique_ptr<runtime::Executor> executor_;
};

class Ours final : public Contender {
 public:
  Ours(const Problem& problem, const Options& options)
      : backend_(runtime::find_backend(options.backend)),
        device_(options.device),
        shared_(!options.devices.empty()),
        transform_(to_token(problem), options) {}
  void set_points(const Points& points) override { transform_.set_points(points); }
  void execute(void* first, void* second) override { transform_.execute(first, second); }
  std::vector<StageTime> stage_times() const override { return transform_.stage_times(); }
  std::string plan() const override { return transform_.plan(); }
  std::unique_ptr<Contender> timed() const override {
    if (shared_) return nullptr;  // each device has separate stages
    const auto bind = [&backend = backend_, device = device_, text = transform_.plan()](const Problem& problem,
                                                                                        bool time_stages) {
      runtime::ExecutorOptions options;
      options.device = device;
      options.time_stages = time_stages;
      return backend.bind(problem, generator::parse_plan(text, problem), options);
    };
    return std::make_unique<ExecutorContender>(transform_.problem(), bind, transform_.plan(), true);
  }

 private:
  const runtime::Backend& backend_;
  int device_;
  bool shared_;
  Transform transform_;
};

// Untuned is what an installation does before anything is tuned, with the packs that come with it.
std::vector<std::filesystem::path> databases_of(const OursOptions& options) {
  return options.db.empty() ? runtime::shipped_packs() : std::vector<std::filesystem::path>{options.db};
}

// Resolves the plan as Transform does with these options.
runtime::Resolution resolved(const Problem& problem, const OursOptions& options) {
  const auto databases = databases_of(options);
  const db::Lookup lookup = db::Lookup::load({}, databases);
  DeviceTraits traits = runtime::find_backend(options.backend).traits(options.device);
  if (options.threads > 0) traits.cores = options.threads;
  return runtime::resolve(problem, traits, &lookup, options.plan);
}

}  // namespace

std::unique_ptr<Contender> make_ours(const Problem& problem, const OursOptions& wanted) {
  Options options;
  options.default_databases = false;
  for (const std::filesystem::path& database : databases_of(wanted)) options.databases.push_back(database);
  options.backend = wanted.backend;
  options.threads = wanted.threads;
  options.plan = wanted.plan;
  if (wanted.devices.empty()) options.device = wanted.device;
  options.devices = wanted.devices;
  return std::make_unique<Ours>(problem, options);
}

void compile_ours(const Problem& problem, const OursOptions& options) {
  const runtime::Backend& backend = runtime::find_backend(options.backend);
  const auto found = resolved(problem, options);
  runtime::ExecutorOptions where;
  where.device = options.device;
  if (found.plan.backend == backend.traits(options.device).backend) backend.prepare(problem, found.plan, where);
}

Entrant our_entrant(const std::string& name, Role role, const OursOptions& options) {
  const std::string key =
      options.plan.empty() ? std::string(options.db.empty() ? "untuned" : "tuned") : "plan:" + options.plan;
  return {name,
          role,
          key,
          {{{}, [options](const Problem& problem) { return make_ours(problem, options); }}},
          [options](const Problem& problem) { compile_ours(problem, options); }};
}

bool has_verdict(const Problem& problem, const OursOptions& options) {
  return !options.db.empty() && resolved(problem, options).source == runtime::Source::verdict;
}

std::unique_ptr<Contender> make_executor_contender(const Problem& problem, BindExecutor bind, std::string plan,
                                                   std::function<void(void*)> restore_order) {
  return std::make_unique<ExecutorContender>(problem, std::move(bind), std::move(plan), false,
                                             std::move(restore_order));
}

}  // namespace fourtune::tools
