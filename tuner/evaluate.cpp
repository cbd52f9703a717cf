#include "tuner/evaluate.h"

#include <cmath>
#include <new>
#include <utility>

#include "generator/plan.h"
#include "tuner/random.h"
#include "tuner/validate.h"

namespace fourtune::tuner {
namespace {

class Stopwatch {
 public:
  double seconds() const { return static_cast<double>(clock_() - start_) * 1e-9; }

 private:
  Clock clock_ = wall_clock();
  std::int64_t start_ = clock_();
};

// What an exception says about the plan.
db::RunStatus status_of(const Error& error) {
  switch (error.status()) {
    case Status::out_of_memory:
    case Status::size_overflow:
      return db::RunStatus::too_many_resources;
    default:
      return db::RunStatus::rejected;
  }
}

// Runs `work` and turns what it throws into a status and a message of `outcome`. True when nothing was thrown.
template <class Outcome, class Work>
bool guarded(Outcome& outcome, const Work& work) {
  try {
    work();
    return true;
  } catch (const Error& error) {
    outcome.status = status_of(error);
    outcome.message = error.what();
  } catch (const std::bad_alloc&) {
    outcome.status = db::RunStatus::too_many_resources;
    outcome.message = "out of memory";
  } catch (const std::exception& error) {
    outcome.status = db::RunStatus::crash;
    outcome.message = error.what();
  }
  return false;
}

std::vector<db::StageNs> stages_of(const runtime::Executor& executor) {
  std::vector<db::StageNs> stages;
  for (const auto& stage : executor.stage_times())
    stages.push_back({stage.stage, static_cast<std::int64_t>(std::llround(stage.seconds * 1e9))});
  return stages;
}

}  // namespace

struct LocalEvaluator::Impl {
  const runtime::Backend& backend;
  std::unique_ptr<ProblemData> data;

  std::unique_ptr<runtime::Executor> bind(const std::string& text, const std::string& wisdom) const {
    const generator::Plan plan = generator::parse_plan(text, data->problem());
    runtime::ExecutorOptions options;
    options.wisdom = wisdom;
    return backend.bind(data->problem(), plan, options);
  }
  // Seconds: a short one is done twice, because the first call also allocates.
  double set_points(runtime::Executor& executor) const {
    if (data->problem().kind == Kind::fft) return 0;
    double seconds = 0;
    for (int again = 0; again < 2; ++again) {
      const Stopwatch watch;
      executor.set_points(data->points());
      seconds = again ? std::min(seconds, watch.seconds()) : watch.seconds();
      if (seconds > 0.01) break;
    }
    return seconds;
  }
  Workload workload(runtime::Executor& executor) const {
    void* const first = data->first();
    void* const second = data->second();
    Workload work;
    work.run = [&executor, first, second](int count) {
      for (int i = 0; i < count; ++i) executor.execute(first, second, false);
    };
    if (first == second) work.refresh = [this] { data->restore_input(); };
    return work;
  }
};

LocalEvaluator::LocalEvaluator(const runtime::Backend& backend) : impl_(new Impl{backend, nullptr}) {}
LocalEvaluator::~LocalEvaluator() = default;

DeviceTraits LocalEvaluator::traits() { return impl_->backend.traits(); }

double LocalEvaluator::load(const Problem& problem, std::uint64_t seed) {
  const Stopwatch watch;
  impl_->data.reset();  // first: two problems may not fit
  try {
    impl_->data = std::make_unique<ProblemData>(problem, seed);
  } catch (const std::bad_alloc&) {
    throw Error(Status::out_of_memory, "the problem's points and arrays do not fit in memory");
  }
  return watch.seconds();
}

Evaluation LocalEvaluator::evaluate(const EvaluationRequest& request) {
  const Stopwatch watch;
  Evaluation result;
  guarded(result, [&] {
    if (!impl_->data) throw Error(Status::invalid_argument, "no problem is loaded");
    const auto executor = impl_->bind(request.plan, request.wisdom);
    result.plan_seconds = watch.seconds();
    result.set_points_seconds = impl_->set_points(*executor);
    const Validation validation = impl_->data->validate(*executor);
    if (std::isfinite(validation.error)) result.error = validation.error;
    result.memory_bytes = executor->memory().held;
    result.wisdom = executor->wisdom();
    if (!validation.right) {
      result.status = db::RunStatus::wrong_result;
      result.message = validation.message;
      return;
    }
    const BenchmarkResult timing = benchmark(impl_->workload(*executor), request.benchmark, request.incumbent_seconds,
                                             clock_of(request.benchmark));
    result.samples_ns = timing.samples_ns;
    result.raced_out = timing.raced_out;
    result.stages = stages_of(*executor);
  });
  result.cost_seconds = watch.seconds();
  return result;
}

FinalsResult LocalEvaluator::finals(const FinalsRequest& request) {
  const Stopwatch watch;
  const Clock clock = clock_of(request.benchmark);
  FinalsResult result;
  const std::size_t count = request.plans.size();
  result.samples_ns.resize(count);
  result.stages.resize(count);
  guarded(result, [&] {
    if (!impl_->data) throw Error(Status::invalid_argument, "no problem is loaded");
    std::vector<std::unique_ptr<runtime::Executor>> executors;
    std::vector<Workload> works;
    std::vector<int> loops;
    for (std::size_t p = 0; p < count; ++p) {
      result.culprit = static_cast<int>(p);
      executors.push_back(impl_->bind(request.plans[p], p < request.wisdom.size() ? request.wisdom[p] : std::string()));
      impl_->set_points(*executors[p]);
      works.push_back(impl_->workload(*executors[p]));
      sample(works[p], 1, request.benchmark, clock);
      loops.push_back(loops_for(sample(works[p], 1, request.benchmark, clock), request.benchmark));
    }
    Random random(request.seed);
    std::vector<std::size_t> order(count);
    for (std::size_t p = 0; p < count; ++p) order[p] = p;
    const std::int64_t start = clock();
    for (int round = 0; round < request.max_rounds; ++round) {
      const double spent = static_cast<double>(clock() - start) * 1e-9;
      if (round >= request.min_rounds && spent >= request.seconds) break;
      random.shuffle(order);
      for (const std::size_t p : order) {
        result.culprit = static_cast<int>(p);
        // Warm mode: the others have filled the caches, and users of one plan would not see that.
        if (!request.benchmark.cold && spent < request.seconds) works[p].run(1);
        result.samples_ns[p].push_back(sample(works[p], loops[p], request.benchmark, clock));
      }
    }
    for (std::size_t p = 0; p < count; ++p) result.stages[p] = stages_of(*executors[p]);
    result.culprit = -1;
  });
  result.cost_seconds = watch.seconds();
  return result;
}

}  // namespace fourtune::tuner
