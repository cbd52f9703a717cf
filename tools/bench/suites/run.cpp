#include "tools/bench/suites/run.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/bench/measure/limits.h"
#include "tools/common/device_arrays.h"
#include "tools/common/gpu_backends.h"

namespace fourtune::tools {

SuiteRun::SuiteRun(const BenchOptions& options, const std::string& title, int min_rounds)
    : options_(options), min_rounds_(min_rounds) {
  if (!options.from_csv.empty()) {
    show_earlier_run(title);
    return;
  }
  backend_ = &checked_backend(options.backend, options.device);
  threads_ = options.threads > 0 ? options.threads : std::max(1, traits().cores);
  check_clock(options, threads_, *backend_);
  current_ = backend_->make_current(options.device);
  peers_ = load_peers(options.peers, *backend_, options.device);
  environment_ = bench_environment(threads_, *backend_, options.device);
  for (const Peer& peer : peers_)
    environment_.peers.push_back(fmt::format("{}: {}", peer.name, peer.library->describe()));
  fmt::print("{} on {} ({}), {} threads, {}{}{}\n", title, environment_.device, environment_.isa, threads_,
             environment_.compiler, environment_.compiler.empty() ? "" : ", ", environment_.libraries);
  for (const std::string& peer : environment_.peers) fmt::print("peer {}\n", peer);
  stop_on_signal();
}

void SuiteRun::show_earlier_run(const std::string& title) {
  earlier_ = read_comparison_csv(options_.from_csv);
  environment_ = earlier_->environment;
  fmt::print("{}, as {} has it: {} ({}), {} threads, {}{}{}, {}\n", title, options_.from_csv, environment_.device,
             environment_.isa, environment_.threads, environment_.compiler, environment_.compiler.empty() ? "" : ", ",
             environment_.libraries, environment_.started);
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

void SuiteRun::compile(std::span<const ToMeasure> list) const {
  if (options_.compile_first && backend_) compile_first(list, traits().cores);
}

ProblemResult SuiteRun::measure(const Problem& problem, const std::vector<Entrant>& entrants) {
  ProblemResult result;
  result.problem = problem;
  result.token = to_token(problem);
  if (earlier_) {
    const ProblemResult* found = earlier_->find(result.token);
    if (found)
      result = *found;
    else
      result.skipped = fmt::format("is not in {}", options_.from_csv);
    all_.push_back(result);
    return result;
  }
  result.skipped = why_not(problem, options_, watch_.seconds());
  if (result.skipped.empty())
    result = measure_problem(problem, entrants, measure_options(options_, *backend_, min_rounds_));
  fmt::print("{}\n", progress_line(result, screen()));
  std::fflush(stdout);
  all_.push_back(result);
  if (!options_.csv.empty()) write_text_file(options_.csv, comparison_csv(all_, environment_));
  return result;
}

double ns_per_point(double seconds, const Problem& problem) {
  const double points = static_cast<double>(problem.m.value_or(0)) * static_cast<double>(problem.batch);
  return points > 0 ? 1e9 * seconds / points : 0;
}

double stage_seconds(const ContenderResult& one, std::initializer_list<const char*> names) {
  double seconds = 0;
  for (const StageTime& stage : one.stages)
    for (const char* name : names)
      if (stage.stage.starts_with(name)) seconds += stage.seconds;
  return seconds;
}

}  // namespace fourtune::tools
