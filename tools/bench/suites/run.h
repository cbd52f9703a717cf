// The common part of the papers' experiments: backend, peers, budget and records, or the CSV of an earlier run instead.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/bench/measure/compile.h"
#include "tools/bench/measure/measure.h"
#include "tools/bench/measure/options.h"
#include "tools/bench/peers/peers.h"
#include "tools/bench/report/csv_read.h"
#include "tools/bench/report/report.h"
#include "tools/common/stopwatch.h"
#include "tuner/report/screen.h"

namespace fourtune::tools {

class SuiteRun {
 public:
  // Prints what runs where. With options.from_csv nothing runs, and every problem has its result from the file. A
  // problem that cannot have min_rounds rounds in its time is skipped. Throws the errors of load_peers, bench_backend
  // and read_comparison_csv.
  SuiteRun(const BenchOptions& options, const std::string& title, int min_rounds);

  // Null when an earlier run is shown.
  const runtime::Backend* backend() const { return backend_; }
  // Traits of the device that the backend runs on.
  DeviceTraits traits() const { return backend_->traits(options_.device); }
  int device() const { return options_.device; }
  int threads() const { return threads_; }
  tuner::Screen screen() const { return tuner::screen_of(stdout, options_.wide); }
  OursOptions ours(std::string plan = {}) const {
    return {std::string(backend_->name()), threads_, {}, std::move(plan), options_.device};
  }
  // Our untuned contender, our tuned one where the database has a verdict, and the peers.
  std::vector<Entrant> usual(const Problem& problem) const;
  // With --compile-first: compiles the kernels of all problems.
  void compile(std::span<const ToMeasure> list) const;
  // Measures, prints a line and writes the CSV of all results so far. Problems excluded by the options are returned as
  // skipped.
  ProblemResult measure(const Problem& problem, const std::vector<Entrant>& entrants);
  // All results, including skipped problems and failed contenders.
  const std::vector<ProblemResult>& all() const { return all_; }

 private:
  void show_earlier_run(const std::string& title);

  const BenchOptions& options_;
  int min_rounds_;
  const runtime::Backend* backend_ = nullptr;
  int threads_ = 1;
  std::shared_ptr<void> current_;
  std::vector<Peer> peers_;
  BenchEnvironment environment_;
  Stopwatch watch_;
  std::optional<CsvRun> earlier_;
  std::vector<ProblemResult> all_;
};

// Nanoseconds per point of a nonuniform transform; points of the whole batch count.
double ns_per_point(double seconds, const Problem& problem);
// Seconds of all stages whose names start with one of these.
double stage_seconds(const ContenderResult& one, std::initializer_list<const char*> names);

}  // namespace fourtune::tools
