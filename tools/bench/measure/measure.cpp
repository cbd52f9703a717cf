#include "tools/bench/measure/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <exception>
#include <map>
#include <new>
#include <numeric>
#include <thread>
#include <tuple>
#include <utility>

#include "base/random.h"
#include "generator/planner/gpu_fft/plan_cost.h"
#include "runtime/backend_table.h"
#include "tools/bench/measure/arrays.h"
#include "tools/bench/measure/memory.h"
#include "tools/common/device_arrays.h"
#include "tools/common/errors.h"
#include "tools/common/text.h"
#include "tuner/report/report.h"

namespace fourtune::tools {
namespace {

// Another contender has just replaced the contents of the caches. If a call takes less than this, that would show in
// its time, so each sample is preceded by an untimed call; a user of only one library sees warm caches too.
constexpr double kWarmBelow = 0.05;
// An in-place transform scales its data by the square root of its size, so the data are refreshed after a few passes.
constexpr int kMostLoopsInPlace = 4;
// A variant slower than a right one by this factor is not timed again.
constexpr double kHopeless = 1.5;
// A timed instance runs as many executes as fit into this time, from 1 to 5.
constexpr double kLookSeconds = 0.25;
// Rounds of a busy machine are repeated so often.
constexpr int kMostRepeats = 2;

// Uses a clock of the host as a timer.
class ClockTimer final : public runtime::StreamTimer {
 public:
  explicit ClockTimer(tuner::Clock clock) : clock_(std::move(clock)) {}
  void start() override { start_ = clock_(); }
  void stop() override { stop_ = clock_(); }
  double seconds() override { return 1e-9 * static_cast<double>(stop_ - start_); }

 private:
  tuner::Clock clock_;
  std::int64_t start_ = 0, stop_ = 0;
};

// Seconds by that clock since it was made.
class Watch {
 public:
  explicit Watch(const tuner::Clock& clock) : clock_(clock), start_(clock()) {}
  double seconds() const { return 1e-9 * static_cast<double>(clock_() - start_); }

 private:
  const tuner::Clock& clock_;
  std::int64_t start_;
};

std::string said_by(const std::exception& error) {
  return dynamic_cast<const std::bad_alloc*>(&error) ? "out of memory" : error.what();
}

class Measurement {
 public:
  Measurement(const Problem& problem, const MeasureOptions& options, const runtime::Backend& backend)
      : problem_(problem),
        options_(options),
        arrays_(make_bench_arrays(problem, options.seed, backend, options.device)) {
    timing_.min_sample_seconds = 2e-3;
    timer_ = options.cpu_time || !arrays_->on_device() ? &host_timer_ : &arrays_->timer();
  }

  int sets() const { return arrays_->sets(); }

  // Makes a contender, sets its points and checks its first result.
  void admit(const Entrant& entrant, ContenderResult& result) {
    Slot slot;
    result.name = entrant.name;
    result.role = entrant.role;
    try {
      const Variant& variant =
          entrant.variants.size() > 1 ? best_variant(entrant.variants, result) : entrant.variants.front();
      if (arrays_->on_device() && entrant.variants.size() == 1) load(variant, result);
      arrays_->wait();  // also for memory that the trials free asynchronously on the device
      const std::int64_t free_before = arrays_->free_bytes();
      begin(variant, slot, result);
      result.memory =
          std::max<std::int64_t>(0, free_before - arrays_->free_bytes()) + slot.contender->passing_bytes([&] {
            slot.contender->execute(arrays_->first(0), arrays_->second(0));
            arrays_->wait();
          });
      result.plan = slot.contender->plan().empty() ? variant.name : slot.contender->plan();
      result.refusal = slot.contender->refusal();
      settle_loops(slot);
      time_once(slot, result);
    } catch (const std::exception& error) {
      fail(slot, result, said_by(error));
    }
    slots_.push_back(std::move(slot));
  }

