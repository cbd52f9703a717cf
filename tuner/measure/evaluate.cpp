#include "tuner/measure/evaluate.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "generator/plan/plan.h"
#include "tuner/measure/compile_ahead.h"
#include "tuner/measure/device_arrays.h"
#include "tuner/measure/outcome.h"
#include "tuner/measure/rounds.h"
#include "tuner/measure/validate.h"

namespace fourtune::tuner {
namespace {

class Stopwatch {
 public:
  double seconds() const { return static_cast<double>(clock_() - start_) * 1e-9; }

 private:
  Clock clock_ = wall_clock();
  std::int64_t start_ = clock_();
};

std::vector<db::StageNs> stages_of(const runtime::Executor& executor) {
  std::vector<db::StageNs> stages;
  for (const auto& stage : executor.stage_times())
    stages.push_back({stage.stage, static_cast<std::int64_t>(std::llround(stage.seconds * 1e9))});
  return stages;
}

}  // namespace

struct LocalEvaluator::Impl {
  const runtime::Backend& backend;
  const std::filesystem::path recorded;
  const int device;
  const bool gpu = generator::is_gpu(backend.name());
  std::unique_ptr<ProblemData> data;
  std::unique_ptr<runtime::StreamTimer> timer;
  std::unique_ptr<runtime::ArrayMemory> probe;  // memory of the device, used to see whether the device still answers
  std::unique_ptr<CompileAhead> ahead;          // compiles for the present problem; destroyed before the rest

  Impl(const runtime::Backend& used, std::filesystem::path folder, int number)
      : backend(used), recorded(std::move(folder)), device(number) {}

  runtime::ExecutorOptions executor_options(const std::string& wisdom) const {
    constexpr double most_compile_seconds = 30;  // limit per kernel; a candidate may not take longer anyway
    runtime::ExecutorOptions options;
    options.wisdom = wisdom;
    options.device = device;
    options.compile_seconds = most_compile_seconds;
    return options;
  }
  std::unique_ptr<runtime::Executor> bind(const std::string& text, const std::string& wisdom) const {
    const generator::Plan plan = generator::parse_plan(text, data->problem());
    if (ahead) ahead->finish(text);
    return backend.bind(data->problem(), plan, executor_options(wisdom));
  }
  // True for a uniform transform whose result takes most of a candidate's time to fetch from the device.
  bool large() const {
    constexpr std::size_t many_bytes = std::size_t{1} << 27;
    return gpu && data->problem().kind == Kind::fft && data->array_bytes() >= many_bytes;
  }
  // Moves the arrays to the device, in enough sets that their data come from its memory and not its cache.
  void move_to_device() {
    const DeviceTraits traits = backend.traits(device);
    data->use(backend.memory(device), sets_past_cache(data->array_bytes(), traits.l2_bytes));
    if (!timer) timer = backend.timer(device);
    if (!probe) probe = backend.memory(device);
    const Problem problem = data->problem();
    ahead = std::make_unique<CompileAhead>(std::max(1, traits.cores - 1), [this, problem](const std::string& text) {
      backend.prepare(problem, generator::parse_plan(text, problem), executor_options({}));
    });
  }
  // Returns seconds. A short call is repeated once, because the first call also allocates.
  double set_points(runtime::Executor& executor) const {
    if (data->problem().kind == Kind::fft) return 0;
    double seconds = 0;
    for (int again = 0; again < 2; ++again) {
      const Stopwatch watch;
      executor.set_points(data->points());
      if (probe) probe->wait();
      seconds = again ? std::min(seconds, watch.seconds()) : watch.seconds();
      if (seconds > 0.01) break;
    }
    return seconds;
  }
  Workload workload(runtime::Executor& executor) const {
    Workload work;
    const auto run = [this, &executor](int count) {
      for (int i = 0; i < count; ++i) {
        const int set = i % data->sets();
        executor.execute(data->first(set), data->second(set), false);
      }
    };
    work.run = run;
    if (gpu)
      work.timed = [this, run](int count) {
        timer->start();
        run(count);
        timer->stop();
        return timer->seconds();
      };
    if (data->first() == data->second()) {
      work.refresh = [this] { data->restore_input(); };
      // Each pass multiplies the data by the square root of its size, so only a few passes stay in range.
      if (gpu) work.most_loops = most_passes_in_place * data->sets();
    }
    return work;
  }
  static constexpr int most_passes_in_place = 4;

