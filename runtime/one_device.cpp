// A transform on one device: holds a resolved plan and its executor.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "db/lookup.h"
#include "db/signature.h"
#include "generator/candidates.h"
#include "runtime/arguments.h"
#include "runtime/backend_table.h"
#include "runtime/backends/backend.h"
#include "runtime/misses.h"
#include "runtime/plan_sources.h"
#include "runtime/record_points.h"
#include "runtime/resolve.h"
#include "runtime/transform_core.h"

namespace fourtune::runtime {
namespace {

void check_options(const Problem& problem, const Options& options) {
  if (options.threads < 0) throw Error(Status::invalid_option, fmt::format("threads={} is negative", options.threads));
  if (options.distinct_points && problem.kind != Kind::nufft)
    throw Error(Status::invalid_option, "distinct_points: an fft has no points");
  if (options.only == Only::whole) return;
  const bool spreads = options.only == Only::spread || options.only == Only::spread_centred;
  const int type = spreads ? 1 : 2;
  if (problem.kind != Kind::nufft || problem.type != type)
    throw Error(Status::invalid_option,
                fmt::format("only={}{}: needs a type {} nufft", spreads ? "spread" : "interpolate",
                            begins_at_minus_pi(options.only) ? "_centred" : "", type));
}

void check_stream(const Backend& backend, const Options& options) {
  if (options.stream && !backend.capabilities().streams)
    throw Error(Status::invalid_option,
                fmt::format("stream: the {} backend has no streams; pass none", backend.name()));
}

class OneDevice final : public TransformCore {
 public:
  OneDevice(const Problem& asked, const Options& chosen) : asked_(asked), problem_(asked), options_(chosen) {
    check_options(problem_, options_);
    backend_ = &find_backend(options_.backend);
    check_stream(*backend_, options_);
    traits_ = backend_->traits(options_.device);
    if (options_.threads > 0) traits_.cores = std::min(options_.threads, traits_.cores);
    for (const std::string& key : options_.trusted_keys) db::bare_public_key(key);  // rejects a bad key at once
    read_databases();
  }

  // Binds the plan if it can be chosen already.
  void begin() {
    if (!complete()) {
      if (!options_.plan.empty()) generator::parse_plan(options_.plan, planned());  // rejects a bad plan at once
      resolution_.explain =
          fmt::format("problem: {}\nplan: chosen in set_points, when the points are known\n", to_token(problem_));
      return;
    }
    resolve();
    with_a_plan_that_works([&] { bind(); });
    note_miss();
  }
  void prepare() {
    resolve();
    with_a_plan_that_works([&] { backend_->prepare(problem_, resolution_.plan, executor_options()); });
  }

  void set_points(const Points& points) override {
    check_counts(points);
    points_set_ = false;
    Problem now = asked_;
    now.m = points.m;
    if (now.type == 3) now.k = points.k;
    validate(now);
    bool changed = !executor_ || now != problem_;
    if (changed) {
      problem_ = now;
      const std::string before = plan_text_;
      resolve();
      changed = !executor_ || before != plan_text_;
    }
    with_a_plan_that_works([&] {
      if (changed || !executor_) bind();
      changed = false;
      executor_->set_points(points);  // some grid sizes are known only now
    });
    points_set_ = true;
    note_miss();
    const std::string note = record_points(problem_, points, *backend_, options_.device);
    if (std::string& explain = resolution_.explain; explain.find(note) == std::string::npos) explain += note;
  }
  void set_bounds(const Bounds& bounds) override {
    bounds_ = bounds;
    if (executor_) executor_->set_bounds(bounds);
  }
  void execute(void* first, void* second, bool adjoint) override {
    check_arrays(problem_, points_set_, first, second);
    executor_->execute(first, second, adjoint);
    misses_.used();
  }
  void set_stream(void* stream) override {
    if (stream && !backend_->capabilities().streams)
      throw Error(Status::invalid_argument,
                  fmt::format("set_stream: the {} backend has no streams; pass null", backend_->name()));
    if (executor_) executor_->set_stream(stream);
    options_.stream = stream;
  }