  // Why the rounds would take too long if the remaining contenders are like those admitted so far; empty if they would
  // not.
  std::string too_slow(std::size_t contenders) const {
    double all = 0;
    for (const Slot& slot : slots_)
      if (!slot.once) all += sample_seconds(slot);
    const double share = static_cast<double>(contenders) / static_cast<double>(slots_.size());
    const double needed = all * share * options_.min_rounds;
    if (needed <= options_.max_seconds) return {};
    return fmt::format("takes too long: {} rounds of all contenders need {:.3g} s, the limit is {:.3g} s",
                       options_.min_rounds, needed, options_.max_seconds);
  }

  void run(std::vector<ContenderResult>& results) {
    if (problem_.kind == Kind::nufft) run_points(results);
    run_executes(results);
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (!slots_[i].contender) continue;
      ContenderResult& result = results[i];
      result.set_points = tuner::median_interval(result.set_points_ns);
      result.execute = tuner::median_interval(result.execute_ns);
      if (!result.total_ns.empty()) result.total = tuner::median_interval(result.total_ns);
      if (!result.transfers_ns.empty()) result.transfers = tuner::median_interval(result.transfers_ns);
      result.stages = slots_[i].contender->stage_times();
      if (arrays_->on_device()) look_inside(slots_[i], result);
    }
  }

 private:
  struct Slot {
    std::unique_ptr<Contender> contender;  // null: failed
    double seconds = 0;                    // approximate time of one execute
    int loops = 1;
    bool once = false;  // takes part in no round
  };

  // A reference that is only shown, and far slower than the others, must not prevent the measurement of a problem: one
  // sample of it is enough.
  void time_once(Slot& slot, ContenderResult& result) const {
    slot.once = result.role == Role::reference && 4 * slot.seconds * options_.min_rounds > options_.max_seconds;
    if (!slot.once) return;
    result.set_points_ns.push_back(static_cast<std::int64_t>(result.first_set_points_seconds * 1e9));
    result.execute_ns.push_back(static_cast<std::int64_t>(slot.seconds * 1e9));
  }

  double sample_seconds(const Slot& slot) const {
    if (!slot.contender) return 0;
    return slot.seconds * (slot.loops + (slot.seconds < kWarmBelow ? 1 : 0));
  }
  static void fail(Slot& slot, ContenderResult& result, const std::string& why) {
    slot.contender.reset();
    result.failure = why;
  }

  // Wall-clock nanoseconds of one call of work that the host waits for.
  template <class Work>
  std::int64_t host_ns(int loops, const Work& work) {
    host_timer_.start();
    for (int i = 0; i < loops; ++i) work();
    arrays_->wait();
    host_timer_.stop();
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(host_timer_.seconds() * 1e9 / loops));
  }

