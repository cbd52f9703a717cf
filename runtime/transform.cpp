// The public transform: takes a problem and options, and holds a resolved plan and its executor.
#include "fourtune/transform.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
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

namespace fourtune {
namespace {

void check_options(const Problem& problem, const Options& options) {
  if (options.threads < 0) throw Error(Status::invalid_option, fmt::format("threads={} is negative", options.threads));
  if (options.distinct_points && problem.kind != Kind::nufft)
    throw Error(Status::invalid_option, "distinct_points: an fft has no points");
  if (options.only == Only::whole) return;
  const int type = options.only == Only::spread ? 1 : 2;
  if (problem.kind != Kind::nufft || problem.type != type)
    throw Error(Status::invalid_option,
                fmt::format("only={}: needs a type {} nufft", type == 1 ? "spread" : "interpolate", type));
}

void check_stream(const runtime::Backend& backend, const Options& options) {
  if (options.stream && !backend.capabilities().streams)
    throw Error(Status::invalid_option,
                fmt::format("stream: the {} backend has no streams; pass none", backend.name()));
}

}  // namespace

struct Transform::State {
  State(std::string_view token, const Options& chosen)
      : asked(runtime::reachable(parse_typed_problem(token), chosen.clamp_tolerance)), problem(asked), options(chosen) {
    check_options(problem, options);
    backend = &runtime::find_backend(options.backend);
    check_stream(*backend, options);
    traits = backend->traits(options.device);
    if (options.threads > 0) traits.cores = std::min(options.threads, traits.cores);
    for (const std::string& key : options.trusted_keys) db::bare_public_key(key);  // rejects a bad key at once
    read_databases();
  }

  Problem asked;    // as passed to the constructor
  Problem problem;  // with m and k filled in by set_points
  Options options;
  const runtime::Backend* backend = nullptr;
  DeviceTraits traits;
  std::shared_ptr<const db::Lookup> lookup;  // null: a plan was forced, or no database's plan works
  std::vector<std::shared_ptr<const db::Pack>> kernel_packs;
  std::string warnings;
  runtime::Resolution resolution;
  std::string plan_text;
  std::vector<runtime::Refusal> refused;  // stored plans that failed to bind; they are not tried again
  std::unique_ptr<runtime::Executor> executor;
  std::optional<Bounds> bounds;
  bool points_set = false;
  runtime::MissRecord misses{options.misses};

  void read_databases() {
    const bool has_kernels = backend->capabilities().keeps_kernels;
    if (!options.plan.empty() && !has_kernels) return;
    lookup = runtime::shared_lookup(options);
    warnings = runtime::unusable_text(*lookup);
    if (has_kernels) kernel_packs = runtime::packs_with_kernels(*lookup, options, warnings);
    if (!options.plan.empty()) lookup.reset();  // a forced plan; only kernels are taken from packs
  }

  // The plan can be chosen only when the point counts are known.
  bool complete() const { return problem.kind == Kind::fft || (problem.m && (problem.type != 3 || problem.k)); }

