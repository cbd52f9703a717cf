#include "tuner/measure/evaluate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "generator/plan/plan.h"
#include "runtime/backends/gpu/gpu_executor.h"
#include "tuner/measure/compile_ahead.h"
#include "tuner/measure/device_arrays.h"
#include "tuner/measure/energy.h"
#include "tuner/measure/outcome.h"
#include "tuner/measure/rounds.h"
#include "tuner/measure/validate.h"
#include "tuner/reference/device_sums.h"

namespace fourtune::tuner {
namespace {

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
  const bool gpu = backend.capabilities().arrays != runtime::MemoryKind::host;
  std::unique_ptr<ProblemData> data;
  std::unique_ptr<runtime::StreamTimer> timer;
  std::unique_ptr<DeviceSums> sums;  // null: the host makes all references
  bool sums_tried = false;
  std::map<std::string, std::shared_ptr<const References>> references;  // of each problem so far, by token and seed
  std::unique_ptr<runtime::ArrayMemory> probe;  // memory of the device, used to see whether the device still answers
  std::unique_ptr<runtime::DeviceSensors> sensors;  // null: the device has none
  int always_slowed = 0;                            // evaluations in a row whose repeats did not help
  std::function<KernelCompiler()> make_compiler;
  std::unique_ptr<CompileAhead> ahead;  // destroyed before the rest

  Impl(const runtime::Backend& used, std::filesystem::path folder, int number,
       std::function<KernelCompiler()> compilers)
      : backend(used), recorded(std::move(folder)), device(number), make_compiler(std::move(compilers)) {
    if (!make_compiler)
      make_compiler = [this]() -> KernelCompiler {
        return [this](const runtime::KernelJob& job) { return backend.compile_kernel(job, most_compile_seconds); };
      };
    try {
      sensors = backend.sensors(device);
    } catch (const Error&) {  // then runs have no state, and whoever asks for energy is told why
    }
  }