  // One sample of `loops` executes, which use the sets of arrays in turn. Returns the nanoseconds of one execute.
  std::int64_t execute_ns(Contender& contender, int loops) {
    if (arrays_->destroys_input()) arrays_->restore_input();
    timer_->start();
    for (int i = 0; i < loops; ++i) {
      contender.execute(arrays_->first(set_), arrays_->second(set_));
      set_ = (set_ + 1) % arrays_->sets();
    }
    timer_->stop();
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(timer_->seconds() * 1e9 / loops));
  }

  int loops_of(double seconds) const {
    const int loops = tuner::loops_for(static_cast<std::int64_t>(seconds * 1e9), timing_);
    return arrays_->destroys_input() ? std::min(loops, kMostLoopsInPlace * arrays_->sets()) : loops;
  }
  // Estimates the time of one execute, and from it the number of executes per sample.
  void settle_loops(Slot& slot) {
    slot.seconds = 1e-9 * static_cast<double>(execute_ns(*slot.contender, 1));
    slot.loops = loops_of(slot.seconds);
    if (!arrays_->on_device() || slot.loops == 1) return;
    slot.seconds = 1e-9 * static_cast<double>(execute_ns(*slot.contender, slot.loops));  // without launch latency
    slot.loops = loops_of(slot.seconds);
  }

  // Runs create, set_points and the first execute, and checks its result.
  void begin(const Variant& variant, Slot& slot, ContenderResult& result) {
    const Watch create(options_.clock);
    slot.contender = variant.make(problem_);
    arrays_->wait();
    result.create_seconds = create.seconds();
    if (problem_.kind == Kind::nufft) {
      const Watch set_points(options_.clock);
      slot.contender->set_points(arrays_->points());
      arrays_->wait();
      result.first_set_points_seconds = set_points.seconds();
    }
    arrays_->prepare();
    slot.contender->execute(arrays_->first(0), arrays_->second(0));
    arrays_->wait();
    result.error = arrays_->error([&](void* output) { slot.contender->restore_order(output); });
    result.right = result.error <= allowed_error(problem_);
  }

  // Runs once without counting, so that what a library loads at first use counts only in first use, not in other memory
  // or times.
  void load(const Variant& variant, ContenderResult& result) {
    arrays_->prepare();
    const Watch first_use(options_.clock);
    const auto contender = variant.make(problem_);
    if (problem_.kind == Kind::nufft) contender->set_points(arrays_->points());
    contender->execute(arrays_->first(0), arrays_->second(0));
    arrays_->wait();
    result.first_use_ns = static_cast<std::int64_t>(first_use.seconds() * 1e9);
  }

  // A short trial of each variant: returns the one with the fastest execute among those that are right, else among all
  // that run.
  const Variant& best_variant(const std::vector<Variant>& variants, ContenderResult& result) {
    const Variant* best = nullptr;
    bool best_right = false;
    double best_seconds = 0;
    std::string last;
    for (const Variant& variant : variants) {
      if (!result.variants.empty()) result.variants += "; ";
      try {
        Slot slot;
        ContenderResult trial;
        const Watch first_use(options_.clock);
        begin(variant, slot, trial);
        if (result.first_use_ns == 0) result.first_use_ns = static_cast<std::int64_t>(first_use.seconds() * 1e9);
        settle_loops(slot);
        double seconds = slot.seconds;
        if (!best || !best_right || seconds < kHopeless * best_seconds)
          seconds = std::min(seconds, 1e-9 * static_cast<double>(execute_ns(*slot.contender, slot.loops)));
        result.variants += fmt::format("{}: {:.4g} us, error {:.1e}{}", variant.name, 1e6 * seconds, trial.error,
                                       trial.right ? "" : " (wrong)");
        if (!best || trial.right > best_right || (trial.right == best_right && seconds < best_seconds)) {
          best = &variant;
          best_right = trial.right;
          best_seconds = seconds;
        }
      } catch (const std::exception& error) {
        last = said_by(error);
        result.variants += fmt::format("{}: {}", variant.name, last);
      }
    }
    if (!best) throw Failure(fmt::format("none of its {} variants runs; the last: {}", variants.size(), last));
    return *best;
  }

  // A sample that nothing disturbed, or the last of some.
  template <class Sample>
  std::int64_t undisturbed(const Sample& sample) const {
    const bool host = !arrays_->on_device() && !options_.cpu_time;
    for (int repeats = 0;; ++repeats) {
      const tuner::Usage before = options_.probe();
      const std::int64_t ns = sample();
      if (!host || repeats == kMostRepeats || !(options_.probe() - before).disturbed()) return ns;
    }
  }

  void run_points(std::vector<ContenderResult>& results) {
    rounds(results, options_.set_points_rounds, 0.25, [&](Slot& slot, ContenderResult& result) {
      Contender& contender = *slot.contender;
      const auto set_points = [&] { contender.set_points(arrays_->points()); };
      // The first call may have planned. As for executes, an untimed one wakes the threads and fills the caches.
      const int loops = tuner::loops_for(host_ns(1, set_points), timing_);
      result.set_points_ns.push_back(undisturbed([&] { return host_ns(loops, set_points); }));
      if (!arrays_->on_device()) return;
      const auto both = [&] {
        set_points();
        contender.execute(arrays_->first(0), arrays_->second(0));
      };
      result.total_ns.push_back(host_ns(loops_of(result.first_set_points_seconds + slot.seconds), both));
      result.transfers_ns.push_back(host_ns(1, [&] {
        arrays_->upload();
        both();
        arrays_->download();
      }));
    });
  }

  // Rounds with disturbed samples (tuner/measure/usage.h) are repeated while there is time.
  void run_executes(std::vector<ContenderResult>& results) {
    const bool host = !arrays_->on_device() && !options_.cpu_time;
    const tuner::Probe probe = host ? options_.probe : tuner::usage_ignored;
    std::vector<std::vector<std::int64_t>> disturbed_ns(results.size());
    const auto measure = [&](Slot& slot, ContenderResult& result) {
      if (slot.seconds < kWarmBelow) execute_ns(*slot.contender, 1);
      const tuner::Usage before = probe();
      const std::int64_t ns = execute_ns(*slot.contender, slot.loops);
      const bool disturbed = (probe() - before).disturbed();
      result.busy.add(disturbed);
      (disturbed ? disturbed_ns[static_cast<std::size_t>(&result - results.data())] : result.execute_ns).push_back(ns);
    };
    const auto enough = [&](const ContenderResult& result) {
      return result.busy.disturbed == 0 || static_cast<int>(result.execute_ns.size()) >= options_.min_rounds;
    };
    const Watch watch(options_.clock);
    rounds(results, options_.rounds, 1, measure);
    for (int again = 0; again < kMostRepeats && !std::all_of(results.begin(), results.end(), enough); ++again)
      if (watch.seconds() < options_.max_seconds) rounds(results, options_.rounds, 0.5, measure);
    for (std::size_t i = 0; i < results.size(); ++i) {
      results[i].too_busy = !enough(results[i]);
      if (results[i].too_busy)
        results[i].execute_ns.insert(results[i].execute_ns.end(), disturbed_ns[i].begin(), disturbed_ns[i].end());
    }
  }

  // Takes stages and launches from a second instance that times itself.
  void look_inside(Slot& slot, ContenderResult& result) {
    const int samples = std::clamp(static_cast<int>(kLookSeconds / std::max(slot.seconds, 1e-9)), 1, 5);
    const int warm = slot.seconds < kWarmBelow ? 2 : 0;
    try {
      const auto timed = slot.contender->timed();
      if (!timed) return;
      slot.contender.reset();  // its memory may be needed
      if (problem_.kind == Kind::nufft) timed->set_points(arrays_->points());
      arrays_->prepare();
      std::vector<std::vector<double>> seconds;
      std::vector<runtime::LaunchTime> launches;
      for (int i = 0; i < warm + samples; ++i) {
        const int set = i % arrays_->sets();
        timed->execute(arrays_->first(set), arrays_->second(set));
        launches = timed->launch_times();
        seconds.resize(launches.size());
        if (i >= warm)
          for (std::size_t l = 0; l < launches.size(); ++l) seconds[l].push_back(launches[l].seconds);
      }
      result.stages = timed->stage_times();
      for (std::size_t l = 0; l < launches.size(); ++l) {
        std::nth_element(seconds[l].begin(), seconds[l].begin() + samples / 2, seconds[l].end());
        result.passes.push_back({launches[l].stage, launches[l].entry,
                                 seconds[l][static_cast<std::size_t>(samples / 2)],
                                 static_cast<double>(launches[l].bytes), launches[l].flops});
      }
    } catch (const std::exception&) {
      result.stages.clear();  // the main times are measured already; stages remain unknown
    }
  }

  // Calls measure(slot, result) once per round for every contender, in a new random order each round.
  template <class Measure>
  void rounds(std::vector<ContenderResult>& results, int count, double share, const Measure& measure) {
    std::vector<std::size_t> order(slots_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const Watch watch(options_.clock);
    for (int round = 0; round < count; ++round) {
      if (round >= options_.min_rounds && watch.seconds() > share * options_.max_seconds) break;
      random_.shuffle(order);
      for (const std::size_t i : order) {
        if (!slots_[i].contender || slots_[i].once) continue;
        if (!arrays_->on_device() && !options_.cpu_time) options_.wait_idle();
        try {
          measure(slots_[i], results[i]);
        } catch (const std::exception& error) {
          fail(slots_[i], results[i], error.what());
        }
      }
    }
  }

  const Problem& problem_;
  const MeasureOptions& options_;
  std::unique_ptr<BenchArrays> arrays_;
  tuner::BenchmarkOptions timing_;
  ClockTimer host_timer_{options_.cpu_time ? tuner::thread_clock() : options_.clock};
  runtime::StreamTimer* timer_;  // times executes
  int set_ = 0;
  tuner::Random random_{options_.seed};
  std::vector<Slot> slots_;
};

}  // namespace

