#include "tools/soak/hunt.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "tools/common/problem_draw.h"
#include "tools/common/stopwatch.h"
#include "tools/soak/subject.h"

namespace fourtune::tools {
namespace {

struct Drawn {
  std::int64_t index = 0;
  std::string token;
  SoakCase one;
};

// The state that the jobs share.
class Hunt {
 public:
  Hunt(const HuntOptions& options, const HuntListener& listener)
      : options_(options),
        listener_(listener),
        ffts_(Kind::fft, options.seed, options.megabytes),
        nuffts_(Kind::nufft, options.seed, options.megabytes) {}

  HuntState run() {
    std::vector<std::thread> jobs;
    for (int job = 1; job < options_.jobs; ++job) jobs.emplace_back([this, job] { work(job); });
    work(0);
    for (std::thread& job : jobs) job.join();
    if (error_) std::rethrow_exception(error_);
    state_.elapsed = watch_.seconds();
    return state_;
  }

 private:
  bool stopped() const { return options_.stop && *options_.stop; }
  bool time_is_up() const { return options_.seconds > 0 && watch_.seconds() >= options_.seconds; }

  // The sequence of problems depends on the seed only, whichever job takes them.
  std::optional<Drawn> next() {
    const std::lock_guard lock(mutex_);
    // One problem is tried however little time there is: without any, nothing would be proved.
    const bool late = drawn_ > 0 && time_is_up();
    if (error_ || stopped() || late || (options_.count > 0 && drawn_ >= options_.count)) return std::nullopt;
    Drawn drawn;
    drawn.index = drawn_++;
    const bool fft = options_.ffts && (!options_.nuffts || drawn.index % 2 == 1);
    drawn.token = (fft ? ffts_ : nuffts_).next();
    tuner::Random random(tuner::Random(options_.seed).next() + static_cast<std::uint64_t>(drawn.index));
    drawn.one = draw_case(drawn.token, random, options_.megabytes);
    if (!options_.worker.dropin.empty()) drawn.one = as_dropin_says(drawn.one, options_.dropin_says);
    if (drawn.one.threads == 0) drawn.one.threads = options_.worker.threads;
    return drawn;
  }

  void work(int job) {
    try {
      SoakWorkerOptions own = options_.worker;
      own.device += job % std::max(1, options_.devices);
      if (options_.devices > 1) own.device %= options_.devices;
      own.stop = options_.stop;
      SoakWorker worker(own);
      while (const auto drawn = next()) try_all(worker, *drawn);
    } catch (const Error& error) {
      const std::lock_guard lock(mutex_);
      if (error.status() == Status::interrupted)
        state_.interrupted = true;
      else if (!error_)
        error_ = std::current_exception();
    }
    if (stopped()) state_.interrupted = true;
  }

  void try_all(SoakWorker& worker, const Drawn& drawn) {
    report_progress(drawn.token);
    for (const PlanKind kind : {PlanKind::untuned, PlanKind::candidate, PlanKind::adapted, PlanKind::shipped}) {
      if (kind != PlanKind::untuned && (options_.untuned_only || time_is_up() || stopped())) break;
      HuntRun run{drawn.index, drawn.token, {drawn.one, kind, {}, {}}};
      if (kind != PlanKind::untuned) {
        const SoakOutcome plan = worker.draw(
            drawn.one, kind,
            options_.seed * 31 + static_cast<std::uint64_t>(drawn.index) * 4 + static_cast<std::uint64_t>(kind));
        if (plan.failure.empty() && plan.plan.empty()) continue;  // there is nothing to adapt
        run.trial.plan = plan.plan;
        run.trial.outcome = plan;
      }
      if (run.trial.outcome.failure.empty()) run.trial.outcome = worker.try_case(drawn.one, kind, run.trial.plan);
      finish(worker, run);
    }
    if (!options_.worker.peers.empty() && !stopped()) {
      HuntRatio ratio{drawn.token, worker.measure(parse_problem(drawn.token))};
      const std::lock_guard lock(mutex_);
      state_.ratios.push_back(std::move(ratio));
    }
    const std::lock_guard lock(mutex_);
    ++state_.problems;
  }

