#include "tools/bench_suite_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/bench_memory.h"
#include "tools/device_arrays.h"
#include "tools/gpu_backends.h"

namespace fourtune::tools {

SuiteRun::SuiteRun(const BenchOptions& options, const std::string& title)
    : options_(options), backend_(bench_backend(options.backend)), traits_(backend_.traits()) {
  if (options.threads > 0) traits_.cores = options.threads;
  threads_ = std::max(1, traits_.cores);
  current_ = make_device_current(backend_);
  peers_ = load_peers(options.peers, backend_);
  environment_ = bench_environment(threads_, backend_);
  for (const Peer& peer : peers_)
    environment_.peers.push_back(fmt::format("{}: {}", peer.name, peer.library->describe()));
  fmt::print("{} on {} ({}), {}, {}\n", title, environment_.device, environment_.isa, environment_.compiler,
             environment_.libraries);
  for (const std::string& peer : environment_.peers) fmt::print("peer {}\n", peer);
}

std::vector<Entrant> SuiteRun::usual(const Problem& problem) const {
  OursOptions tuned = ours();
  tuned.db = options_.db;
  std::vector<Entrant> list{our_entrant("untuned", Role::untuned, ours())};
  if (!options_.untuned_only && has_verdict(problem, tuned)) list.push_back(our_entrant("tuned", Role::tuned, tuned));
  for (const Peer& peer : peers_)
    if (peer.library->does(problem.kind)) list.push_back(peer_entrant(peer, problem, threads_));
  return list;
}

ProblemResult SuiteRun::measure(const Problem& problem, const std::vector<Entrant>& entrants) {
  const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  ProblemResult result;
  result.problem = problem;
  result.token = to_token(problem);
  if (options_.seconds > 0 && spent > options_.seconds) {
    result.skipped = "the budget of --seconds is spent";
  } else if (options_.max_points > 0 && problem.m.value_or(0) > options_.max_points) {
    result.skipped = fmt::format("has {} points, more than --max-points", *problem.m);
  } else {
    MeasureOptions measure;
    measure.backend = &backend_;
    measure.rounds = options_.rounds;
    measure.min_rounds = std::min(options_.min_rounds, options_.rounds);
    measure.max_seconds = options_.seconds_per_problem;
    measure.max_memory = options_.max_memory > 0 ? static_cast<double>(options_.max_memory) : 0.7 * available_memory();
    measure.seed = options_.seed;
    result = measure_problem(problem, entrants, measure);
  }
  fmt::print("{}\n", progress_line(result));
  std::fflush(stdout);
  all_.push_back(result);
  if (!options_.csv.empty()) write_text_file(options_.csv, comparison_csv(all_, environment_));
  return result;
}

double ns_per_point(double seconds, const Problem& problem) {
  const double points = static_cast<double>(problem.m.value_or(0)) * static_cast<double>(problem.batch);
  return points > 0 ? 1e9 * seconds / points : 0;
}

}  // namespace fourtune::tools