void until_idle(const std::function<std::chrono::nanoseconds()>& computed, const std::function<void()>& nap) {
  constexpr std::chrono::microseconds kIdle{200};  // a tenth of a nap
  for (int naps = 0; naps < 30; ++naps) {
    const std::chrono::nanoseconds before = computed();
    nap();
    if (computed() - before < kIdle) return;
  }
}
void until_idle() {
  until_idle([] { return std::chrono::nanoseconds(std::int64_t{std::clock()} * (1'000'000'000 / CLOCKS_PER_SEC)); },
             [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); });
}

namespace {

std::string too_large(const char* where, double need, double limit) {
  if (limit <= 0 || need <= limit) return {};
  return fmt::format("does not fit{}: data and contenders need about {}, the limit is {}", where,
                     bytes_text(static_cast<std::int64_t>(need)), bytes_text(static_cast<std::int64_t>(limit)));
}

std::string does_not_fit(const Problem& problem, std::size_t contenders, const MeasureOptions& options,
                         const runtime::Backend& backend) {
  if (takes_host_arrays(backend)) return too_large("", memory_need(problem, contenders), options.max_memory);
  // The host holds only the data; the device holds the rotated sets and the contenders.
  std::string host = too_large(" the host", memory_need(problem, 0), options.max_memory);
  if (!host.empty()) return host;
  const DeviceTraits traits = backend.traits(options.device);
  const auto all = static_cast<double>(backend.memory(options.device)->free_bytes());
  const double bytes = static_cast<double>(array_bytes(problem).both());
  const double more = bytes * (rotated_sets(array_bytes(problem).both(), traits.l2_bytes) - 1);
  return too_large(" the device", memory_need(problem, contenders, traits) + more, 0.9 * all);
}

// For arrays like the problem's, or for large ones where no stage moves whole arrays.
double copy_bandwidth(const Problem& problem, const runtime::Backend& backend, int device) {
  constexpr std::size_t kLarge = std::size_t{256} << 20;
  static std::map<std::tuple<const runtime::Backend*, int, std::size_t>, double> known;
  const bool fft = problem.kind == Kind::fft;
  const std::size_t bytes =
      fft ? array_bytes(problem).first
          : std::min<std::size_t>(
                kLarge, static_cast<std::size_t>(std::max<std::int64_t>(backend.traits(device).l2_bytes, 1) * 4));
  double& found = known[{&backend, device, bytes}];
  if (found == 0) found = measure_copy(backend, bytes, device);
  return found;
}

}  // namespace

ProblemResult measure_problem(const Problem& problem, const std::vector<Entrant>& entrants,
                              const MeasureOptions& options) {
  const Watch watch(options.clock);
  const runtime::Backend& backend = options.backend ? *options.backend : runtime::find_backend({});
  ProblemResult result;
  result.problem = problem;
  result.token = to_token(problem);
  result.skipped = does_not_fit(problem, entrants.size(), options, backend);
  if (!result.skipped.empty()) return result;
  try {
    if (!takes_host_arrays(backend)) {
      result.copy_bandwidth = copy_bandwidth(problem, backend, options.device);
      result.peak_flops = generator::fft::peak_flops(backend.traits(options.device), problem.precision);
    }
    Measurement measurement(problem, options, backend);
    result.sets = measurement.sets();
    for (const Entrant& entrant : entrants) {
      measurement.admit(entrant, result.contenders.emplace_back());
      result.skipped = measurement.too_slow(entrants.size());
      if (!result.skipped.empty()) break;
    }
    if (result.skipped.empty()) measurement.run(result.contenders);
  } catch (const std::bad_alloc&) {
    result.skipped = "does not fit: its points and arrays could not be allocated";
  } catch (const Error& error) {
    if (error.status() != Status::out_of_memory) throw;
    result.skipped = std::string("does not fit: ") + error.what();
  }
  result.seconds = watch.seconds();
  return result;
}

}  // namespace fourtune::tools