  const Problem& problem() const override { return problem_; }
  MemoryUse memory() const override {
    if (executor_) return executor_->memory();
    // Without point counts no plan is chosen yet: estimate what the cost model's choice would hold for the grid alone.
    Problem guess = problem_;
    if (!guess.m) guess.m = 0;
    if (guess.type == 3 && !guess.k) guess.k = 1;
    const auto resolution = runtime::resolve(guess, traits_, lookup_.get(), options_.plan);
    MemoryUse use;
    const double bytes = generator::estimate(resolution.plan, guess, traits_).bytes;
    use.needed = bytes < 9e18 ? static_cast<std::int64_t>(bytes) : std::numeric_limits<std::int64_t>::max();
    return use;
  }
  const std::string& plan() const override { return plan_text_; }
  const std::string& explain() const override { return resolution_.explain; }
  const std::string& warnings() const override { return warnings_; }
  std::vector<StageTime> stage_times() const override {
    if (!executor_) return {};
    const auto times = executor_->stage_times();
    return {times.begin(), times.end()};
  }

 private:
  void read_databases() {
    const bool has_kernels = backend_->capabilities().keeps_kernels;
    if (!options_.plan.empty() && !has_kernels) return;
    lookup_ = shared_lookup(options_);
    warnings_ = unusable_text(*lookup_);
    if (has_kernels) kernel_packs_ = packs_with_kernels(*lookup_, options_, warnings_);
    if (!options_.plan.empty()) lookup_.reset();  // a forced plan; only kernels are taken from packs
  }

  // The plan can be chosen only when the point counts are known.
  bool complete() const { return problem_.kind == Kind::fft || (problem_.m && (problem_.type != 3 || problem_.k)); }

  // The problem for which a plan is made: transforms with distinct points run one by one, so its batch is 1.
  Problem planned() const {
    Problem one = problem_;
    if (options_.distinct_points) one.batch = 1;
    return one;
  }
  void resolve() {
    resolution_ = runtime::resolve(planned(), traits_, lookup_.get(), options_.plan, refused_);
    plan_text_ = generator::to_text(resolution_.plan, planned());
  }
  bool is_stored() const { return resolution_.source == Source::verdict || resolution_.source == Source::nearest; }

  // Runs `work` with the resolved plan. When it fails with a plan from a database, that plan is refused and the next
  // one resolved; a failure with the cost model's plan or a forced one is passed on to the caller.
  template <class Work>
  void with_a_plan_that_works(const Work& work) {
    constexpr std::size_t kMostRefused = 8;  // after these the databases are no longer used
    std::string no_compiler;                 // why something is tried in place of the model's plan
    for (;;) {
      std::string why;
      try {
        return work();
      } catch (const NoCompiler& error) {
        why = error.what();
        if (take_short_points(why)) continue;
        if (!is_stored()) {
          no_compiler = why;
          if (take_library(why) || take_foreign()) continue;
          throw;
        }
      } catch (const Error& error) {
        if (!is_stored() && !no_compiler.empty()) {
          if (take_foreign()) continue;
          throw Error(Status::backend_unavailable, fmt::format("{}; and in its place: {}", no_compiler, error.what()));
        }
        if (!is_stored() || !may_be_the_plans(error.status())) throw;
        why = error.what();
      } catch (const std::bad_alloc&) {
        if (!is_stored()) throw;
        why = "not enough memory";
      }
      executor_.reset();
      refused_.push_back({plan_text_, why});
      if (refused_.size() >= kMostRefused) lookup_.reset();
      resolve();
    }
  }
  // Packs have kernels for points with the digits that the tolerance deserves. False if these were asked for.
  bool take_short_points(const std::string& why) {
    if (!std::exchange(options_.exact_points, false)) return false;
    executor_.reset();
    resolution_.explain += fmt::format("points: not exact, with the digits that the tolerance deserves: {}\n", why);
    return true;
  }
  // An fft needs no kernels of ours: takes the vendor's library instead of the model's plan. False if that is no help.
  bool take_library(const std::string& why) {
    generator::Plan plan = generator::plan_for(resolution_.plan.backend);
    constexpr int kMostDimensions = 3;  // of cuFFT
    if (problem_.kind != Kind::fft || problem_.dim > kMostDimensions || !generator::has_gpu_fft_library(plan.backend))
      return false;
    plan.gpu().fft.family = generator::GpuFftFamily::cufft;
    if (resolution_.source != Source::model || resolution_.plan == plan) return false;
    resolution_.plan = plan;
    plan_text_ = generator::to_text(plan, planned());
    resolution_.explain += fmt::format("{} instead: {}\n", plan_text_, why);
    return true;
  }
  // Takes a plan of another architecture, whose kernels packs may have as PTX. False if there is none.
  bool take_foreign() {
    if (!lookup_ || kernel_packs_.empty()) return false;
    auto found = resolve_foreign(planned(), traits_, *lookup_, refused_);
    if (!found) return false;
    resolution_ = std::move(*found);
    plan_text_ = generator::to_text(resolution_.plan, planned());
    return true;
  }
  // Whether the plan may be at fault, rather than the caller's points, pointers or options.
  static bool may_be_the_plans(Status status) {
    return status != Status::invalid_point && status != Status::invalid_argument && status != Status::contradiction &&
           status != Status::invalid_option && status != Status::backend_unavailable;
  }