  BenchmarkOptions benchmark_options(BenchmarkOptions options) const {
    // Samples must be long enough for launches to queue up, as in an application that keeps the device busy.
    options.min_sample_seconds = std::max(options.min_sample_seconds, backend.capabilities().least_sample_seconds);
    return options;
  }
};

namespace {

// Why the kernels are not worth a launch: those that spill much or do not fit are far from the best.
std::optional<std::string> too_large(const std::vector<runtime::KernelReport>& kernels) {
  constexpr int most_spill_bytes = 256;  // per thread, stores plus loads
  for (const runtime::KernelReport& kernel : kernels) {
    if (kernel.blocks < 1) return "kernel " + kernel.entry + ": no block fits a multiprocessor";
    if (kernel.spill_bytes > most_spill_bytes)
      return "kernel " + kernel.entry + " spills " + std::to_string(kernel.spill_bytes) + " bytes a thread";
  }
  return std::nullopt;
}

}  // namespace

LocalEvaluator::LocalEvaluator(const runtime::Backend& backend, std::filesystem::path recorded, int device)
    : impl_(new Impl(backend, std::move(recorded), device)) {}
LocalEvaluator::~LocalEvaluator() = default;

DeviceTraits LocalEvaluator::traits() { return impl_->backend.traits(impl_->device); }

double LocalEvaluator::load(const Problem& problem, std::uint64_t seed) {
  const Stopwatch watch;
  impl_->ahead.reset();
  impl_->data.reset();  // freed first, because two problems may not fit
  try {
    impl_->data = std::make_unique<ProblemData>(problem, seed, impl_->recorded);
    if (impl_->gpu) impl_->move_to_device();
  } catch (const std::bad_alloc&) {
    throw Error(Status::out_of_memory, "the problem's points and arrays do not fit in memory");
  }
  return watch.seconds();
}

void LocalEvaluator::prepare(const std::vector<std::string>& plans) {
  if (impl_->ahead) impl_->ahead->add(plans);
}

bool LocalEvaluator::device_lost() const {
  if (!impl_->probe) return false;
  try {
    impl_->probe->wait();
    return false;
  } catch (const Error&) {
    return true;
  }
}

Evaluation LocalEvaluator::evaluate(const EvaluationRequest& request) {
  const Stopwatch watch;
  Evaluation result;
  guarded(result, [&] {
    if (!impl_->data) throw Error(Status::invalid_argument, "no problem is loaded");
    const auto executor = impl_->bind(request.plan, request.wisdom);
    result.plan_seconds = watch.seconds();
    const auto kernels = executor->kernels();
    result.kernels = runtime::kernels_text(kernels);
    if (const auto why = too_large(kernels); why && request.incumbent_seconds > 0) {
      result.status = db::RunStatus::too_many_resources;
      result.message = *why;
      return;
    }
    result.set_points_seconds = impl_->set_points(*executor);
    // A search checks pieces of large results; the finals check whole results.
    const Validation validation = impl_->data->validate(*executor, impl_->large() ? Look::pieces : Look::whole);
    if (std::isfinite(validation.error)) result.error = validation.error;
    result.memory_bytes = executor->memory().held;
    result.wisdom = executor->wisdom();
    if (!validation.right) {
      result.status = db::RunStatus::wrong_result;
      result.message = validation.message;
      return;
    }
    const BenchmarkResult timing = benchmark(impl_->workload(*executor), impl_->benchmark_options(request.benchmark),
                                             request.incumbent_seconds, clock_of(request.benchmark));
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
  result.kernels.resize(count);
  const BenchmarkOptions options = impl_->benchmark_options(request.benchmark);
  guarded(result, [&] {
    if (!impl_->data) throw Error(Status::invalid_argument, "no problem is loaded");
    std::vector<std::unique_ptr<runtime::Executor>> executors;
    std::vector<Workload> works;
    std::vector<int> loops;
    for (std::size_t p = 0; p < count; ++p) {
      result.culprit = static_cast<int>(p);
      executors.push_back(impl_->bind(request.plans[p], p < request.wisdom.size() ? request.wisdom[p] : std::string()));
      impl_->set_points(*executors[p]);
      // Validates the whole result of every finalist, even of those that an earlier session found right: a database can
      // be wrong.
      const Validation validation = impl_->data->validate(*executors[p]);
      if (!validation.right) {
        result.status = db::RunStatus::wrong_result;
        result.message = validation.message;
        return;
      }
      works.push_back(impl_->workload(*executors[p]));
      sample(works[p], 1, options, clock);
      loops.push_back(settled_loops(works[p], options, clock));
      result.kernels[p] = runtime::kernels_text(executors[p]->kernels());
    }
    measure_rounds(request, options, works, loops, result);
    for (std::size_t p = 0; p < count; ++p) result.stages[p] = stages_of(*executors[p]);
    result.culprit = -1;
  });
  result.cost_seconds = watch.seconds();
  return result;
}

}  // namespace fourtune::tuner
