#include "tools/bench_measure.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <numeric>
#include <optional>

#include "tools/bench_memory.h"
#include "tools/text.h"
#include "tuner/random.h"
#include "tuner/report.h"
#include "tuner/validate.h"

namespace fourtune::tools {
namespace {

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::int64_t cpu_clock() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

// Another contender has just been through the caches; below this time per call that would show, so each sample is
// preceded by an untimed call, as a user of one library would see it.
constexpr double kWarmBelow = 0.05;
// An in-place transform scales its data by the root of its size: a few passes stay in range, then it is refreshed.
constexpr int kMostLoopsInPlace = 4;

class Measurement {
 public:
  Measurement(const Problem& problem, const MeasureOptions& options)
      : problem_(problem), options_(options), data_(problem, options.seed) {
    timing_.min_sample_seconds = 2e-3;
    if (options.cpu_time) clock_ = cpu_clock;
  }

  // Makes a contender, sets its points, checks its first answer.
  void admit(const Entrant& entrant, ContenderResult& result) {
    Slot slot;
    result.name = entrant.name;
    result.role = entrant.role;
    try {
      const Stopwatch create;
      slot.contender = entrant.make(problem_);
      result.create_seconds = create.seconds();
      if (problem_.kind == Kind::nufft) {
        const Stopwatch set_points;
        slot.contender->set_points(data_.points());
        result.first_set_points_seconds = set_points.seconds();
      }
      data_.prepare();
      slot.contender->execute(data_.first(), data_.second());
      result.error = data_.error();
      result.right = result.error <= allowed_error(problem_);
      data_.restore_input();
      const Stopwatch execute;
      slot.contender->execute(data_.first(), data_.second());
      slot.seconds = execute.seconds();
      result.plan = slot.contender->plan();
      result.refusal = slot.contender->refusal();
    } catch (const std::bad_alloc&) {
      fail(slot, result, "out of memory");
    } catch (const std::exception& error) {
      fail(slot, result, error.what());
    }
    slot.loops = tuner::loops_for(static_cast<std::int64_t>(slot.seconds * 1e9), timing_);
    if (in_place()) slot.loops = std::min(slot.loops, kMostLoopsInPlace);
    slots_.push_back(std::move(slot));
  }

  // Why the rounds would take too long, if the contenders still to come are like those admitted; empty: they do not.
  std::string too_slow(std::size_t contenders) const {
    double all = 0;
    for (const Slot& slot : slots_) all += sample_seconds(slot);
    const double share = static_cast<double>(contenders) / static_cast<double>(slots_.size());
    const double needed = all * share * options_.min_rounds;
    if (needed <= options_.max_seconds) return {};
    return fmt::format("takes too long: {} rounds of all contenders need {:.3g} s, the limit is {:.3g} s",
                       options_.min_rounds, needed, options_.max_seconds);
  }

  void run(std::vector<ContenderResult>& results) {
    if (problem_.kind == Kind::nufft)
      rounds(results, options_.set_points_rounds, 0.25, [&](Slot& slot, ContenderResult& result) {
        const tuner::Workload work{[&](int count) {
                                     for (int i = 0; i < count; ++i) slot.contender->set_points(data_.points());
                                   },
                                   {}};
        const auto loops = tuner::loops_for(static_cast<std::int64_t>(result.first_set_points_seconds * 1e9), timing_);
        result.set_points_ns.push_back(tuner::sample(work, loops, timing_, clock_));
      });
    rounds(results, options_.rounds, 1, [&](Slot& slot, ContenderResult& result) {
      tuner::Workload work;
      work.run = [&](int count) {
        for (int i = 0; i < count; ++i) slot.contender->execute(data_.first(), data_.second());
      };
      if (in_place()) work.refresh = [&] { data_.restore_input(); };
      if (slot.seconds < kWarmBelow) tuner::sample(work, 1, timing_, clock_);
      result.execute_ns.push_back(tuner::sample(work, slot.loops, timing_, clock_));
    });
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (!slots_[i].contender) continue;
      results[i].set_points = tuner::median_interval(results[i].set_points_ns);
      results[i].execute = tuner::median_interval(results[i].execute_ns);
      results[i].stages = slots_[i].contender->stage_times();
    }
  }

 private:
  struct Slot {
    std::unique_ptr<Contender> contender;  // null: failed
    double seconds = 0;                    // of one execute, roughly
    int loops = 1;
  };

  bool in_place() { return data_.first() == data_.second(); }
  double sample_seconds(const Slot& slot) const {
    if (!slot.contender) return 0;
    return slot.seconds * (slot.loops + (slot.seconds < kWarmBelow ? 1 : 0));
  }
  static void fail(Slot& slot, ContenderResult& result, const std::string& why) {
    slot.contender.reset();
    result.failure = why;
  }

  // Calls measure(slot, result) for every contender once a round, in a new random order each.
  template <class Measure>
  void rounds(std::vector<ContenderResult>& results, int count, double share, const Measure& measure) {
    std::vector<std::size_t> order(slots_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const Stopwatch watch;
    for (int round = 0; round < count; ++round) {
      if (round >= options_.min_rounds && watch.seconds() > share * options_.max_seconds) break;
      random_.shuffle(order);
      for (const std::size_t i : order) {
        if (!slots_[i].contender) continue;
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
  tuner::ProblemData data_;
  tuner::BenchmarkOptions timing_;
  tuner::Clock clock_ = tuner::wall_clock();
  tuner::Random random_{options_.seed};
  std::vector<Slot> slots_;
};

}  // namespace

ProblemResult measure_problem(const Problem& problem, const std::vector<Entrant>& entrants,
                              const MeasureOptions& options) {
  const Stopwatch watch;
  ProblemResult result;
  result.problem = problem;
  result.token = to_token(problem);
  const double need = memory_need(problem, entrants.size());
  if (options.max_memory > 0 && need > options.max_memory) {
    result.skipped = fmt::format("does not fit: data and contenders need about {}, the limit is {}",
                                 bytes_text(static_cast<std::int64_t>(need)),
                                 bytes_text(static_cast<std::int64_t>(options.max_memory)));
    return result;
  }
  try {
    Measurement measurement(problem, options);
    for (const Entrant& entrant : entrants) {
      measurement.admit(entrant, result.contenders.emplace_back());
      result.skipped = measurement.too_slow(entrants.size());
      if (!result.skipped.empty()) break;
    }
    if (result.skipped.empty()) measurement.run(result.contenders);
  } catch (const std::bad_alloc&) {
    result.skipped = "does not fit: its points and arrays could not be allocated";
  }
  result.seconds = watch.seconds();
  return result;
}

}  // namespace fourtune::tools