  // The problem for which a plan is made: transforms with distinct points run one by one, so its batch is 1.
  Problem planned() const {
    Problem one = problem;
    if (options.distinct_points) one.batch = 1;
    return one;
  }
  void resolve() {
    resolution = runtime::resolve(planned(), traits, lookup.get(), options.plan, refused);
    plan_text = generator::to_text(resolution.plan, planned());
  }
  bool is_stored() const {
    return resolution.source == runtime::Source::verdict || resolution.source == runtime::Source::nearest;
  }

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
      } catch (const runtime::NoCompiler& error) {
        why = error.what();
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
      executor.reset();
      refused.push_back({plan_text, why});
      if (refused.size() >= kMostRefused) lookup.reset();
      resolve();
    }
  }
  // An fft needs no kernels of ours: takes the vendor's library instead of the model's plan. False if that is no help.
  bool take_library(const std::string& why) {
    generator::Plan plan = generator::plan_for(resolution.plan.backend);
    constexpr int kMostDimensions = 3;  // of cuFFT
    if (problem.kind != Kind::fft || problem.dim > kMostDimensions || !generator::has_gpu_fft_library(plan.backend))
      return false;
    plan.gpu().fft.family = generator::GpuFftFamily::cufft;
    if (resolution.source != runtime::Source::model || resolution.plan == plan) return false;
    resolution.plan = plan;
    plan_text = generator::to_text(plan, planned());
    resolution.explain += fmt::format("{} instead: {}\n", plan_text, why);
    return true;
  }
  // Takes a plan of another architecture, whose kernels packs may have as PTX. False if there is none.
  bool take_foreign() {
    if (!lookup || kernel_packs.empty()) return false;
    auto found = runtime::resolve_foreign(planned(), traits, *lookup, refused);
    if (!found) return false;
    resolution = std::move(*found);
    plan_text = generator::to_text(resolution.plan, planned());
    return true;
  }
  // Whether the plan may be at fault, rather than the caller's points, pointers or options.
  static bool may_be_the_plans(Status status) {
    return status != Status::invalid_point && status != Status::invalid_argument && status != Status::contradiction &&
           status != Status::invalid_option && status != Status::backend_unavailable;
  }

  runtime::ExecutorOptions executor_options() const {
    runtime::ExecutorOptions bound;
    bound.deterministic = options.deterministic;
    bound.trust_points = options.trust_points;
    bound.distinct_points = options.distinct_points;
    bound.mode_order = options.mode_order;
    bound.only = options.only;
    bound.wisdom = resolution.wisdom;
    bound.device = options.device;
    bound.stream = options.stream;
    bound.kernel_packs = kernel_packs;
    return bound;
  }
  void bind() {
    executor.reset();
    executor = backend->bind(problem, resolution.plan, executor_options());
    if (bounds) executor->set_bounds(*bounds);
  }

  // Notes whether the plan that runs from now on was tuned for this problem.
  void note_miss() {
    if (!misses.records()) return;  // a token takes as long as setting a hundred points
    const bool untuned = resolution.source == runtime::Source::model || resolution.source == runtime::Source::nearest;
    resolution.explain += misses.begin(backend->name(), to_token(planned()), untuned);
  }

  void check_points(const Points& points) const {
    runtime::check_points(problem, points);
    const auto contradiction = [](const char* key, std::int64_t promised, std::int64_t given) {
      throw Error(Status::contradiction, fmt::format("set_points: {} {} points are given, but the problem says {}={}",
                                                     key[0] == 'm' ? "" : "target", given, key, promised));
    };
    if (asked.m && *asked.m != points.m) contradiction("m", *asked.m, points.m);
    if (asked.k && *asked.k != points.k) contradiction("k", *asked.k, points.k);
  }

  void run(void* first, void* second, bool adjoint) try {
    if (problem.kind == Kind::nufft && !points_set)
      throw Error(Status::points_not_set, "execute: call set_points first");
    const bool no_points = problem.kind == Kind::nufft && *problem.m == 0;
    const bool no_targets = problem.kind == Kind::nufft && problem.type == 3 && *problem.k == 0;
    if ((!first && !no_points) || (!second && !no_targets))
      throw Error(Status::invalid_argument,
                  fmt::format("execute: {} is null", !first && !no_points ? "point_values" : "mode_values"));
    runtime::check_alignment(first, problem.precision, "execute: point_values");
    runtime::check_alignment(second, problem.precision, "execute: mode_values");
    if (problem.kind == Kind::nufft && first && first == second)
      throw Error(Status::invalid_argument, "execute: point_values and mode_values are the same array");
    executor->execute(first, second, adjoint);
    misses.used();
  } catch (...) {
    runtime::rethrow_named();
  }
};

Transform::Transform(std::string_view problem, const Options& options) try
    : state_(std::make_unique<State>(problem, options)) {
  State& state = *state_;
  if (!state.complete()) {
    if (!options.plan.empty()) generator::parse_plan(options.plan, state.planned());  // rejects a bad plan at once
    state.resolution.explain =
        fmt::format("problem: {}\nplan: chosen in set_points, when the points are known\n", to_token(state.problem));
    return;
  }
  state.resolve();
  state.with_a_plan_that_works([&] { state.bind(); });
  state.note_miss();
} catch (...) {
  runtime::rethrow_named();
}