  void finish(SoakWorker& worker, const HuntRun& run) {
    const SoakOutcome& outcome = run.trial.outcome;
    const TriedCase small = outcome.failure.empty() ? run.trial : small_one(worker, run.trial);
    const std::lock_guard lock(mutex_);
    ++state_.runs;
    if (!outcome.refused.empty()) ++state_.refused;
    listener_.on_run(run);
    if (outcome.failure.empty()) return;
    ++state_.failures;
    listener_.on_failure(run, small);
  }

  TriedCase small_one(SoakWorker& worker, const TriedCase& found) const {
    // If the plan could not even be drawn, nothing can be shrunk.
    if (options_.shrink_seconds <= 0 || (found.kind != PlanKind::untuned && found.plan.empty())) return found;
    const ShrinkTools tools{
        [&](const SoakCase& one, PlanKind kind, const std::string& plan) { return worker.try_case(one, kind, plan); },
        [&](const SoakCase& from, const std::string& plan, const SoakCase& to) {
          return worker.adapt(from, plan, to);
        }};
    return made_small(found, tools, {options_.shrink_seconds, 200, options_.stop});
  }

  void report_progress(const std::string& token) {
    const std::lock_guard lock(mutex_);
    state_.elapsed = watch_.seconds();
    const double by_time = options_.seconds > 0 ? options_.seconds - state_.elapsed : -1;
    const double by_count = options_.count > 0 && state_.problems > 0
                                ? state_.elapsed / static_cast<double>(state_.problems) *
                                      static_cast<double>(options_.count - state_.problems)
                                : -1;
    state_.eta = by_time >= 0 && by_count >= 0 ? std::min(by_time, by_count) : std::max({by_time, by_count, 0.0});
    listener_.on_progress(state_, token);
  }

  const HuntOptions& options_;
  const HuntListener& listener_;
  ProblemDraw ffts_, nuffts_;
  std::mutex mutex_;  // protects everything below, the draws, and the listener
  std::int64_t drawn_ = 0;
  HuntState state_;
  std::exception_ptr error_;
  const Stopwatch watch_;
};

std::string quoted(const std::string& text) { return "'" + text + "'"; }  // the texts contain no quotes

std::string described(const TriedCase& trial) {
  return fmt::format("{}, plan {} {}", to_text(trial.one), to_string(trial.kind),
                     trial.outcome.plan.empty() ? trial.plan : trial.outcome.plan);
}

}  // namespace

HuntState hunt(const HuntOptions& options, const HuntListener& listener) { return Hunt(options, listener).run(); }

std::string repeat_command(const SoakWorkerOptions& worker, const TriedCase& trial) {
  std::string command = fmt::format("fourtune soak --backend {}", worker.backend);
  if (!worker.dropin.empty()) command += fmt::format(" --dropin {}", quoted(worker.dropin));
  if (worker.device != 0) command += fmt::format(" --device {}", worker.device);
  command += fmt::format(" --repeat {}", quoted(to_text(trial.one)));
  if (!trial.plan.empty()) command += fmt::format(" --plan {}", quoted(trial.plan));
  return command;
}

std::string failure_line(const HuntOptions& options, const HuntRun& run, const TriedCase& small) {
  std::string message = small.outcome.message;
  std::replace(message.begin(), message.end(), '\n', ' ');
  return fmt::format("FAILED #{} seed {} ({}): {}: {}; {}; drawn as {}; repeat: {}", run.index, options.seed,
                     options.worker.backend, small.outcome.failure, message, described(small), described(run.trial),
                     repeat_command(options.worker, small));
}

}  // namespace fourtune::tools
