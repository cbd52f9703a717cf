#include "tools/ranks/rank_evaluator.h"

#include <cmath>

#include "tools/common/stopwatch.h"
#include "tuner/measure/outcome.h"
#include "tuner/measure/rounds.h"

namespace fourtune::tools {
namespace {

enum class Action : std::int64_t { load, bind, set_points, check, run, release, end };

// What rank 0 tells the others to do.
struct Command {
  Action order = Action::end;
  std::int64_t transform = 0;
  std::uint64_t number = 0;  // of executes, or a seed
  std::string text;          // a token or a plan
};

// All ranks leave with rank 0's command.
void tell(const RankBench& bench, Command& command) {
  std::array<std::int64_t, 3> numbers{static_cast<std::int64_t>(command.order), command.transform,
                                      static_cast<std::int64_t>(command.number)};
  std::string head(reinterpret_cast<const char*>(numbers.data()), sizeof numbers);
  bench.ranks().take_first(head);
  head.copy(reinterpret_cast<char*>(numbers.data()), sizeof numbers);
  bench.ranks().take_first(command.text);
  command.order = static_cast<Action>(numbers[0]);
  command.transform = numbers[1];
  command.number = static_cast<std::uint64_t>(numbers[2]);
}
void tell(const RankBench& bench, Command&& command) { tell(bench, command); }

void obey(RankBench& bench, const Command& command) {
  const auto transform = static_cast<std::size_t>(command.transform);
  switch (command.order) {
    case Action::load:
      return bench.load(command.text, command.number);
    case Action::bind:
      bench.bind(command.text);
      return;
    case Action::set_points:
      bench.set_points(transform);
      return;
    case Action::check:
      bench.check(transform);
      return;
    case Action::run:
      bench.run(transform, static_cast<int>(command.number));
      return;
    case Action::release:
      return bench.release();
    case Action::end:
      return;
  }
}

}  // namespace

void serve(MPI_Comm comm, const RankHardware& hardware) {
  RankBench bench(comm, hardware);
  for (;;) {
    Command command;
    tell(bench, command);
    if (command.order == Action::end) return;
    try {
      obey(bench, command);
    } catch (const std::exception&) {  // the same on every rank; rank 0 has it in its report
    }
  }
}

RankEvaluator::RankEvaluator(MPI_Comm comm, const RankHardware& hardware, const std::atomic<bool>* stop)
    : bench_(comm, hardware), stop_(stop) {}

RankEvaluator::~RankEvaluator() {
  try {
    tell(bench_, {Action::end, 0, 0, {}});
  } catch (const Error&) {  // MPI has failed; nobody can be told
  }
}

void RankEvaluator::require_going() const {
  if (stop_ != nullptr && *stop_) throw Error(Status::interrupted, "stopped");
}

tuner::Spent RankEvaluator::load(const Problem& problem, std::uint64_t seed, const std::vector<std::string>&) {
  tuner::TaskClock clock;
  const std::string token = to_token(problem);
  tell(bench_, {Action::load, 0, seed, token});
  bench_.load(token, seed);
  clock.lap(tuner::Task::points);
  return clock.take();
}

void RankEvaluator::bind(const std::string& plan) {
  require_going();
  tell(bench_, {Action::bind, 0, 0, plan});
  bench_.bind(plan);
}
double RankEvaluator::set_points(std::size_t transform) {
  require_going();
  tell(bench_, {Action::set_points, static_cast<std::int64_t>(transform), 0, {}});
  return bench_.set_points(transform);
}
tuner::Validation RankEvaluator::check(std::size_t transform) {
  require_going();
  tell(bench_, {Action::check, static_cast<std::int64_t>(transform), 0, {}});
  return bench_.check(transform);
}
double RankEvaluator::run(std::size_t transform, int count) {
  require_going();
  tell(bench_, {Action::run, static_cast<std::int64_t>(transform), static_cast<std::uint64_t>(count), {}});
  return bench_.run(transform, count);
}
void RankEvaluator::release() {
  tell(bench_, {Action::release, 0, 0, {}});
  bench_.release();
}

tuner::Workload RankEvaluator::workload(std::size_t transform) {
  tuner::Workload work;
  work.run = [this, transform](int count) { run(transform, count); };
  work.timed = [this, transform](int count) { return run(transform, count); };
  return work;
}

std::vector<db::StageNs> RankEvaluator::stages_of(std::size_t transform) const {
  std::vector<db::StageNs> stages;
  for (const StageTime& stage : bench_.transform(transform).stage_times())
    stages.push_back({stage.stage, static_cast<std::int64_t>(std::llround(stage.seconds * 1e9))});
  return stages;
}

tuner::Evaluation RankEvaluator::evaluate(const tuner::EvaluationRequest& request) {
  const Stopwatch watch;
  tuner::Evaluation result;
  tuner::guarded(result, [&] {
    bind(request.plan);
    result.plan_seconds = watch.seconds();
    result.set_points_seconds = set_points(0);
    const tuner::Validation validation = check(0);
    if (std::isfinite(validation.error)) result.error = validation.error;
    result.memory_bytes = bench_.transform(0).memory().held;
    if (!validation.right) {
      result.status = db::RunStatus::wrong_result;
      result.message = validation.message;
      return;
    }
    const tuner::BenchmarkResult timing =
        tuner::benchmark(workload(0), request.benchmark, request.incumbent_seconds, tuner::clock_of(request.benchmark));
    result.samples_ns = timing.samples_ns;
    result.raced_out = timing.raced_out;
    result.stages = stages_of(0);
  });
  release();
  result.cost_seconds = watch.seconds();
  return result;
}

tuner::FinalsResult RankEvaluator::finals(const tuner::FinalsRequest& request) {
  const Stopwatch watch;
  tuner::FinalsResult result;
  const std::size_t count = request.plans.size();
  result.samples_ns.resize(count);
  result.stages.resize(count);
  tuner::guarded(result, [&] {
    std::vector<tuner::Workload> works;
    std::vector<int> loops;
    const tuner::Clock clock = tuner::clock_of(request.benchmark);
    for (std::size_t p = 0; p < count; ++p) {
      result.culprit = static_cast<int>(p);
      bind(request.plans[p]);
      set_points(p);
      const tuner::Validation validation = check(p);
      if (!validation.right) {
        result.status = db::RunStatus::wrong_result;
        result.message = validation.message;
        return;
      }
      works.push_back(workload(p));
      loops.push_back(tuner::settled_loops(works[p], request.benchmark, clock));
    }
    tuner::measure_rounds(
        request, request.benchmark, works, loops, tuner::usage_ignored, [] { return false; }, result);
    for (std::size_t p = 0; p < count; ++p) result.stages[p] = stages_of(p);
    result.culprit = -1;
  });
  release();
  result.cost_seconds = watch.seconds();
  return result;
}

}  // namespace fourtune::tools