  ExecutorOptions executor_options() const {
    ExecutorOptions bound;
    bound.deterministic = options_.deterministic;
    bound.trust_points = options_.trust_points;
    bound.exact_points = options_.exact_points;
    bound.distinct_points = options_.distinct_points;
    bound.mode_order = options_.mode_order;
    bound.only = options_.only;
    bound.wisdom = resolution_.wisdom;
    bound.device = options_.device;
    bound.stream = options_.stream;
    bound.kernel_packs = kernel_packs_;
    return bound;
  }
  void bind() {
    executor_.reset();
    executor_ = backend_->bind(problem_, resolution_.plan, executor_options());
    if (bounds_) executor_->set_bounds(*bounds_);
  }

  // Notes whether the plan that runs from now on was tuned for this problem.
  void note_miss() {
    if (!misses_.records()) return;  // a token takes as long as setting a hundred points
    const bool untuned = resolution_.source == Source::model || resolution_.source == Source::nearest;
    resolution_.explain += misses_.begin(backend_->name(), to_token(planned()), untuned);
  }

  void check_counts(const Points& points) const {
    const auto contradiction = [](const char* key, std::int64_t promised, std::int64_t given) {
      throw Error(Status::contradiction, fmt::format("set_points: {} {} points are given, but the problem says {}={}",
                                                     key[0] == 'm' ? "" : "target", given, key, promised));
    };
    if (asked_.m && *asked_.m != points.m) contradiction("m", *asked_.m, points.m);
    if (asked_.k && *asked_.k != points.k) contradiction("k", *asked_.k, points.k);
  }

  Problem asked_;    // as passed to the constructor
  Problem problem_;  // with m and k filled in by set_points
  Options options_;
  const Backend* backend_ = nullptr;
  DeviceTraits traits_;
  std::shared_ptr<const db::Lookup> lookup_;  // null: a plan was forced, or no database's plan works
  std::vector<std::shared_ptr<const db::Pack>> kernel_packs_;
  std::string warnings_;
  Resolution resolution_;
  std::string plan_text_;
  std::vector<Refusal> refused_;  // stored plans that failed to bind; they are not tried again
  std::unique_ptr<Executor> executor_;
  std::optional<Bounds> bounds_;
  bool points_set_ = false;
  MissRecord misses_{options_.misses};
};

}  // namespace

std::unique_ptr<TransformCore> on_one_device(const Problem& problem, const Options& options) {
  auto core = std::make_unique<OneDevice>(problem, options);
  core->begin();
  return core;
}

void prepare_on_one_device(const Problem& problem, const Options& options) { OneDevice(problem, options).prepare(); }

}  // namespace fourtune::runtime