void Transform::prepare(std::string_view problem, const Options& options) try {
  State state(problem, options);
  if (!state.complete())
    throw Error(Status::invalid_argument, fmt::format("prepare: the plan depends on the number of points; add {}",
                                                      state.problem.type == 3 ? "m and k" : "m"));
  state.resolve();
  state.with_a_plan_that_works(
      [&] { state.backend->prepare(state.problem, state.resolution.plan, state.executor_options()); });
} catch (...) {
  runtime::rethrow_named();
}

Transform::~Transform() = default;
Transform::Transform(Transform&&) noexcept = default;
Transform& Transform::operator=(Transform&&) noexcept = default;

void Transform::set_points(const Points& points) try {
  State& state = *state_;
  state.check_points(points);
  state.points_set = false;
  Problem now = state.asked;
  now.m = points.m;
  if (now.type == 3) now.k = points.k;
  validate(now);
  bool changed = !state.executor || now != state.problem;
  if (changed) {
    state.problem = now;
    const std::string before = state.plan_text;
    state.resolve();
    changed = !state.executor || before != state.plan_text;
  }
  state.with_a_plan_that_works([&] {
    if (changed || !state.executor) state.bind();
    changed = false;
    state.executor->set_points(points);  // some grid sizes are known only now
  });
  state.points_set = true;
  state.note_miss();
  const std::string note = runtime::record_points(state.problem, points, *state.backend, state.options.device);
  if (std::string& explain = state.resolution.explain; explain.find(note) == std::string::npos) explain += note;
} catch (...) {
  runtime::rethrow_named();
}

void Transform::set_bounds(const Bounds& bounds) {
  State& state = *state_;
  if (state.problem.kind != Kind::nufft || state.problem.type != 3)
    throw Error(Status::invalid_argument, "set_bounds: only a type 3 takes bounds; other types fold their points");
  for (std::size_t i = 0; i < 6; ++i) {
    if (static_cast<int>(i % 3) >= state.problem.dim) continue;
    if (!std::isfinite(bounds.low[i]) || !std::isfinite(bounds.high[i]) || bounds.low[i] > bounds.high[i])
      throw Error(Status::invalid_argument, fmt::format("set_bounds: {} from {} to {}; bounds are finite and in order",
                                                        "xyzstu"[i], bounds.low[i], bounds.high[i]));
  }
  state.bounds = bounds;
  if (state.executor) state.executor->set_bounds(bounds);
}

void Transform::execute(void* point_values, void* mode_values) { state_->run(point_values, mode_values, false); }
void Transform::execute_adjoint(void* point_values, void* mode_values) { state_->run(point_values, mode_values, true); }

void Transform::set_stream(void* stream) {
  if (stream && !state_->backend->capabilities().streams)
    throw Error(Status::invalid_argument,
                fmt::format("set_stream: the {} backend has no streams; pass null", state_->backend->name()));
  if (state_->executor) state_->executor->set_stream(stream);
  state_->options.stream = stream;
}

const Problem& Transform::problem() const noexcept { return state_->problem; }

MemoryUse Transform::memory() const {
  if (state_->executor) return state_->executor->memory();
  // Without point counts no plan is chosen yet: estimate what the cost model's choice would hold for the grid alone.
  Problem guess = state_->problem;
  if (!guess.m) guess.m = 0;
  if (guess.type == 3 && !guess.k) guess.k = 1;
  const auto resolution = runtime::resolve(guess, state_->traits, state_->lookup.get(), state_->options.plan);
  MemoryUse use;
  const double bytes = generator::estimate(resolution.plan, guess, state_->traits).bytes;
  use.needed = bytes < 9e18 ? static_cast<std::int64_t>(bytes) : std::numeric_limits<std::int64_t>::max();
  return use;
}

const std::string& Transform::plan() const noexcept { return state_->plan_text; }
const std::string& Transform::explain() const noexcept { return state_->resolution.explain; }

const std::string& Transform::warnings() const noexcept { return state_->warnings; }

std::vector<StageTime> Transform::stage_times() const {
  if (!state_->executor) return {};
  const auto times = state_->executor->stage_times();
  return {times.begin(), times.end()};
}

}  // namespace fourtune
