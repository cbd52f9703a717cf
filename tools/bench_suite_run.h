// What the papers' experiments on a device share: the backend, peers, budget and records.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "tools/bench_measure.h"
#include "tools/bench_options.h"
#include "tools/bench_peers.h"
#include "tools/bench_report.h"

namespace fourtune::tools {

class SuiteRun {
 public:
  // Prints what runs where. Throws as load_peers and bench_backend do.
  SuiteRun(const BenchOptions& options, const std::string& title);

  const runtime::Backend& backend() const { return backend_; }
  const DeviceTraits& traits() const { return traits_; }
  OursOptions ours() const { return {std::string(backend_.name()), threads_, {}, {}}; }
  // Untuned, tuned where the database has a verdict, and the peers.
  std::vector<Entrant> usual(const Problem& problem) const;
  // Measures, prints a line and writes the CSV so far. What the options rule out comes back as skipped.
  ProblemResult measure(const Problem& problem, const std::vector<Entrant>& entrants);
  // Everything measured; skipped problems and failed contenders of it.
  const std::vector<ProblemResult>& all() const { return all_; }

 private:
  const BenchOptions& options_;
  const runtime::Backend& backend_;
  DeviceTraits traits_;
  int threads_;
  std::shared_ptr<void> current_;
  std::vector<Peer> peers_;
  BenchEnvironment environment_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::vector<ProblemResult> all_;
};

// Nanoseconds a point of a nonuniform transform, its batch counted.
double ns_per_point(double seconds, const Problem& problem);

}  // namespace fourtune::tools