  runtime::ExecutorOptions executor_options(const std::string& wisdom) const {
    runtime::ExecutorOptions options;
    options.wisdom = wisdom;
    options.device = device;
    options.compile_seconds = most_compile_seconds;
    return options;
  }
  std::unique_ptr<runtime::Executor> bind(const std::string& text, const std::string& wisdom, TaskClock& clock) const {
    const generator::Plan plan = generator::parse_plan(text, data->problem());
    if (ahead) ahead->finish(text);
    clock.lap(Task::wait);
    auto executor = backend.bind(data->problem(), plan, executor_options(wisdom));
    clock.lap(Task::bind);
    return executor;
  }
  // True for a transform whose result takes most of a candidate's time to fetch from the device.
  bool large() const {
    constexpr std::size_t many_bytes = std::size_t{1} << 25;
    return gpu && data->array_bytes() >= many_bytes;
  }
  // Moves the arrays to the device, in enough sets that their data come from its memory and not its cache.
  void move_to_device() {
    const DeviceTraits traits = backend.traits(device);
    data->use(backend.memory(device), sets_past_cache(data->array_bytes(), traits.l2_bytes));
    if (!sums && !sums_tried) sums = DeviceSums::make(backend, device);
    sums_tried = true;
    if (!timer) timer = backend.timer(device);
    if (!probe) probe = backend.memory(device);
  }
  // Makes what results are checked against, once for a problem however many turns it has.
  void make_references(const Problem& problem, std::uint64_t seed) {
    auto& known = references[to_token(problem) + " seed=" + std::to_string(seed)];
    if (known) return data->take_references(known);
    data->make_references(sums.get());
    known = data->references();
  }
  // From now on plans of this problem are compiled ahead, first these.
  void compile_ahead(const Problem& problem, const std::vector<std::string>& plans) {
    if (!ahead)
      ahead = std::make_unique<CompileAhead>(std::max(1, backend.traits(device).cores - 1), make_compiler,
                                             [this](const runtime::KernelJob& job, runtime::KernelImage image) {
                                               backend.keep_kernel(job, std::move(image));
                                             });
    else
      backend.flush_kernels();
    ahead->begin(to_token(problem), lister(problem));
    ahead->add(with_adjoint_of_first(problem, plans));
  }
  // The first plan of a problem is checked with its adjoint, and so is the winner: its kernels compile ahead under this
  // name. Adjoints of nonuniform transforms make theirs when they run.
  static std::string adjoint_of(const std::string& plan) { return std::string(adjoint_mark) + plan; }
  static constexpr std::string_view adjoint_mark = "adjoint of ";
  static bool lists_adjoint(const Problem& problem) {
    return problem.kind == Kind::fft && problem.fft_type == FftType::c2c;
  }
  static std::vector<std::string> with_adjoint_of_first(const Problem& problem, std::vector<std::string> plans) {
    if (!plans.empty() && lists_adjoint(problem)) plans.insert(plans.begin() + 1, adjoint_of(plans.front()));
    return plans;
  }
  // Waits for the adjoint's kernels, where the check will run it.
  void finish_adjoint(const std::string& plan, bool asked, TaskClock& clock) const {
    if (!ahead || !(asked || !data->has_right_result())) return;
    ahead->finish(adjoint_of(plan));
    clock.lap(Task::wait);
  }
  CompileAhead::ListKernels lister(const Problem& problem) const {
    return [this, problem](const std::string& text) {
      runtime::ExecutorOptions options = executor_options({});
      if (text.starts_with(adjoint_mark)) {
        const Problem adjoint = runtime::gpu::adjoint_problem(problem);
        return backend.missing_kernels(adjoint, generator::parse_plan(text.substr(adjoint_mark.size()), problem),
                                       options);
      }
      // These points make crowded bins in the sort.
      options.crowded = problem.points == PointClass::cluster || problem.points == PointClass::recorded;
      return backend.missing_kernels(problem, generator::parse_plan(text, problem), options);
    };
  }
  // Returns seconds. A short call is repeated once, because the first call also allocates.
  double set_points(runtime::Executor& executor) const {
    if (data->problem().kind == Kind::fft) return 0;
    double seconds = 0;
    for (int again = 0; again < 2; ++again) {
      TaskClock watch;
      executor.set_points(data->points());
      if (probe) probe->wait();
      watch.lap(Task::sort);
      const double now = watch.spent().total();
      seconds = again ? std::min(seconds, now) : now;
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

  // Takes the samples, and again while the device says that its clocks were held down: a few times, with pauses in
  // which it may cool. A device that stayed so for several plans is measured as it is.
  void take_samples(const Workload& work, const EvaluationRequest& request, Evaluation& result) {
    constexpr int most_repeats = 3, enough_plans = 3;
    constexpr std::chrono::milliseconds pause{300};
    const BenchmarkOptions options = benchmark_options(request.benchmark);
    while (true) {
      const BenchmarkResult timing = benchmark(work, options, request.incumbent_seconds, clock_of(request.benchmark),
                                               probe_of(work, request.benchmark));
      result.samples_ns = timing.samples_ns;
      result.busy = timing.busy;
      result.unsure = timing.unsure;
      result.raced_out = timing.raced_out;
      if (!sensors) return;
      const runtime::DeviceState state = sensors->read();
      result.state = runtime::state_text(state);
      result.slowed = state.slowed();
      if (!result.slowed) always_slowed = 0;
      if (!result.slowed || always_slowed >= enough_plans) return;
      if (result.repeats == most_repeats) {
        ++always_slowed;
        return;
      }
      ++result.repeats;
      std::this_thread::sleep_for(pause);
    }
  }
  bool slowed() const { return sensors && always_slowed == 0 && sensors->slowed(); }

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
      return "kernel " + kernel.entry + " spills " + std::to_string(kernel.spill_bytes) + " bytes per thread";
  }
  return std::nullopt;
}

}  // namespace

LocalEvaluator::LocalEvaluator(const runtime::Backend& backend, std::filesystem::path recorded, int device,
                               std::function<KernelCompiler()> make_compiler)
    : impl_(new Impl(backend, std::move(recorded), device, std::move(make_compiler))) {}
LocalEvaluator::~LocalEvaluator() {
  impl_->ahead.reset();
  impl_->backend.flush_kernels();
}

std::string LocalEvaluator::note() const {
  if (!impl_->sums || impl_->sums->why().empty()) return {};
  return "the host makes the direct sums, not the device: " + impl_->sums->why();
}

void LocalEvaluator::keep() { impl_->backend.flush_kernels(); }

DeviceTraits LocalEvaluator::traits() { return impl_->backend.traits(impl_->device); }

Spent LocalEvaluator::load(const Problem& problem, std::uint64_t seed, const std::vector<std::string>& plans) {
  TaskClock clock;
  if (impl_->gpu) impl_->compile_ahead(problem, plans);
  impl_->data.reset();  // freed first, because two problems may not fit
  try {
    impl_->data = std::make_unique<ProblemData>(problem, seed, impl_->recorded, true);
    if (impl_->gpu) impl_->move_to_device();
    impl_->make_references(problem, seed);
  } catch (const std::bad_alloc&) {
    throw Error(Status::out_of_memory, "the problem's points and arrays do not fit in memory");
  }
  clock.lap(impl_->data->spent(), Task::points);
  return clock.take();
}

void LocalEvaluator::prepare(const std::vector<std::string>& plans) {
  if (impl_->ahead) impl_->ahead->add(plans);
}

std::size_t LocalEvaluator::first_ready(const std::vector<std::string>& plans) {
  if (!impl_->ahead) return 0;
  const auto found =
      std::find_if(plans.begin(), plans.end(), [&](const std::string& plan) { return impl_->ahead->ready(plan); });
  return found == plans.end() ? 0 : static_cast<std::size_t>(found - plans.begin());
}

void LocalEvaluator::announce(const Problem& next, const std::vector<std::string>& plans) {
  if (impl_->ahead)
    impl_->ahead->announce(to_token(next), impl_->lister(next), Impl::with_adjoint_of_first(next, plans));
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
  TaskClock clock;
  Task now = Task::bind;  // the task to which an exception puts an end
  Evaluation result;
  guarded(result, [&] {
    if (!impl_->data) throw Error(Status::invalid_argument, "no problem is loaded");
    const auto executor = impl_->bind(request.plan, request.wisdom, clock);
    result.plan_seconds = clock.spent().total();
    const auto kernels = executor->kernels();
    result.kernels = runtime::kernels_text(kernels);
    if (const auto why = too_large(kernels); why && request.incumbent_seconds > 0) {
      result.status = db::RunStatus::too_many_resources;
      result.message = *why;
      return;
    }
    now = Task::sort;
    result.set_points_seconds = impl_->set_points(*executor);
    clock.lap(now);
    impl_->finish_adjoint(request.plan, request.adjoint, clock);
    now = Task::check;
    // A search checks pieces of large results; the finals check whole results.
    const Look look = request.adjoint ? Look::adjoint : impl_->large() ? Look::pieces : Look::whole;
    const Validation validation = impl_->data->validate(*executor, look);
    if (std::isfinite(validation.error)) result.error = validation.error;
    result.memory_bytes = executor->memory().held;
    result.wisdom = executor->wisdom();
    clock.lap(now);
    if (!validation.right) {
      result.status = db::RunStatus::wrong_result;
      result.message = validation.message;
      return;
    }
    if (request.adjoint) return;
    now = Task::measure;
    const Workload work = impl_->workload(*executor);
    impl_->take_samples(work, request, result);
    result.stages = stages_of(*executor);
    if (!request.energy) return;
    if (impl_->sensors)
      result.joules = joules_of_execute(work, db::median(result.samples_ns) * 1e-9, *impl_->sensors,
                                        {request.benchmark.energy_seconds});
    if (!result.joules) throw Error(Status::unsupported, no_energy);
  });
  clock.lap(now);
  result.spent = clock.spent();
  result.cost_seconds = result.spent.total();
  return result;
}

FinalsResult LocalEvaluator::finals(const FinalsRequest& request) {
  TaskClock watch;
  const Clock clock = clock_of(request.benchmark);
  FinalsResult result;
  const std::size_t count = request.plans.size();
  result.samples_ns.resize(count);
  result.stages.resize(count);
  result.kernels.resize(count);
  const BenchmarkOptions options = impl_->benchmark_options(request.benchmark);
  guarded(result, [&] {
    if (!impl_->data) throw Error(Status::invalid_argument, "no problem is loaded");
    // The winner is one of them, most often the first, and its adjoint is checked afterwards.
    if (impl_->ahead && count > 0 && Impl::lists_adjoint(impl_->data->problem()))
      impl_->ahead->add({Impl::adjoint_of(request.plans.front())});
    std::vector<std::unique_ptr<runtime::Executor>> executors;
    std::vector<Workload> works;
    std::vector<int> loops;
    for (std::size_t p = 0; p < count; ++p) {
      result.culprit = static_cast<int>(p);
      executors.push_back(
          impl_->bind(request.plans[p], p < request.wisdom.size() ? request.wisdom[p] : std::string(), watch));
      impl_->set_points(*executors[p]);
      watch.lap(Task::sort);
      // Validates the whole result of every finalist, even of those that an earlier session found right: a database can
      // be wrong.
      const Validation validation = impl_->data->validate(*executors[p]);
      watch.lap(Task::check);
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
    const Probe probe = probe_of(works.front(), request.benchmark);
    measure_rounds(
        request, options, works, loops, probe, [this] { return impl_->slowed(); }, result);
    if (impl_->sensors) result.state = runtime::state_text(impl_->sensors->read());
    if (request.energy) {
      std::vector<double> seconds;
      for (const auto& samples : result.samples_ns) seconds.push_back(db::median(samples) * 1e-9);
      measure_energies(request, works, seconds, impl_->sensors.get(), result);
    }
    for (std::size_t p = 0; p < count; ++p) result.stages[p] = stages_of(*executors[p]);
    result.culprit = -1;
  });
  watch.lap(Task::measure);
  result.spent = watch.spent();
  result.cost_seconds = result.spent.total();
  return result;
}

}  // namespace fourtune::tuner
